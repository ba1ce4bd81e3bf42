//! Lines on stderr about bad input: few, short, and never in the way.

use std::fmt;

use rustix::fd::BorrowedFd;

use super::output::is_writable;

/// Lines that are written; what follows is counted.
const MAX_LINES: u32 = 20;

/// A line fits into what is free in a writable pipe.
const MAX_LINE_BYTES: usize = 400;

/// What was said, and how much was not.
#[derive(Debug)]
pub(super) struct Complaints<'fd> {
    stderr: BorrowedFd<'fd>,
    said: u32,
    unsaid: u64,
}

impl<'fd> Complaints<'fd> {
    pub(super) fn new(stderr: BorrowedFd<'fd>) -> Complaints<'fd> {
        Complaints { stderr, said: 0, unsaid: 0 }
    }

    /// Says a line about bad input, if it is among the first and stderr can take it.
    pub(super) fn say(&mut self, what: impl fmt::Display) {
        if self.said == MAX_LINES || !self.write(&what) {
            self.unsaid += 1;
        } else {
            self.said += 1;
        }
    }

    /// Says why the server ends, and how many lines were left out.
    pub(super) fn finish(&mut self, cause: Option<&str>) {
        if let Some(cause) = cause {
            self.write(&cause);
        }
        if self.unsaid > 0 {
            self.write(&format_args!("… and {} more lines", self.unsaid));
        }
    }

    fn write(&self, what: &dyn fmt::Display) -> bool {
        if !is_writable(self.stderr).unwrap_or(false) {
            return false;
        }
        let mut line = format!("mcp-mock: {what}").replace(['\n', '\r'], " ");
        if line.len() > MAX_LINE_BYTES {
            line.truncate(line.floor_char_boundary(MAX_LINE_BYTES));
            line.push('…');
        }
        line.push('\n');
        rustix::io::write(self.stderr, line.as_bytes()).is_ok()
    }
}
