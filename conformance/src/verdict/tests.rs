//! Records that differ in one thing, and what is to be thought of them.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::{TwinSays, judge, settle};
use crate::results::testing::record;
use crate::results::{Record, Verdict};

/// A record with some of its members replaced.
fn with(members: Value) -> Record {
    let mut value: Value = serde_json::to_value(record()).unwrap();
    for (name, member) in members.as_object().unwrap() {
        value[name] = member.clone();
    }
    serde_json::from_str(&value.to_string()).unwrap()
}

/// The verdict, and what stands first in its reason.
fn judged(members: Value) -> (Verdict, String) {
    let mut record = with(members);
    judge(&mut record);
    (record.verdict, record.reason.unwrap_or_default())
}

/// A call of `s.t` with `{"n": 1}`; `members` replace some of it.
fn event(sequence: u64, members: Value) -> Value {
    let mut event = json!({
        "sequence": sequence, "tool_call_id": 1, "tool_name": "s.t", "server": "s", "tool": "t",
        "args": {"n": 1}, "result": {}, "success": true, "error": null, "reason": "matched",
        "response_index": 0, "step_index": 0, "fault": false, "cancelled": false,
        "delivered": true, "instance": "i", "duration_ms": 1.0,
    });
    for (name, member) in members.as_object().unwrap() {
        event[name] = member.clone();
    }
    event
}

/// A call that was killed before it had an outcome.
fn killed() -> Value {
    let mut event = event(1, json!({"success": false, "delivered": false}));
    event.as_object_mut().unwrap().remove("result");
    event
}

fn faulty(sequence: u64, response: u64) -> Value {
    event(sequence, json!({"success": false, "fault": true, "response_index": response}))
}

fn expecting(expect: Value) -> Value {
    json!({"id": "t", "prompt": "p", "expect": expect})
}

fn exit(members: Value) -> Value {
    let mut exit = json!({"code": 0, "signal": null, "timed_out": false, "orphans": []});
    for (name, member) in members.as_object().unwrap() {
        exit[name] = member.clone();
    }
    exit
}

#[test]
fn each_record_has_its_verdict() {
    let call = |result: &str| json!({"tool": "s.t", "arguments": {"n": 1}, "result": result});
    let failing = || expecting(json!({"answer": {"contains": ["x"]}}));
    let signalled = || exit(json!({"code": null, "signal": 9}));
    let late = || exit(json!({"code": null, "signal": 15, "timed_out": true}));
    let nobody = json!({"mcp": {}, "commands": {}});
    let failed = json!({"type": "code", "passed": false, "expected": "e", "actual": "a"});
    let passed = json!({"type": "code", "passed": true, "expected": "e", "actual": ""});
    let broken = json!({"type": "code", "passed": false, "expected": "e", "actual": "", "error": "no python3"});
    for (members, verdict, reason) in [
        (json!({}), Verdict::Pass, ""),
        (
            json!({"admitted": failing()}),
            Verdict::Fail,
            "outcome: expect.answer.contains: expected `x`, saw \"\"",
        ),
        // What is no run is not judged.
        (json!({"admitted": failing(), "wiring_error": "w"}), Verdict::Error, "w"),
        (json!({"skipped": "s", "wiring_error": "w"}), Verdict::Skipped, "s"),
        // An agent that had no chance.
        (
            json!({"contacts": [], "exit": signalled()}),
            Verdict::Error,
            "the agent was ended by signal 9, and",
        ),
        (json!({"contacts": [], "exit": late()}), Verdict::Error, "the agent took too long, and"),
        (json!({"contacts": [], "admitted": failing()}), Verdict::Fail, "outcome"),
        (json!({"exit": signalled(), "admitted": failing()}), Verdict::Fail, "outcome"),
        (json!({"exit": signalled()}), Verdict::Pass, ""),
        (json!({"exit": late()}), Verdict::Fail, "outcome: timeout"),
        (
            json!({"contacts": [], "exit": late(), "dependency_modes": nobody}),
            Verdict::Fail,
            "outcome: timeout",
        ),
        (
            json!({"contacts": [], "exit": late(), "dependency_modes": {"mcp": {}, "commands": {"gh": "mocked"}}}),
            Verdict::Error,
            "the agent took too long",
        ),
        (
            json!({"answer_bytes_missing": 7}),
            Verdict::Fail,
            "outcome: answer: expected an answer that can be kept, saw 7 bytes more",
        ),
        // A mock that died, which the case does not expect.
        (
            json!({"tool_events": [killed()]}),
            Verdict::Error,
            "a mock died: its call s.t {\"n\":1} (killed)",
        ),
        (json!({"tool_events": [killed()], "admitted": failing()}), Verdict::Error, "a mock died"),
        (json!({"tool_events": [killed()], "exit": late()}), Verdict::Fail, "outcome: timeout"),
        (
            json!({"tool_events": [killed()], "admitted": expecting(json!({"calls": [call("killed")]}))}),
            Verdict::Pass,
            "",
        ),
        (
            json!({"tool_events": [killed()], "admitted": expecting(json!({"limits": [{"any": true, "result": "killed", "at_most": 1}]}))}),
            Verdict::Pass,
            "",
        ),
        (
            json!({"tool_events": [killed()], "admitted": expecting(json!({"limits": [{"any": true, "result": "error", "at_most": 1}]}))}),
            Verdict::Error,
            "a mock died",
        ),
        (
            json!({"command_invocations": [{
                "sequence": 1, "command": "gh", "args": [], "response_index": 0, "step_index": 0, "reason": "matched",
                "fault": false, "cancelled": false, "delivered": false, "duration_ms": null,
            }]}),
            Verdict::Pass,
            "",
        ),
        // Graders.
        (
            json!({"graders": [passed, failed]}),
            Verdict::Fail,
            "outcome: graders[1]: expected e, saw a",
        ),
        (json!({"graders": [broken]}), Verdict::Error, "no python3"),
        (
            json!({"graders": [broken], "admitted": failing()}),
            Verdict::Fail,
            "outcome: expect.answer",
        ),
        // A script that cannot be played is not the agent's failure, one that is wrong is.
        (
            json!({"agent": {"name": "scripted", "version": null}, "exit": exit(json!({"code": 1})), "complaint": "c"}),
            Verdict::Error,
            "the script failed: c",
        ),
        (
            json!({"agent": {"name": "scripted", "version": null}, "exit": exit(json!({"code": 1})), "admitted": failing()}),
            Verdict::Fail,
            "outcome",
        ),
        (json!({"agent": {"name": "scripted", "version": null}}), Verdict::Pass, ""),
        (json!({"exit": exit(json!({"code": 1}))}), Verdict::Pass, ""),
        // A fault that never landed is never a pass.
        (json!({"faults": {"s.t": [0]}}), Verdict::Invalid, "no call met a fault"),
        (json!({"faults": {"s.t": [0]}, "twin": true}), Verdict::Pass, ""),
        (json!({"faults": {"s.t": [0]}, "admitted": failing()}), Verdict::Fail, "outcome"),
        (json!({"faults": {"s.t": [0]}, "tool_events": [faulty(1, 0)]}), Verdict::Pass, ""),
        // A required call met a response with a fault, another call its fault.
        (
            json!({"faults": {"s.t": [0, 1]}, "tool_events": [event(1, json!({})), faulty(2, 1)],
            "admitted": expecting(json!({"calls": [call("success"), call("error")]}))}),
            Verdict::Invalid,
            "the response to s.t {\"n\":1} (success) holds a fault, which no call met",
        ),
        (
            json!({"faults": {"s.t": [0, 1]}, "tool_events": [event(1, json!({})), faulty(2, 0)],
            "admitted": expecting(json!({"calls": [call("success"), call("error")]}))}),
            Verdict::Pass,
            "",
        ),
        (
            json!({"faults": {"s.t": [1]}, "tool_events": [event(1, json!({})), faulty(2, 1)],
            "admitted": expecting(json!({"calls": [call("success"), call("error")]}))}),
            Verdict::Pass,
            "",
        ),
        // Nobody requires the call that did not meet the fault.
        (
            json!({"faults": {"s.t": [0], "s.u": [0]}, "tool_events": [event(1, json!({})), event(2, json!({"tool_name": "s.u", "fault": true}))],
            "admitted": expecting(json!({"calls": [{"tool": "s.u", "result": "success"}]}))}),
            Verdict::Pass,
            "",
        ),
        (
            json!({"faults": {"s.t": [0], "s.u": [0]},
            "tool_events": [event(1, json!({"args": {"n": 2}})), event(2, json!({"tool_name": "s.u", "fault": true}))],
            "admitted": expecting(json!({"any_of": [
                {"calls": [call("success")]}, {"calls": [{"tool": "s.u", "result": "success"}]},
            ]}))}),
            Verdict::Pass,
            "",
        ),
        (
            json!({"faults": {"s.t": [0], "s.u": [0]},
            "tool_events": [event(1, json!({})), event(2, json!({"tool_name": "s.u", "fault": true}))],
            "admitted": expecting(json!({"any_of": [{"calls": [call("success")]}]}))}),
            Verdict::Invalid,
            "the response to s.t",
        ),
    ] {
        let (got, why) = judged(members.clone());
        assert_eq!(got, verdict, "{members}: {why}");
        assert!(why.starts_with(reason) && why.is_empty() == reason.is_empty(), "{members}: {why}");
    }
}

#[test]
fn a_twin_is_held_to_what_is_expected_without_the_fault() {
    let admitted = json!({
        "id": "t", "prompt": "p", "expect": {"answer": {"contains": ["x"]}},
        "no_fault": {"expect": {"answer": {"contains": ["y"]}}},
    });
    for (twin, answer, verdict) in [
        (false, "x", Verdict::Pass),
        (false, "y", Verdict::Fail),
        (true, "x", Verdict::Fail),
        (true, "y", Verdict::Pass),
    ] {
        let members = json!({"twin": twin, "answer": answer, "admitted": admitted});
        let (got, reason) = judged(members);
        assert_eq!(got, verdict);
        let place = if twin { "outcome: no_fault.expect." } else { "outcome: expect." };
        assert!(verdict == Verdict::Pass || reason.starts_with(place), "{reason}");
    }
}

#[test]
fn a_violation_names_the_place_in_the_document() {
    let admitted =
        expecting(json!({"files": {"r": {"equals": "1"}}, "answer": {"contains": ["x"]}}));
    for (positions, place) in [
        (json!({"expect.files.r": {"line": 3, "column": 4}}), Some((3, 4))),
        (
            json!({"expect.files": {"line": 2, "column": 1}, "expect": {"line": 1, "column": 1}}),
            Some((2, 1)),
        ),
        (json!({"expect": {"line": 1, "column": 1}}), Some((1, 1))),
        (json!({"expect.files.s": {"line": 1, "column": 1}}), None),
    ] {
        let mut record = with(json!({"admitted": admitted, "positions": positions}));
        judge(&mut record);
        let source = record.violations[0].source.clone();
        assert_eq!(source.map(|it| (it.line, it.column)), place);
        assert_eq!(record.violations.len(), 2);
        let told = record.reason.unwrap();
        assert_eq!(told.contains("expect.files.r (c.yaml:"), place.is_some(), "{told}");
    }
}

#[test]
fn what_an_agent_does_wrong_without_a_fault_is_its_own() {
    let extra = json!([{"path": "x", "kind": "created", "type": "file"}]);
    let no_calls = expecting(json!({"calls": [{"tool": "s.t", "result": "success"}]}));
    for (twin, place) in [
        (json!({"changes": extra}), "side_effect: expect.files: "),
        (json!({"admitted": no_calls}), "evidence: expect.calls[0]: "),
    ] {
        let mut twin = with(twin);
        twin.twin = true;
        judge(&mut twin);
        let says = TwinSays::of(&twin);
        assert!(says.is_failure());
        for (members, before) in [
            (json!({}), Verdict::Pass),
            (json!({"faults": {"s.t": [0]}}), Verdict::Invalid),
            (json!({"answer_bytes_missing": 7}), Verdict::Fail),
            (json!({"wiring_error": "w"}), Verdict::Error),
            (json!({"skipped": "s"}), Verdict::Skipped),
        ] {
            let mut record = with(members);
            judge(&mut record);
            assert_eq!(record.verdict, before);
            settle(&mut record, &says);
            let reason = record.reason.unwrap_or_default();
            match before {
                Verdict::Pass | Verdict::Invalid => {
                    assert_eq!(record.verdict, Verdict::Fail);
                    assert!(reason.starts_with(&format!("without the fault: {place}")), "{reason}");
                    assert_eq!(record.violations, twin.violations);
                }
                Verdict::Fail => {
                    let told = format!("; also without the fault: {place}");
                    assert!(reason.starts_with("outcome: ") && reason.contains(&told), "{reason}");
                    assert_eq!(record.violations.len(), 1);
                }
                Verdict::Error | Verdict::Skipped => assert_eq!(record.verdict, before),
            }
        }
    }
}

#[test]
fn what_passes_only_with_its_fault_proves_nothing() {
    let failing = expecting(json!({"answer": {"contains": ["x"]}}));
    let twin = |members: Value| {
        let mut twin = with(members);
        twin.twin = true;
        judge(&mut twin);
        TwinSays::of(&twin)
    };
    let failed = twin(json!({"admitted": failing}));
    let passed = twin(json!({}));
    let untouched = twin(json!({"admitted": failing, "contacts": []}));
    let erred = twin(json!({"wiring_error": "w"}));
    assert!(!failed.is_failure() && !untouched.is_failure());
    let settled = |members: Value, twin: &TwinSays| {
        let mut record = with(members);
        judge(&mut record);
        let before = record.reason.clone();
        settle(&mut record, twin);
        (record.verdict, record.reason, before)
    };
    let (verdict, reason, _) = settled(json!({}), &failed);
    assert_eq!(verdict, Verdict::Invalid);
    assert!(reason.unwrap().starts_with("the twin without the fault fails: outcome: "));
    let (verdict, reason, before) = settled(json!({"admitted": failing}), &failed);
    assert_eq!(verdict, Verdict::Fail);
    let told = format!("{}; also without the fault: outcome: ", before.unwrap());
    assert!(reason.unwrap().starts_with(&told));
    for twin in [&passed, &untouched, &erred] {
        assert_eq!(settled(json!({}), twin), (Verdict::Pass, None, None));
    }
    for (members, verdict) in [
        (json!({"wiring_error": "w"}), Verdict::Error),
        (json!({"skipped": "s"}), Verdict::Skipped),
        (json!({"faults": {"s.t": [0]}}), Verdict::Invalid),
        (json!({"twin": true}), Verdict::Pass),
    ] {
        let (got, reason, before) = settled(members, &failed);
        assert_eq!(got, verdict);
        assert_eq!(reason, before);
    }
}
