use crate::cli::CheckArgs;
use crate::exit::Exit;

pub(crate) fn run(_args: &CheckArgs) -> Exit {
    todo!()
}
