//! `agents`, `check`, `list` and `wire` through real processes.
#![allow(clippy::unwrap_used, missing_docs)]

mod agents;
mod check;
#[path = "../common/mod.rs"]
mod common;
mod list;
mod wire;

use std::path::PathBuf;
use std::process::{Command, Output};

pub(crate) use common::program;

/// A directory of its own.
pub struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.0.path());
        command
    }

    /// Its standard output and standard error, after this exit status.
    pub fn run(&self, arguments: &[&str], exit: i32) -> (String, String) {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let [stdout, stderr] = [stdout, stderr].map(|it| String::from_utf8(it).unwrap());
        assert_eq!(status.code(), Some(exit), "{arguments:?}\n{stdout}\n{stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
        (stdout, stderr)
    }
}

/// A case with one tool, whose task has the rest of its members.
pub fn case(scenario: &str, task: &str) -> String {
    format!(
        r#"{{schemaVersion: "2.0", scenario: {scenario}, class: busy, covers: [seed, x],
        mcp_mocks: [{{name: s, tools: {{t: {{sequence: [{{error: busy}}, {{return: 3}}]}}}}}}],
        tasks: [{{id: t, prompt: p, expect: {{calls: [{{tool: s.t, result: error}}], files: {{r: {{equals: "3"}}}}}}, {task}}}]}}"#
    )
}

pub const PROVEN: &str = "self_test: {good: [{call: s.t, until: success}], except: {report-without-calls: it reports nothing, wrong-outcome: the same}}";
