//! Whether a run is one: what is the agent's, and what is the wiring's.

use std::fs;

use serde_json::Value;

use super::{Place, trials};

/// A tool and a command, each of which fails once.
const BOTH: &str = r#"{schemaVersion: "2.0", scenario: both,
    mcp_mocks: [{name: orders, tools: {lookup: {responses: [{match: {id: A}, sequence: [{error: busy}, {return: 3}]}]}}}],
    command_mocks: [{name: gh, responses: [{args: [pr], sequence: [{stderr: "502\n", exit_code: 1}, {stdout: "MERGED\n"}]}]}],
    tasks: [{id: t, prompt: do it, expect: {
        calls: [{tool: orders.lookup, arguments: {id: A}, result: error}, {tool: orders.lookup, arguments: {id: A}, result: success},
            {command: gh, args: [pr], result: error}, {command: gh, args: [pr], result: success}],
        answer: {contains: [done]}}}]}"#;

const ADAPTER: &str = r#"
name = "stand-in"
title = "The stand-in"
door = "native"
events = "claude"
[detect]
program = "python3"
[run]
arguments = ["SCRIPT", "--mcp", "{mcp_config}", ACTIONS]
answer = "events"
PATCH
[mcp]
format = "json"
key = ["mcpServers"]
entry = { command = "{command}", args = "{args}" }
tool = "mcp__{server}__{tool}"
[shell]
tool = "Bash"
command = "command"
"#;

struct Agent<'a> {
    actions: &'a [&'a str],
    /// What stands in its adapter in place of something else.
    changes: &'a [(&'a str, &'a str)],
}

impl Agent<'_> {
    fn run(&self, place: &Place, exit: i32) -> Value {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run/stand_in.py");
        let actions: Vec<String> = self.actions.iter().map(|it| format!("{it:?}")).collect();
        let mut adapter = ADAPTER.replace("SCRIPT", script).replace("ACTIONS", &actions.join(", "));
        for (from, to) in self.changes {
            assert!(adapter.contains(from), "{from}");
            adapter = adapter.replace(from, to);
        }
        place.file("stand-in.toml", &adapter.replace("PATCH", ""));
        let home = place.path("user");
        fs::create_dir_all(&home).unwrap();
        let mut command = place.command(&[
            "run",
            "c.yaml",
            "--agent",
            "./stand-in.toml",
            "--out",
            "out",
            "--clean",
        ]);
        let output = command.env("HOME", &home).output().unwrap();
        assert_eq!(output.status.code(), Some(exit), "{:?}\n{output:?}", self.actions);
        trials(&place.results())[0].clone()
    }
}

const GOOD: [&str; 10] =
    ["call", "lookup", "call", "lookup", "sh", "gh pr", "sh", "gh pr", "say", "done"];

#[test]
fn an_agent_that_is_wired_is_judged_by_its_final_words_and_its_calls() {
    let place = Place::of(BOTH);
    let record = Agent { actions: &GOOD, changes: &[] }.run(&place, 0);
    assert_eq!(record["verdict"], "PASS", "{record:#}");
    assert_eq!((&record["answer"], &record["client_retries"]), (&"done".into(), &0.into()));
    let calls = record["agent_calls"].as_array().unwrap();
    let told: Vec<String> =
        calls.iter().map(|it| format!("{} {}", it["operation"], it["how"])).collect();
    let expected = ["orders.lookup failed", "orders.lookup done", "shell failed", "shell done"];
    assert_eq!(told, expected.map(|it| format!("\"{}\"", it.replace(' ', "\" \""))));
    place.is_clean();
}

#[test]
fn what_the_agent_does_badly_is_its_own() {
    let gives_up = ["call", "lookup", "sh", "gh pr", "say", "done"];
    let record = Agent { actions: &gives_up, changes: &[] }.run(&Place::of(BOTH), 1);
    assert_eq!(record["verdict"], "FAIL", "{record:#}");
    // As some tell of a call that was under way when they were stopped.
    let is_stopped = ["reject", "lookup", "say", "done"];
    let record = Agent { actions: &is_stopped, changes: &[] }.run(&Place::of(BOTH), 1);
    assert_eq!(record["verdict"], "FAIL", "{record:#}");
    let never_tries = ["say", "done"];
    let record = Agent { actions: &never_tries, changes: &[] }.run(&Place::of(BOTH), 1);
    assert_eq!(record["verdict"], "FAIL", "{record:#}");
}

/// Each way to break the wiring is an ERROR that names it, never a verdict on the agent.
#[test]
fn broken_wiring_is_an_error_with_its_cause() {
    let none: [(&str, &str); 0] = [];
    let no_home = ("PATCH", "home = false");
    for (actions, changes, told) in [
        (
            &GOOD[4..],
            &[("\"--mcp\", \"{mcp_config}\", ", "")][..],
            "not wired: the agent never initialised the server `orders`",
        ),
        (
            &GOOD[4..],
            &[("\"{command}\"", "\"/no/such/program\"")],
            "the server `orders`: it says `failed`",
        ),
        (&["fail"], &none, "and ended with status 1: stand-in: error: unexpected argument"),
        (
            &["refuse", "lookup", "say", "done"],
            &none,
            "not approved: the agent's own policy refused the tool orders.lookup: Claude requested permissions",
        ),
        (
            &["claim", "lookup", "say", "done"],
            &none,
            "not wired: the agent's events show 1 calls of orders.lookup, of which 0 reached the mock: No such tool available",
        ),
        (
            &["sh", "env -i gh pr", "say", "done"],
            &none,
            "bypassed: the agent ran `env -i gh pr`, of which no call of gh is on record: it was started by `env -i`, which has another PATH",
        ),
        (
            &["sh", "/usr/bin/gh pr", "say", "done"],
            &none,
            "bypassed: the agent ran `/usr/bin/gh pr`, of which no call of gh is on record: it was started by a path of its own",
        ),
        (
            &["sh", "PATH=/usr/bin; gh pr", "say", "done"],
            &none,
            "bypassed: the agent ran `PATH=/usr/bin; gh pr`",
        ),
        (
            &["rc", "gh pr", "say", "done"],
            &[no_home],
            "bypassed: the agent ran `gh pr`, of which no call of gh is on record: perhaps a login shell that resets PATH, or an alias",
        ),
    ] {
        let place = Place::of(BOTH);
        // A start file that hides the command.
        place.file("user/.bashrc", "shopt -s expand_aliases\nalias gh=/usr/bin/true\n");
        let record = Agent { actions, changes }.run(&place, 3);
        let reason = record["reason"].as_str().unwrap();
        assert!(record["verdict"] == "ERROR" && reason.contains(told), "{actions:?}: {reason}");
        place.is_clean();
    }
}

/// The private HOME and its start files keep what the user's would have undone.
#[test]
fn the_start_files_of_the_user_do_not_reach_the_shells_of_the_agent() {
    for verb in ["login", "rc"] {
        let place = Place::of(BOTH);
        place.file("user/.bashrc", "alias gh=/usr/bin/true\n");
        place.file("user/.bash_profile", "PATH=/usr/bin:/bin\n");
        place.file("user/.profile", "PATH=/usr/bin:/bin\n");
        let actions =
            ["call", "lookup", "call", "lookup", verb, "gh pr", verb, "gh pr", "say", "done"];
        let record = Agent { actions: &actions, changes: &[] }.run(&place, 0);
        assert_eq!(record["verdict"], "PASS", "{record:#}");
    }
}

#[test]
fn what_the_client_repeats_by_itself_is_not_held_against_the_agent() {
    let actions = ["call-twice", "lookup", "sh", "gh pr", "sh", "gh pr", "say", "done"];
    let record = Agent { actions: &actions, changes: &[] }.run(&Place::of(BOTH), 3);
    assert_eq!(record["verdict"], "INVALID", "{record:#}");
    let reason = record["reason"].as_str().unwrap();
    assert!(reason.contains("repeated orders.lookup {\"id\":\"A\"} (error) by itself"), "{reason}");
    assert_eq!(record["client_retries"], 1);
    // After the fault that the agent saw, a repetition is no matter.
    let document = BOTH.replace("{return: 3}]", "{return: 3, repeat: 2}]");
    let actions = [&["call", "lookup", "call-twice", "lookup"][..], &GOOD[4..]].concat();
    let record = Agent { actions: &actions, changes: &[] }.run(&Place::of(&document), 0);
    assert_eq!(
        (&record["verdict"], &record["client_retries"]),
        (&"PASS".into(), &1.into()),
        "{record:#}"
    );
}

#[test]
fn a_command_line_without_contact_is_said_to_be_perhaps_not_wired() {
    let place = Place::of(BOTH);
    let record = &trials(&place.run(Some("echo done"), &[], 1))[0];
    assert_eq!(record["verdict"], "FAIL");
    let reason = record["reason"].as_str().unwrap();
    assert!(reason.ends_with("no contact with any mock: the command may not be wired"), "{reason}");
}
