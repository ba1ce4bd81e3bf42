use crate::exit::Exit;

pub(crate) fn run() -> Exit {
    todo!()
}
