//! Where results go, and where runs take place.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::Planned;
use crate::cli::{Format, Report, RunArgs};
use crate::report::sink::{self, Draft, Sink};
use crate::results::{Record, Tally};
use crate::workspace;

/// So much of a run's name stands in the name of its folder.
const MAX_NAME_CHARS: usize = 80;

/// Where results go.
#[derive(Debug)]
pub(super) struct Output {
    /// Where sessions are kept, if they are.
    sessions: Option<PathBuf>,
    results: Option<PathBuf>,
    /// Reports, and the open files that they go to, else stdout.
    reports: Vec<(Report, Option<File>)>,
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
        let mut output = Output { sessions: None, results: None, reports: Vec::new() };
        if let Some(out) = &args.out {
            let failed = |error| format!("cannot make `{}`: {error}", out.display());
            fs::create_dir_all(out).map_err(failed)?;
            // Agents run elsewhere.
            let out = out.canonicalize().map_err(failed)?;
            let sessions = out.join("sessions");
            if args.keep_sessions && sessions.exists() {
                return Err(format!(
                    "`{}` is there already: remove it, or choose another `--out`",
                    sessions.display()
                ));
            }
            output.sessions = args.keep_sessions.then_some(sessions);
            output.results = Some(out.join("results.json"));
        }
        let mut reports = args.reports.clone();
        if reports.iter().all(|report| report.file.is_some()) {
            reports.push(Report { format: Format::Text, file: None });
        }
        apart(&reports, output.results.as_deref())?;
        for report in reports {
            let file = report.file.as_deref().map(sink::create).transpose()?;
            output.reports.push((report, file));
        }
        Ok(output)
    }

    /// The file that will hold the results; one whom signals end would leave it behind.
    pub(super) fn draft(&self) -> Result<Option<Draft>, String> {
        self.results.clone().map(Draft::new).transpose()
    }

    /// Makes the folder of all runs, which goes with the value.
    pub(super) fn folder(&self) -> Result<Folder, String> {
        let path = workspace::temporary()?.keep();
        let sessions = self.sessions.clone().unwrap_or_else(|| path.join("runs"));
        let folder = Folder { path, sessions };
        fs::create_dir(&folder.sessions)
            .map_err(|error| format!("cannot make `{}`: {error}", folder.sessions.display()))?;
        Ok(folder)
    }

    /// Writes every record to every report, and counts it. What cannot be
    /// written keeps nothing from the others.
    pub(super) fn write(
        self,
        draft: Option<Draft>,
        records: impl Iterator<Item = Result<Record, String>>,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let results = draft.map(|draft| Sink::draft(Format::Json, draft));
        let reports =
            self.reports.into_iter().map(|(Report { format, file }, open)| match file.zip(open) {
                Some((path, file)) => Sink::file(format, &path, file),
                None => Sink::stdout(format),
            });
        let mut sinks = results.into_iter().chain(reports).collect::<Result<Vec<_>, _>>()?;
        let mut failures = Vec::new();
        for record in records {
            let record = record?;
            tally.count(&record);
            sinks.retain_mut(|sink| sink.run(&record).map_err(|it| failures.push(it)).is_ok());
        }
        let summary = tally.summary();
        failures.extend(sinks.into_iter().filter_map(|sink| sink.finish(&summary).err()));
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
    }
}

/// Refuses reports of which one would be written over another, or over the results.
fn apart(reports: &[Report], results: Option<&Path>) -> Result<(), String> {
    let mut taken: BTreeSet<Option<PathBuf>> =
        results.map(|it| Some(it.to_owned())).into_iter().collect();
    for report in reports {
        let file = report.file.as_deref();
        // A pipe or a device holds whatever it is given.
        let is_stream = |file: &Path| file.metadata().is_ok_and(|it| !it.is_file());
        if file.is_some_and(is_stream) || taken.insert(file.map(whole)) {
            continue;
        }
        return Err(match file {
            Some(file) => format!(
                "`{}` would be written twice: give each report a file of its own",
                file.display()
            ),
            None => "two reports would go to stdout: give one of them a file, as in `--report json=results.json`".to_owned(),
        });
    }
    Ok(())
}

/// A path in one spelling, as far as its folder is there.
fn whole(file: &Path) -> PathBuf {
    let found = file.canonicalize().ok().or_else(|| {
        let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
        Some(folder.unwrap_or(Path::new(".")).canonicalize().ok()?.join(file.file_name()?))
    });
    found.unwrap_or_else(|| file.to_owned())
}

impl Folder {
    /// The place of one run.
    pub(super) fn of(&self, index: usize, run: Planned<'_>) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = run.name().chars().take(MAX_NAME_CHARS).map(plain).collect();
        self.sessions.join(format!("{index:04}-{name}"))
    }

    /// The place of one run, which is made.
    pub(super) fn made(&self, index: usize, run: Planned<'_>) -> PathBuf {
        let place = self.of(index, run);
        // Where it cannot be made, nothing can be made in it, and that is told.
        let _ = fs::create_dir(&place);
        place
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What a failed run leaves behind is named in its record, and stays.
        let _ = fs::remove_dir(self.path.join("runs"));
        let _ = fs::remove_dir(&self.path);
    }
}
