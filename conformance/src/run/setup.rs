//! What a run needs, made one after the other: workspace, session, configuration,
//! and a look at every mock before anybody depends on it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fixtures::document::task::{Expectation, LiveServer, Task};
use fixtures::document::{Document, Executable, OnUnmatched};
use fixtures::session::Session;

use super::tries;
use crate::grade;
use crate::results::{Mode, Modes};
use crate::wiring;
use crate::workspace;

/// A run that can begin.
#[derive(Debug)]
pub(super) struct Wired {
    /// The run's own folder.
    pub(super) folder: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) before: workspace::Snapshot,
    pub(super) session: Session,
    pub(super) mcp_json: PathBuf,
    /// The servers of it.
    pub(super) servers: BTreeMap<String, LiveServer>,
    pub(super) path: OsString,
    /// What was generated, as far as it stands.
    pub(super) made: Vec<PathBuf>,
}

/// What went wrong, and what had been made by then.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) reason: String,
    pub(super) made: Vec<PathBuf>,
}

impl Failed {
    /// The reason, and every file that was generated so far.
    pub(super) fn told(&self) -> String {
        let made: Vec<String> = self
            .made
            .iter()
            .filter(|path| path.exists())
            .map(|path| path.display().to_string())
            .collect();
        match made.is_empty() {
            true => self.reason.clone(),
            false => format!("{}; generated so far: {}", self.reason, made.join(", ")),
        }
    }
}

/// The mocks that hold for a task: its own lists replace the document's. A
/// command that is limited and not mocked gets a shim that refuses, and what is
/// expected of the circumstances of a call is recorded.
pub(crate) fn effective(document: &Document, task: &Task, expect: &Expectation) -> Document {
    let mut document = document.clone();
    if let Some(mocks) = &task.mcp_mocks {
        document.mcp_mocks.clone_from(mocks);
    }
    if let Some(mocks) = &task.command_mocks {
        document.command_mocks.clone_from(mocks);
    }
    let limits = || expect.any_of.iter().chain([expect]).flat_map(|it| &it.limits);
    for name in limits().filter_map(|limit| limit.command.as_ref()) {
        if !document.command_mocks.iter().any(|mock| mock.name.eq_ignore_ascii_case(name)) {
            document.command_mocks.push(Executable::refusing(name.clone()));
        }
    }
    let calls = grade::required(expect);
    let calls = calls.map(|it| (&it.command, it.stdin.is_some(), &it.environment));
    let limited = limits().map(|it| (&it.command, it.stdin.is_some(), &it.environment));
    for (name, asks_stdin, environment) in calls.chain(limited) {
        let mocks = &mut document.command_mocks;
        let Some(mock) = mocks.iter_mut().find(|mock| Some(&mock.name) == name.as_ref()) else {
            continue;
        };
        mock.record_stdin |= asks_stdin && mock.on_unmatched == OnUnmatched::Fail;
        let known = mock.record_environment.clone();
        let new = environment.keys().filter(|name| !known.contains(name));
        mock.record_environment.extend(new.cloned());
    }
    document
}

/// How each dependency is configured.
pub(super) fn modes(document: &Document) -> Modes {
    let live = document.mcp_servers.keys().map(|name| (name.clone(), Mode::Live));
    let mocked = document.mcp_mocks.iter().map(|it| (it.name.clone(), Mode::Mocked));
    let commands = document.command_mocks.iter().map(|it| (it.name.clone(), Mode::Mocked));
    Modes { mcp: live.chain(mocked).collect(), commands: commands.collect() }
}

/// Makes everything in `folder`, which is empty and the run's own.
pub(super) fn wire(
    document: &Document,
    task: &Task,
    base: &Path,
    timeout: Duration,
    folder: &Path,
) -> Result<Wired, Failed> {
    let mut made = Vec::new();
    match wire_noting(document, task, base, timeout, folder, &mut made) {
        Ok(wired) => Ok(Wired { made, ..wired }),
        Err(reason) => Err(Failed { reason, made }),
    }
}

fn wire_noting(
    document: &Document,
    task: &Task,
    base: &Path,
    timeout: Duration,
    folder: &Path,
    made: &mut Vec<PathBuf>,
) -> Result<Wired, String> {
    let mut note = |path: PathBuf| {
        made.push(path.clone());
        path
    };
    let workspace = note(folder.join("workspace"));
    workspace::make(task, base, &workspace)?;
    // The agent sees it without links on the way.
    let workspace = workspace
        .canonicalize()
        .map_err(|error| format!("cannot resolve `{}`: {error}", workspace.display()))?;
    let before = workspace::look(&workspace)?;
    let place = note(folder.join("session"));
    let session = wiring::make(document.clone(), base, &workspace, Some(timeout), &place)?;
    wiring::can_be_started(&session)?;
    let mcp_json = note(folder.join("mcp.json"));
    let servers = wiring::servers(document.mcp_servers.clone(), &session)?;
    wiring::write_mcp_json(&mcp_json, &servers)?;
    let path = wiring::path(&session)?;
    for mock in &document.mcp_mocks {
        tries::server(&mock.name, &servers[&mock.name])?;
    }
    for name in session.executable_names() {
        tries::shim(&session, name, &path)?;
    }
    let folder = folder.to_owned();
    Ok(Wired { folder, workspace, before, session, mcp_json, servers, path, made: Vec::new() })
}
