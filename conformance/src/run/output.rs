//! Where results go, and where runs take place.

use std::fs;
use std::path::{Path, PathBuf};

use super::Planned;
use crate::cli::{Format, Report, RunArgs};
use crate::report::sink::{self, Sink};
use crate::results::{Record, Tally};

/// So much of a run's name stands in the name of its folder.
const MAX_NAME_CHARS: usize = 80;

/// Where results go.
#[derive(Debug)]
pub(super) struct Output {
    out: Option<PathBuf>,
    keeps_sessions: bool,
    reports: Vec<Report>,
}

/// Where runs take place.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    sessions: PathBuf,
}

impl Output {
    /// Sees to it that there is a place for everything, before anything runs.
    pub(super) fn open(args: &RunArgs) -> Result<Output, String> {
        if let Some(out) = &args.out {
            fs::create_dir_all(out)
                .map_err(|error| format!("cannot make `{}`: {error}", out.display()))?;
            if args.keep_sessions && out.join("sessions").exists() {
                return Err(format!(
                    "`{}` is there already: remove it, or choose another `--out`",
                    out.join("sessions").display()
                ));
            }
        }
        let mut reports = args.reports.clone();
        if reports.iter().all(|report| report.file.is_some()) {
            reports.push(Report { format: Format::Text, file: None });
        }
        for file in reports.iter().filter_map(|report| report.file.as_ref()) {
            sink::create(file)?;
        }
        Ok(Output { out: args.out.clone(), keeps_sessions: args.keep_sessions, reports })
    }

    /// Makes the folder of all runs, which goes with the value.
    pub(super) fn folder(&self) -> Result<Folder, String> {
        let made = tempfile::Builder::new().prefix("agent-conformance-").tempdir();
        let path =
            made.map_err(|error| format!("cannot make a temporary directory: {error}"))?.keep();
        let sessions = match &self.out {
            Some(out) if self.keeps_sessions => out.join("sessions"),
            _ => path.join("runs"),
        };
        let folder = Folder { path, sessions };
        fs::create_dir(&folder.sessions)
            .map_err(|error| format!("cannot make `{}`: {error}", folder.sessions.display()))?;
        Ok(folder)
    }

    /// Writes every record to every report, and counts it.
    pub(super) fn write(
        &self,
        records: impl Iterator<Item = Result<Record, String>>,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let mut sinks = Vec::new();
        if let Some(out) = &self.out {
            sinks.push(Sink::whole_file(Format::Json, &out.join("results.json"))?);
        }
        for Report { format, file } in &self.reports {
            sinks.push(match file {
                Some(file) => Sink::file(*format, file)?,
                None => Sink::stdout(*format)?,
            });
        }
        for record in records {
            let record = record?;
            tally.count(&record);
            for sink in &mut sinks {
                sink.run(&record)?;
            }
        }
        let summary = tally.summary();
        sinks.into_iter().try_for_each(|sink| sink.finish(&summary))
    }
}

impl Folder {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The place of one run, which is made.
    pub(super) fn of(&self, index: usize, run: Planned<'_>) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = run.name().chars().take(MAX_NAME_CHARS).map(plain).collect();
        let place = self.sessions.join(format!("{index:04}-{name}"));
        // Where it cannot be made, nothing can be made in it, and that is told.
        let _ = fs::create_dir(&place);
        place
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.path.join("records"));
        // What a failed run leaves behind is named in its record, and stays.
        let _ = fs::remove_dir(self.path.join("runs"));
        let _ = fs::remove_dir(&self.path);
    }
}
