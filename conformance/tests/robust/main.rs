//! `agent-conformance run`, `grade` and `report` against those who mean no good.
#![allow(clippy::unwrap_used, missing_docs)]

mod agents;
#[path = "../common/mod.rs"]
mod common;
mod documents;
mod environment;
mod interrupts;
#[path = "../common/processes.rs"]
mod processes;
mod results;
mod supervisors;

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::program;

/// Long enough for a busy machine, short enough to fail.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a good agent does.
const GOOD: &str = "gh pr; echo 3 > r";

/// A folder with the case `c.yaml` and a directory for temporary files, in
/// which nothing may be left, as no process may be that began here.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        std::fs::create_dir(place.path("tmp")).unwrap();
        place.case("c", "", "");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A case of one mocked command, one call, and one file.
    fn case(&self, name: &str, task: &str, expect: &str) {
        let text = format!(
            r#"{{schemaVersion: "2.0", scenario: {name}, command_mocks: [{{name: gh, responses: [{{stdout: ok}}]}}], tasks: [{{id: t, prompt: p, {task}
            expect: {{{expect} calls: [{{command: gh, args: [pr], result: success}}], files: {{r: {{equals: "3"}}}}}}}}]}}"#
        );
        std::fs::write(self.path(&format!("{name}.yaml")), text).unwrap();
    }

    /// The program, in this place.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command.env("TMPDIR", self.path("tmp"));
        command
    }

    /// `run` with a shell script as the agent, which is ended after two minutes.
    fn agent(&self, script: &str, args: &[&str]) -> Command {
        std::fs::write(self.path("agent.sh"), script).unwrap();
        let command = format!("/bin/sh '{}'", self.path("agent.sh").display());
        let mut all = vec!["run", "--clean", "--agent-cmd", &command];
        all.extend(args);
        self.command(&all)
    }

    /// The same command, started by a shell as `"$@"`.
    fn shell(&self, script: &str, command: &Command) -> Command {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script, "sh"]).arg(program()).args(command.get_args());
        shell.current_dir(self.0.path()).env("TMPDIR", self.path("tmp")).stdin(Stdio::null());
        shell
    }

    /// Runs it to its end, with all that it says.
    fn run(&self, mut command: Command) -> (i32, String) {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let done = self.ended(child);
        let left: Vec<_> = std::fs::read_dir(self.path("tmp")).unwrap().collect();
        assert!(left.is_empty(), "{command:?}: {left:?}, {}", done.1);
        done
    }

    /// Waits for it, and for every process that it started.
    fn ended(&self, child: Child) -> (i32, String) {
        let pid = child.id();
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        let Ok(output) = receiver.recv_timeout(PATIENCE) else {
            let id = nix::unistd::Pid::from_raw(pid.cast_signed());
            let _ = nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGKILL);
            panic!("it does not end");
        };
        let Output { status, stdout, stderr } = output.unwrap();
        let text = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
        assert!(!text.contains("panicked"), "{text}");
        assert!(!text.contains('\x1b'), "{text:?}");
        let start = Instant::now();
        while !self.processes().is_empty() {
            assert!(start.elapsed() < Duration::from_secs(15), "{:?}, {text}", self.processes());
            std::thread::sleep(Duration::from_millis(20));
        }
        (status.code().unwrap_or(-1), text)
    }

    /// The processes that have this place in their environment.
    fn processes(&self) -> Vec<String> {
        processes::with_tmpdir(&self.path("tmp"))
    }
}
