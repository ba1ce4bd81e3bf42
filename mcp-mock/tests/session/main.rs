//! Sessions and their journal, through processes that come, go and are killed.
//!
//! The journal is read here line by line, without the product's own reader.
#![allow(clippy::unwrap_used, missing_docs)]

mod client_scope;
mod commands;
mod journal_file;
mod looking;
mod reset;

use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::{Value, json};

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
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A server process; killed with the value.
struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next_id: u64,
}

impl Server {
    fn start(command: &mut Command) -> Server {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Server { child, stdin, stdout, next_id: 1 }
    }

    fn shake_hands(&mut self) {
        self.send(&json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "tester", "version": "1.2"}}}));
        assert!(self.receive()["result"]["protocolVersion"].is_string());
    }

    fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    fn send_line(&mut self, line: &str) {
        self.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Sends a call and does not wait; the id of it.
    fn begin(&mut self, tool: &str) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&request(id, tool, &json!({})));
        id
    }

    fn cancel(&mut self, id: u64) {
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id}}));
    }

    /// The result of a call, or its error.
    fn call_with(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&request(id, tool, arguments));
        let mut reply = self.receive();
        assert_eq!(reply["id"], id, "{reply}");
        let key = if reply.get("result").is_some() { "result" } else { "error" };
        reply[key].take()
    }

    fn call(&mut self, tool: &str) -> Value {
        self.call_with(tool, &json!({}))
    }

    /// The text of a call that is no error.
    fn text(&mut self, tool: &str) -> String {
        let result = self.call(tool);
        assert!(result.get("isError").is_none(), "{result}");
        text_of(&result)
    }

    /// The reason why a mock gave no answer of its document, and the text of it.
    fn refusal(&mut self, tool: &str) -> (String, String) {
        let result = self.call(tool);
        (reason_of(&result), text_of(&result))
    }

    fn is_alive(&mut self) -> bool {
        self.send(&json!({"jsonrpc": "2.0", "id": "alive", "method": "ping"}));
        self.receive()["id"] == "alive"
    }

    /// The next message; fails instead of waiting for ever.
    fn receive(&mut self) -> Value {
        assert!(self.has_output(PATIENCE), "the server is silent");
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn has_output(&self, patience: Duration) -> bool {
        let stdout = self.stdout.get_ref().as_fd();
        let mut fds = [PollFd::new(stdout, PollFlags::POLLIN)];
        let patience = PollTimeout::try_from(patience).unwrap();
        !self.stdout.buffer().is_empty() || poll(&mut fds, patience).unwrap() > 0
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends the input.
    fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Waits for the end, and fails instead of waiting for ever.
    fn exit(&mut self) -> ExitStatus {
        let mut status = None;
        wait_until(|| {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// Ends the input, and wants a clean end.
    fn end(mut self) {
        self.hang_up();
        assert_eq!(self.exit().code(), Some(0));
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn request(id: u64, tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments}})
}

fn text_of(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}

fn reason_of(result: &Value) -> String {
    assert_eq!(result["isError"], true, "{result}");
    result["_meta"]["mcp-mock/reason"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}
