//! Lines from stdin.

use std::io;
use std::ops::Range;

use rustix::buffer::spare_capacity;
use rustix::fd::AsFd;
use rustix::io::Errno;

/// A longer line stops the server.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of one read; the capacity of a Linux pipe.
const READ_BYTES: usize = 64 * 1024;

/// What was read and not consumed yet.
#[derive(Debug, Default)]
pub(super) struct Input {
    buffer: Vec<u8>,
    /// The first byte that was not consumed.
    start: usize,
    /// How far a newline was looked for; looking again would be quadratic.
    scanned: usize,
    is_at_end: bool,
}

/// The line is longer than the bound.
#[derive(Debug)]
pub(super) struct Oversize;

impl Input {
    /// The next complete line without its newline; at the end of input what is left is one too.
    pub(super) fn next_line(&mut self) -> Result<Option<Range<usize>>, Oversize> {
        let newline =
            memchr::memchr(b'\n', &self.buffer[self.scanned..]).map(|at| self.scanned + at);
        self.scanned = newline.unwrap_or(self.buffer.len());
        let end = newline.unwrap_or(self.buffer.len());
        if end - self.start > MAX_LINE_BYTES {
            return Err(Oversize);
        }
        if newline.is_none() && !(self.is_at_end && self.start < end) {
            return Ok(None);
        }
        let line = self.start..end;
        self.start = (end + 1).min(self.buffer.len());
        self.scanned = self.start;
        Ok(Some(line))
    }

    pub(super) fn bytes(&self, line: Range<usize>) -> &[u8] {
        &self.buffer[line]
    }

    /// Whether stdin has ended; lines may be left.
    pub(super) fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// Whether everything that was read was consumed.
    pub(super) fn is_empty(&self) -> bool {
        self.start == self.buffer.len()
    }

    /// Reads what there is, once. Interrupted or not ready is no end.
    pub(super) fn read(&mut self, stdin: impl AsFd) -> io::Result<()> {
        self.forget_consumed();
        self.buffer.reserve(READ_BYTES);
        match rustix::io::read(stdin, spare_capacity(&mut self.buffer)) {
            Ok(0) | Err(Errno::CONNRESET) => self.is_at_end = true,
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn forget_consumed(&mut self) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            // The memory of one large message is not kept for ever.
            self.buffer.shrink_to(READ_BYTES);
        } else if self.start > self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
        } else {
            return;
        }
        self.scanned -= self.start;
        self.start = 0;
    }
}
