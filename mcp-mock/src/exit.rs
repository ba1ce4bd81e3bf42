//! The exit statuses of the program.

use std::process::ExitCode;

/// How the program ends, unless a signal ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// End of input, or nothing to complain about.
    Success,
    /// Serving was stopped, or `check` refused a document.
    Stopped,
    /// Usage, or a document that is refused or cannot be opened.
    Refused,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        match exit {
            Exit::Success => ExitCode::SUCCESS,
            Exit::Stopped => ExitCode::from(1),
            Exit::Refused => ExitCode::from(2),
        }
    }
}
