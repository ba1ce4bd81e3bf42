//! Signals, without a handler: they are blocked while something is decided,
//! looked at through a descriptor, and let through afterwards.

use std::os::fd::AsFd;
use std::time::Instant;

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The signals that ask a program to end.
const ENDING: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// The signals that stop a program, which must not happen while it holds a lock.
const STOPPING: [Signal; 3] = [Signal::SIGTSTP, Signal::SIGTTIN, Signal::SIGTTOU];

/// The signals as they were when the program began.
#[derive(Debug)]
pub(crate) struct Entry {
    mask: SigSet,
}

/// Signals that are held back, and can be looked at.
#[derive(Debug)]
pub(crate) struct Watch {
    before: SigSet,
    waiting: SignalFd,
}

/// What a wait ended with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The instant came.
    Due,
    /// A signal asks the program to end.
    Signal,
}

impl Entry {
    /// Looks at the signals, and changes nothing.
    pub(crate) fn look() -> Result<Entry, nix::Error> {
        Ok(Entry { mask: SigSet::thread_get_mask()? })
    }

    /// The mask that a child gets.
    pub(crate) fn mask(&self) -> SigSet {
        self.mask
    }

    /// Holds back the signals that ask to end, but for those that were
    /// ignored or blocked before.
    pub(crate) fn watch(&self) -> Result<Watch, nix::Error> {
        let ending: SigSet = ENDING
            .into_iter()
            .filter(|signal| !self.mask.contains(*signal) && !is_ignored(*signal))
            .collect();
        let before = ending.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        Ok(Watch { before, waiting: SignalFd::with_flags(&ending, flags)? })
    }
}

impl Watch {
    /// Whether a signal asks to end. It stays pending, for whoever lets it through.
    pub(crate) fn asks_to_end(&self) -> bool {
        self.wait(Some(Instant::now())) == Woken::Signal
    }

    /// Sleeps until an instant, or until a signal asks to end. Stopping and
    /// going on does not shorten it.
    pub(crate) fn wait(&self, until: Option<Instant>) -> Woken {
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let timeout = left.map(|left| Timespec {
                // Delays are minutes at most, and nanoseconds are below a billion.
                tv_sec: left.as_secs() as i64,
                tv_nsec: i64::from(left.subsec_nanos()),
            });
            let mut fds = [PollFd::from_borrowed_fd(self.waiting.as_fd(), PollFlags::IN)];
            match poll(&mut fds, timeout.as_ref()) {
                Ok(ready) if ready > 0 => return Woken::Signal,
                _ if until.is_some_and(|until| until <= Instant::now()) => return Woken::Due,
                // Interrupted, or woken a moment too early.
                _ => {}
            }
        }
    }

    /// A signal that asks to end, taken, and whether the terminal sent it.
    pub(crate) fn take(&self) -> Option<(i32, bool)> {
        let info = self.waiting.read_signal().ok()??;
        // `si_code` of what the kernel sends on behalf of a terminal.
        let is_terminal = info.ssi_code == libc::SI_KERNEL;
        Some((i32::try_from(info.ssi_signo).ok()?, is_terminal))
    }

    /// The descriptor that is readable while a signal asks to end.
    pub(crate) fn descriptor(&self) -> impl AsFd + '_ {
        self.waiting.as_fd()
    }

    /// Lets everything through again: what is pending ends the program now.
    pub(crate) fn let_through(self) {
        // A mask that was in force before is valid.
        let _ = self.before.thread_set_mask();
    }
}

/// Holds back what would end or stop the program, while the value lives:
/// nobody else gets on while this one holds the lock.
pub(crate) fn hold() -> Held {
    let all: SigSet = ENDING.into_iter().chain(STOPPING).collect();
    Held { before: all.thread_swap_mask(SigmaskHow::SIG_BLOCK).ok() }
}

/// Ending and stopping are held back while this lives.
#[derive(Debug)]
pub(crate) struct Held {
    before: Option<SigSet>,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = before.thread_set_mask();
        }
    }
}

/// Whether a signal was ignored when the program began; nothing here changes that.
#[expect(unsafe_code, reason = "the look at a disposition has no safe wrapper")]
pub(crate) fn is_ignored(signal: Signal) -> bool {
    // SAFETY: with a null pointer for the new action `sigaction` changes
    // nothing, and all bits zero are a valid `libc::sigaction` to write into.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal as i32, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}
