//! One run, top to bottom: a session, a workspace, the agent, and what was seen.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fixtures::document::task::{Action, Expectation, LiveServer, Task};
use fixtures::document::{Document, Executable, OnUnmatched};
use fixtures::journal::fold::Fold;
use fixtures::journal::record::SessionEnd;
use fixtures::session::{self, Making, Session};
use serde_json::{Map, Value, json};

use crate::exec::wiring;
use crate::find;
use crate::supervise::{self, Order, Outcome};
use crate::workspace::{self, Difference, Snapshot};

/// Who does the task.
#[derive(Debug, Clone)]
pub(crate) enum Agent<'a> {
    /// The scripted agent, with this script.
    Scripted(&'a [Action]),
    /// A command line, split into words, with placeholders.
    Command(&'a [String]),
}

/// What is run.
#[derive(Debug, Clone)]
pub(crate) struct Run<'a> {
    /// The document, or its twin without faults.
    pub(crate) document: &'a Document,
    /// Where the files that the document names are.
    pub(crate) base: &'a Path,
    pub(crate) task: &'a Task,
    /// What must be seen: the task's, or its twin's.
    pub(crate) expect: &'a Expectation,
    pub(crate) agent: Agent<'a>,
    pub(crate) timeout: Duration,
}

/// What was seen of a run.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) fold: Fold,
    pub(crate) changes: Vec<Difference>,
    /// What the agent said on standard output.
    pub(crate) answer: String,
    pub(crate) outcome: Outcome,
    /// How each dependency was configured.
    pub(crate) modes: Modes,
    /// What tells equal secrets, for the graders.
    pub(crate) redaction_key: String,
    /// The workspace as it is at the end.
    pub(crate) workspace: PathBuf,
}

/// `{"mcp": {NAME: "mocked" or "live"}, "commands": {NAME: "mocked"}}`
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Modes {
    pub(crate) mcp: Vec<(String, &'static str)>,
    pub(crate) commands: Vec<(String, &'static str)>,
}

/// Plays a run in `folder`, which is empty and the run's own.
pub(crate) fn play(run: &Run<'_>, folder: &Path) -> Result<Seen, String> {
    let document = effective(run);
    let modes = modes(&document, run.document);
    let workspace = folder.join("workspace");
    workspace::make(run.task, run.base, &workspace)?;
    let before = workspace::look(&workspace)?;
    let names: Vec<String> = document.mcp_mocks.iter().map(|it| it.name.clone()).collect();
    let live = run.document.mcp_servers.clone();
    let session = make(document, run, &workspace, &folder.join("session"))?;
    wiring::can_be_started(&session)?;
    let mcp_json = folder.join("mcp.json");
    write_mcp_json(&mcp_json, &session, &names, live)?;
    let order = order(run, &session, &mcp_json, &workspace, folder)?;
    let outcome = supervise::finish(supervise::start(&order)?)?;
    // From here on nobody adds evidence.
    session.close(SessionEnd::Runner)?;
    let after = workspace::look(&workspace)?;
    let answer = fs::read(&order.stdout)
        .map_err(|error| format!("cannot read what the agent said: {error}"))?;
    Ok(Seen {
        fold: session.fold()?,
        changes: changes(&before, &after),
        answer: String::from_utf8_lossy(&answer).into_owned(),
        outcome,
        modes,
        redaction_key: session.redaction_key().to_owned(),
        workspace,
    })
}

fn changes(before: &Snapshot, after: &Snapshot) -> Vec<Difference> {
    workspace::differences(before, after)
}

/// The mocks that hold for the task: its own lists replace the document's. A
/// command that is limited and not mocked gets a shim that refuses.
fn effective(run: &Run<'_>) -> Document {
    let mut document = run.document.clone();
    if let Some(mocks) = &run.task.mcp_mocks {
        document.mcp_mocks.clone_from(mocks);
    }
    if let Some(mocks) = &run.task.command_mocks {
        document.command_mocks.clone_from(mocks);
    }
    let limits = run.expect.limits.iter();
    for name in limits.filter_map(|limit| limit.command.as_ref()) {
        if !document.command_mocks.iter().any(|mock| mock.name.eq_ignore_ascii_case(name)) {
            document.command_mocks.push(Executable {
                name: name.clone(),
                expect_calls: None,
                on_unmatched: OnUnmatched::Fail,
                explain: false,
                responses: Vec::new(),
            });
        }
    }
    document
}

fn modes(effective: &Document, document: &Document) -> Modes {
    let mocked = effective.mcp_mocks.iter().map(|it| (it.name.clone(), "mocked"));
    let mut mcp: Vec<_> = mocked.collect();
    for name in document.mcp_servers.keys() {
        if !mcp.iter().any(|(mocked, _)| mocked == name) {
            mcp.push((name.clone(), "live"));
        }
    }
    mcp.sort();
    let commands = effective.command_mocks.iter().map(|it| (it.name.clone(), "mocked"));
    Modes { mcp, commands: commands.collect() }
}

fn make(
    document: Document,
    run: &Run<'_>,
    workspace: &Path,
    place: &Path,
) -> Result<Session, String> {
    let shim = (!document.command_mocks.is_empty()).then(|| find::own("cli-shim")).transpose()?;
    let workspace = workspace
        .canonicalize()
        .map_err(|error| format!("cannot resolve `{}`: {error}", workspace.display()))?;
    let making = Making {
        document,
        base: run.base,
        workspace,
        deadline: session::Deadline::after(run.timeout),
        call_timeout: None,
        shim,
        mode: 0o700,
        owner: None,
        is_durable: false,
        allows_network_fs: false,
    };
    session::make(place, making)
}

/// Mocks, and the live servers that no mock replaces.
fn write_mcp_json(
    file: &Path,
    session: &Session,
    mocked: &[String],
    live: std::collections::BTreeMap<String, LiveServer>,
) -> Result<(), String> {
    let mut servers = Map::new();
    if !mocked.is_empty() {
        let program = find::own("mcp-mock")?;
        let (program, directory) = (wiring::utf8(&program)?, wiring::utf8(session.directory())?);
        for name in mocked {
            let args = ["serve", "--session", directory, "--server", name];
            servers.insert(name.clone(), json!({"command": program, "args": args, "env": {}}));
        }
    }
    for (name, LiveServer { command, args, env }) in live {
        let server = json!({"command": command, "args": args, "env": env});
        servers.entry(name).or_insert(server);
    }
    let configuration = json!({"mcpServers": Value::Object(servers)});
    fs::write(file, format!("{configuration:#}\n"))
        .map_err(|error| format!("cannot write `{}`: {error}", file.display()))
}

/// What the supervisor starts.
fn order(
    run: &Run<'_>,
    session: &Session,
    mcp_json: &Path,
    workspace: &Path,
    folder: &Path,
) -> Result<Order, String> {
    let path = wiring::path(session)?;
    let text = |path: &Path| wiring::utf8(path).map(str::to_owned);
    let (program, arguments) = match run.agent {
        Agent::Scripted(script) => {
            let file = folder.join("script.json");
            let actions = serde_json::to_string(script).expect("string keys always serialise");
            fs::write(&file, actions)
                .map_err(|error| format!("cannot write `{}`: {error}", file.display()))?;
            let this = std::env::current_exe()
                .map_err(|error| format!("cannot tell where this program is: {error}"))?;
            (this, vec!["scripted".to_owned(), text(&file)?, text(mcp_json)?])
        }
        Agent::Command(words) => {
            let prompt = folder.join("prompt.txt");
            fs::write(&prompt, &run.task.prompt)
                .map_err(|error| format!("cannot write `{}`: {error}", prompt.display()))?;
            let places = [
                ("{prompt}", run.task.prompt.clone()),
                ("{prompt_file}", text(&prompt)?),
                ("{mcp_json}", text(mcp_json)?),
                ("{shim_dir}", text(&session.directory().join("bin"))?),
                ("{workspace}", text(workspace)?),
                ("{home}", std::env::var("HOME").unwrap_or_default()),
                ("{session}", text(session.directory())?),
            ];
            let mut words = words.iter().map(|word| fill_in(word, &places));
            let program = words.next().unwrap_or_default();
            let found = find::on_path(OsStr::new(&program), &path);
            let program = found.ok_or_else(|| format!("`{program}` was not found"))?;
            (program, words.collect())
        }
    };
    let path = path.into_string().map_err(|_| "PATH is not UTF-8".to_owned())?;
    Ok(Order {
        program: std::path::absolute(&program).unwrap_or(program),
        arguments,
        environment: vec![("PATH".to_owned(), path)],
        directory: workspace.to_owned(),
        stdout: folder.join("stdout.txt"),
        stderr: folder.join("stderr.txt"),
        timeout_ms: u64::try_from(run.timeout.as_millis()).unwrap_or(u64::MAX),
        runner: rustix::process::getpid().as_raw_nonzero().get(),
    })
}

/// The word with what its placeholders stand for; nothing that is filled in is looked at again.
fn fill_in(word: &str, places: &[(&str, String)]) -> String {
    let mut filled = String::new();
    let mut left = word;
    while let Some(at) = left.find('{') {
        filled.push_str(&left[..at]);
        left = &left[at..];
        match places.iter().find(|(name, _)| left.starts_with(name)) {
            Some((name, value)) => {
                filled.push_str(value);
                left = &left[name.len()..];
            }
            None => {
                filled.push('{');
                left = &left[1..];
            }
        }
    }
    filled + left
}

#[cfg(test)]
mod tests {
    use super::fill_in;

    #[test]
    fn what_is_filled_in_is_not_looked_at_again() {
        let places = [("{prompt}", "say {workspace}".to_owned()), ("{workspace}", "/w".to_owned())];
        assert_eq!(fill_in("-p={prompt}{x}{", &places), "-p=say {workspace}{x}{");
        assert_eq!(fill_in("{workspace}/{workspace}", &places), "/w//w");
    }
}
