//! One call of a mocked command, from its arguments to its exit status.

use std::time::{Duration, Instant};

use fixtures::document::{CliOutcome, Executable, OnUnmatched, Stdout};
use fixtures::engine::command::{self, Command, CommandDecision};
use fixtures::journal::record::{Cancellation, Event};
use fixtures::journal::{JournalError, LOCK_PATIENCE, Refusal, back_off};
use fixtures::matching::command::Invocation;
use fixtures::session::{Payloads, Session};
use rustix::stdio::{stderr, stdout};

use crate::call::{self, Unread};
use crate::canary::Canary;
use crate::signals::{self, Entry, Watch, Woken};
use crate::{emit, host};

pub(crate) use fixtures::engine::command::NOT_SERVED;

/// The exit status of a call that a signal ended.
pub(crate) const CANCELLED: u8 = 130;

/// The exit status of a call whose deadline came.
pub(crate) const LATE: u8 = 124;

/// How long the record of a cancellation waits for the lock.
const CANCEL_PATIENCE: Duration = Duration::from_millis(500);

/// Answers the call that this process is.
pub(crate) fn run(name: &str, session: &std::path::Path) -> u8 {
    match answer(name, session) {
        Ok(code) | Err(End::Silent(code)) => code,
        Err(End::Refused(reason)) => {
            emit::line(&format!("{name}: {reason}"));
            NOT_SERVED
        }
    }
}

/// Why a call ends without its outcome.
#[derive(Debug)]
pub(crate) enum End {
    /// Interrupted: nothing is said.
    Silent(u8),
    /// Nothing can be served, for this reason.
    Refused(String),
}

impl From<String> for End {
    fn from(reason: String) -> End {
        End::Refused(reason)
    }
}

impl From<nix::Error> for End {
    fn from(error: nix::Error) -> End {
        End::Refused(format!("cannot look at signals: {error}"))
    }
}

fn answer(name: &str, directory: &std::path::Path) -> Result<u8, End> {
    let start = Instant::now();
    let entry = Entry::look()?;
    let session = Session::open(directory)?;
    if let Some(canary) = Canary::of_this_call(directory) {
        canary.answer(&session, name)?;
        return Ok(0);
    }
    let executable: Executable = session.executable(name)?;
    let deadline = call::deadline(&session, start);
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let reads_stdin = command::reads_stdin(&executable, &arguments);
    let stdin = match reads_stdin.then(|| call::read_stdin(deadline)) {
        None => None,
        Some(Ok(bytes)) => Some(bytes),
        Some(Err(Unread::Deadline)) => return Err(End::Silent(LATE)),
        Some(Err(Unread::Refused(reason))) => return Err(End::Refused(reason)),
    };
    // A directory that was removed has no name, and is none that a matcher means.
    let workdir = std::env::current_dir().unwrap_or_default();
    let invocation = Invocation {
        arguments: &arguments,
        variable: |name| std::env::var_os(name),
        workdir: &workdir,
        workspace: session.workspace(),
        stdin: stdin.as_deref(),
    };
    let mut command = Command::new(&executable, &invocation, session.command_book(name)?);
    let watch = entry.watch()?;
    if executable.on_unmatched == OnUnmatched::Host && command.unmatched().is_some() {
        let bin = directory.join("bin");
        return host::run(&mut command, name, &bin, &arguments, &entry, &watch, deadline);
    }

    let (decision, attempt, is_selected) =
        with_lock(&watch, deadline, &mut command, |command| Ok(command.begin()?.commit()?))?;
    if !decision.delay().is_zero() {
        let due = Instant::now() + decision.delay();
        watch.wait(Some(deadline.map_or(due, |deadline| deadline.min(due))));
    }
    let output = Output::of(&decision, &executable, name, &session.payloads())?;
    if !is_selected {
        settle(&mut command, &watch, deadline, attempt, output.exit_code)?;
    }
    watch.let_through();

    let written = emit::all(stdout(), &output.stdout);
    if written.and_then(|()| emit::all(stderr(), &output.stderr)).is_ok() {
        record_after(&mut command, &command::delivered(attempt), LOCK_PATIENCE);
    }
    Ok(output.exit_code)
}

/// Does something under the lock, before anything is recorded: a signal or
/// the deadline ends the call without a trace.
pub(crate) fn with_lock<'p, T>(
    watch: &Watch,
    deadline: Option<Instant>,
    command: &mut Command<'p>,
    mut attempt: impl FnMut(&mut Command<'p>) -> Result<T, Refusal>,
) -> Result<T, End> {
    let end = Instant::now() + LOCK_PATIENCE;
    for pause in back_off() {
        if let Some(interruption) = interruption(watch, deadline) {
            return Err(End::Silent(interruption.exit_code()));
        }
        let held = signals::hold();
        match attempt(command) {
            Ok(done) => return Ok(done),
            Err(Refusal::Busy) if Instant::now() < end => {}
            Err(refusal) => return Err(refused(command, refusal)),
        }
        drop(held);
        watch.wait(Some(Instant::now() + pause));
    }
    unreachable!("the pauses never end")
}

fn refused(command: &mut Command<'_>, refusal: Refusal) -> End {
    End::Refused(match refusal {
        Refusal::Busy => command.journal().locked_too_long().to_string(),
        Refusal::Closed => "session closed: this call was not served".to_owned(),
        Refusal::Failed(error) => error.to_string(),
    })
}

/// Why a call is interrupted. A deadline that has passed wins over a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interruption {
    Deadline,
    Signal,
}

impl Interruption {
    fn exit_code(self) -> u8 {
        match self {
            Interruption::Deadline => LATE,
            Interruption::Signal => CANCELLED,
        }
    }

    fn event(self, attempt: u64) -> Event<'static> {
        let cause = match self {
            Interruption::Deadline => Cancellation::Deadline,
            Interruption::Signal => Cancellation::Cancel,
        };
        command::cancelled(attempt, cause, self.exit_code())
    }
}

fn interruption(watch: &Watch, deadline: Option<Instant>) -> Option<Interruption> {
    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
        return Some(Interruption::Deadline);
    }
    watch.asks_to_end().then_some(Interruption::Signal)
}

/// Records the outcome, or that a signal or the deadline came first: one of
/// the two, decided by one look under the lock.
fn settle(
    command: &mut Command<'_>,
    watch: &Watch,
    deadline: Option<Instant>,
    attempt: u64,
    exit_code: u8,
) -> Result<(), End> {
    let mut end = Instant::now() + LOCK_PATIENCE;
    for pause in back_off() {
        let held = signals::hold();
        let mut found = None;
        let recorded = command.record_with(|| {
            found = interruption(watch, deadline);
            match found {
                Some(interruption) => interruption.event(attempt),
                None => command::selected(attempt, exit_code),
            }
        });
        drop(held);
        match recorded {
            Ok(()) => return found.map_or(Ok(()), |it| Err(End::Silent(it.exit_code()))),
            Err(Refusal::Busy) => {}
            Err(refusal) => return Err(refused(command, refusal)),
        }
        let now = Instant::now();
        match interruption(watch, deadline) {
            Some(interruption) => {
                end = end.min(now + CANCEL_PATIENCE);
                if now >= end {
                    return Err(End::Silent(interruption.exit_code()));
                }
                // A pending signal would end a wait at once.
                std::thread::sleep(pause);
            }
            None if now >= end => return Err(refused(command, Refusal::Busy)),
            None => {
                let _: Woken = watch.wait(Some(now + pause));
            }
        }
    }
    unreachable!("the pauses never end")
}

/// Records what has happened already, if the lock can be had in time: what
/// cannot be recorded changes nothing about it.
pub(crate) fn record_after(command: &mut Command<'_>, event: &Event<'_>, patience: Duration) {
    let end = Instant::now() + patience;
    for pause in back_off() {
        let held = signals::hold();
        match command.record_after(event) {
            Err(Refusal::Busy) if Instant::now() < end => {}
            _ => return,
        }
        drop(held);
        std::thread::sleep(pause);
    }
}

/// What a call emits.
struct Output {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    exit_code: u8,
}

impl Output {
    fn of(
        decision: &CommandDecision<'_>,
        executable: &Executable,
        name: &str,
        payloads: &Payloads,
    ) -> Result<Output, End> {
        let stderr = match decision {
            CommandDecision::Matched { outcome, .. } => return Output::authored(outcome, payloads),
            CommandDecision::Probe(outcome) => return Output::authored(outcome, payloads),
            CommandDecision::Exhausted => format!("{name}: exhausted: no further response\n"),
            CommandDecision::Unmatched(explanation) if executable.explain => {
                format!("{name}: unmatched: no response for this call; {explanation}\n")
            }
            CommandDecision::Unmatched(_) => {
                format!("{name}: unmatched: no response for this call\n")
            }
        };
        Ok(Output { stdout: Vec::new(), stderr: stderr.into_bytes(), exit_code: NOT_SERVED })
    }

    fn authored(outcome: &CliOutcome, payloads: &Payloads) -> Result<Output, End> {
        let stdout = match &outcome.stdout {
            None => Vec::new(),
            Some(Stdout::Stored(sha256)) => payloads
                .bytes(sha256)
                .map_err(JournalError::Payload)
                .map_err(|it| it.to_string())?,
            Some(stdout) => stdout.bytes(),
        };
        let stderr = outcome.stderr.clone().unwrap_or_default().into_bytes();
        Ok(Output { stdout, stderr, exit_code: outcome.exit_code.unwrap_or(0) })
    }
}
