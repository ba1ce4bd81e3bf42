//! Replies to stdout, without ever blocking.
//!
//! Descriptor flags are neither set (the open file may be shared with the
//! client) nor trusted (O_NONBLOCK may be inherited).

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::net::SendFlags;

/// Unread output at which no further line is looked at.
pub(super) const HIGH_WATER: usize = 8 * 1024 * 1024;

/// Without a byte taken for this long, a full output counts as stuck.
const STUCK_AFTER: Duration = Duration::from_millis(500);

/// Bytes of one plain write to a file or terminal.
const PIECE_BYTES: usize = 64 * 1024;

/// POSIX's smallest PIPE_BUF: what is free for sure when a pipe is writable.
const PIPE_BUF: usize = 512;

/// What was not written yet, and the way to write it.
#[derive(Debug)]
pub(super) struct Output<'fd> {
    stdout: BorrowedFd<'fd>,
    way: Way,
    buffer: Vec<u8>,
    /// The first byte that was not written.
    start: usize,
    /// All bytes that were ever written.
    taken: u64,
    /// When the last byte was taken, or the first one offered.
    progress: Instant,
}

/// How to write without blocking.
#[derive(Debug)]
enum Way {
    /// `pwritev2` with `RWF_NOWAIT`, on a pipe.
    NoWait,
    /// An open file description of our own, with O_NONBLOCK.
    Own(OwnedFd),
    /// Pieces of PIPE_BUF when the pipe is writable; safe for a single writer.
    Pieces,
    /// `send` with `MSG_DONTWAIT`.
    Socket,
    /// Plain writes when writable: files, terminals.
    Plain,
}

/// Nobody can read stdout any more.
#[derive(Debug)]
pub(super) struct Gone;

impl<'fd> Output<'fd> {
    pub(super) fn new(stdout: BorrowedFd<'fd>) -> Output<'fd> {
        let kind = rustix::fs::fstat(stdout).map(|stat| FileType::from_raw_mode(stat.st_mode));
        let way = match kind {
            Ok(FileType::Fifo) => Way::NoWait,
            Ok(FileType::Socket) => Way::Socket,
            _ => Way::Plain,
        };
        Output { stdout, way, buffer: Vec::new(), start: 0, taken: 0, progress: Instant::now() }
    }

    /// The number of bytes that were not written yet.
    pub(super) fn len(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// Where a reply is appended.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        if self.len() == 0 {
            self.progress = Instant::now();
        }
        &mut self.buffer
    }

    /// All bytes that were ever written.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// When a full output counts as stuck, if nothing is taken until then.
    pub(super) fn stuck_at(&self) -> Instant {
        self.progress + STUCK_AFTER
    }

    /// Whether a lone hang-up means that stdout is gone.
    pub(super) fn hangs_up(&self) -> bool {
        matches!(self.way, Way::Socket | Way::Plain)
    }

    /// Writes as much as can be written now.
    pub(super) fn flush(&mut self) -> Result<(), Gone> {
        while self.len() > 0 {
            match self.write_some() {
                Ok(0) => break,
                Ok(written) => {
                    self.start += written;
                    self.taken += written as u64;
                    self.progress = Instant::now();
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => return Err(Gone),
            }
        }
        if self.len() == 0 {
            self.buffer.clear();
            // The memory of one large reply is not kept for ever.
            self.buffer.shrink_to(PIECE_BYTES);
            self.start = 0;
        } else if self.start > self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        Ok(())
    }

    fn write_some(&mut self) -> rustix::io::Result<usize> {
        let bytes = &self.buffer[self.start..];
        match &self.way {
            Way::NoWait => match write_no_wait(self.stdout, bytes) {
                Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
                    self.way = own_description().map_or(Way::Pieces, Way::Own);
                    Err(Errno::INTR)
                }
                result => result,
            },
            Way::Own(own) => rustix::io::write(own, bytes),
            Way::Socket => {
                rustix::net::send(self.stdout, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
            }
            Way::Pieces => self.write_piece(PIPE_BUF),
            Way::Plain => self.write_piece(PIECE_BYTES),
        }
    }

    fn write_piece(&self, most: usize) -> rustix::io::Result<usize> {
        if !is_writable(self.stdout)? {
            return Err(Errno::AGAIN);
        }
        let bytes = &self.buffer[self.start..];
        rustix::io::write(self.stdout, &bytes[..bytes.len().min(most)])
    }
}

/// Whether a write would not block now.
pub(super) fn is_writable(fd: BorrowedFd<'_>) -> rustix::io::Result<bool> {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
    poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    Ok(fds[0].revents().contains(PollFlags::OUT))
}

#[cfg(target_os = "linux")]
fn write_no_wait(stdout: BorrowedFd<'_>, bytes: &[u8]) -> rustix::io::Result<usize> {
    use rustix::io::ReadWriteFlags;
    // The offset -1 means the current one; a pipe has no other.
    rustix::io::pwritev2(stdout, &[std::io::IoSlice::new(bytes)], u64::MAX, ReadWriteFlags::NOWAIT)
}

#[cfg(not(target_os = "linux"))]
fn write_no_wait(_stdout: BorrowedFd<'_>, _bytes: &[u8]) -> rustix::io::Result<usize> {
    Err(Errno::NOSYS)
}

fn own_description() -> Option<OwnedFd> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    ["/proc/self/fd/1", "/dev/fd/1"].iter().find_map(|path| open(*path, flags, Mode::empty()).ok())
}
