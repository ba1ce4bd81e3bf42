//! `agent-conformance wire`: a session and configuration for somebody else's harness.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fixtures::client::Known;
use fixtures::document::Document;
use fixtures::document::task::Task;
use fixtures::session::Session;

use crate::cli::WireArgs;
use crate::exit::Exit;
use crate::find;
use crate::run::setup;
use crate::wiring;

pub(crate) fn run(args: &WireArgs) -> Exit {
    let mut wiring = Wiring { made: Vec::new() };
    let wired = wiring.all(args);
    match wired {
        Ok(()) => crate::print(wiring.told().as_bytes()),
        Err(reason) => crate::complain(&wiring.failed(&reason, args.clean)),
    }
}

/// What was made, and what it is for.
struct Wiring {
    made: Vec<(PathBuf, &'static str)>,
}

impl Wiring {
    fn all(&mut self, args: &WireArgs) -> Result<(), String> {
        let document = document(args)?;
        if document.mcp_mocks.is_empty() && document.command_mocks.is_empty() {
            return Err(format!("`{}` mocks nothing", args.fixture.display()));
        }
        wiring::can_be_played(&document)?;
        let known = Known::find(&args.client)?;
        let out = self.directory(&args.out)?;
        let place = out.join("session");
        self.made.push((place.clone(), "the session: plans, shims, and the record"));
        let base = fixtures::session::verbs::base(&args.fixture);
        let workspace = fixtures::session::verbs::workspace(None)?;
        let session = wiring::make(document.clone(), base, &workspace, None, &place)?;
        wiring::can_be_started(&session)?;
        let what = "MCP servers, mocked and live, for any client";
        let file = self.file(out.join("mcp.json"), what);
        let servers = wiring::servers(document.mcp_servers.clone(), &session)?;
        wiring::write_mcp_json(&file, &servers)?;
        if !document.mcp_mocks.is_empty() {
            self.client(known, &out, &place)?;
        }
        if !document.command_mocks.is_empty() {
            self.shell(&out, &session)?;
        }
        advise(&document, &place);
        Ok(())
    }

    /// Makes the directory, unless it is there and empty.
    fn directory(&mut self, out: &Path) -> Result<PathBuf, String> {
        let failed = |error: std::io::Error| format!("cannot make `{}`: {error}", out.display());
        match fs::read_dir(out).map(Iterator::count) {
            Ok(0) => {}
            Ok(_) => {
                return Err(format!("`{}` is not empty: choose another `--out`", out.display()));
            }
            Err(_) => {
                // Configurations may hold what is nobody else's business.
                fs::DirBuilder::new().mode(0o700).create(out).map_err(failed)?;
                self.made.push((out.to_owned(), ""));
            }
        }
        out.canonicalize().map_err(failed)
    }

    fn file(&mut self, file: PathBuf, what: &'static str) -> PathBuf {
        self.made.push((file.clone(), what));
        file
    }

    /// Has `mcp-mock`, which knows how it is started, write the configuration of the client.
    fn client(&mut self, known: &Known, out: &Path, session: &Path) -> Result<(), String> {
        let mut config = Command::new(find::own("mcp-mock")?);
        config.arg("config").args(["--for", known.name, "--session"]).arg(session);
        let output = config.stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("cannot start `mcp-mock`: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("there is no configuration for it: {}", said.trim()));
        }
        let what = "the mocked servers, as the client reads them";
        let file = self.file(out.join(known.client().file), what);
        written(&file, &output.stdout)?;
        crate::note(&said.trim_end());
        Ok(())
    }

    /// Has `cli-shim` say what puts the shims first on PATH.
    fn shell(&mut self, out: &Path, session: &Session) -> Result<(), String> {
        let mut env = Command::new(find::own("cli-shim")?);
        env.arg("env").arg(session.directory()).args(["--shell", "sh"]).stdin(Stdio::null());
        let output = env.output().map_err(|error| format!("cannot start `cli-shim`: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
        let file = self.file(
            out.join("env.sh"),
            "puts the mocked executables first on PATH: read it with `.`",
        );
        written(&file, &output.stdout)
    }

    /// One line a file.
    fn told(&self) -> String {
        let made = self.made.iter().filter(|(_, what)| !what.is_empty());
        let lines = made.map(|(path, what)| format!("{}\t{what}\n", path.display()));
        lines.collect()
    }

    fn failed(&self, reason: &str, is_cleaned: bool) -> String {
        let made = self.made.iter().map(|(path, _)| path).filter(|path| path.exists());
        let made: Vec<&PathBuf> = made.collect();
        if made.is_empty() {
            return reason.to_owned();
        }
        let names: Vec<String> = made.iter().map(|path| path.display().to_string()).collect();
        let names = names.join(", ");
        if !is_cleaned {
            return format!("{reason}; generated so far: {names}; `--clean` removes such files");
        }
        for path in made {
            let removed =
                if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            if let Err(error) = removed
                && path.exists()
            {
                return format!("{reason}; cannot remove `{}`: {error}", path.display());
            }
        }
        format!("{reason}; removed again: {names}")
    }
}

/// The document, with the mocks that hold for its tasks, or for the one that is named.
fn document(args: &WireArgs) -> Result<Document, String> {
    let document = fixtures::load(&args.fixture, crate::is_styled())?;
    let ids = || {
        let ids = document.tasks.iter().map(|task| format!("`{}`", task.id));
        ids.collect::<Vec<_>>().join(", ")
    };
    let tasks: Vec<&Task> = match &args.task {
        None => document.tasks.iter().collect(),
        Some(id) => document.tasks.iter().filter(|task| task.id == *id).collect(),
    };
    let mut effective = tasks.iter().map(|task| setup::effective(&document, task, &task.expect));
    match (effective.next(), &args.task) {
        (None, Some(id)) => Err(format!("there is no task `{id}`; the tasks are {}", ids())),
        (None, None) => Ok(document.clone()),
        (Some(first), _) if effective.all(|other| other == first) => Ok(first),
        (Some(_), _) => {
            let ids = ids();
            Err(format!("the mocks of its tasks differ: choose one with `--task`, of {ids}"))
        }
    }
}

/// Says what else there is to know.
fn advise(document: &Document, session: &Path) {
    let is_mocked = |name: &String| document.mcp_mocks.iter().any(|mock| mock.name == *name);
    let live = document.mcp_servers.keys().filter(|name| !is_mocked(name));
    let live: Vec<&str> = live.map(String::as_str).collect();
    if !live.is_empty() {
        crate::note(&format!("Live servers, in mcp.json alone: {}", live.join(", ")));
    }
    let session = shell_words::quote(&session.to_string_lossy()).into_owned();
    let program = if document.mcp_mocks.is_empty() { "cli-shim" } else { "mcp-mock" };
    crate::note(&format!("See the evidence: {program} status {session}"));
    crate::note(&format!("End it:           {program} close {session}"));
}

fn written(file: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(file, bytes).map_err(|error| format!("cannot write `{}`: {error}", file.display()))
}
