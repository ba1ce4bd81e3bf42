//! Where a report is written to, run by run.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::table::Table;
use super::text;
use crate::cli::Format;
use crate::results::{Record, Summary, Writer};

/// A report that is being written.
pub(crate) struct Sink {
    name: String,
    kind: Kind,
    /// What the file is called until it is whole, and afterwards.
    moved: Option<(PathBuf, PathBuf)>,
}

enum Kind {
    Json(Writer<Box<dyn Write>>),
    Text { to: Box<dyn Write>, is_styled: bool, table: Table },
}

impl Sink {
    pub(crate) fn file(format: Format, path: &Path) -> Result<Sink, String> {
        let to = Box::new(BufWriter::new(create(path)?));
        Sink::new(format, path.display().to_string(), to, false)
    }

    /// Writes a file that is there as a whole or not at all.
    pub(crate) fn whole_file(format: Format, path: &Path) -> Result<Sink, String> {
        let draft = path.with_extension("part");
        let sink = Sink::file(format, &draft)?;
        Ok(Sink { moved: Some((draft, path.to_owned())), ..sink })
    }

    pub(crate) fn stdout(format: Format) -> Result<Sink, String> {
        let is_styled = io::stdout().is_terminal() && crate::may_style();
        let to = Box::new(BufWriter::new(io::stdout()));
        Sink::new(format, "stdout".to_owned(), to, is_styled)
    }

    fn new(
        format: Format,
        name: String,
        to: Box<dyn Write>,
        is_styled: bool,
    ) -> Result<Sink, String> {
        let kind = match format {
            Format::Text => Kind::Text { to, is_styled, table: Table::default() },
            Format::Json => {
                let writer = Writer::new(to);
                Kind::Json(writer.map_err(|error| format!("cannot write to `{name}`: {error}"))?)
            }
        };
        Ok(Sink { name, kind, moved: None })
    }

    pub(crate) fn run(&mut self, record: &Record) -> Result<(), String> {
        let written = match &mut self.kind {
            Kind::Json(writer) => writer.run(record),
            Kind::Text { to, is_styled, table } => {
                table.note(record);
                to.write_all(text::run(record, *is_styled).as_bytes())
            }
        };
        ignore_gone_reader(written).map_err(|error| self.failed(&error))
    }

    pub(crate) fn finish(self, summary: &Summary) -> Result<(), String> {
        let Sink { name, kind, moved } = self;
        let written = match kind {
            Kind::Json(writer) => writer.finish(summary).map(drop),
            Kind::Text { mut to, table, .. } => {
                let end = table.text() + &text::summary(summary);
                to.write_all(end.as_bytes()).and_then(|()| to.flush())
            }
        };
        ignore_gone_reader(written)
            .and_then(|()| moved.map_or(Ok(()), |(draft, path)| fs::rename(draft, path)))
            .map_err(|error| format!("cannot write to `{name}`: {error}"))
    }

    fn failed(&self, error: &io::Error) -> String {
        format!("cannot write to `{}`: {error}", self.name)
    }
}

/// A reader that has left is not an error.
fn ignore_gone_reader(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

pub(crate) fn create(path: &Path) -> Result<File, String> {
    File::create(path).map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}
