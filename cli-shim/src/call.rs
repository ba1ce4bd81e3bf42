//! When a call has to end, and what it reads before it is decided.

use std::time::{Duration, Instant};

use fixtures::clock;
use fixtures::session::{Deadline, Session, boot_id};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;

/// A longer standard input is refused.
const MAX_STDIN_BYTES: usize = 16 * 1024 * 1024;

/// The earlier of the session's deadline and the longest time of a call.
pub(crate) fn deadline(session: &Session, start: Instant) -> Option<Instant> {
    let timeout = session.call_timeout().map(|timeout| start + timeout);
    let shared = session.deadline().map(|deadline| instant_of(deadline, start));
    timeout.into_iter().chain(shared).min()
}

/// A deadline of another boot has passed.
fn instant_of(deadline: &Deadline, now: Instant) -> Instant {
    if boot_id().is_none_or(|boot| boot != deadline.boot_id) {
        return now;
    }
    now + Duration::from_millis(deadline.mono_ms).saturating_sub(clock::monotonic())
}

/// Why the standard input was not read to its end.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The deadline came.
    Deadline,
    /// It is too long, or cannot be read.
    Refused(String),
}

/// The whole standard input, until the deadline.
pub(crate) fn read_stdin(deadline: Option<Instant>) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(Unread::Deadline);
        }
        let timeout = left.map(|left| Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        });
        let mut fds = [PollFd::from_borrowed_fd(stdin(), PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(0) | Err(Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(refused(error)),
        }
        bytes.reserve(64 * 1024);
        match rustix::io::read(stdin(), rustix::buffer::spare_capacity(&mut bytes)) {
            Ok(0) => return Ok(bytes),
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(refused(error)),
        }
        if bytes.len() > MAX_STDIN_BYTES {
            return Err(Unread::Refused("standard input is longer than 16 MiB".to_owned()));
        }
    }
}

fn refused(error: Errno) -> Unread {
    Unread::Refused(format!("cannot read standard input: {error}"))
}
