//! Standard descriptors that are closed are opened, so that nothing else takes their place.

use std::os::fd::IntoRawFd;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, fcntl_getfd};
use rustix::stdio::{stderr, stdin, stdout};

/// Opens `/dev/null` wherever 0, 1 or 2 is closed, in that order: a new
/// descriptor is the lowest one that is free (POSIX).
///
/// # Errors
/// It cannot be opened: the next file would get that number.
pub(crate) fn open_closed() -> Result<(), String> {
    for standard in [stdin(), stdout(), stderr()] {
        if fcntl_getfd(standard) == Err(Errno::BADF) {
            let null = open("/dev/null", OFlags::RDWR, Mode::empty()).map_err(|error| {
                format!("a standard descriptor is closed, and `/dev/null` cannot take its place: {error}")
            })?;
            // Stays open for as long as the program runs.
            let _ = null.into_raw_fd();
        }
    }
    Ok(())
}
