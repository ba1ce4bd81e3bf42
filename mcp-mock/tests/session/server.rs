//! A server process, and what is said to it.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::{Value, json};

use crate::{PATIENCE, wait_until};

/// A server process; killed with the value.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: BufReader<ChildStdout>,
    pub(crate) next_id: u64,
}

impl Server {
    pub(crate) fn start(command: &mut Command) -> Server {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Server { child, stdin, stdout, next_id: 1 }
    }

    pub(crate) fn shake_hands(&mut self) {
        self.send(&hello());
        assert!(self.receive()["result"]["protocolVersion"].is_string());
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        self.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Sends a call and does not wait; the id of it.
    pub(crate) fn begin(&mut self, tool: &str) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&request(id, tool, &json!({})));
        id
    }

    pub(crate) fn cancel(&mut self, id: u64) {
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id}}));
    }

    /// The result of a call, or its error.
    pub(crate) fn call_with(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&request(id, tool, arguments));
        let mut reply = self.receive();
        assert_eq!(reply["id"], id, "{reply}");
        let key = if reply.get("result").is_some() { "result" } else { "error" };
        reply[key].take()
    }

    pub(crate) fn call(&mut self, tool: &str) -> Value {
        self.call_with(tool, &json!({}))
    }

    /// The text of a call that is no error.
    pub(crate) fn text(&mut self, tool: &str) -> String {
        let result = self.call(tool);
        assert!(result.get("isError").is_none(), "{result}");
        text_of(&result)
    }

    /// The reason why a mock gave no answer of its document, and the text of it.
    pub(crate) fn refusal(&mut self, tool: &str) -> (String, String) {
        let result = self.call(tool);
        (reason_of(&result), text_of(&result))
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.send(&json!({"jsonrpc": "2.0", "id": "alive", "method": "ping"}));
        self.receive()["id"] == "alive"
    }

    /// The next message; fails instead of waiting for ever.
    pub(crate) fn receive(&mut self) -> Value {
        assert!(self.has_output(PATIENCE), "the server is silent");
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) fn has_output(&self, patience: Duration) -> bool {
        let stdout = self.stdout.get_ref().as_fd();
        let mut fds = [PollFd::new(stdout, PollFlags::POLLIN)];
        let patience = PollTimeout::try_from(patience).unwrap();
        !self.stdout.buffer().is_empty() || poll(&mut fds, patience).unwrap() > 0
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends the input.
    pub(crate) fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Waits for the end, and fails instead of waiting for ever.
    pub(crate) fn exit(&mut self) -> ExitStatus {
        let mut status = None;
        wait_until(|| {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// Ends the input, and wants a clean end.
    pub(crate) fn end(mut self) {
        self.hang_up();
        assert_eq!(self.exit().code(), Some(0));
    }

    pub(crate) fn kill(mut self) {
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

/// The handshake.
pub(crate) fn hello() -> Value {
    json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "tester", "version": "1.2"}}})
}

pub(crate) fn request(id: u64, tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments}})
}

pub(crate) fn text_of(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}

pub(crate) fn reason_of(result: &Value) -> String {
    assert_eq!(result["isError"], true, "{result}");
    result["_meta"]["mcp-mock/reason"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}
