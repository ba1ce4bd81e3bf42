//! A process that judges: supervised as an agent is, with the evidence on its
//! standard input.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Place;
use crate::plain;
use crate::supervise::Order;

/// So much of what it writes is looked at, from the end.
const MAX_OUTPUT_BYTES: u64 = 1 << 20;

/// How it ended.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ran {
    /// The last line that it wrote on standard error, else on standard output.
    pub(super) fn last_line(&self) -> Option<&str> {
        plain::last_line(&self.stderr).or_else(|| plain::last_line(&self.stdout))
    }
}

/// Runs a program to its end.
///
/// # Errors
/// It does not start, takes longer than `patience`, or a signal ends it.
pub(super) fn run(
    program: PathBuf,
    arguments: Vec<String>,
    directory: &Path,
    evidence: &str,
    patience: Duration,
    place: Place<'_>,
) -> Result<Ran, String> {
    let folder = tempfile::Builder::new().prefix("grader-").tempdir_in(place.folder);
    let folder = folder.map_err(|error| format!("cannot make a temporary directory: {error}"))?;
    let file = |name: &str| folder.path().join(name);
    fs::write(file("evidence.json"), evidence)
        .map_err(|error| format!("cannot write the evidence: {error}"))?;
    let made = |name: &str| {
        let made = File::create_new(file(name));
        made.map_err(|error| format!("cannot make a file for its output: {error}"))
    };
    made("stdout")?;
    made("stderr")?;
    let order = Order {
        is_whole: false,
        program: program.into(),
        arguments,
        environment: Vec::new(),
        directory: directory.into(),
        stdin: file("evidence.json").into(),
        stdout: file("stdout").into(),
        stderr: file("stderr").into(),
        timeout_ms: u64::try_from(patience.as_millis()).unwrap_or(u64::MAX),
        runner: rustix::process::getpid().as_raw_nonzero().get(),
    };
    let outcome = (place.supervised)(&order)?;
    if let Some(reason) = outcome.not_started {
        return Err(reason);
    }
    if outcome.timed_out {
        return Err(format!("it took more than {} s", patience.as_secs()));
    }
    let text = |name: &str| {
        let end = File::open(file(name)).and_then(|file| plain::tail(file, MAX_OUTPUT_BYTES));
        // What cannot be read says nothing.
        end.map_or(String::new(), |(bytes, _)| String::from_utf8_lossy(&bytes).into_owned())
    };
    let (stdout, stderr) = (text("stdout"), text("stderr"));
    match (outcome.exit_code, outcome.signal) {
        (Some(code), _) => Ok(Ran { code, stdout, stderr }),
        (None, Some(signal)) => Err(format!("it was ended by signal {signal}")),
        (None, None) => Err("nobody knows how it ended".to_owned()),
    }
}
