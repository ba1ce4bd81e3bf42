//! What reaches the agent, and what does not.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::{GH, GOOD, Place, program, trials};

#[test]
fn an_empty_list_in_a_task_disables_the_inherited_mocks() {
    let place = Place::of(
        r#"{schemaVersion: "2.0", scenario: c,
        command_mocks: [{name: gh, responses: [{stdout: MOCKED}]}],
        mcp_mocks: [{name: s, tools: {t: {responses: [{return: 3}]}}}],
        tasks: [{id: t, prompt: p, command_mocks: [],
            expect: {calls: [{tool: s.t, result: success}], files: {r: {equals: REAL}}},
            self_test: {good: [{run: "gh pr > r"}, {call: s.t}]}}]}"#,
    );
    place.executable("real/gh", "#!/bin/sh\necho REAL\n");
    let path = format!("{}:{}", place.path("real").display(), std::env::var("PATH").unwrap());
    let mut run = place.command(&["run", "c.yaml", "--agent", "scripted", "--out", "out"]);
    let output = run.env("PATH", path).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let record = &trials(&place.results())[0];
    assert_eq!(record["dependency_modes"], json!({"mcp": {"s": "mocked"}, "commands": {}}));
    assert_eq!(record["command_invocations"], json!([]));
}

/// A command that is limited and not mocked has a shim, which refuses and records.
#[test]
fn a_limited_command_is_not_reached() {
    let place = Place::of(
        r#"{schemaVersion: "2.0", scenario: c, mcp_mocks: [{name: s, tools: {t: {responses: [{return: 3}]}}}],
        tasks: [{id: t, prompt: p, expect: {calls: [{tool: s.t, result: success}], limits: [{command: gh, at_most: 0}], files: {r: {equals: ""}}},
            self_test: {good: [{run: "gh pr > r"}, {call: s.t}]}}]}"#,
    );
    place.executable("real/gh", "#!/bin/sh\necho REAL\n");
    let path = format!("{}:{}", place.path("real").display(), std::env::var("PATH").unwrap());
    let mut run = place.command(&["run", "c.yaml", "--agent", "scripted", "--out", "out"]);
    let output = run.env("PATH", path).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let record = &trials(&place.results())[0];
    let violations = record["violations"].as_array().unwrap();
    assert_eq!(violations.len(), 1, "{violations:?}");
    assert_eq!(violations[0]["actual"], "1");
    assert_eq!(record["command_invocations"][0]["reason"], "unmatched");
    assert_eq!(record["changes"][0]["content"], "");
}

#[test]
fn a_mock_replaces_the_live_server_of_its_name_and_the_others_stay_live() {
    let place = Place::new();
    let mock = program().with_file_name("mcp-mock");
    place.file("live.yaml", r#"{schemaVersion: "2.0", scenario: live, mcp_mocks: [{name: clock, tools: {now: {responses: [{text: "12:00"}]}}}]}"#);
    let [live, journal] =
        ["live.yaml", "live.jsonl"].map(|it| place.path(it).display().to_string());
    fs::write(&journal, "").unwrap();
    let clock = format!("#!/bin/sh\nexec {} serve {live} --journal {journal}\n", mock.display());
    let clock = place.executable("clock.sh", &clock);
    let started = place.path("started").display().to_string();
    let never = place.executable("never.sh", &format!("#!/bin/sh\ntouch {started}\n"));
    let document = |mocks: &str| {
        format!(
            r#"{{schemaVersion: "2.0", scenario: c, mcp_servers: {{s: {{command: {never}}}, clock: {{command: {clock}}}}}, mcp_mocks: {mocks},
            tasks: [{{id: t, prompt: p, expect: {{calls: [{{tool: s.t, result: success}}], answer: {{absent: [x]}}}},
                self_test: {{good: [{{call: clock.now}}, {{call: s.t}}]}}}}]}}"#
        )
    };
    place.file("c.yaml", &document("[{name: s, tools: {t: {responses: [{return: 3}]}}}]"));
    let results = place.run(None, &[], 0);
    let record = &trials(&results)[0];
    let modes = json!({"mcp": {"clock": "live", "s": "mocked"}, "commands": {}});
    assert_eq!(record["dependency_modes"], modes);
    assert_eq!(record["tool_events"].as_array().unwrap().len(), 1);
    let served = fs::read_to_string(&journal).unwrap();
    assert!(served.contains("\"attempt.delivered\"") && served.contains("12:00"), "{served}");
    assert!(!place.path("started").exists());
    // An invalid mock stops everything, and the live server does not come back.
    fs::remove_file(place.path("out/results.json")).unwrap();
    place.file("c.yaml", &document("[{name: s, tools: {t: {sequence: []}}}]"));
    let (text, complaint) = place.say(&["run", "c.yaml", "--agent", "scripted", "--out", "out"], 2);
    assert!(complaint.contains("`c.yaml` is refused") && text.is_empty(), "{complaint}");
    assert!(!place.path("started").exists() && !place.path("out/results.json").exists());
    place.is_clean();
}

#[test]
fn every_placeholder_is_filled_in_and_nothing_else() {
    let prompt = "say \\\"{workspace}\\\" $HOME; it's `x`\\n";
    let place = Place::of(&GH.replace("prompt: merge it", &format!("prompt: \"{prompt}\"")));
    let agent = place.executable(
        "agent.py",
        r#"#!/usr/bin/env python3
import json, os, subprocess, sys
json.dump({"args": sys.argv[1:], "cwd": os.getcwd(), "stdin": sys.stdin.read(), "file": open(sys.argv[2]).read(),
    "mcp": json.load(open(sys.argv[3])), "kept": os.environ["KEPT"], "home": os.listdir(sys.argv[6]),
    "shims": os.listdir(sys.argv[4]), "session": sorted(os.listdir(sys.argv[7]))}, sys.stdout)
subprocess.run("gh pr || gh pr; echo done > r", shell=True, stdout=subprocess.DEVNULL)
"#,
    );
    let template = format!(
        "{agent} {{prompt}} {{prompt_file}} {{mcp_json}} {{shim_dir}} {{workspace}} {{home}} {{session}} 'a b' \"{{}} {{other}}\" x={{workspace}}y"
    );
    let mut run =
        place.command(&["run", "c.yaml", "--no-twin", "--out", "out", "--agent-cmd", &template]);
    let output = run.env("KEPT", "as it was").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let record = &trials(&place.results())[0];
    let seen: serde_json::Value = serde_json::from_str(record["answer"].as_str().unwrap()).unwrap();
    let said = "say \"{workspace}\" $HOME; it's `x`\n";
    let args = &seen["args"];
    assert_eq!((&args[0], &seen["file"]), (&said.into(), &said.into()));
    assert_eq!(
        (&args[4], &seen["stdin"], &seen["kept"]),
        (&seen["cwd"], &"".into(), &"as it was".into())
    );
    assert_eq!(seen["mcp"], json!({"mcpServers": {}}));
    assert_eq!((&seen["home"], &seen["shims"]), (&json!([]), &json!(["gh"])));
    assert!(seen["session"].as_array().unwrap().contains(&"journal.jsonl".into()));
    assert_eq!((&args[7], &args[8]), (&"a b".into(), &"{} {other}".into()));
    assert_eq!(args[9], format!("x={}y", seen["cwd"].as_str().unwrap()));
}

#[test]
fn a_template_that_cannot_be_filled_in_is_usage() {
    let place = Place::of(GH);
    for (template, wanted) in [
        ("agent {mcp_url}", "{mcp_url}"),
        ("agent 'open", "a quote that is not closed"),
        ("", "names no program"),
    ] {
        let (_, complaint) = place.say(&["run", "c.yaml", "--agent-cmd", template], 2);
        assert!(complaint.contains(wanted), "{complaint}");
    }
    place.say(&["run", "c.yaml"], 2);
    place.say(&["run", "c.yaml", "--agent", "nobody"], 2);
    place.say(&["run", "c.yaml", "--agent", "scripted", "--agent-cmd", "true"], 2);
}

/// The agent starts elsewhere, which is easily forgotten.
#[test]
fn a_command_line_that_forgets_something_is_hinted_at() {
    let place = Place::of(GH);
    place.file("agent.sh", GOOD);
    let hints = |template: &str| {
        let (_, notes) = place.say(&["run", "c.yaml", "--agent-cmd", template], 1);
        notes
            .lines()
            .filter(|line| line.starts_with("note: "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let [relative] = &hints("sh agent.sh {prompt}")[..] else { panic!() };
    assert!(relative.contains("write its whole path, as in \"$PWD/agent.sh\""), "{relative}");
    let [prompt] = &hints("true")[..] else { panic!() };
    assert!(prompt.contains("neither {prompt} nor {prompt_file}"), "{prompt}");
    assert!(hints("true {prompt_file}").is_empty());
    // Only where a server is mocked.
    let served = GH.replace(
        "command_mocks:",
        "mcp_mocks: [{name: s, tools: {t: {responses: [{return: 1}]}}}], command_mocks:",
    );
    place.file("c.yaml", &served);
    let [servers] = &hints("true {prompt}")[..] else { panic!() };
    assert!(servers.contains("has no {mcp_json}"), "{servers}");
}

/// The deadline of the session comes just before the end of the agent's time.
#[test]
fn a_command_that_waits_when_time_is_up_records_its_deadline() {
    let place = Place::of(&GH.replace("exit_code: 1}", "exit_code: 1, delay_ms: 60000}"));
    let results = place.run(
        Some("trap '' TERM; gh pr; echo $? > code; exit"),
        &["--timeout", "1", "--no-twin"],
        1,
    );
    let record = &trials(&results)[0];
    assert_eq!(record["verdict"], "FAIL");
    let attempt = &record["command_invocations"][0];
    assert_eq!((&attempt["cancelled"], &attempt["exit_code"]), (&true.into(), &124.into()));
}

/// Plain lines where there is no terminal, and a bar where there is one.
#[test]
fn progress_stays_off_standard_output() {
    let place = Place::of(GH);
    let agent = place.agent(GOOD);
    let (text, progress) =
        place.say(&["run", "c.yaml", "--agent-cmd", &agent, "--report", "json"], 0);
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
    assert!(progress.contains("[2/2] PASS gh/t"), "{progress}");
    let line = format!("'{}' run c.yaml --agent-cmd '{agent}' > text", program().display());
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &line, "log"]).current_dir(place.path(""));
    assert!(
        script
            .env("TMPDIR", place.path("tmp"))
            .env("TERM", "xterm")
            .output()
            .unwrap()
            .status
            .success()
    );
    let (log, text) = (
        fs::read_to_string(place.path("log")).unwrap(),
        fs::read_to_string(place.path("text")).unwrap(),
    );
    assert!(log.contains("2/2") && log.contains('\x1b'), "{log:?}");
    assert!(!text.contains('\x1b') && text.contains("1 passed"), "{text:?}");
}
