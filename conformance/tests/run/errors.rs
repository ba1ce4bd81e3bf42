//! Wiring that fails, which is never held against the agent.

use std::fs;
use std::process::Command;

use super::{GH, GOOD, Place, program, trials};

/// The runner in a folder of its own, beside which there is what a test puts there.
fn alone(place: &Place, arguments: &[&str]) -> Command {
    let (this, folder) = (place.path("bin/agent-conformance"), place.path("bin"));
    if !this.exists() {
        fs::create_dir_all(folder).unwrap();
        fs::hard_link(program(), &this).or_else(|_| fs::copy(program(), &this).map(drop)).unwrap();
    }
    let mut command = Command::new(this);
    command.args(arguments).current_dir(place.path("")).env("TMPDIR", place.path("tmp"));
    command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", place.path("real").display()));
    command
}

/// Neither a live server of that name nor a real program stands in for a broken mock.
#[test]
fn a_mock_that_does_not_start_is_never_left_out() {
    let served = |never: &str| {
        format!(
            r#"{{schemaVersion: "2.0", scenario: c, mcp_servers: {{s: {{command: {never}}}}}, mcp_mocks: [{{name: s, tools: {{t: {{responses: [{{return: 3}}]}}}}}}],
            tasks: [{{id: t, prompt: p, expect: {{calls: [{{tool: s.t, result: success}}], answer: {{absent: [x]}}}}, self_test: {{good: [{{call: s.t}}]}}}}]}}"#
        )
    };
    for (broken, says, wanted) in [
        ("mcp-mock", "echo broken >&2; exit 1", "the mock of `s` does not start: broken"),
        ("mcp-mock", "kill -9 $$", "the mock of `s` does not start: it ended with signal: 9"),
        ("cli-shim", "echo broken >&2", "a canary did not reach the shim of `gh`: broken"),
        ("cli-shim", "echo MERGED", "a canary did not reach the shim of `gh`"),
    ] {
        let place = Place::new();
        let started = place.path("started").display().to_string();
        let real = format!("#!/bin/sh\ntouch {started}\n");
        let never = place.executable("real/gh", &real);
        place.executable(&format!("bin/{broken}"), &format!("#!/bin/sh\n{says}\n"));
        place.file(
            "c.yaml",
            if broken == "mcp-mock" { served(&never) } else { GH.to_owned() }.as_str(),
        );
        let agent = place.agent(&format!("touch {started}"));
        let run = ["run", "c.yaml", "--no-twin", "--out", "out", "--agent-cmd", &agent];
        let output = alone(&place, &run).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let record = &trials(&place.results())[0];
        let reason = record["reason"].as_str().unwrap();
        assert!(record["verdict"] == "ERROR" && reason.contains(wanted), "{reason}");
        assert!(!place.path("started").exists());
        // What was generated is listed, and there; or it goes.
        let (_, made) = reason.split_once("; generated so far: ").unwrap();
        let made: Vec<&str> = made.split(", ").collect();
        assert!(made.len() == 3 && made.iter().all(|it| fs::exists(it).unwrap()), "{made:?}");
        fs::remove_dir_all(place.path("tmp")).unwrap();
        fs::create_dir(place.path("tmp")).unwrap();
        let output = alone(&place, &[&run[..], &["--clean"]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        place.is_clean();
    }
}

#[test]
fn without_the_programs_that_play_mocks_nothing_begins() {
    let place = Place::of(GH);
    let agent = place.agent(&format!("touch {}", place.path("started").display()));
    let output = alone(&place, &["run", "c.yaml", "--agent-cmd", &agent]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("`cli-shim` is neither beside this program nor on PATH"), "{told}");
    assert!(output.stdout.is_empty() && !place.path("started").exists());
    place.is_clean();
}

/// Whatever was right or wrong until then: there is no record of what came after.
#[test]
fn a_session_that_the_agent_closed_is_no_run() {
    let close = program().with_file_name("cli-shim").display().to_string();
    for script in [GOOD, "true", "gh pr; touch x"] {
        let place = Place::of(GH);
        let agent = place.agent(&format!("{script}; {close} close \"$1\" >&2; gh pr; true"));
        let agent = format!("{agent} {{session}}");
        let run = ["run", "c.yaml", "--no-twin", "--clean", "--out", "out", "--agent-cmd", &agent];
        let (text, _) = place.say(&run, 3);
        assert!(text.contains("the session was closed before the agent had ended"), "{text}");
        assert_eq!(trials(&place.results())[0]["verdict"], "ERROR");
        place.is_clean();
    }
}

/// The verdict is on the agent once it made contact, however it ended.
#[test]
fn an_agent_that_ends_badly_after_contact_is_judged() {
    for (script, exit, verdict) in [
        (format!("{GOOD}; kill -9 $$"), 0, "PASS"),
        (format!("{GOOD}; exit 7"), 0, "PASS"),
        ("gh pr; kill -9 $$".to_owned(), 1, "FAIL"),
        ("exit 7".to_owned(), 1, "FAIL"),
        ("kill -SEGV $$".to_owned(), 3, "ERROR"),
    ] {
        let place = Place::of(GH);
        let results = place.run(Some(&script), &["--no-twin", "--clean"], exit);
        assert_eq!(trials(&results)[0]["verdict"], verdict, "{script}");
        place.is_clean();
    }
}

/// Its server ends with it, and is none that died.
#[test]
fn an_agent_that_is_out_of_time_has_killed_no_mock() {
    let place = Place::of(
        r#"{schemaVersion: "2.0", scenario: c, mcp_mocks: [{name: s, tools: {t: {responses: [{return: 1, delay_ms: 60000}]}}}],
        tasks: [{id: t, prompt: p, expect: {calls: [{tool: s.t, result: success}], answer: {absent: [x]}}, self_test: {good: [{call: s.t}]}}]}"#,
    );
    let record = &trials(&place.run(None, &["--timeout", "1"], 1))[0];
    assert_eq!((&record["verdict"], &record["exit"]["timed_out"]), (&"FAIL".into(), &true.into()));
    assert_eq!(record["tool_events"][0]["success"], false);
    place.is_clean();
}
