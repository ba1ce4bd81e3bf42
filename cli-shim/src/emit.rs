//! Exact bytes to standard output and error.
//!
//! Flags of the descriptors are neither set nor trusted, since the open files
//! are the caller's.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;

/// Writes everything, however long that takes.
///
/// # Errors
/// Nobody reads any more, or the system refuses. With SIGPIPE in its default
/// disposition the process has died by then.
pub(crate) fn all(to: BorrowedFd<'_>, mut bytes: &[u8]) -> rustix::io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                match poll(&mut [PollFd::from_borrowed_fd(to, PollFlags::OUT)], None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Says one line on standard error.
pub(crate) fn line(text: &str) {
    // Nothing is left to be told when standard error is gone too.
    let _ = all(rustix::stdio::stderr(), format!("{}\n", text.replace('\n', " ")).as_bytes());
}
