//! `agent-conformance report`: results in the formats that people and programs
//! want, one format a file.

pub(crate) mod event;
pub(crate) mod sink;
mod table;
pub(crate) mod text;

use crate::cli::ReportArgs;
use crate::exit::Exit;
use crate::results::{self, Results};
use sink::Sink;

pub(crate) fn run(args: &ReportArgs) -> Exit {
    let read: Result<Vec<Results>, String> =
        args.files.iter().map(|file| results::read(file)).collect();
    let shown = read.and_then(|all| all.iter().try_for_each(|results| show(results, args)));
    match shown {
        Ok(()) => Exit::Success,
        Err(reason) => crate::complain(&reason),
    }
}

fn show(results: &Results, args: &ReportArgs) -> Result<(), String> {
    let mut sink = Sink::stdout(args.format)?;
    results.runs.iter().try_for_each(|record| sink.run(record))?;
    sink.finish(&results.summary)
}
