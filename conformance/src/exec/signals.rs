//! Signals, without a handler: held back from the start, and read one by one.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The signals that ask a program to end.
const ENDING: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

/// Signals that are held back as long as the program runs.
#[derive(Debug)]
pub(crate) struct Signals {
    /// The mask of entry, which the command gets.
    pub(crate) entry: SigSet,
    waiting: SignalFd,
}

/// What was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// The state of a child has changed.
    Child,
    /// Somebody asks to end.
    Ending {
        signal: Signal,
        /// Whether the kernel sent it on behalf of a terminal.
        is_terminal: bool,
    },
}

impl Signals {
    /// Holds back what asks to end, but for what was ignored or blocked before
    /// and stays so, also for the command.
    pub(crate) fn hold() -> Result<Signals, String> {
        let entry = SigSet::thread_get_mask().map_err(unreadable)?;
        let ignored = ignored();
        if ignored.contains(&Signal::SIGCHLD) {
            return Err(
                "SIGCHLD is ignored, so that nobody could tell how the command ended: start this program with `env --default-signal=CHLD agent-conformance …`"
                    .to_owned(),
            );
        }
        let ending = ENDING.into_iter();
        let ending = ending.filter(|it| !entry.contains(*it) && !ignored.contains(it));
        let held: SigSet = ending.chain([Signal::SIGCHLD]).collect();
        // A file that must not grow is an error, and no reason to die.
        let mut blocked = held;
        blocked.add(Signal::SIGXFSZ);
        blocked.thread_swap_mask(SigmaskHow::SIG_BLOCK).map_err(unreadable)?;
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        let waiting = SignalFd::with_flags(&held, flags).map_err(unreadable)?;
        Ok(Signals { entry, waiting })
    }

    /// Waits for a signal, at most until the instant.
    pub(crate) fn wait(&self, until: Option<Instant>) -> Result<Option<Received>, String> {
        loop {
            if let Some(received) = self.read()? {
                return Ok(Some(received));
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            let timeout = left.map(timespec);
            let mut fds = [PollFd::from_borrowed_fd(self.waiting.as_fd(), PollFlags::IN)];
            match poll(&mut fds, timeout.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(unreadable(error)),
            }
        }
    }

    fn read(&self) -> Result<Option<Received>, String> {
        let Some(info) = self.waiting.read_signal().map_err(unreadable)? else { return Ok(None) };
        let signal = i32::try_from(info.ssi_signo).ok().and_then(|it| Signal::try_from(it).ok());
        Ok(match signal {
            Some(Signal::SIGCHLD) | None => Some(Received::Child),
            Some(signal) => {
                let is_terminal = info.ssi_code == nix::libc::SI_KERNEL;
                Some(Received::Ending { signal, is_terminal })
            }
        })
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

fn unreadable(error: impl std::fmt::Display) -> String {
    format!("cannot look at signals: {error}")
}

/// The signals that were ignored when the program began; without /proc, none
/// that anybody could tell.
fn ignored() -> Vec<Signal> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ENDING
        .into_iter()
        .chain([Signal::SIGCHLD])
        .filter(|signal| mask & (1 << (*signal as i32 - 1)) != 0)
        .collect()
}
