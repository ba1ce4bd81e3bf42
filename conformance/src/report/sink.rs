//! Where a report is written to, run by run.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use super::table::Table;
use super::text;
use crate::cli::Format;
use crate::results::{Record, Summary, Writer};

/// A report that is being written.
pub(crate) struct Sink {
    name: String,
    kind: Kind,
    /// A file that is moved to its place when it is whole.
    moved: Option<(TempPath, PathBuf)>,
}

enum Kind {
    Json(Writer<Box<dyn Write>>),
    Text { to: Box<dyn Write>, is_styled: bool, table: Table },
}

/// A file that is there as a whole or not at all: nobody else writes to it,
/// and it goes with the value unless it is finished.
#[derive(Debug)]
pub(crate) struct Draft {
    file: NamedTempFile,
    path: PathBuf,
}

impl Draft {
    pub(crate) fn new(path: PathBuf) -> Result<Draft, String> {
        let failed = |error: io::Error| format!("cannot write `{}`: {error}", path.display());
        if path.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".results-").suffix(".part").permissions(Permissions::from_mode(0o666));
        let file = builder.tempfile_in(path.parent().unwrap_or(Path::new("."))).map_err(failed)?;
        Ok(Draft { file, path })
    }
}

impl Sink {
    pub(crate) fn file(format: Format, path: &Path, file: File) -> Result<Sink, String> {
        Sink::new(format, path.display().to_string(), Box::new(BufWriter::new(file)), false)
    }

    pub(crate) fn draft(format: Format, draft: Draft) -> Result<Sink, String> {
        let Draft { file, path } = draft;
        let (file, part) = file.into_parts();
        let sink = Sink::file(format, &path, file)?;
        Ok(Sink { moved: Some((part, path)), ..sink })
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
            .and_then(|()| moved.map_or(Ok(()), |(part, path)| Ok(part.persist(path)?)))
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
