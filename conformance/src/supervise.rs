//! The supervisor: this program started again, once a run. It starts the agent,
//! and whatever the agent starts comes back to it, so that orphans are known
//! by their run, and ended with it.

mod watch;

use std::collections::BTreeMap;
use std::ffi::{CString, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags};
use nix::sys::signal::SigSet;
use nix::sys::stat::Mode;
use rustix::process::{Pid, Signal, getppid, kill_process_group, set_parent_process_death_signal};
use serde::{Deserialize, Serialize};

use crate::exec::command::{self, Ended, reap};
use crate::exec::leftovers;
use crate::exec::signals::{Received, Signals};
use crate::exit::Exit;

pub(crate) use watch::{finish, start};

/// How long an agent that was asked to end may take.
const GRACE: Duration = Duration::from_secs(6);

/// What to do about a prompt that cannot be a word of a command line.
const HINT: &str = "; where that is the prompt, give it as {prompt_file}";

/// What to run. Paths need not be UTF-8.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The program.
    pub(crate) program: OsString,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// Variables beside those of this program.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Whether there are no others.
    pub(crate) is_whole: bool,
    /// Where it runs.
    pub(crate) directory: OsString,
    /// What it reads on standard input.
    pub(crate) stdin: OsString,
    /// Where its standard output goes.
    pub(crate) stdout: OsString,
    /// Where its standard error goes.
    pub(crate) stderr: OsString,
    /// How long it may take.
    pub(crate) timeout_ms: u64,
    /// The runner, with which the supervisor ends.
    pub(crate) runner: i32,
}

/// How the agent ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Its exit status, unless a signal ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) signal: Option<i32>,
    /// Why it did not start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) not_started: Option<String>,
    /// Whether it was ended for taking too long.
    pub(crate) timed_out: bool,
    /// What it left running, by name and process.
    pub(crate) orphans: Vec<String>,
    /// How long it ran.
    pub(crate) duration_ms: f64,
}

/// Reads the order from standard input, and writes the outcome to standard output.
pub(crate) fn run() -> Exit {
    match supervise() {
        Ok(outcome) => {
            let text = serde_json::to_string(&outcome).expect("string keys always serialise");
            crate::print(text.as_bytes())
        }
        Err(reason) => crate::complain(&reason),
    }
}

fn supervise() -> Result<Outcome, String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| format!("no order: {error}"))?;
    let order: Order = serde_json::from_str(&text).map_err(|error| format!("no order: {error}"))?;
    // The runner holds signals back, which is none of the agent's business.
    SigSet::empty()
        .thread_set_mask()
        .map_err(|error| format!("cannot let signals through: {error}"))?;
    let signals = Signals::hold()?;
    set_parent_process_death_signal(Some(Signal::TERM))
        .map_err(|error| format!("cannot end with the runner: {error}"))?;
    if getppid().map(|it| it.as_raw_nonzero().get()) != Some(order.runner) {
        return Err("the runner is gone".to_owned());
    }
    let before = leftovers::adopt();
    let start = Instant::now();
    let mut outcome = Outcome {
        exit_code: None,
        signal: None,
        not_started: None,
        timed_out: false,
        orphans: Vec::new(),
        duration_ms: 0.0,
    };
    match spawn(&order) {
        Ok(agent) => {
            let ended = wait(agent, start + Duration::from_millis(order.timeout_ms), &signals)?;
            outcome.timed_out = ended.timed_out;
            match ended.how {
                Some(Ended::Exited(code)) => outcome.exit_code = Some(code),
                Some(Ended::Signalled(signal)) => outcome.signal = Some(signal),
                None => {}
            }
        }
        Err(reason) => outcome.not_started = Some(reason),
    }
    outcome.duration_ms = start.elapsed().as_secs_f64() * 1000.0;
    outcome.orphans = leftovers::end(&before, &signals)?;
    Ok(outcome)
}

/// Starts the agent in a group of its own, with nothing held back.
fn spawn(order: &Order) -> Result<Pid, String> {
    let failed = |error: &dyn std::fmt::Display| {
        format!("cannot start `{}`: {error}", order.program.display())
    };
    std::env::set_current_dir(&order.directory).map_err(|error| failed(&error))?;
    let mut environment: BTreeMap<OsString, OsString> =
        std::env::vars_os().filter(|_| !order.is_whole).collect();
    environment.extend(order.environment.iter().cloned());
    let environment = environment
        .iter()
        .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()));
    let environment: Vec<CString> =
        environment.collect::<Result<_, _>>().map_err(|error| failed(&error))?;
    let words = std::iter::once(order.program.as_bytes())
        .chain(order.arguments.iter().map(String::as_bytes))
        .map(CString::new);
    let words: Vec<CString> = words
        .collect::<Result<_, _>>()
        .map_err(|_| failed(&format!("a word of its command line holds a NUL{HINT}")))?;
    let streams = streams(order).map_err(|error| failed(&error.desc()))?;
    let attributes = attributes().map_err(|error| failed(&error.desc()))?;
    let program = Path::new(&order.program);
    command::spawn(program, &streams, &attributes, words, &environment).map_err(|error| match error
    {
        Errno::E2BIG => failed(&format!("its command line is too long{HINT}")),
        error => failed(&error.desc()),
    })
}

/// A group of its own, in which nothing is held back.
fn attributes() -> Result<PosixSpawnAttr, Errno> {
    let group = PosixSpawnFlags::POSIX_SPAWN_SETPGROUP;
    let mut attributes = command::attributes(&SigSet::empty(), group)?;
    attributes.set_pgroup(nix::unistd::Pid::from_raw(0))?;
    Ok(attributes)
}

fn streams(order: &Order) -> Result<PosixSpawnFileActions, Errno> {
    let mut streams = PosixSpawnFileActions::init()?;
    // Whoever opens them again, as /dev/stderr, writes at the end, too.
    let written = OFlag::O_WRONLY | OFlag::O_APPEND;
    streams.add_open(0, order.stdin.as_os_str(), OFlag::O_RDONLY, Mode::empty())?;
    streams.add_open(1, order.stdout.as_os_str(), written, Mode::empty())?;
    streams.add_open(2, order.stderr.as_os_str(), written, Mode::empty())?;
    Ok(streams)
}

struct HowItEnded {
    how: Option<Ended>,
    timed_out: bool,
}

/// Waits for the agent, and ends its group when time is up or somebody asks.
fn wait(agent: Pid, deadline: Instant, signals: &Signals) -> Result<HowItEnded, String> {
    let mut timed_out = false;
    let mut until = deadline;
    let mut is_asked = false;
    loop {
        let received = signals.wait(Some(until))?;
        let is_late = Instant::now() >= deadline;
        timed_out |= is_asked && is_late;
        if let Some(how) = reap(Some(agent)) {
            return Ok(HowItEnded { how: Some(how), timed_out });
        }
        if received == Some(Received::Child) {
            continue;
        }
        // Whoever asks twice does not want to wait.
        let signal = if is_asked { Signal::KILL } else { Signal::TERM };
        timed_out |= is_late;
        is_asked = true;
        // It may have ended this very moment; a stopped one must go on to end.
        let _ = kill_process_group(agent, signal);
        let _ = kill_process_group(agent, Signal::CONT);
        until = Instant::now() + GRACE;
    }
}
