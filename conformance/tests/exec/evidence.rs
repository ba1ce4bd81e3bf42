//! The table, `--json`, `--verify` and `--keep`.

use serde_json::{Value, json};

use crate::{GH, LOOKUP, Place, Run};

const ONCE: &str = "gh: [{stdout: x}]";

fn verify(script: &str) -> Run {
    let place = Place::new();
    place.write(
        "fixture.yaml",
        "{schemaVersion: '2.0', scenario: s, command_mocks: [{name: gh, expect_calls: 1, responses: [{args: [a], sequence: [{exit_code: 0}]}]}]}",
    );
    place.run(&["fixture.yaml", "--verify", "-q", "--", "sh", "-c", script])
}

#[test]
fn verify_wants_every_step_used() {
    assert_eq!(verify("gh a").code, Some(0));
    let run = verify("true");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("command:gh: expected 1 calls, saw 0"), "{run:?}");
    assert!(run.stderr.contains("steps of response 0, saw 0"), "{run:?}");
}

#[test]
fn verify_wants_no_call_unanswered() {
    let run = verify("gh a; gh a; true");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("\n  #2 gh a: exhausted\n"), "{run:?}");
    let run = verify("gh a; gh b; true");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("\n  #2 gh b: unmatched\n"), "{run:?}");
}

#[test]
fn a_command_that_failed_keeps_its_status() {
    assert_eq!(verify("exit 7").code, Some(7));
    assert_eq!(verify("gh a; exit 7").code, Some(7));
    assert_eq!(verify("kill -15 $$").code, Some(143));
}

#[test]
fn without_verify_the_status_is_the_commands_and_the_rest_is_told() {
    let place = Place::new();
    let script = r#"gh; gh; python3 "$CLIENT" "$0" orders none; true"#;
    let args = ["--mock", ONCE, "--mock", LOOKUP, "--", "sh", "-c", script, "{mcp_json}"];
    let run = place.run(&args);
    assert_eq!(run.code, Some(0), "{run:?}");
    let (_, table) = run.stderr.split_once("#  call").unwrap();
    assert_eq!(
        table,
        "         step    outcome
1  gh           1 of 1  exit 0
2  gh           -       exhausted
3  orders.none  -       no such tool
orders.lookup: expected 2 steps of response 0, saw 0
"
    );
    let run = place.run(&["--mock", ONCE, "--", "true"]);
    assert!(run.stderr.starts_with("no mock was called\n"), "{run:?}");
}

#[test]
fn what_did_not_match_is_explained_to_people_alone() {
    let place = Place::new();
    place.write(
        "fixture.yaml",
        "{schemaVersion: '2.0', scenario: s, command_mocks: [{name: gh, responses: [{args: [a], exit_code: 0}]}]}",
    );
    let run = place.run(&["fixture.yaml", "--", "gh", "b c", "\u{1b}[2J"]);
    assert_eq!(run.code, Some(127), "{run:?}");
    assert!(run.stderr.contains("1  gh \"b c\" \"\\u{1b}[2J\"  -"), "{run:?}");
    assert!(run.stderr.contains("\n#1: nearest is response 0: "), "{run:?}");
    assert!(run.stderr.starts_with("gh: unmatched: no response for this call\n"), "{run:?}");
}

#[test]
fn the_evidence_is_json_on_demand() {
    let place = Place::new();
    let script = r#"gh pr merge 7; python3 "$CLIENT" "$0" orders lookup '{"n": 1.0}'; exit 7"#;
    let args = ["--mock", GH, "--mock", LOOKUP, "--json", "run.json", "-q", "--"];
    let run =
        place.run(&[&args[..], &["sh", "-c", script, "{mcp_json}", "--token", "hunter2"]].concat());
    assert_eq!(run.code, Some(7), "{run:?}");
    let text = place.read("run.json");
    assert!(text.contains(r#""args":{"n":1.0}"#) && !text.contains("hunter2"), "{text}");
    let evidence: Value = serde_json::from_str(&text).unwrap();
    let words = evidence["command"].as_array().unwrap();
    assert_eq!((&words[0], &words[3], words.len()), (&json!("sh"), &json!("{mcp_json}"), 6));
    assert_eq!(evidence["exit_code"], 7);
    assert_eq!(evidence["command_invocations"][0]["exit_code"], 1);
    assert_eq!(evidence["tool_events"][0]["error"], "busy");
    assert_eq!(evidence["mocks"]["command:gh"]["responses"][0]["used"], 1);
    assert_eq!(evidence["closed"], true);

    place.run(&["--json", "run.json", "-q", "--", "sh", "-c", "kill -9 $$"]);
    let evidence: Value = serde_json::from_str(&place.read("run.json")).unwrap();
    assert_eq!((evidence.get("signal"), evidence.get("exit_code")), (Some(&json!(9)), None));
}

#[test]
fn a_place_for_the_evidence_that_is_none_starts_nothing() {
    let place = Place::new();
    let run = place.run(&["--json", "none/run.json", "--", "touch", "ran"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(!place.path("ran").exists());
}

#[test]
fn a_session_is_kept_on_demand() {
    let place = Place::new();
    let run = place.run(&["--mock", GH, "--keep", "kept", "-q", "--", "gh"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let journal = place.read("kept/journal.jsonl");
    assert!(journal.contains("\"attempt.started\"") && journal.contains("\"session.closed\""));
    assert!(journal.contains("\"runner\""), "{journal}");

    let run = place.run(&["--mock", GH, "--keep", "kept", "-q", "--", "touch", "ran"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("`kept` exists") || run.stderr.contains("kept` exists"), "{run:?}");
    assert!(!place.path("ran").exists());

    std::fs::create_dir(place.path("empty")).unwrap();
    let run = place.run(&["--keep", "empty", "-q", "--", "true"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(place.path("empty/session.json").exists());

    let run = place.run(&["--mock", GH, "--keep", "other", "--", "no-such-program"]);
    assert_eq!(run.code, Some(127), "{run:?}");
    assert!(!place.path("other").exists());
}
