use crate::cli::NewArgs;
use crate::exit::Exit;

pub(crate) fn run(_args: &NewArgs) -> Exit {
    todo!()
}
