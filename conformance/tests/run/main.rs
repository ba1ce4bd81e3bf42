//! `agent-conformance run` and `grade` through real processes.
#![allow(clippy::unwrap_used, missing_docs)]

mod circumstances;
#[path = "../common/mod.rs"]
mod common;
mod contact;
mod errors;
mod grading;
mod ignored;
mod interrupts;
mod live;
mod probes;
#[path = "../common/processes.rs"]
mod processes;
mod selection;
mod terminal;
mod trials;
mod unproven;
mod user;
mod verdicts;
mod wiring;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

use common::program;

/// One command that fails once and then works, and a report.
const GH: &str = r#"{schemaVersion: "2.0", scenario: gh,
    command_mocks: [{name: gh, responses: [{args: [pr], sequence: [{stderr: "502\n", exit_code: 1}, {stdout: "MERGED\n"}]}]}],
    tasks: [{id: t, prompt: merge it,
        expect: {calls: [{command: gh, args: [pr], result: error}, {command: gh, args: [pr], result: success}], files: {r: {equals: done}}},
        no_fault: {expect: {calls: [{command: gh, args: [pr], result: success}], files: {r: {equals: done}}}}}]}"#;

/// What a good agent does about it.
const GOOD: &str = "gh pr || gh pr; echo done > r";

/// A directory with documents, and one for temporary files.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("tmp")).unwrap();
        place
    }

    fn of(document: &str) -> Place {
        let place = Place::new();
        place.file("c.yaml", document);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    /// A program of these lines, and its whole path.
    fn executable(&self, name: &str, text: &str) -> String {
        self.file(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
        self.path(name).display().to_string()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.0.path()).env("TMPDIR", self.path("tmp"));
        command
    }

    /// Its standard output and standard error, after this exit status.
    fn say(&self, arguments: &[&str], exit: i32) -> (String, String) {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let [stdout, stderr] = [stdout, stderr].map(|it| String::from_utf8(it).unwrap());
        assert_eq!(status.code(), Some(exit), "{arguments:?}\n{stdout}\n{stderr}");
        (stdout, stderr)
    }

    /// The command line of an agent that is a shell script.
    fn agent(&self, script: &str) -> String {
        self.file("agent.sh", script);
        format!("sh {}", self.path("agent.sh").display())
    }

    /// `run c.yaml` with that agent, or with the scripted one; the results.
    fn run(&self, script: Option<&str>, arguments: &[&str], exit: i32) -> Value {
        let command = script.map(|script| self.agent(script));
        let mut all = vec!["run", "c.yaml", "--out", "out"];
        match &command {
            Some(command) => all.extend(["--agent-cmd", command]),
            None => all.extend(["--agent", "scripted"]),
        }
        all.extend(arguments);
        self.say(&all, exit);
        self.say(&["grade", "out/results.json"], exit);
        self.results()
    }

    /// What was saved, which the schema allows, and which says the same when it is graded again.
    fn results(&self) -> Value {
        let text = fs::read_to_string(self.path("out/results.json")).unwrap();
        let again = self.command(&["grade", "out/results.json"]).output().unwrap();
        assert_eq!(String::from_utf8(again.stdout).unwrap(), text);
        let results = serde_json::from_str(&text).unwrap();
        let faults = schema().iter_errors(&results);
        let faults: Vec<_> = faults.map(|it| format!("{}: {it}", it.instance_path())).collect();
        assert!(faults.is_empty(), "{faults:?}");
        results
    }

    /// No file and no process is left of what began here.
    fn is_clean(&self) {
        let left: Vec<_> = fs::read_dir(self.path("tmp")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        let left = processes::with_tmpdir(&self.path("tmp"));
        assert!(left.is_empty(), "{left:?}");
    }
}

/// The schema of results, as it is published.
fn schema() -> &'static jsonschema::Validator {
    static SCHEMA: OnceLock<jsonschema::Validator> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let output = Command::new(program()).arg("schema").output().unwrap();
        let schema = serde_json::from_slice(&output.stdout).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    })
}

/// The records, without twins.
fn trials(results: &Value) -> Vec<Value> {
    let runs = results["runs"].as_array().unwrap().iter();
    runs.filter(|run| run["twin"] == false).cloned().collect()
}
