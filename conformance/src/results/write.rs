//! Results as they are written: a line a run, so that no more than one is in memory.

use std::io::{self, Write};

use super::{Record, Summary, VERSION};

/// Writes `results.json`, one run after the other.
#[derive(Debug)]
pub(crate) struct Writer<W> {
    to: W,
    is_empty: bool,
}

impl<W: Write> Writer<W> {
    pub(crate) fn new(mut to: W) -> io::Result<Writer<W>> {
        write!(to, "{{\"schemaVersion\":\"{VERSION}\",\"runs\":[")?;
        Ok(Writer { to, is_empty: true })
    }

    pub(crate) fn run(&mut self, record: &Record) -> io::Result<()> {
        self.to.write_all(if self.is_empty { b"\n" } else { b",\n" })?;
        self.is_empty = false;
        serde_json::to_writer(&mut self.to, record)?;
        Ok(())
    }

    pub(crate) fn finish(mut self, summary: &Summary) -> io::Result<W> {
        self.to.write_all(b"\n],\"summary\":")?;
        serde_json::to_writer(&mut self.to, summary)?;
        self.to.write_all(b"}\n")?;
        self.to.flush()?;
        Ok(self.to)
    }
}
