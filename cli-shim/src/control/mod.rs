//! The control program: sessions, what is in them, and what reaches them.

/// Runs the command that was typed, and returns its exit status.
pub(crate) fn run() -> i32 {
    2
}
