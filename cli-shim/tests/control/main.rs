//! The control program, through real processes and real shells.
#![allow(clippy::unwrap_used, missing_docs)]

mod canary;
mod doctor;
mod env;
mod help;
mod install;
mod verbs;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Where the host's programs are.
const HOST: &str = "/usr/local/bin:/usr/bin:/bin";

/// `lone` has no twin on the host, `twin` has one in [`Place::host`].
const DOCUMENT: &str = "{schemaVersion: \"2.0\", scenario: s, command_mocks: [
  {name: lone, expect_calls: 1, responses: [{sequence: [{stdout: one}, {stdout: two, exit_code: 3}]}]},
  {name: twin, responses: [{args: [go], stdout: mocked}]}]}";

/// A folder with documents and sessions, which is gone with the value.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// With [`DOCUMENT`] as `fixture.yaml`, an empty `home`, and `host/twin`.
    fn usual() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        place.write("fixture.yaml", DOCUMENT);
        std::fs::create_dir(place.path("home")).unwrap();
        place.program("host/twin", "echo the host");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn text_path(&self, name: &str) -> String {
        self.path(name).into_os_string().into_string().unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), text).unwrap();
    }

    fn program(&self, name: &str, script: &str) {
        self.write(name, &format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(self.path(name), PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// Any program, in the folder, with a HOME of its own and the host's PATH.
    fn start(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        for name in ["BASH_ENV", "ENV", "ZDOTDIR", "XDG_DATA_DIRS", "XDG_CONFIG_HOME", "SHELL"] {
            command.env_remove(name);
        }
        command
            .current_dir(self.path(""))
            .env("HOME", self.path("home"))
            .env("PATH", format!("{}:{HOST}", self.text_path("host")))
            .stdin(Stdio::null());
        command
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.start(env!("CARGO_BIN_EXE_cli-shim"));
        command.args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// What a command prints that succeeds.
    fn ok(&self, args: &[&str]) -> String {
        printed(&self.run(args))
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(args)).unwrap()
    }

    /// What a command says on stderr that is refused.
    fn refused(&self, args: &[&str]) -> String {
        refusal(&self.run(args))
    }

    /// Makes the session `run` from the document.
    fn install(&self) {
        self.ok(&["install", "fixture.yaml", "--dir", "run"]);
    }

    /// A call of a shim of the session `run`.
    fn call(&self, name: &str, args: &[&str]) -> Output {
        self.start(self.path("run/bin").join(name)).args(args).output().unwrap()
    }

    fn status(&self) -> Value {
        self.json(&["status", "run", "--json"])
    }

    fn records(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path("run/journal.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The names in the folder `name`, sorted.
    fn names(&self, name: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(name)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

fn printed(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn refusal(output: &Output) -> String {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(output.stdout.is_empty(), "{output:?}");
    assert!(stderr.starts_with("cli-shim: ") || stderr.starts_with("error: "), "{stderr}");
    stderr
}

fn is_installed(program: &str) -> bool {
    HOST.split(':').any(|folder| Path::new(folder).join(program).exists())
}

/// Says that a test could not be run here, and why.
#[allow(
    clippy::print_stderr,
    reason = "a test that did nothing should not look like one that passed"
)]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}
