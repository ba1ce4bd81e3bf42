use crate::cli::ConfigArgs;
use crate::exit::Exit;

pub(crate) fn run(_args: &ConfigArgs) -> Exit {
    todo!()
}
