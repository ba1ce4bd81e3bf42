//! The graders beside `expect`, through real runs: one task a grader, all of
//! them with the same evidence.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use common::program;

struct Place(tempfile::TempDir);

impl Place {
    /// A document with one task a grader, named `t0`, `t1` …
    fn new(graders: &[Value]) -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("tmp")).unwrap();
        let tasks = graders.iter().enumerate().map(|(index, grader)| {
            json!({
                "id": format!("t{index}"), "prompt": "p", "graders": [grader],
                "files": {"kept.txt": "as it was\n"},
                "expect": {
                    "limits": [{"command": "gh", "at_least": 2}],
                    "files": {"report.txt": {"one_of": ["Merged 7"]}, "link": {"absent": true}},
                },
            })
        });
        let document = json!({
            "schemaVersion": "2.0", "scenario": "c", "tasks": tasks.collect::<Vec<_>>(),
            "command_mocks": [{"name": "gh", "sequence": [{"exit_code": 1}, {"stdout": "ok"}]}],
        });
        fs::write(place.path("c.yaml"), document.to_string()).unwrap();
        let agent = "gh pr 7 9007199254740993; gh pr 7 >/dev/null; echo Merged 7 > report.txt; echo 'it is \"done\"'\n";
        fs::write(place.path("agent.sh"), agent).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.0.path()).env("TMPDIR", self.path("tmp"));
        command.output().unwrap()
    }

    /// Runs every task, and gives the records by task.
    fn records(&self) -> Vec<Value> {
        let agent = format!("sh {}", self.path("agent.sh").display());
        self.run(&["run", "c.yaml", "--agent-cmd", &agent, "--out", "out", "--clean"]);
        let left: Vec<_> = fs::read_dir(self.path("tmp")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        let text = fs::read_to_string(self.path("out/results.json")).unwrap();
        let results: Value = serde_json::from_str(&text).unwrap();
        results["runs"].as_array().unwrap().clone()
    }
}

fn jq(text: &str) -> Value {
    json!({"type": "code", "language": "jq", "assert": [text]})
}

fn python(text: &str) -> Value {
    json!({"type": "code", "language": "python", "assert": [text]})
}

fn javascript(text: &str) -> Value {
    json!({"type": "code", "language": "javascript", "assert": [text]})
}

fn program_of(command: &[&str]) -> Value {
    json!({"type": "program", "command": command})
}

/// Holds each grader to its verdict, and what the reason holds.
fn holds(cases: Vec<(Value, &str, &str)>) {
    let graders: Vec<Value> = cases.iter().map(|(grader, ..)| grader.clone()).collect();
    let place = Place::new(&graders);
    let script = |name: &str, text: &str, mode: u32| {
        fs::write(place.path(name), text).unwrap();
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    script("reads.sh", "#!/bin/sh\npwd >&2\ngrep -q '\"answer\":\"it is'\n", 0o755);
    script("refuses.sh", "#!/bin/sh\necho not good >&2\nexit 3\n", 0o755);
    script("killed.sh", "#!/bin/sh\nkill -9 $$\n", 0o755);
    script("leaves.sh", "#!/bin/sh\nsetsid sleep 4545 >/dev/null 2>&1 &\n", 0o755);
    script("no-program.sh", "exit 0\n", 0o644);
    let records = place.records();
    assert_eq!(records.len(), cases.len());
    for ((grader, verdict, reason), record) in cases.iter().zip(&records) {
        let told = record["reason"].as_str().unwrap_or_default();
        assert_eq!(record["verdict"], *verdict, "{grader}: {told}");
        assert!(told.contains(reason), "{grader}: {told}");
        assert_eq!(record["graders"][0]["passed"], *verdict == "PASS", "{grader}");
    }
    let running = Command::new("pgrep").args(["-f", "sleep 4545"]).output().unwrap();
    assert!(running.stdout.is_empty(), "{running:?}");
}

#[test]
fn files_are_looked_at() {
    holds(vec![
        (json!({"type": "file", "must_exist": ["report.txt", "kept.txt"]}), "PASS", ""),
        (json!({"type": "file", "must_exist": ["other.txt"]}), "FAIL", "graders[0] (c.yaml:1:"),
        (
            json!({"type": "file", "must_exist": ["other.txt"]}),
            "FAIL",
            "expected `other.txt`, saw nothing there",
        ),
        (json!({"type": "file", "must_not_exist": ["other.txt"]}), "PASS", ""),
        (
            json!({"type": "file", "must_not_exist": ["kept.txt"]}),
            "FAIL",
            "expected no `kept.txt`, saw it is there",
        ),
        (
            json!({"type": "file", "content_patterns": [{"path": "report.txt", "must_match": ["^Merged \\d\n$"], "must_not_match": ["8"]}]}),
            "PASS",
            "",
        ),
        (
            json!({"type": "file", "content_patterns": [{"path": "report.txt", "must_match": ["8"]}]}),
            "FAIL",
            "expected `8` in `report.txt`, saw it is not found",
        ),
        (
            json!({"type": "file", "content_patterns": [{"path": "report.txt", "must_not_match": ["7"]}]}),
            "FAIL",
            "expected no `7` in `report.txt`, saw it is found",
        ),
        (
            json!({"type": "file", "content_patterns": [{"path": "other.txt", "must_not_match": ["7"]}]}),
            "FAIL",
            "expected a file `other.txt`, saw nothing there",
        ),
    ]);
}

#[test]
fn jq_is_built_in() {
    holds(vec![
        (jq(".command_invocations | length == 2"), "PASS", ""),
        (
            jq("$command_invocations[0].exit_code == 1 and ($answer | contains(\"done\"))"),
            "PASS",
            "",
        ),
        (jq("[.changes[].path] == [\"kept.txt\"]"), "FAIL", "saw false"),
        (jq("[$changes[] | select(.kind == \"created\").path] == [\"report.txt\"]"), "PASS", ""),
        (
            jq(".command_invocations[0].args[2] == \"9007199254740993\" and $tool_events == []"),
            "PASS",
            "",
        ),
        (
            jq(".command_invocations | length == 3"),
            "FAIL",
            "expected `.command_invocations | length == 3`, saw false",
        ),
        // Only true is true, and only once.
        (jq(".answer"), "FAIL", "saw \"it is \\\"done\\\"\\n\""),
        (jq("empty"), "FAIL", "saw no output"),
        (jq("true, true"), "FAIL", "saw more than one output"),
        (jq("error(\"x\")"), "FAIL", "saw \"x\""),
        // Text that is no jq judges nobody.
        (jq("\"é\" ("), "ERROR", "is no expression: expected closing parenthesis at character 6"),
        (jq("[1"), "ERROR", "is no expression: expected closing bracket at character 3"),
        (jq("1 2"), "ERROR", "is no expression: expected nothing, found 2"),
        (jq("1 |"), "ERROR", "is no expression: expected term, found the end"),
        (jq("nothing_like_it"), "ERROR", "undefined"),
        (jq("env.HOME == null"), "ERROR", "undefined"),
        (jq("$other"), "ERROR", "undefined"),
        (jq("halt"), "ERROR", "undefined"),
    ]);
}

#[test]
fn expressions_that_never_end_or_take_all_memory_judge_nobody() {
    holds(vec![
        (jq("def f: f; f"), "ERROR", "cannot judge"),
        (jq("[range(1e12)] | length == 1"), "ERROR", "cannot judge"),
        (python("any(False for _ in iter(int, 1))"), "ERROR", "more than 10 s"),
        (javascript("(() => { for (;;); })()"), "ERROR", "more than 10 s"),
    ]);
}

#[test]
fn python_and_javascript_are_the_hosts() {
    holds(vec![
        (python("len(command_invocations) == 2 and not tool_events"), "PASS", ""),
        (python("answer.startswith('it is')"), "PASS", ""),
        (python("len(command_invocations) == 3"), "FAIL", "saw False"),
        (python("command_invocations[5]"), "FAIL", "saw IndexError"),
        (python("print('x')"), "FAIL", "saw None"),
        (python("exit(0)"), "FAIL", "saw SystemExit"),
        (python("1 +"), "ERROR", "is no expression"),
        (javascript("command_invocations.length === 2 && changes.length > 0"), "PASS", ""),
        (javascript("answer.includes('undone')"), "FAIL", "saw false"),
        (javascript("command_invocations[5].args"), "FAIL", "saw TypeError"),
        (javascript("console.log('x')"), "FAIL", "saw undefined"),
        (javascript("1 +"), "ERROR", "is no expression"),
    ]);
}

#[test]
fn programs_judge_by_their_exit_status() {
    holds(vec![
        (program_of(&["./reads.sh"]), "PASS", ""),
        (program_of(&["sh", "-c", "exit 0"]), "PASS", ""),
        (
            program_of(&["./refuses.sh"]),
            "FAIL",
            "expected exit status 0 of `./refuses.sh`, saw 3: not good",
        ),
        (program_of(&["sh", "-c", "exit 7"]), "FAIL", "saw 7: it said nothing"),
        (program_of(&["./killed.sh"]), "ERROR", "it was ended by signal 9"),
        (program_of(&["./leaves.sh"]), "PASS", ""),
        (program_of(&["./no-program.sh"]), "ERROR", "is no program that can be executed"),
        (program_of(&["./missing.sh"]), "ERROR", "was not found"),
    ]);
}

/// What is expected comes first, and a grader that cannot judge saves nobody.
#[test]
fn the_agents_failure_stands_before_a_grader_that_cannot_judge() {
    let place = Place::new(&[jq(".a ("), jq("false")]);
    fs::write(place.path("agent.sh"), "gh pr\n").unwrap();
    for record in place.records() {
        assert_eq!(record["verdict"], "FAIL", "{record}");
        assert!(record["reason"].as_str().unwrap().starts_with("evidence: expect.limits[0]"));
    }
}

#[test]
fn offline_programs_are_started_only_when_they_may_be() {
    let place = Place::new(&[
        jq("true"),
        program_of(&["./g.sh"]),
        python("True"),
        json!({"type": "file", "must_exist": ["kept.txt"]}),
    ]);
    let grader = |text: &str| {
        fs::write(place.path("g.sh"), text).unwrap();
        fs::set_permissions(place.path("g.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    };
    grader("#!/bin/sh\nexit 0\n");
    assert!(place.records().iter().all(|it| it["verdict"] == "PASS"));
    grader("#!/bin/sh\nexit 1\n");
    let graded = |arguments: &[&str], exit| {
        let output = place.run(&[&["grade", "out/results.json"], arguments].concat());
        assert_eq!(output.status.code(), Some(exit), "{output:?}");
        let results: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.stdout, results["runs"].as_array().unwrap().clone())
    };
    let (_, carried) = graded(&[], 0);
    let marks: Vec<bool> =
        carried.iter().map(|it| it["graders"][0]["carried_over"] == true).collect();
    assert_eq!(marks, [false, true, true, false]);
    let (_, again) = graded(&["--allow-programs"], 1);
    let verdicts: Vec<&str> = again.iter().map(|it| it["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["PASS", "FAIL", "PASS", "PASS"]);
    grader("#!/bin/sh\nexit 0\n");
    let (bytes, _) = graded(&["--allow-programs"], 0);
    assert_eq!(bytes, fs::read(place.path("out/results.json")).unwrap());
}
