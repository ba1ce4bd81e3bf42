//! Sessions and their journal, through processes that come, go and are killed.
//!
//! The journal is read here line by line, without the product's own reader.
#![allow(clippy::unwrap_used, missing_docs)]

mod client_scope;
mod close;
mod commands;
mod damage;
mod full_disk;
mod journal_file;
mod locks;
mod looking;
mod payloads;
mod readers;
mod records;
mod reset;
mod server;
mod torn;
mod violations;
mod withdrawn;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use server::{Server, reason_of, request, text_of};

/// Long enough for a busy machine, short enough to fail.
const PATIENCE: Duration = Duration::from_secs(60);

/// A sequence, a plain answer, and answers that take their time.
const TOOLS: &str = "{
  seq: {sequence: [{text: one}, {text: two}, {text: three}, {text: four}]},
  now: {responses: [{match: {}, text: done}]},
  nap: {sequence: [{text: first, delay_ms: 300}, {text: second}, {text: third}]},
  slow: {sequence: [{text: first, delay_ms: 60000}, {text: second}, {text: third}]}}";

/// A folder with documents and sessions, which is gone with the value.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// With a document `fixture.yaml` of a server `s` with [`TOOLS`].
    fn usual() -> Place {
        Place::with_tools(TOOLS)
    }

    /// The same with other tools, in flow style.
    fn with_tools(tools: &str) -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        place.write("fixture.yaml", &document(tools));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// The program, started in the folder.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-mock"));
        command.args(args).current_dir(self.folder.path());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).stdin(Stdio::null()).output().unwrap()
    }

    /// What a command prints that succeeds.
    fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a command says on stderr that is refused.
    fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert!(!stderr.is_empty(), "{args:?}");
        stderr
    }

    /// Makes the session `run` from the document.
    fn make(&self) {
        self.ok(&["session", "fixture.yaml", "--dir", "run"]);
    }

    /// A server with its handshake done.
    fn serve(&self, args: &[&str]) -> Server {
        let mut command = self.command(&["serve"]);
        let mut server = Server::start(command.args(args));
        server.shake_hands();
        server
    }

    /// A server of the session `run`.
    fn attach(&self) -> Server {
        self.serve(&["--session", "run"])
    }

    fn status(&self) -> Value {
        serde_json::from_str(&self.ok(&["status", "run", "--json"])).unwrap()
    }

    fn journal(&self) -> PathBuf {
        self.path("run/journal.jsonl")
    }

    fn records(&self) -> Vec<Value> {
        records(&self.journal())
    }

    /// The records of one type.
    fn of_type(&self, kind: &str) -> Vec<Value> {
        let mut records = self.records();
        records.retain(|record| record["type"] == kind);
        records
    }

    /// The types of all records, in order.
    fn types(&self) -> Vec<String> {
        self.records().iter().map(|record| record["type"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits for a record of that type.
    fn wait_for(&self, kind: &str) {
        wait_until(|| !self.of_type(kind).is_empty());
    }

    /// The names in the folder, sorted.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

fn document(tools: &str) -> String {
    format!("{{schemaVersion: \"2.0\", scenario: s, mcp_mocks: [{{name: s, tools: {tools}}}]}}")
}

/// The complete lines of a journal: `v` is 1, and `seq` is 1, 2, 3 … without gaps.
fn records(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let end = text.rfind('\n').map_or(0, |end| end + 1);
    let lines = text[..end].lines().map(|line| serde_json::from_str(line).unwrap());
    let records: Vec<Value> = lines.collect();
    for (record, seq) in records.iter().zip(1..) {
        assert_eq!((&record["v"], &record["seq"]), (&json!(1), &json!(seq)), "{record}");
    }
    records
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "it never came to be");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Says that a test could not be run here, and why.
#[allow(
    clippy::print_stderr,
    reason = "a test that did nothing should not look like one that passed"
)]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}
