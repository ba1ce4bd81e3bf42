//! `status`, `verify` and `config` of a session.

use serde_json::{Value, json};

use crate::Place;

/// A sequence that is half used, a wrong call, an unknown tool, an error.
fn used() -> Place {
    let place = Place::with_tools(
        "{seq: {expect_calls: 2, sequence: [{text: one}, {text: two, repeat: 2}]},
          of: {responses: [{match: {a: 1}, error: broken}, {match: {a: 2}, sequence: [{text: x}]}]}}",
    );
    place.make();
    let mut server = place.attach();
    assert_eq!(server.text("seq"), "one");
    server.call_with("of", &json!({"a": 1}));
    server.call_with("of", &json!({"a": "2"}));
    server.call("nothing");
    server.end();
    place
}

#[test]
fn the_status_has_every_key_of_an_event() {
    let place = used();
    let status = place.status();
    let keys: Vec<&String> = status.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["command_invocations", "tool_events", "mocks", "closed"]);
    assert_eq!(status["command_invocations"], json!([]));
    assert_eq!(status["closed"], false);
    let events = status["tool_events"].as_array().unwrap();
    assert_eq!(events.len(), 4);
    for event in events {
        for key in [
            "sequence",
            "tool_call_id",
            "tool_name",
            "server",
            "tool",
            "args",
            "result",
            "success",
            "error",
            "reason",
            "response_index",
            "step_index",
            "fault",
            "cancelled",
            "delivered",
            "instance",
            "duration_ms",
        ] {
            assert!(event.get(key).is_some(), "{key} in {event}");
        }
        assert_eq!(event["delivered"], true);
        assert_eq!(event["cancelled"], false);
        assert!(event["duration_ms"].is_number());
    }
    let started = place.of_type("attempt.started");
    for (event, started) in events.iter().zip(&started) {
        assert_eq!(event["sequence"], started["seq"]);
        assert_eq!(event["instance"], started["instance"]);
    }
    let [seq, failed, unmatched, unknown] = events.as_slice() else { panic!("{status}") };
    assert_eq!(
        [&seq["tool_name"], &seq["server"], &seq["tool"], &seq["tool_call_id"]],
        [&json!("s.seq"), &json!("s"), &json!("seq"), &json!(1)]
    );
    assert_eq!([&seq["success"], &seq["error"]], [&json!(true), &Value::Null]);
    assert_eq!(seq["result"]["content"][0]["text"], "one");
    assert_eq!([&seq["response_index"], &seq["step_index"]], [&json!(0), &json!(0)]);
    assert_eq!([&failed["success"], &failed["fault"]], [&json!(false), &json!(true)]);
    assert_eq!([&failed["error"], &failed["args"]], [&json!("broken"), &json!({"a": 1})]);
    assert_eq!(failed["step_index"], Value::Null);
    assert_eq!(
        [&unmatched["reason"], &unmatched["response_index"]],
        ["unmatched", "-1"].map(parsed).each_ref()
    );
    assert_eq!(
        [&unknown["reason"], &unknown["response_index"]],
        ["unknown_tool", "-1"].map(parsed).each_ref()
    );
    assert_eq!(unknown["success"], false);
}

/// A number, or the text itself.
fn parsed(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| json!(text), Value::from)
}

#[test]
fn the_status_counts_the_calls_of_each_mock() {
    let mocks = used().status()["mocks"].take();
    assert_eq!(
        mocks["s.seq"],
        json!({"calls": 1, "expect_calls": 2, "responses": [{"index": 0, "steps": 3, "used": 1}]})
    );
    assert_eq!(
        mocks["s.of"],
        json!({"calls": 2, "expect_calls": null, "responses": [
            {"index": 0, "steps": null, "used": 1}, {"index": 1, "steps": 1, "used": 0}]})
    );
    assert_eq!(mocks["s.nothing"]["calls"], 1);
}

#[test]
fn the_status_for_people_shows_what_was_unmatched() {
    let text = used().ok(&["status", "run"]);
    assert!(
        text.lines().any(|line| line.starts_with("s.seq ") && line.ends_with("1 of 3")),
        "{text}"
    );
    assert!(text.contains("unmatched:"), "{text}");
    assert!(text.contains(r#"s.of {"a":"2"}"#), "{text}");
    assert!(text.contains("nearest is response"), "{text}");
    assert!(text.contains("s.nothing {}") && text.contains("no such tool"), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains("closed"), "{text}");
}

#[test]
fn verify_names_what_differs() {
    let place = used();
    let output = place.run(&["verify", "run"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "s.seq: expected 2 calls, saw 1\n");
    let output = place.run(&["verify", "run", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        serde_json::from_slice::<Value>(&output.stdout).unwrap(),
        json!({"ok": false, "differences": [{"name": "s.seq", "expected": 2, "seen": 1}]})
    );
}

#[test]
fn unmatched_calls_alone_do_not_fail_verify() {
    let place = used();
    assert_eq!(place.attach().text("seq"), "two");
    assert_eq!(place.ok(&["verify", "run"]), "");
    let json: Value = serde_json::from_str(&place.ok(&["verify", "run", "--json"])).unwrap();
    assert_eq!(json, json!({"ok": true, "differences": []}));
}

#[test]
fn verify_wants_every_step_used_when_asked() {
    let place = used();
    assert_eq!(place.attach().text("seq"), "two");
    let output = place.run(&["verify", "run", "--all-consumed"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].starts_with("s.of: expected 1 steps of response 1, saw 0"), "{text}");
    assert!(lines[1].starts_with("s.seq: expected 3 steps of response 0, saw 2"), "{text}");
    let mut server = place.attach();
    assert_eq!(server.text("seq"), "two");
    server.call_with("of", &json!({"a": 2}));
    server.end();
    // Every step is used, but there was a call too many.
    let output = place.run(&["verify", "run", "--all-consumed"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "s.seq: expected 2 calls, saw 3\n");
}

#[test]
fn killed_and_exhausted_calls_count_for_verify() {
    let place = Place::with_tools(
        "{slow: {expect_calls: 1, responses: [{text: x, delay_ms: 60000}]},
          once: {expect_calls: 2, sequence: [{text: x}]}}",
    );
    place.make();
    let mut server = place.attach();
    server.text("once");
    assert_eq!(server.refusal("once").0, "exhausted");
    server.begin("slow");
    crate::wait_until(|| place.of_type("attempt.started").len() == 3);
    server.kill();
    assert_eq!(place.ok(&["verify", "run", "--all-consumed"]), "");
}

#[test]
fn looking_changes_nothing_and_works_while_a_server_lives() {
    let place = used();
    let mut server = place.attach();
    server.text("seq");
    // By then the delivery is recorded.
    assert!(server.is_alive());
    let before = std::fs::read_to_string(place.journal()).unwrap();
    place.status();
    place.ok(&["status", "run"]);
    place.ok(&["verify", "run"]);
    assert_eq!(std::fs::read_to_string(place.journal()).unwrap(), before);
    server.end();
}

#[test]
fn a_configuration_may_name_a_session_that_is_made_at_the_first_start() {
    let place = Place::usual();
    let printed = place.ok(&["config", "fixture.yaml", "--session", "run", "--for", "generic"]);
    assert_eq!(place.names(), ["fixture.yaml"]);
    let config: Value = serde_json::from_str(&printed).unwrap();
    let args = config["mcpServers"]["s"]["args"].as_array().unwrap();
    let args: Vec<&str> = args.iter().map(|arg| arg.as_str().unwrap()).collect();
    for text in ["one", "two"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_mcp-mock"));
        let mut server = crate::Server::start(command.args(&args).current_dir("/"));
        server.shake_hands();
        assert_eq!(server.text("seq"), text);
        server.end();
    }
    assert_eq!(place.names(), ["fixture.yaml", "run"]);
}

#[test]
fn a_configuration_of_a_session_serves_that_session() {
    let place = used();
    let printed = place.ok(&["config", "--session", "run", "--for", "generic"]);
    let config: Value = serde_json::from_str(&printed).unwrap();
    let server = &config["mcpServers"]["s"];
    let args: Vec<&str> =
        server["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
    let mut command = std::process::Command::new(server["command"].as_str().unwrap());
    let mut server = crate::Server::start(command.args(&args).current_dir("/"));
    server.shake_hands();
    assert_eq!(server.text("seq"), "two");
    server.end();
}
