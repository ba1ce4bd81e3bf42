//! Each check, with evidence that violates it and nothing else.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use fixtures::document::task::{CallOutcome, Expectation, Violates};
use fixtures::journal::record::ReadText;
use serde_json::{Value, json};

use super::{Call, Evidence, grade};
use crate::results::testing::record;
use crate::results::{Change, ChangeKind, EntryType, Record, Violation};

fn call(operation: &str, arguments: Value, outcome: CallOutcome, began_ms: u64) -> Call {
    Call {
        sequence: began_ms,
        operation: operation.to_owned(),
        arguments,
        stdin: None,
        cwd: None,
        environment: BTreeMap::new(),
        outcome,
        response: Some(0),
        is_probe: false,
        is_fault: false,
        began_ms: began_ms as f64,
    }
}

fn error(began_ms: u64) -> Call {
    call("s.t", json!({"w": "A"}), CallOutcome::Error, began_ms)
}

fn success(began_ms: u64) -> Call {
    call("s.t", json!({"w": "A"}), CallOutcome::Success, began_ms)
}

fn file(path: &str, kind: ChangeKind, text: &str) -> Change {
    Change {
        path: path.to_owned(),
        kind,
        entry: EntryType::File,
        sha256: None,
        content: Some(text.to_owned()),
        content_base64: None,
        new_directory: None,
        ignored: false,
    }
}

fn made(path: &str) -> Change {
    file(path, ChangeKind::Created, "")
}

/// Every field of an expected call, violated alone: the message has both values.
#[test]
fn what_is_violated_is_told_with_both_values() {
    let command = |members: Value| {
        let mut wanted = json!({"command": "gh", "result": "success"});
        wanted.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        wanted
    };
    let gh = || Call {
        stdin: Some(ReadText::Whole("given\n".to_owned())),
        cwd: Some("given".to_owned()),
        environment: BTreeMap::from([("E".to_owned(), Some("given".to_owned()))]),
        ..call("command:gh", json!(["given"]), CallOutcome::Success, 20)
    };
    let before = || call("command:gh", json!(["given"]), CallOutcome::Success, 5);
    let large = "x".repeat(70_000);
    let head = |text: &str| Call { stdin: Some(ReadText::of(text)), ..gh() };
    let error = || call("s.t", json!({"w": "given"}), CallOutcome::Error, 1);
    let wanted = "wanted";
    let cases = [
        (
            "command",
            json!([{"command": "other", "result": "success"}]),
            vec![gh()],
            "command:other",
            "no further call",
        ),
        (
            "tool",
            json!([{"tool": "s.u", "result": "error"}, {"tool": "s.t", "result": "error"}]),
            vec![error()],
            "s.u (error)",
            "s.t {",
        ),
        (
            "arguments",
            json!([{"tool": "s.t", "arguments": {"w": wanted}, "result": "error"}]),
            vec![error()],
            "\"wanted\"",
            "\"given\"",
        ),
        (
            "args",
            json!([command(json!({"args": [wanted]}))]),
            vec![gh()],
            "[\"wanted\"]",
            "[\"given\"]",
        ),
        (
            "result",
            json!([command(json!({"result": "killed"}))]),
            vec![gh()],
            "(killed)",
            "(success)",
        ),
        (
            "stdin",
            json!([command(json!({"stdin": {"equals": wanted}}))]),
            vec![gh()],
            "stdin \"wanted\"",
            "stdin \"given\\n\"",
        ),
        (
            "stdin",
            json!([command(json!({"stdin": {"contains": wanted}}))]),
            vec![gh()],
            "stdin with \"wanted\"",
            "stdin \"given\\n\"",
        ),
        (
            "stdin",
            json!([command(json!({"stdin": {"matches": "want.d"}}))]),
            vec![gh()],
            "stdin that matches `want.d`",
            "stdin \"given\\n\"",
        ),
        (
            "stdin",
            json!([command(json!({"stdin": {"equals": large}}))]),
            vec![head(&format!("{large}y"))],
            "stdin \"xxx",
            "stdin \"xxx",
        ),
        (
            "stdin",
            json!([command(json!({"stdin": {"equals": wanted}}))]),
            vec![Call { stdin: None, ..gh() }],
            "\"wanted\"",
            "stdin unread",
        ),
        (
            "cwd",
            json!([command(json!({"cwd": "wanted"}))]),
            vec![gh()],
            "cwd `wanted`",
            "cwd `given`",
        ),
        (
            "environment",
            json!([command(json!({"environment": {"E": wanted}}))]),
            vec![gh()],
            "environment E \"wanted\"",
            "environment E \"given\"",
        ),
        (
            "environment",
            json!([command(json!({"environment": {"F": wanted}}))]),
            vec![gh()],
            "environment F \"wanted\"",
            "environment F not set",
        ),
        (
            "gap_ms",
            json!([command(json!({})), command(json!({"gap_ms": {"at_least": 16}}))]),
            vec![before(), gh()],
            "gap_ms at least 16",
            "gap_ms 15",
        ),
        (
            "gap_ms",
            json!([command(json!({})), command(json!({"gap_ms": {"at_least": 1, "at_most": 14}}))]),
            vec![before(), gh()],
            "gap_ms at least 1 and at most 14",
            "gap_ms 15",
        ),
        (
            "same",
            json!([command(json!({})), command(json!({"same": ["/0"]}))]),
            vec![Call { arguments: json!(["first"]), ..before() }, gh()],
            "the same `/0`",
            "\"first\", then \"given\"",
        ),
        // All of them at once.
        (
            "stdin",
            json!([command(
                json!({"stdin": {"equals": wanted}, "cwd": "wanted", "environment": {"E": wanted}})
            )]),
            vec![gh()],
            "with stdin \"wanted\", cwd `wanted`, environment E \"wanted\"",
            "with stdin \"given\\n\", cwd `given`, environment E \"given\"",
        ),
    ];
    for (field, expected_calls, calls, expected, actual) in &cases {
        let expect: Expectation =
            serde_json::from_str(&json!({"calls": expected_calls}).to_string()).unwrap();
        let record = record();
        let mut evidence = Evidence::of(&record);
        evidence.calls.clone_from(calls);
        let found = grade(&expect, &evidence, "expect");
        let [violation] = &*found else { panic!("{field}: {found:?}") };
        assert!(violation.expected.contains(expected), "{field}: {violation:?}");
        assert!(violation.actual.contains(actual), "{field}: {violation:?}");
    }
    let schema: Value = serde_json::from_str(fixtures::SCHEMA).unwrap();
    let fields = schema["$defs"]["expected_call"]["properties"].as_object().unwrap();
    let told: BTreeSet<&str> = cases.iter().map(|case| case.0).collect();
    let fields: BTreeSet<&str> = fields.keys().map(String::as_str).collect();
    assert_eq!(told, fields, "every field has a case");
}

#[test]
fn what_a_command_read_and_where_it_ran_is_held_to() {
    let large = "é".repeat(40_000);
    let gh = |stdin: &str| Call {
        stdin: Some(ReadText::of(stdin)),
        cwd: Some("packages/app".to_owned()),
        environment: BTreeMap::from([("E".to_owned(), Some("1".to_owned()))]),
        ..call("command:gh", json!([]), CallOutcome::Success, 1)
    };
    for (given, members) in [
        (
            "a\n",
            json!({"stdin": {"equals": "a\n"}, "cwd": "packages/app", "environment": {"E": "1"}}),
        ),
        ("xay", json!({"stdin": {"contains": "a"}, "cwd": "./packages/app/"})),
        ("xay", json!({"stdin": {"matches": "^x.y$"}})),
        (&large, json!({"stdin": {"equals": large}})),
        (&large, json!({"stdin": {"contains": "é"}})),
    ] {
        for key in ["calls", "limits"] {
            let mut wanted = json!({"command": "gh"});
            wanted.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
            let more =
                if key == "calls" { ("result", json!("success")) } else { ("exactly", json!(1)) };
            wanted[more.0] = more.1;
            assert_eq!(graded(&json!({key: [wanted]}), &[gh(given)], vec![]), [""; 0], "{wanted}");
        }
    }
}

/// A file that came with a directory.
fn inside(directory: &str, path: &str) -> Change {
    Change { new_directory: Some(directory.to_owned()), ..made(path) }
}

#[test]
fn what_came_with_a_directory_is_told_once_and_what_is_ignored_never() {
    let changes = vec![
        inside(".git", ".git/HEAD"),
        inside(".git", ".git/config"),
        inside(".git", ".git/objects/a"),
        inside("named", "named/report.txt"),
        inside("named", "named/other"),
        inside("one", "one/a"),
        Change { ignored: true, ..inside("one", "one/b") },
        Change { ignored: true, ..made("x.log") },
        made("y.log"),
    ];
    let expect = json!({"files": {"named/report.txt": {"equals": ""}}});
    let expect: Expectation = serde_json::from_str(&expect.to_string()).unwrap();
    let record = Record { changes, ..record() };
    let found = grade(&expect, &Evidence::of(&record), "expect");
    let told: Vec<&str> = found.iter().map(|it| it.actual.as_str()).collect();
    assert_eq!(
        told,
        [
            "`.git/` was made, 3 entries",
            "`named/other` was made",
            "`one/a` was made",
            "`y.log` was made"
        ]
    );
}

/// Violations as `kind place`.
fn graded(expect: &Value, calls: &[Call], changes: Vec<Change>) -> Vec<String> {
    let expect: Expectation = serde_json::from_str(&expect.to_string()).unwrap();
    let record = Record { changes, answer: "The total is 3.".to_owned(), ..record() };
    let mut evidence = Evidence::of(&record);
    evidence.calls = calls.to_vec();
    let told = |it: Violation| format!("{:?} {}", it.kind, it.expectation);
    grade(&expect, &evidence, "expect").into_iter().map(told).collect()
}

/// The same, with a workspace that has `report.txt`.
fn judged(expect: Value, calls: &[Call], changes: &[Change], report: &str) -> Vec<String> {
    let mut changes = changes.to_vec();
    match changes.iter_mut().find(|it| it.path == "report.txt") {
        Some(change) => change.content = Some(report.to_owned()),
        None => changes.push(file("report.txt", ChangeKind::Unchanged, report)),
    }
    graded(&expect, calls, changes)
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

/// What events say became of a call.
#[test]
fn every_event_has_its_outcome() {
    let event = |members: Value| {
        let mut event = json!({
            "sequence": 1, "args": {}, "reason": "matched", "response_index": 0, "fault": false,
            "cancelled": false, "delivered": true,
        });
        for (name, member) in members.as_object().unwrap() {
            event[name] = member.clone();
        }
        event
    };
    for (members, outcome) in [
        (json!({"tool_name": "s.t", "success": true, "result": {}}), CallOutcome::Success),
        (json!({"tool_name": "s.t", "success": false, "result": {}}), CallOutcome::Error),
        (json!({"tool_name": "s.t", "success": false}), CallOutcome::Killed),
        (json!({"tool_name": "s.t", "success": false, "cancelled": true}), CallOutcome::Cancelled),
        (
            json!({"tool_name": "s.t", "success": false, "result": {}, "reason": "unmatched"}),
            CallOutcome::Unmatched,
        ),
        (
            json!({"tool_name": "s.t", "success": false, "result": {}, "reason": "exhausted"}),
            CallOutcome::Exhausted,
        ),
        (
            json!({"tool_name": "s.t", "success": false, "result": {}, "reason": "unknown_tool"}),
            CallOutcome::UnknownTool,
        ),
        (json!({"command": "gh", "exit_code": 0}), CallOutcome::Success),
        (json!({"command": "gh", "exit_code": 1}), CallOutcome::Error),
        (json!({"command": "gh"}), CallOutcome::Killed),
        (json!({"command": "gh", "exit_code": 130, "cancelled": true}), CallOutcome::Cancelled),
        (json!({"command": "gh", "exit_code": 127, "reason": "unmatched"}), CallOutcome::Unmatched),
    ] {
        let mut value = serde_json::to_value(record()).unwrap();
        value["tool_events"] = json!([event(members.clone())]);
        let record: Record = serde_json::from_str(&value.to_string()).unwrap();
        let calls = super::calls_of(&record);
        assert_eq!(calls.len(), 1, "{members}");
        assert_eq!(calls[0].outcome, outcome, "{members}");
        let operation = if members.get("command").is_some() { "command:gh" } else { "s.t" };
        assert_eq!(calls[0].operation, operation);
    }
}

#[test]
fn attempts_of_both_kinds_have_one_order() {
    let mut value = serde_json::to_value(record()).unwrap();
    let event = |sequence: u64, name: &str| {
        json!({
            name: "x.y", "sequence": sequence, "args": [], "reason": "matched",
            "response_index": -1, "fault": sequence == 3, "cancelled": false, "exit_code": 0,
        })
    };
    value["tool_events"] = json!([event(2, "tool_name"), event(7, "tool_name")]);
    value["command_invocations"] = json!([event(3, "command")]);
    value["began_ms"] = json!({"2": 0.0, "3": 1.5});
    let record: Record = serde_json::from_str(&value.to_string()).unwrap();
    let calls = super::calls_of(&record);
    let seen: Vec<_> =
        calls.iter().map(|it| (it.sequence, it.is_fault, it.began_ms, it.response)).collect();
    assert_eq!(seen, [(2, false, 0.0, None), (3, true, 1.5, None), (7, false, 0.0, None)]);
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
fn a_violation_says_what_was_expected_and_what_was_seen() {
    let told = |expect: Value, calls: &[Call]| {
        let expect: Expectation = serde_json::from_str(&expect.to_string()).unwrap();
        let record = record();
        let mut evidence = Evidence::of(&record);
        evidence.calls = calls.to_vec();
        let found = grade(&expect, &evidence, "expect");
        found.into_iter().map(|it| (it.expected, it.actual)).collect::<Vec<_>>()
    };
    let pair = |expected: &str, actual: &str| vec![(expected.to_owned(), actual.to_owned())];
    let error_seen = r#"s.t {"w":"A"} (error)"#;
    assert_eq!(told(story(), &[]), pair(error_seen, "no further call"));
    let success = r#"s.t {"w":"A"} (success)"#;
    assert_eq!(told(story(), &[error(0), error(1)]), pair(success, error_seen));
    let story_of = |call: Value| json!({"calls": [call]});
    let bare = story_of(json!({"tool": "s.t", "result": "killed"}));
    assert_eq!(told(bare, &[error(0)]), pair("s.t (killed)", error_seen));
    let command = story_of(json!({"command": "gh", "args": ["pr"], "result": "success"}));
    assert_eq!(told(command, &[]), pair(r#"command:gh ["pr"] (success)"#, "no further call"));
    let limit = json!({"limits": [{"any": true, "result": "error", "at_most": 0}]});
    assert_eq!(told(limit, &[error(0)]), pair("at most 0 calls of any operation (error)", "1"));
    let whole = "x".repeat(200);
    let cut = format!("{whole:?}…");
    for (wanted, expected) in [
        (json!({"one_of": ["1", "2"]}), r#"one of "1", "2""#),
        (json!({"equals": whole}), &*format!("{whole:?}")),
        (json!({"equals": whole.clone() + "y"}), &cut),
        (json!({"json": {"n": 1}}), r#"the JSON value "{\"n\":1}""#),
    ] {
        assert_eq!(told(json!({"files": {"a": wanted}}), &[]), pair(expected, "no such file"));
    }
}

#[test]
fn arguments_are_compared_by_value() {
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

/// The first expectation could take either call, and the second one only the first.
#[test]
fn an_unordered_group_gives_each_expectation_its_call_if_that_can_be() {
    let expect = json!({"calls": [{"unordered": [
        {"tool": "s.t", "result": "success"},
        {"tool": "s.t", "arguments": {"n": 1}, "result": "success"},
        {"tool": "s.t", "arguments": {"n": 1}, "result": "success"},
    ]}]});
    let given = |n: u64, at| call("s.t", json!({"n": n}), CallOutcome::Success, at);
    assert_eq!(of_calls(expect.clone(), &[given(1, 0), given(1, 1), given(2, 2)]), [""; 0]);
    let unmet = of_calls(expect, &[given(1, 0), given(2, 1), given(2, 2)]);
    assert_eq!(unmet, ["Evidence expect.calls[0]"]);
}

#[test]
fn a_gap_is_the_time_between_two_calls_of_an_operation() {
    let expect = |gap: Value| {
        json!({"calls": [
            {"tool": "s.t", "result": "error"},
            {"tool": "s.t", "result": "success", "gap_ms": gap},
        ]})
    };
    let calls = [error(100), success(150)];
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
    let calls = [first.clone(), keyed("2", CallOutcome::Success)];
    assert_eq!(of_calls(expect.clone(), &calls), ["Evidence expect.calls"]);
    let keyless = |outcome| call("s.t", json!({}), outcome, 0);
    let calls = [keyless(CallOutcome::Error), keyless(CallOutcome::Success)];
    assert_eq!(of_calls(expect.clone(), &calls), [""; 0]);
    let calls = [first, keyless(CallOutcome::Success)];
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
        (json!({"tool": "s.t", "result": "unmatched", "exactly": 0}), true),
        (json!({"any": true, "at_most": 3}), true),
        (json!({"any": true, "at_most": 2}), false),
        (json!({"any": false, "tool": "s.u", "exactly": 1}), true),
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
fn what_is_no_file_is_none() {
    for entry in [EntryType::Directory, EntryType::Link, EntryType::Other] {
        let change = Change { entry, content: None, ..made("report.txt") };
        for wanted in [json!({"absent": true}), json!({"equals": ""}), json!({"one_of": [""]})] {
            let expect = json!({"files": {"report.txt": wanted}});
            let found = graded(&expect, &[], vec![change.clone()]);
            assert_eq!(found, ["Outcome expect.files[\"report.txt\"]"], "{entry:?}");
        }
    }
    let gone = Change { kind: ChangeKind::Deleted, ..made("report.txt") };
    let expect = json!({"files": {"report.txt": {"absent": true}}});
    assert_eq!(graded(&expect, &[], vec![gone]), [""; 0]);
}

#[test]
fn bytes_that_are_no_text_are_compared_too() {
    let bytes = Change { content: None, content_base64: Some("/wA=".to_owned()), ..made("a") };
    let expect = json!({"files": {"a": {"equals": "x"}}});
    assert_eq!(graded(&expect, &[], vec![bytes]).len(), 1);
    let text = Change { content: None, content_base64: Some("eA==".to_owned()), ..made("a") };
    assert_eq!(graded(&expect, &[], vec![text]), [""; 0]);
}

#[test]
fn a_forbidden_path_is_a_side_effect() {
    let found = graded(&json!({}), &[], vec![file("/etc/x", ChangeKind::Modified, "")]);
    assert_eq!(found, ["SideEffect expect.forbid"]);
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
