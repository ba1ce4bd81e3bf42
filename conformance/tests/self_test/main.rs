//! `agent-conformance self-test` through real processes.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use common::program;

/// A folder with documents, and a directory for temporary files that is empty at the end.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        std::fs::create_dir(place.path("tmp")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A document with one tool, which fails once, and one task.
    fn case(&self, name: &str, expect: &str, self_test: &str) {
        let text = format!(
            r#"{{schemaVersion: "2.0", scenario: {name}, mcp_mocks: [{{name: s, tools: {{t: {{sequence: [{{error: busy}}, {{return: 3}}]}}}}}}],
            tasks: [{{id: t, prompt: p, expect: {expect}, self_test: {self_test}}}]}}"#
        );
        std::fs::write(self.path(&format!("{name}.yaml")), text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.arg("self-test").args(args).current_dir(self.0.path());
        command.env("TMPDIR", self.path("tmp"));
        command
    }

    fn run(&self, args: &[&str], exit: i32) -> String {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        let text = String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(exit), "{text}");
        self.is_clean();
        text
    }

    fn is_clean(&self) {
        let left: Vec<_> = std::fs::read_dir(self.path("tmp")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

const CALLS: &str = "calls: [{tool: s.t, result: error}, {tool: s.t, result: success}]";
const FILES: &str = "files: {r: {equals: \"3\"}}";
const GOOD: &str = "[{call: s.t, until: success}, {write: r, text: \"3\"}]";

fn expect() -> String {
    format!("{{{CALLS}, {FILES}}}")
}

#[test]
fn the_recovery_suites_prove_the_graders() {
    let text = Place::new().run(&[], 0);
    let summary = text.lines().last().unwrap();
    assert!(summary.contains(" right, 0 wrong in "), "{text}");
    let right: usize = summary.split(' ').next().unwrap().parse().unwrap();
    assert!(right > 100, "{text}");
}

/// Each of these is an agent that is judged otherwise than the document says.
#[test]
fn a_wrong_judgement_is_named_and_exits_with_1() {
    let except = "except: {changed-arguments: the tool ignores them}";
    for (expect, self_test, wanted) in [
        // The good agent does not do what is expected.
        (
            format!("{{{CALLS}, files: {{r: {{equals: \"4\"}}}}}}"),
            format!("{{good: {GOOD}, {except}}}"),
            "good: wanted PASS, got FAIL (outcome: expect.files.r (c.yaml:2:124): expected \"4\", saw \"3\")",
        ),
        // A grader that does not look at the calls is found out.
        (
            format!("{{limits: [{{tool: s.t, at_least: 1}}], {FILES}}}"),
            format!("{{good: {GOOD}, {except}}}"),
            "gives-up: wanted FAIL (evidence), got PASS",
        ),
        // A bad agent that is failed for another reason.
        (
            expect(),
            format!(
                "{{good: {GOOD}, {except}, bad: [{{name: b, violates: outcome, do: [{{write: r, text: \"3\"}}]}}]}}"
            ),
            "b: wanted FAIL (outcome), got FAIL (evidence: expect.calls[0] (c.yaml:2:57): expected s.t (error), saw no further call)",
        ),
    ] {
        let place = Place::new();
        place.case("c", &expect, &self_test);
        let text = place.run(&["c.yaml"], 1);
        assert!(text.contains(wanted), "{text}");
    }
}

/// An agent that makes every call twice passes for one that tries again, but
/// for the twin; and where the good script fails there, no agent is to blame.
#[test]
fn the_twin_finds_out_who_tries_twice_whatever_comes() {
    let twin =
        "{calls: [{tool: s.t, result: success}], files: {r: {equals: \"3\"}}}}, self_test: {good: ";
    let scripts = format!("{GOOD}, except: {{changed-arguments: the tool ignores them}}}}");
    for (twin, exit, wanted) in [
        (Some(twin.to_owned()), 0, "c/t: 10 of 10 agents judged as they should be"),
        (
            Some(twin.replace("[{tool: s.t, result: success}]", "[{tool: s.t, result: error}]")),
            1,
            "; the case is at fault, not an agent: its own good script does not hold to `no_fault.expect`",
        ),
        (None, 1, "makes-every-call-twice: wanted FAIL (evidence), got PASS"),
    ] {
        let place = Place::new();
        let text = match twin {
            Some(twin) => format!("{}, no_fault: {{expect: {twin}{scripts}", expect()),
            None => format!("{}, self_test: {{good: {scripts}", expect()),
        };
        let text = format!(
            r#"{{schemaVersion: "2.0", scenario: c, mcp_mocks: [{{name: s, tools: {{t: {{sequence: [{{error: busy}}, {{return: 3}}]}}}}}}],
            tasks: [{{id: t, prompt: p, expect: {text}}}]}}"#
        );
        std::fs::write(place.path("c.yaml"), text).unwrap();
        let text = place.run(&["c.yaml"], exit);
        assert!(text.contains(wanted), "{text}");
    }
}

#[test]
fn a_fault_that_nobody_met_proves_nothing() {
    let place = Place::new();
    let text = format!(
        r#"{{schemaVersion: "2.0", scenario: c, mcp_mocks: [{{name: s, tools: {{t: {{responses: [{{return: 3}}]}}, u: {{responses: [{{error: down}}]}}}}}}],
        tasks: [{{id: t, prompt: p, expect: {{calls: [{{tool: s.t, result: success}}], {FILES}}}, self_test: {{good: [{{call: s.t}}, {{write: r, text: "3"}}],
        except: {{gives-up: no retry, changed-arguments: ignored}}}}}}]}}"#
    );
    std::fs::write(place.path("c.yaml"), text).unwrap();
    let text = place.run(&["c.yaml"], 1);
    assert!(text.contains("good: wanted PASS, got INVALID (no call met a fault)"), "{text}");
}

#[test]
fn what_cannot_prove_anything_is_refused_before_anything_runs() {
    let place = Place::new();
    place.case(
        "good",
        &expect(),
        &format!("{{good: {GOOD}, except: {{changed-arguments: x, makes-every-call-twice: x}}}}"),
    );
    place.case("same", &expect(), "{good: [{call: s.t}, {call: s.t}, {write: r, text: \"3\"}]}");
    place.case("idle", &format!("{{{FILES}}}"), "{good: [{say: hi}]}");
    std::fs::write(place.path("no-tasks.yaml"), "{schemaVersion: \"2.0\", scenario: s}").unwrap();
    for (file, wanted) in [
        ("same.yaml", "same/t: `gives-up` does what the good script does"),
        ("idle.yaml", "error[no-calls-expected]"),
        ("no-tasks.yaml", "`no-tasks.yaml` has no tasks"),
        ("missing.yaml", "cannot open `missing.yaml`"),
    ] {
        let text = place.run(&["good.yaml", file], 2);
        assert!(text.contains(wanted), "{text}");
    }
}

#[test]
fn nothing_proves_nothing() {
    let place = Place::new();
    std::fs::create_dir(place.path("empty")).unwrap();
    let text = place.run(&["empty"], 4);
    assert!(text.contains("nothing was selected"), "{text}");
}

/// A script that starts a daemon: it is ended with its run.
#[test]
fn what_an_agent_leaves_running_ends_with_it() {
    let place = Place::new();
    let script = "[{run: \"setsid sleep 4242 >/dev/null 2>&1 &\"}, {call: s.t, until: success}, {write: r, text: \"3\"}]";
    place.case(
        "c",
        &expect(),
        &format!("{{good: {script}, except: {{changed-arguments: x, makes-every-call-twice: x}}}}"),
    );
    place.run(&["c.yaml"], 0);
    let running = Command::new("pgrep").args(["-f", "sleep 4242"]).output().unwrap();
    assert!(running.stdout.is_empty(), "{running:?}");
}

#[test]
fn interrupted_it_stops_and_leaves_nothing() {
    for (signal, exit) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let place = Place::new();
        let script = format!("[{{run: \"sleep 4343\"}}, {}", &GOOD[1..]);
        place.case(
            "c",
            &expect(),
            &format!(
                "{{good: {script}, except: {{changed-arguments: x, makes-every-call-twice: x}}}}"
            ),
        );
        let mut command = place.command(&["c.yaml"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let sleeps = || {
            let found = Command::new("pgrep").args(["-f", "sleep 4343"]).output().unwrap();
            !found.stdout.is_empty()
        };
        let start = Instant::now();
        while !sleeps() {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(20));
        }
        kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
        let start = Instant::now();
        assert_eq!(child.wait().unwrap().code(), Some(exit));
        // Far below the time that a script may take.
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
        assert!(!sleeps());
        place.is_clean();
    }
}
