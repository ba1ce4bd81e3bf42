//! What a call gets, row by row.

use serde_json::json;

use crate::{Place, SERVED, deadline_in};

#[test]
fn what_matches_is_answered_as_authored() {
    let place = Place::new(
        r#"[{name: gh, responses: [
            {args: [a], stdout: "out\n", stderr: "no newline", exit_code: 3},
            {args: [silent], exit_code: 0},
            {args: [object], stdout: {b: 1, a: [null, 1.50]}},
            {args: ["null"], stdout: null, stderr: only}]}]"#,
    );
    assert_eq!(place.call("gh", &["a"]), (3, "out\n".to_owned(), "no newline".to_owned()));
    assert_eq!(place.call("gh", &["silent"]), (0, String::new(), String::new()));
    let object = (0, "{\"b\":1,\"a\":[null,1.50]}".to_owned(), String::new());
    assert_eq!(place.call("gh", &["object"]), object);
    assert_eq!(place.call("gh", &["null"]), (0, String::new(), "only".to_owned()));
    assert_eq!(place.types(), SERVED.repeat(4));
    let records = place.records();
    let (started, selected) = (&records[0], &records[1]);
    assert_eq!(started["mock"], "gh");
    assert_eq!((&started["reason"], &started["response"]), (&json!("matched"), &json!(0)));
    assert_eq!((&started["arguments"], &started["fault"]), (&json!(["a"]), &json!(true)));
    assert_eq!(started["cwd"], place.root().to_str().unwrap());
    assert_eq!(started["ppid"], std::process::id());
    assert_eq!((&selected["outcome"], &selected["exit_code"]), (&json!("error"), &json!(3)));
    // Explicit also when 0.
    assert_eq!((&records[4]["outcome"], &records[4]["exit_code"]), (&json!("success"), &json!(0)));
}

#[test]
fn raw_bytes_go_out_as_they_are() {
    let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let place = Place::empty();
    std::fs::write(place.path("raw.bin"), &bytes).unwrap();
    std::fs::write(place.path("empty.bin"), b"").unwrap();
    let mocks = "[{name: gh, responses: [{args: [raw], fixture: raw.bin, stderr: \"\\0x\"}, {args: [empty], fixture: empty.bin}]}]";
    place.make("run", mocks, |_| {});
    // Nothing outside of the session is read any more.
    std::fs::remove_file(place.path("raw.bin")).unwrap();
    let output = place.command("gh", &["raw"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout == bytes && output.stderr == b"\0x");
    assert_eq!(place.call("gh", &["empty"]), (0, String::new(), String::new()));
}

#[test]
fn what_nothing_matches_is_recorded_and_says_no_more_than_that() {
    let place = Place::new("[{name: gh, responses: [{args: [a, b], stdout: x}]}]");
    let (code, stdout, stderr) = place.call("gh", &["a", "c"]);
    assert_eq!((code, &*stdout), (127, ""));
    assert_eq!(stderr, "gh: unmatched: no response for this call\n");
    assert_eq!(place.types(), SERVED);
    let records = place.records();
    assert_eq!(records[0]["reason"], "unmatched");
    assert_eq!((&records[0]["response"], records[0].get("step")), (&json!(-1), None));
    assert_eq!((&records[0]["nearest"], &records[1]["exit_code"]), (&json!(0), &json!(127)));
    assert_eq!(records[0]["difference"], "argument 2 is another one");
}

#[test]
fn explain_says_what_came_nearest_and_no_values() {
    let place = Place::new(
        "[{name: gh, explain: true, responses: [{args: [a], stdout: x}, {args: [secretly, b], stdout: y}]}]",
    );
    let (code, stdout, stderr) = place.call("gh", &["z", "b"]);
    assert_eq!((code, &*stdout), (127, ""));
    let line = "gh: unmatched: no response for this call; nearest is response 1: argument 1 is another one\n";
    assert_eq!(stderr, line);
}

#[test]
fn an_exhausted_sequence_owns_its_calls_still() {
    let place = Place::new(
        "[{name: gh, explain: true, responses: [{args: [a], sequence: [{stdout: one}, {stdout: two, repeat: 2}]}, {stdout: other}]}]",
    );
    let served: Vec<_> = (0..3).map(|_| place.call("gh", &["a"]).1).collect();
    assert_eq!(served, ["one", "two", "two"]);
    let exhausted = (127, String::new(), "gh: exhausted: no further response\n".to_owned());
    assert_eq!(place.call("gh", &["a"]), exhausted);
    assert_eq!(place.call("gh", &["b"]).1, "other");
    let started = place.of_type("attempt.started");
    assert_eq!(started[2]["step"], 2);
    assert_eq!((&started[3]["reason"], started[3].get("step")), (&json!("exhausted"), None));
    assert_eq!((&started[3]["response"], &started[4]["response"]), (&json!(0), &json!(1)));
    assert_eq!(place.of_type("attempt.selected")[3]["exit_code"], 127);
}

#[test]
fn a_deadline_without_end_is_none() {
    let place = Place::with("[{name: gh, responses: [{stdout: x}]}]", |making| {
        making.call_timeout = Some(std::time::Duration::from_millis(u64::MAX));
        let mut deadline = deadline_in(std::time::Duration::ZERO);
        deadline.mono_ms = u64::MAX;
        making.deadline = Some(deadline);
    });
    assert_eq!(place.call("gh", &[]), (0, "x".to_owned(), String::new()));
}
