//! One run, top to bottom: a session, a workspace, the agent, and what was seen.

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
use crate::workspace::{self, Difference};

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
    /// What the scripted agent does.
    pub(crate) script: &'a [Action],
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
    /// Forbidden paths that are not as before.
    pub(crate) touched: Vec<String>,
    /// The last line that the agent wrote on standard error.
    pub(crate) complaint: String,
    /// What tells equal secrets, for the graders.
    pub(crate) redaction_key: String,
    /// The workspace as it is at the end.
    pub(crate) workspace: PathBuf,
}

/// Plays a run in `folder`, which is empty and the run's own.
///
/// `runs` is told when a supervisor has started, and when it has ended.
///
/// # Errors
/// Something could not be set up, or the supervisor was lost: no verdict on the agent.
pub(crate) fn play(run: &Run<'_>, folder: &Path, runs: impl Fn(i32, bool)) -> Result<Seen, String> {
    let document = effective(run);
    let workspace = folder.join("workspace");
    workspace::make(run.task, run.base, &workspace)?;
    let before = workspace::look(&workspace)?;
    let forbidden = forbidden(run.expect);
    let kept: Vec<_> = forbidden.iter().map(|path| workspace::state(path)).collect();
    let names: Vec<String> = document.mcp_mocks.iter().map(|it| it.name.clone()).collect();
    let live = run.document.mcp_servers.clone();
    let session = make(document, run, &workspace, &folder.join("session"))?;
    wiring::can_be_started(&session)?;
    let mcp_json = folder.join("mcp.json");
    write_mcp_json(&mcp_json, &session, &names, live)?;
    let order = order(run, &session, &mcp_json, &workspace, folder)?;
    let supervisor = supervise::start(&order)?;
    let pid = supervisor.id().cast_signed();
    runs(pid, true);
    let outcome = supervise::finish(supervisor);
    runs(pid, false);
    let outcome = outcome?;
    // From here on nobody adds evidence.
    session.close(SessionEnd::Runner)?;
    let after = workspace::look(&workspace)?;
    let answer = fs::read(&order.stdout)
        .map_err(|error| format!("cannot read what the agent said: {error}"))?;
    let complaint = fs::read(&order.stderr).unwrap_or_default();
    let complaint = String::from_utf8_lossy(&complaint);
    let touched = forbidden.iter().zip(kept).filter(|(path, kept)| workspace::state(path) != *kept);
    Ok(Seen {
        fold: session.fold()?,
        changes: workspace::differences(&before, &after),
        answer: String::from_utf8_lossy(&answer).into_owned(),
        outcome,
        touched: touched.map(|(path, _)| path.display().to_string()).collect(),
        complaint: complaint.lines().last().unwrap_or("it said nothing").to_owned(),
        redaction_key: session.redaction_key().to_owned(),
        workspace,
    })
}

/// The paths outside of the workspace that must stay as they are.
fn forbidden(expect: &Expectation) -> Vec<PathBuf> {
    let paths = expect.any_of.iter().chain([expect]).flat_map(|it| &it.forbid);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let whole = |path: &String| match (path.strip_prefix("~/"), &home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    };
    paths.map(whole).collect()
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
    let file = folder.join("script.json");
    let actions = serde_json::to_string(run.script).expect("string keys always serialise");
    fs::write(&file, actions)
        .map_err(|error| format!("cannot write `{}`: {error}", file.display()))?;
    let program = std::env::current_exe()
        .map_err(|error| format!("cannot tell where this program is: {error}"))?;
    let text = |path: &Path| wiring::utf8(path).map(str::to_owned);
    let arguments = vec!["scripted".to_owned(), text(&file)?, text(mcp_json)?];
    let path = path.into_string().map_err(|_| "PATH is not UTF-8".to_owned())?;
    Ok(Order {
        program,
        arguments,
        environment: vec![("PATH".to_owned(), path)],
        directory: workspace.to_owned(),
        stdout: folder.join("stdout.txt"),
        stderr: folder.join("stderr.txt"),
        timeout_ms: u64::try_from(run.timeout.as_millis()).unwrap_or(u64::MAX),
        runner: rustix::process::getpid().as_raw_nonzero().get(),
    })
}
