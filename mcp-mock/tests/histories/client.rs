//! A client of one server process: what it asked, and what it was told.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// What one server process was asked and what it said.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) pid: u32,
    pub(crate) is_killed: bool,
    /// The calls that were sent whole, by id: the tool.
    pub(crate) calls: BTreeMap<u64, String>,
    /// The ids that were withdrawn.
    pub(crate) withdrawn: Vec<u64>,
    /// The results of calls, by id.
    pub(crate) replies: BTreeMap<u64, Value>,
}

#[derive(Debug)]
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    pings: u64,
    told: Told,
}

impl Client {
    pub(crate) fn start(session: &Path) -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-mock"))
            .args(["serve", "--session"])
            .arg(session)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let told = Told { pid: child.id(), ..Told::default() };
        let mut client = Client { child, stdin, stdout, pings: 0, told };
        client.send(INITIALIZE);
        client
    }

    pub(crate) fn pid(&self) -> u32 {
        self.told.pid
    }

    fn send(&mut self, line: &str) {
        // The server reads all the time, so that a line is written whole.
        self.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn call(&mut self, id: u64, tool: &str, arguments: &Value) {
        self.told.calls.insert(id, tool.to_owned());
        let params = json!({"name": tool, "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        self.send(&call.to_string());
    }

    pub(crate) fn withdraw(&mut self, id: u64) {
        self.told.withdrawn.push(id);
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        self.send(&notice.to_string());
    }

    /// The newest call that was sent.
    pub(crate) fn last_call(&self) -> Option<u64> {
        self.told.calls.keys().next_back().copied()
    }

    /// Waits until everything that was sent was looked at.
    pub(crate) fn ping(&mut self) {
        self.pings += 1;
        let id = format!("ping {}", self.pings);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string());
        while self.read().is_some_and(|read| read != json!(id)) {}
    }

    /// Waits for that many replies to calls.
    pub(crate) fn replies(&mut self, wanted: usize) {
        while self.told.replies.len() < wanted && self.read().is_some() {}
    }

    /// Reads a line, and returns its id.
    fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        // A killed server may leave a piece of a line.
        let mut reply: Value = serde_json::from_str(line.strip_suffix('\n')?).unwrap();
        let id = reply["id"].take();
        if let Some(call) = id.as_u64() {
            let result = reply["result"].take();
            assert!(self.told.replies.insert(call, result).is_none(), "two replies to {call}");
        }
        Some(id)
    }

    pub(crate) fn kill(mut self) -> Told {
        self.child.kill().unwrap();
        self.told.is_killed = true;
        self.end()
    }

    /// Ends the input, and reads what is left; the server drains and exits.
    pub(crate) fn end(mut self) -> Told {
        drop(self.stdin.take());
        while self.read().is_some() {}
        let status = self.child.wait().unwrap();
        assert!(self.told.is_killed || status.success(), "{status}");
        self.told
    }
}
