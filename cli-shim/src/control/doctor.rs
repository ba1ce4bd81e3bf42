//! `cli-shim doctor`: which ways of starting a command reach the shims.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::ExitStatus;

use fixtures::journal::read::{self, What};
use fixtures::session::Session;
use fixtures::session::canary::Planted;
use serde_json::json;

use super::cli::DoctorArgs;
use super::probe::{End, Ran};
use super::routes::{self, Missing, Route};
use super::{DIFFERS, SUCCESS, image, install};

/// Where a call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reached {
    /// The shim: its record stands in the journal.
    Shim,
    /// The shim, whose record went elsewhere.
    Unrecorded,
    /// Something that says it cannot go on.
    Failed,
    /// Another program.
    Host,
    /// Nothing.
    NotFound,
    /// The program that would have started it is not there.
    NotInstalled,
}

impl Reached {
    fn told(self) -> &'static str {
        match self {
            Reached::Shim => "shim",
            Reached::Unrecorded => "not recorded",
            Reached::Failed => "failed",
            Reached::Host => "host",
            Reached::NotFound => "not found",
            Reached::NotInstalled => "not installed",
        }
    }
}

/// The calls of one route.
struct Row {
    route: Route,
    is_required: bool,
    /// Where the call of each name went, and what was said about it.
    names: BTreeMap<String, (Reached, String)>,
}

impl Row {
    fn reaches_shim(&self) -> bool {
        self.names.values().all(|(reached, _)| *reached == Reached::Shim)
    }
}

pub(super) fn run(args: &DoctorArgs) -> Result<i32, String> {
    let (session, place) = install::open(&args.dir)?;
    let place = Path::new(&place);
    let routes = routes::all(&args.shell_command);
    if let Some(unknown) =
        args.require.iter().find(|label| routes.iter().all(|it| it.label != **label))
    {
        let known: Vec<String> = routes.iter().map(|route| format!("`{}`", route.label)).collect();
        return Err(format!("there is no route `{unknown}`; the routes are {}", known.join(", ")));
    }
    if session.fold()?.is_closed {
        return Err(format!("the session at `{}` is closed: `reset` it first", place.display()));
    }
    let _alone = alone(place)?;
    let mut rows = Vec::new();
    for route in routes {
        let is_required = args.require.contains(&route.label);
        let names = call_all(&session, place, &route)?;
        rows.push(Row { route, is_required, names });
    }
    let names = session.executable_names();
    let dynamic = |name: &&&str| image::is_dynamic(&place.join("bin").join(name)) == Some(true);
    let dynamic: Vec<&str> = names.iter().filter(dynamic).copied().collect();
    let holds = rows.iter().all(|row| !row.is_required || row.reaches_shim());
    let text = if args.json { as_json(&rows, &dynamic, holds) } else { as_table(&rows, &dynamic) };
    super::print(text.as_bytes())?;
    Ok(if holds { SUCCESS } else { DIFFERS })
}

/// One doctor at a time, so that each record has one origin.
fn alone(place: &Path) -> Result<File, String> {
    let bin = place.join("bin");
    let failed = |error: io::Error| {
        format!(
            "cannot look at `{}`: {error}; make the session with `cli-shim install`",
            bin.display()
        )
    };
    let file = File::open(&bin).map_err(failed)?;
    file.try_lock().map_err(|error| match error {
        std::fs::TryLockError::WouldBlock => {
            format!("another doctor looks at `{}`: wait for its end", place.display())
        }
        std::fs::TryLockError::Error(error) => failed(error),
    })?;
    Ok(file)
}

/// Calls every mocked name by one route.
fn call_all(
    session: &Session,
    place: &Path,
    route: &Route,
) -> Result<BTreeMap<String, (Reached, String)>, String> {
    let planted = Planted::new(place, Some(&route.label))?;
    let before = records(place)?.len();
    let mut went = BTreeMap::new();
    for name in session.executable_names() {
        let outcome = match route.command(name, &planted.argument, &place.join("bin")) {
            Ok(mut command) => seen(name, &planted, &Ran::of(&mut command)),
            Err(Missing::Starter) => (Reached::NotInstalled, String::new()),
            Err(Missing::Command) => (Reached::NotFound, String::new()),
        };
        went.insert(name.to_owned(), outcome);
    }
    // What stands in the journal counts, whatever was seen.
    for entry in records(place)?.into_iter().skip(before) {
        if let What::CanaryReached(reached) = entry.what
            && reached.route == route.label
            && let Some(outcome) = went.get_mut(&reached.name)
        {
            *outcome = (Reached::Shim, String::new());
        }
    }
    Ok(went)
}

fn records(place: &Path) -> Result<Vec<read::Entry>, String> {
    read::records(&place.join("journal.jsonl")).map_err(|error| error.to_string())
}

/// Where a call went, as far as its output and its end tell.
fn seen(name: &str, planted: &Planted, ran: &Ran) -> (Reached, String) {
    let told = ran.complaint().to_owned();
    match &ran.end {
        _ if ran.stdout.contains(&planted.answer) => {
            let told = "its record is not in the journal of this session: perhaps a sandbox keeps what is written to itself";
            (Reached::Unrecorded, told.to_owned())
        }
        End::NotStarted(error) if error.kind() == io::ErrorKind::NotFound => {
            (Reached::NotFound, String::new())
        }
        End::NotStarted(error) => (Reached::Failed, error.to_string()),
        End::Late => (Reached::Failed, "it did not end in time, and was killed".to_owned()),
        // So says a shim that cannot serve; shells begin with their own name.
        End::Ended(status) if is_unserved(*status) && told.starts_with(&format!("{name}: ")) => {
            (Reached::Failed, told)
        }
        End::Ended(status) if is_unserved(*status) => (Reached::NotFound, told),
        End::Ended(_) => (Reached::Host, String::new()),
    }
}

fn is_unserved(status: ExitStatus) -> bool {
    status.code() == Some(127)
}

fn as_json(rows: &[Row], dynamic: &[&str], holds: bool) -> String {
    let routes: Vec<_> = rows
        .iter()
        .map(|row| {
            let told = row.names.iter().map(|(name, (reached, _))| (name, reached.told()));
            let details = row.names.iter().filter(|(_, (_, detail))| !detail.is_empty());
            let details = details.map(|(name, (_, detail))| (name, detail));
            json!({
                "route": row.route.label,
                "required": row.is_required,
                "reaches_shim": row.reaches_shim(),
                "names": told.collect::<BTreeMap<_, _>>(),
                "details": details.collect::<BTreeMap<_, _>>(),
            })
        })
        .collect();
    format!("{}\n", json!({"ok": holds, "routes": routes, "dynamic": dynamic}))
}

fn as_table(rows: &[Row], dynamic: &[&str]) -> String {
    let width = rows.iter().map(|row| row.route.label.chars().count()).max().unwrap_or_default();
    let mut text = format!("{:width$}  reaches\n", "route");
    for row in rows {
        let mut groups: BTreeMap<Reached, Vec<&str>> = BTreeMap::new();
        for (name, (reached, _)) in &row.names {
            groups.entry(*reached).or_default().push(name);
        }
        let is_one = groups.len() == 1;
        let groups = groups.iter().map(|(reached, names)| match is_one {
            true => reached.told().to_owned(),
            false => format!("{}: {}", reached.told(), names.join(", ")),
        });
        let reaches = groups.collect::<Vec<_>>().join("; ");
        let mark = if row.is_required && !row.reaches_shim() { "  (required)" } else { "" };
        text += &format!("{:width$}  {reaches}{mark}\n", row.route.label);
    }
    let mut told = String::new();
    for row in rows {
        for (name, (reached, detail)) in &row.names {
            if matches!(reached, Reached::Failed | Reached::Unrecorded) {
                told += &format!("\n{}, {name}: {detail}", row.route.label);
            }
        }
    }
    if !dynamic.is_empty() {
        told += &format!(
            "\ndynamic executables, which start more slowly than the static build: {}",
            dynamic.join(", ")
        );
    }
    if told.is_empty() { text } else { format!("{text}{told}\n") }
}
