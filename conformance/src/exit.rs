//! The exit statuses of the program.

use std::process::ExitCode;

use nix::sys::signal::Signal;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Nothing to complain about.
    Success,
    /// Something that was to be verified does not hold.
    Failed,
    /// No verdict on the agent: at least one ERROR or INVALID, and no FAIL.
    Unjudged,
    /// Nothing was selected, or everything was skipped.
    Empty,
    /// Usage, or documents that are refused.
    Refused,
    /// The command was found and cannot be started.
    NotStarted,
    /// The command was not found.
    NotFound,
    /// What the command itself ended with; 128+N after signal N.
    Command(u8),
}

impl Exit {
    /// The exit status of a program that a signal has interrupted, as shells have it.
    pub(crate) fn interrupted(signal: Signal) -> Exit {
        // Fits: signals are few.
        Exit::Command(128 + signal as u8)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Success => 0,
            Exit::Failed => 1,
            Exit::Refused => 2,
            Exit::Unjudged => 3,
            Exit::Empty => 4,
            Exit::NotStarted => 126,
            Exit::NotFound => 127,
            Exit::Command(code) => code,
        })
    }
}
