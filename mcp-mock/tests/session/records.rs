//! What a record says of a program, a decision, an outcome and its delivery.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Place, Server, text_of};

const MODERN: &str = "io.modelcontextprotocol/protocolVersion";

#[test]
fn every_record_has_the_common_keys() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    let pid = server.pid();
    server.text("seq");
    server.end();
    place.attach().end();
    let records = place.records();
    let (first, second) = records.split_at(5);
    let mut before = 0;
    for record in &records {
        let at = record["at"].as_str().unwrap();
        assert!(at.len() == 27 && at.ends_with('Z') && at.as_bytes()[19] == b'.', "{at}");
        let mono = record["mono_us"].as_u64().unwrap();
        assert!(mono >= before);
        before = mono;
    }
    assert!(first.iter().all(|it| it["pid"] == pid && it["instance"] == first[0]["instance"]));
    assert!(second.iter().all(|it| it["instance"] == second[0]["instance"]));
    assert!(first[0]["instance"] != second[0]["instance"]);
}

#[test]
fn a_program_says_who_it_serves_and_why_it_left() {
    let place = Place::usual();
    place.make();
    place.attach().end();
    let [opened, closed] = place.records().try_into().unwrap();
    assert_eq!(opened["type"], "program.opened");
    assert_eq!(opened["program"], "mcp-mock");
    assert_eq!(opened["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&opened["kind"], &opened["name"]), (&json!("mcp"), &json!("s")));
    assert_eq!(opened["client"], json!({"name": "tester", "version": "1.2"}));
    assert_eq!((&closed["type"], &closed["cause"]), (&json!("program.closed"), &json!("eof")));
}

#[test]
fn a_modern_client_is_named_by_its_first_request() {
    let place = Place::usual();
    place.make();
    let mut server = Server::start(&mut place.command(&["serve", "--session", "run"]));
    let mut request = crate::request(1, "seq", &json!({}));
    request["params"]["_meta"] = json!({
        MODERN: "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "3"}});
    server.send(&request);
    assert_eq!(text_of(&server.receive()["result"]), "one");
    server.end();
    let records = place.records();
    assert_eq!(records[0]["client"], json!({"name": "modern", "version": "3"}));
    assert_eq!(place.of_type("program.opened").len(), 1);
}

#[test]
fn a_client_that_says_nothing_is_not_named() {
    let place = Place::usual();
    place.make();
    Server::start(&mut place.command(&["serve", "--session", "run"])).end();
    let [opened, closed] = place.records().try_into().unwrap();
    assert_eq!((opened.get("client"), &closed["cause"]), (None, &json!("eof")));
}

#[test]
fn a_decision_says_what_was_asked_and_what_was_found() {
    let place = Place::with_tools(
        "{of: {responses: [{match: {a: 1}, text: x}, {match: {a: 2}, sequence: [{error: e, delay_ms: 20}]}]}}",
    );
    place.make();
    let mut server = place.attach();
    for (tool, arguments) in [
        ("of", json!({"a": 1})),
        ("of", json!({"a": 2})),
        ("of", json!({"a": 2})),
        ("of", json!({"a": 2, "b": [null]})),
        ("nothing", json!({})),
    ] {
        server.call_with(tool, &arguments);
    }
    server.end();
    let started = place.of_type("attempt.started");
    for (record, id) in started.iter().zip(1..) {
        assert_eq!(record["attempt"], record["seq"]);
        assert_eq!(record["ppid"], std::process::id());
        assert_eq!((&record["kind"], &record["mock"]), (&json!("mcp"), &json!("s")));
        assert_eq!(record["request_id"], id);
    }
    let [plain, step, exhausted, unmatched, unknown] = started.try_into().unwrap();
    let facts = |record: &Value| {
        let keys = ["operation", "arguments", "reason", "response", "fault", "delay_ms"];
        json!(keys.map(|key| record[key].clone()))
    };
    assert_eq!(facts(&plain), json!(["of", {"a": 1}, "matched", 0, false, 0]));
    assert_eq!(facts(&step), json!(["of", {"a": 2}, "matched", 1, true, 20]));
    assert_eq!(facts(&exhausted), json!(["of", {"a": 2}, "exhausted", 1, false, 0]));
    assert_eq!(facts(&unmatched), json!(["of", {"a": 2, "b": [null]}, "unmatched", -1, false, 0]));
    assert_eq!(facts(&unknown), json!(["nothing", {}, "unknown_tool", -1, false, 0]));
    let steps = [&plain, &step, &exhausted, &unmatched, &unknown].map(|it| it.get("step"));
    assert_eq!(steps, [None, Some(&json!(0)), None, None, None]);
    assert_eq!(unmatched["nearest"], 1);
    assert!(unmatched["difference"].as_str().unwrap().contains("/b"), "{unmatched}");
    for record in [plain, step, exhausted, unknown] {
        assert_eq!((record.get("nearest"), record.get("difference")), (None, None));
    }
}

#[test]
fn what_was_selected_is_what_was_sent() {
    let place = Place::with_tools(
        "{of: {responses: [{match: {a: 1}, return: {b: 1.50, a: 1e2}}, {match: {a: 2}, error: e}]}}",
    );
    place.make();
    let mut server = place.attach();
    let mut sent = Vec::new();
    for (tool, arguments) in
        [("of", json!({"a": 1})), ("of", json!({"a": 2})), ("of", json!({})), ("no", json!({}))]
    {
        sent.push(server.call_with(tool, &arguments));
    }
    server.end();
    let selected = place.of_type("attempt.selected");
    let started = place.of_type("attempt.started");
    let outcomes: Vec<&Value> = selected.iter().map(|it| &it["outcome"]).collect();
    assert_eq!(outcomes, ["success", "error", "error", "error"]);
    for ((selected, started), sent) in selected.iter().zip(started).zip(sent) {
        assert_eq!(selected["attempt"], started["seq"]);
        assert_eq!(selected["result"], sent);
        assert!(selected.get("exit_code").is_none());
    }
}

#[test]
fn a_large_result_is_recorded_by_digest_and_size() {
    let sizes = [60_000, 70_000];
    let tools =
        sizes.map(|size| format!("t{size}: {{responses: [{{text: \"{}\"}}]}}", "x".repeat(size)));
    let place = Place::with_tools(&format!("{{{}}}", tools.join(", ")));
    place.make();
    let mut server = place.attach();
    let sent = sizes.map(|size| server.call(&format!("t{size}")));
    server.end();
    let [small, large] = place.of_type("attempt.selected").try_into().unwrap();
    assert!(small["result"] == sent[0]);
    let text = sent[1].to_string();
    assert_eq!(large["result"]["bytes"], text.len());
    let hashed =
        Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().and_then(
            |mut child| {
                std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes())?;
                child.wait_with_output()
            },
        );
    let hashed = String::from_utf8(hashed.unwrap().stdout).unwrap();
    assert_eq!(large["result"]["sha256"], hashed[..64]);
    assert!(std::fs::metadata(place.journal()).unwrap().len() < 64_000);
}

/// A reply that is larger than the pipe is on its way until the client reads.
#[test]
fn a_reply_that_is_not_read_is_not_delivered() {
    let place = Place::with_tools(&format!(
        "{{big: {{responses: [{{text: \"{}\"}}]}}, seq: {{sequence: [{{text: one}}]}}}}",
        "x".repeat(1_000_000)
    ));
    place.make();
    let mut server = place.attach();
    server.begin("big");
    server.begin("seq");
    crate::wait_until(|| place.of_type("attempt.selected").len() == 2);
    std::thread::sleep(Duration::from_millis(300));
    assert!(place.of_type("attempt.delivered").is_empty());
    assert_eq!(place.status()["tool_events"][0]["delivered"], false);
    server.receive();
    server.receive();
    crate::wait_until(|| place.of_type("attempt.delivered").len() == 2);
    server.end();
    let order = |kind| -> Vec<Value> {
        place.of_type(kind).iter().map(|record| record["attempt"].clone()).collect()
    };
    assert_eq!(order("attempt.delivered"), order("attempt.selected"));
}

#[test]
fn half_a_reply_is_no_delivery() {
    let place = Place::with_tools(&format!(
        "{{big: {{sequence: [{{text: \"{}\"}}, {{text: second}}]}}}}",
        "x".repeat(1_000_000)
    ));
    place.make();
    let mut server = place.attach();
    server.begin("big");
    place.wait_for("attempt.selected");
    let mut some = [0; 1000];
    std::io::Read::read_exact(&mut server.stdout, &mut some).unwrap();
    close_stdout(&mut server);
    assert_eq!(server.exit().code(), Some(1));
    assert!(place.of_type("attempt.delivered").is_empty());
    let event = place.status()["tool_events"][0].take();
    assert_eq!((&event["success"], &event["delivered"]), (&json!(true), &json!(false)));
    assert_eq!(place.attach().text("big"), "second");
}

/// Puts another pipe in the place of the one that the server writes to.
fn close_stdout(server: &mut Server) {
    let (reader, _) = std::io::pipe().unwrap();
    let reader = std::os::fd::OwnedFd::from(reader).into();
    drop(std::mem::replace(server.stdout.get_mut(), reader));
}

#[test]
fn a_reply_that_nobody_can_read_is_not_delivered() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    server.begin("nap");
    place.wait_for("attempt.started");
    close_stdout(&mut server);
    assert_eq!(server.exit().code(), Some(1));
    assert!(place.of_type("attempt.delivered").is_empty());
    assert!(place.of_type("attempt.selected").is_empty());
    // The attempt stays used.
    assert_eq!(place.attach().text("nap"), "second");
}
