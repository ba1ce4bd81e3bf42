//! `agent-conformance exec` through real processes.
#![allow(clippy::unwrap_used, missing_docs)]

mod command;
#[path = "../common/mod.rs"]
mod common;
mod ending;
mod evidence;
mod help;
mod mocks;
#[path = "../common/processes.rs"]
mod processes;
mod real_client;
mod terminal;

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use common::program;

/// Long enough for a busy machine, short enough to fail.
const PATIENCE: Duration = Duration::from_secs(60);

/// Fails once, then works.
const GH: &str = r#"gh: [{stderr: "HTTP 502\n", exit_code: 1}, {stdout: "MERGED\n"}]"#;

/// The same of a tool.
const LOOKUP: &str = "orders.lookup: [{error: busy}, {return: {ok: true}}]";

/// A folder to run in, with a directory for temporary files. When the value
/// goes, nothing may be left there and no process may run that came from here.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(place.path("tmp")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// `agent-conformance exec` with these arguments.
    fn exec(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.arg("exec").args(args);
        self.settle(&mut command);
        command
    }

    /// Has a command run here.
    fn settle(&self, command: &mut Command) {
        command
            .current_dir(self.folder.path())
            .env("TMPDIR", self.path("tmp"))
            .env("CLIENT", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exec/client.py"))
            .env_remove("NO_COLOR")
            .stdin(Stdio::null());
    }

    /// Runs it to its end.
    fn run(&self, args: &[&str]) -> Run {
        Run::of(self.exec(args).output().unwrap())
    }

    /// Starts it, and waits until the file `ready` is there.
    fn start(&self, args: &[&str]) -> Child {
        let mut command = self.exec(args);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until(|| self.path("ready").exists());
        child
    }

    /// The processes that have this place in their environment.
    fn processes(&self) -> Vec<String> {
        processes::with_tmpdir(&self.path("tmp"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let left = std::fs::read_dir(self.path("tmp")).unwrap().flatten();
        let left: Vec<PathBuf> = left.map(|it| it.path()).collect();
        assert!(left.is_empty(), "left behind: {left:?}");
        let running = self.processes();
        assert!(running.is_empty(), "still running: {running:?}");
    }
}

/// How a run went.
#[derive(Debug)]
struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Run {
    fn of(output: Output) -> Run {
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

fn until(is_done: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_done() {
        assert!(Instant::now() < end, "waited in vain");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
