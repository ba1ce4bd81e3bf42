//! Each check, with evidence that violates it and nothing else.
#![allow(clippy::unwrap_used)]

use std::fs;

use fixtures::document::task::{CallOutcome, Expectation, Violates};
use fixtures::redact::Redactor;
use serde_json::{Value, json};

use super::{Call, Evidence, Violation, grade};
use crate::workspace::{Difference, Entry};

fn call(operation: &str, arguments: Value, outcome: CallOutcome, began_ms: u64) -> Call {
    Call { operation: operation.to_owned(), arguments, outcome, is_fault: false, began_ms }
}

fn error(began_ms: u64) -> Call {
    call("s.t", json!({"w": "A"}), CallOutcome::Error, began_ms)
}

fn success(began_ms: u64) -> Call {
    call("s.t", json!({"w": "A"}), CallOutcome::Success, began_ms)
}

fn made(path: &str) -> Difference {
    let after = Some(Entry::File("d".to_owned()));
    Difference { path: path.to_owned(), before: None, after }
}

/// Violations as `kind place`, with a workspace that has `report.txt`.
fn judged(expect: Value, calls: &[Call], changes: &[Difference], report: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("report.txt"), report).unwrap();
    let expect: Expectation = serde_json::from_str(&expect.to_string()).unwrap();
    let redactor = Redactor::new(b"key", None, []);
    let evidence = Evidence {
        calls,
        changes,
        touched: &[],
        answer: "The total is 3.",
        workspace: folder.path(),
        redactor: &redactor,
    };
    let told = |it: Violation| format!("{:?} {}", it.kind, it.expectation);
    grade(&expect, &evidence).into_iter().map(told).collect()
}

fn of_calls(expect: Value, calls: &[Call]) -> Vec<String> {
    judged(expect, calls, &[], "3\n")
}

fn story() -> Value {
    json!({"calls": [
        {"tool": "s.t", "arguments": {"w": "A"}, "result": "error"},
        {"tool": "s.t", "arguments": {"w": "A"}, "result": "success"},
    ]})
}

#[test]
fn the_story_of_the_named_operations_is_whole_and_in_order() {
    let other = call("s.u", json!({}), CallOutcome::Success, 5);
    assert_eq!(of_calls(story(), &[error(0), other, success(9)]), [""; 0]);
    for (calls, place) in [
        (vec![], "[0]"),
        (vec![error(0)], "[1]"),
        (vec![success(0), error(1)], "[0]"),
        (vec![error(0), error(1)], "[1]"),
        (vec![error(0), call("s.t", json!({"w": "B"}), CallOutcome::Success, 1)], "[1]"),
        (vec![error(0), success(1), success(2)], ""),
    ] {
        assert_eq!(of_calls(story(), &calls), [format!("Evidence expect.calls{place}")]);
    }
}

#[test]
fn arguments_are_compared_by_value_and_after_redaction() {
    let redactor = Redactor::new(b"key", None, []);
    let secret = json!({"n": 1, "token": "hunter2hunter2"});
    let marked = redactor.value(&secret);
    let expect = json!({"calls": [{"tool": "s.t", "arguments": secret, "result": "success"}]});
    let given = call("s.t", marked, CallOutcome::Success, 0);
    assert_eq!(of_calls(expect, &[given]), [""; 0]);
    let expect = json!({"calls": [{"tool": "s.t", "arguments": {"n": 1.0}, "result": "success"}]});
    let given = call("s.t", json!({"n": 1}), CallOutcome::Success, 0);
    assert_eq!(of_calls(expect, &[given]), [""; 0]);
}

#[test]
fn commands_are_compared_by_their_whole_vector() {
    let expect = json!({"calls": [{"command": "gh", "args": ["pr", "list"], "result": "success"}]});
    let given = |args: Value| call("command:gh", args, CallOutcome::Success, 0);
    assert_eq!(of_calls(expect.clone(), &[given(json!(["pr", "list"]))]), [""; 0]);
    let other = of_calls(expect, &[given(json!(["pr", "list", "--all"]))]);
    assert_eq!(other, ["Evidence expect.calls[0]"]);
}

#[test]
fn an_unordered_group_takes_its_calls_in_any_order() {
    let expect = json!({"calls": [{"unordered": [
        {"tool": "s.a", "result": "success"},
        {"tool": "s.b", "result": "success"},
    ]}]});
    let (a, b) = (
        call("s.a", json!({}), CallOutcome::Success, 0),
        call("s.b", json!({}), CallOutcome::Success, 1),
    );
    assert_eq!(of_calls(expect.clone(), &[b.clone(), a.clone()]), [""; 0]);
    assert_eq!(of_calls(expect.clone(), &[a.clone(), a]), ["Evidence expect.calls[0]"]);
    assert_eq!(of_calls(expect, &[b]), ["Evidence expect.calls[0]"]);
}

#[test]
fn a_gap_is_the_time_between_two_calls_of_an_operation() {
    let expect = |gap: Value| {
        json!({"calls": [
            {"tool": "s.t", "result": "error"},
            {"tool": "s.t", "result": "success", "gap_ms": gap},
        ]})
    };
    let calls = [error(0), success(50)];
    assert_eq!(of_calls(expect(json!({"at_least": 50, "at_most": 50})), &calls), [""; 0]);
    for gap in [json!({"at_least": 51}), json!({"at_most": 49})] {
        assert_eq!(of_calls(expect(gap), &calls), ["Evidence expect.calls[1]"]);
    }
}

#[test]
fn a_value_that_must_stay_the_same_does() {
    let expect = json!({"calls": [
        {"tool": "s.t", "result": "error"},
        {"tool": "s.t", "result": "success", "same": ["/key"]},
    ]});
    let keyed = |key: &str, outcome| call("s.t", json!({"key": key}), outcome, 0);
    let first = keyed("1", CallOutcome::Error);
    let calls = [first.clone(), keyed("1", CallOutcome::Success)];
    assert_eq!(of_calls(expect.clone(), &calls), [""; 0]);
    let calls = [first, keyed("2", CallOutcome::Success)];
    assert_eq!(of_calls(expect, &calls), ["Evidence expect.calls"]);
}

#[test]
fn limits_count_what_they_name() {
    let calls = [error(0), success(1), call("s.u", json!({"x": "abc"}), CallOutcome::Unmatched, 2)];
    for (limit, holds) in [
        (json!({"tool": "s.t", "at_least": 2, "at_most": 2}), true),
        (json!({"tool": "s.t", "at_least": 3}), false),
        (json!({"tool": "s.t", "at_most": 1}), false),
        (json!({"tool": "s.t", "exactly": 2}), true),
        (json!({"tool": "s.t", "exactly": 1}), false),
        (json!({"tool": "s.t", "result": "error", "exactly": 1}), true),
        (json!({"tool": "s.t", "arguments": {"w": "B"}, "exactly": 0}), true),
        (json!({"any": true, "result": "unmatched", "at_most": 0}), false),
        (json!({"any": true, "args_contain": ["bc"], "exactly": 1}), true),
        (json!({"any": true, "args_contain": ["bc", "z"], "exactly": 0}), true),
        (json!({"command": "gh", "at_most": 0}), true),
    ] {
        let found = of_calls(json!({"limits": [limit]}), &calls);
        assert_eq!(found.is_empty(), holds, "{limit}: {found:?}");
    }
}

#[test]
fn every_change_that_is_not_expected_is_a_side_effect() {
    let expect = json!({"files": {"report.txt": {"equals": "3"}}});
    let changes = [made("report.txt"), made("extra.txt")];
    let found = judged(expect.clone(), &[], &changes, "3\n");
    assert_eq!(found, ["SideEffect expect.files"]);
    assert_eq!(judged(expect, &[], &changes[..1], "3\n"), [""; 0]);
    assert_eq!(judged(json!({}), &[], &changes[..1], "3\n"), ["SideEffect expect.files"]);
}

#[test]
fn files_and_answer_are_the_outcome() {
    for (expect, holds) in [
        (json!({"files": {"report.txt": {"equals": "3"}}}), true),
        (json!({"files": {"report.txt": {"equals": "3\n"}}}), true),
        (json!({"files": {"report.txt": {"equals": "3\n\n"}}}), false),
        (json!({"files": {"report.txt": {"equals": "4"}}}), false),
        (json!({"files": {"report.txt": {"json": 3.0}}}), true),
        (json!({"files": {"report.txt": {"json": "3"}}}), false),
        (json!({"files": {"report.txt": {"one_of": ["4", "3"]}}}), true),
        (json!({"files": {"report.txt": {"absent": true}}}), false),
        (json!({"files": {"other.txt": {"absent": true}}}), true),
        (json!({"files": {"other.txt": {"equals": ""}}}), false),
        (json!({"answer": {"contains": ["total", "3"]}}), true),
        (json!({"answer": {"contains": ["4"]}}), false),
        (json!({"answer": {"absent": ["total"]}}), false),
        (json!({"answer": {"absent": ["4"]}}), true),
    ] {
        let found = judged(expect.clone(), &[], &[], "3\n");
        assert_eq!(found.is_empty(), holds, "{expect}: {found:?}");
        assert!(found.iter().all(|it| it.starts_with("Outcome ")), "{found:?}");
    }
}

#[test]
fn one_alternative_holds_whole() {
    let expect = json!({"any_of": [
        {"limits": [{"tool": "s.t", "exactly": 1}], "files": {"report.txt": {"equals": "3"}}},
        {"limits": [{"tool": "s.t", "exactly": 2}], "files": {"report.txt": {"equals": "4"}}},
    ]});
    let changes = [made("report.txt")];
    assert_eq!(judged(expect.clone(), &[error(0)], &changes, "3"), [""; 0]);
    assert_eq!(judged(expect.clone(), &[error(0), error(1)], &changes, "4"), [""; 0]);
    let mixed = judged(expect, &[error(0), error(1)], &changes, "3");
    assert_eq!(mixed.len(), 1, "{mixed:?}");
}

#[test]
fn evidence_is_named_first_then_side_effects_then_outcomes() {
    let expect = json!({
        "files": {"report.txt": {"equals": "4"}},
        "calls": [{"tool": "s.t", "result": "success"}],
    });
    let kinds = judged(expect, &[], &[made("extra.txt")], "3");
    let kinds: Vec<&str> = kinds.iter().map(|it| it.split(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["Evidence", "SideEffect", "Outcome"]);
    assert!(Violates::Evidence < Violates::SideEffect && Violates::SideEffect < Violates::Outcome);
}
