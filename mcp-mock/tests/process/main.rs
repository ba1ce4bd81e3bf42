//! `mcp-mock serve` as a process among processes: signals, full pipes, odd descriptors.
#![allow(clippy::unwrap_used, missing_docs)]

mod descriptors;
mod lines;
mod output;
mod signals;
mod usage;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// Long enough for a busy machine, short enough to fail.
const PATIENCE: Duration = Duration::from_secs(60);

/// Documents and their folder, which is gone with the value.
struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    /// A server `s` whose tools are written in flow style.
    fn new(tools: &str) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "{{schemaVersion: \"2.0\", scenario: s, mcp_mocks: [{{name: s, tools: {tools}}}]}}"
        );
        std::fs::write(folder.path().join("fixture.yaml"), text).unwrap();
        Fixture { folder }
    }

    /// An instant tool, a slow one, and one whose answer has `bytes` bytes.
    fn usual(bytes: usize) -> Fixture {
        let text = "x".repeat(bytes);
        Fixture::new(&format!(
            "{{now: {{responses: [{{text: done}}]}}, slow: {{responses: [{{text: slept, delay_ms: 5000}}]}}, \
             nap: {{responses: [{{text: slept, delay_ms: 300}}]}}, big: {{responses: [{{text: \"{text}\"}}]}}}}"
        ))
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("fixture.yaml")
    }

    /// The command line that serves the document.
    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-mock"));
        command.arg("serve").arg(self.path());
        command
    }

    fn piped(&self) -> Child {
        self.piped_with_stderr(Stdio::null())
    }

    fn piped_with_stderr(&self, stderr: impl Into<Stdio>) -> Child {
        let mut command = self.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap()
    }
}

fn spawn(command: &mut Command) -> Child {
    command.stderr(Stdio::null()).spawn().unwrap()
}

fn call(id: usize, tool: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{{}}}}}}\n"
    )
}

fn ping(id: usize) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")
}

fn send(child: &mut Child, text: &str) {
    child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
}

/// Sends the handshake and waits for its answer.
fn shake_hands(child: &mut Child) {
    send(child, &format!("{INITIALIZE}\n"));
    assert!(read_line(child).contains("protocolVersion"));
}

/// Reads byte for byte, so that nothing behind the line is lost.
fn read_line(child: &mut Child) -> String {
    let stdout = child.stdout.as_mut().unwrap();
    let mut line = Vec::new();
    let mut byte = [0];
    while stdout.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    String::from_utf8(line).unwrap()
}

fn signal(child: &Child, signal: Signal) {
    nix::sys::signal::kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

/// Waits for the end, and fails instead of waiting for ever.
fn end(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the server did not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn assert_exit(child: &mut Child, code: i32) {
    let status = end(child);
    assert_eq!(status.code(), Some(code), "{status}");
}

fn assert_killed(child: &mut Child, signal: Signal) {
    let status = end(child);
    assert_eq!(status.signal(), Some(signal as i32), "{status}");
}

fn lines(reader: impl Read) -> Vec<String> {
    BufReader::new(reader).lines().map(Result::unwrap).collect()
}

/// A field of `/proc/PID/status`.
fn status_field(child: &Child, field: &str) -> String {
    let text =
        std::fs::read_to_string(Path::new("/proc").join(child.id().to_string()).join("status"))
            .unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim_start_matches(':').trim().to_owned()
}
