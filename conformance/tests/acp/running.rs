//! Runs of agents that speak the protocol.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::{AGENT, program};

const CASE: &str = r#"{schemaVersion: "2.0", scenario: shop,
    mcp_mocks: [{name: orders, tools: {lookup: {sequence: [{error: busy}, {return: {paid: true}}]}}}],
    command_mocks: [{name: gh, responses: [{args: [pr], stdout: "MERGED\n"}]}],
    tasks: [{id: t, prompt: merge it,
        expect: {calls: [{tool: orders.lookup, result: error}, {tool: orders.lookup, result: success}, {command: gh, args: [pr], result: success}],
                 answer: {contains: [all done]}}}]}"#;

const CALL: &str = r#"call=orders.lookup:{"id": 7}"#;

/// The only run of an agent that does what these words say.
fn ran(words: &[&str], flags: &[&str]) -> Value {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("c.yaml"), CASE).unwrap();
    let agent = shell_words::join(["python3", AGENT].iter().chain(words));
    let mut run = Command::new(program());
    run.args(["run", "c.yaml", "--no-twin", "--report", "json=r.json", "--agent-acp", &agent]);
    run.args(flags).current_dir(place.path()).env("TMPDIR", place.path());
    let output = run.output().unwrap();
    let text = fs::read_to_string(place.path().join("r.json"));
    let results: Value =
        serde_json::from_str(&text.unwrap_or_else(|_| panic!("{output:?}"))).unwrap();
    results["runs"][0].clone()
}

#[test]
fn servers_and_executables_are_reached() {
    let run = ran(&["say=Hm.", CALL, CALL, "permit=gh pr", "split=all done"], &[]);
    assert_eq!(run["verdict"], "PASS", "{run:#}");
    assert_eq!(run["answer"], "all done", "{run:#}");
    assert_eq!(run["agent"]["name"], "python3");
}

#[test]
fn an_agent_is_held_to_what_it_does() {
    let run = ran(&["lazy", CALL, "say=all done"], &[]);
    assert_eq!(run["verdict"], "FAIL", "{run:#}");
}

#[test]
fn whoever_cannot_be_asked_is_not_blamed() {
    for (words, flags, reason) in [
        (&["dies=session/new"][..], &[][..], "before it answered `session/new`"),
        (&["auth"], &[], "not logged in"),
        (&["modes"], &["--acp-mode", "yolo"], "it has `auto`, `full`"),
    ] {
        let run = ran(words, flags);
        assert_eq!(run["verdict"], "ERROR", "{run:#}");
        assert!(run["reason"].as_str().unwrap().contains(reason), "{run:#}");
    }
}

#[test]
fn an_agent_that_takes_too_long_leaves_nothing_behind() {
    let run = ran(&[CALL, "hang", "stubborn", "lingers"], &["--timeout", "2"]);
    assert_eq!(
        (&run["verdict"], &run["exit"]["timed_out"]),
        (&"FAIL".into(), &true.into()),
        "{run:#}"
    );
    assert_eq!(run["exit"]["orphans"], Value::Array(Vec::new()), "{run:#}");
    assert_eq!(run["exit"]["code"], 1, "it was not killed: {run:#}");
}
