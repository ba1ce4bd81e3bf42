use crate::cli::ServeArgs;
use crate::exit::Exit;

pub(crate) fn run(_args: &ServeArgs) -> Exit {
    todo!()
}
