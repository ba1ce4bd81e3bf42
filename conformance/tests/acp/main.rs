//! Agents that speak the Agent Client Protocol, through real processes.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../common/mod.rs"]
mod common;
mod ending;
mod running;
mod speaking;
mod waiting;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use common::program;

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/acp/agent.py");

/// A directory for one order.
struct Place {
    directory: tempfile::TempDir,
    order: Value,
}

/// What came of an order.
#[derive(Debug)]
struct Told {
    lines: Vec<Value>,
    complaint: String,
    exit: Option<i32>,
}

impl Place {
    /// An order for an agent that does what these words say.
    fn of(words: &[&str]) -> Place {
        let directory = tempfile::tempdir().unwrap();
        let command: Vec<&str> = ["python3", AGENT].iter().chain(words).copied().collect();
        let mcp_json = directory.path().join("mcp.json");
        fs::write(&mcp_json, r#"{"mcpServers": {}}"#).unwrap();
        let order = json!({
            "command": command,
            "mcp_json": mcp_json,
            "prompt": "do it",
            "workspace": directory.path(),
        });
        Place { directory, order }
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Place {
        self.order[name] = value.into();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self) -> Command {
        fs::write(self.path("order.json"), self.order.to_string()).unwrap();
        let mut command = Command::new(program());
        command.arg("acp").arg(self.path("order.json")).current_dir(self.path(""));
        command.env("ACP_LOG", self.path("log")).stdin(Stdio::null());
        command
    }

    fn told(&self) -> Told {
        Told::of(self.command().output().unwrap())
    }

    /// What the agent was sent, in order.
    fn sent(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.path("log")).unwrap();
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Told {
    fn of(output: Output) -> Told {
        let stdout = String::from_utf8(output.stdout).unwrap();
        Told {
            lines: stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
            complaint: String::from_utf8(output.stderr).unwrap(),
            exit: output.status.code(),
        }
    }

    /// Everything that the agent said, in one.
    fn said(&self) -> String {
        let said = |line: &Value| Some(line["content"]["text"].as_str()?.to_owned());
        self.lines.iter().filter_map(said).collect()
    }

    fn last(&self) -> &Value {
        self.lines.last().unwrap()
    }
}
