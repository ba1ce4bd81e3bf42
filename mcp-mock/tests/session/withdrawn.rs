//! Calls that end otherwise: cancelled, withdrawn, drained, killed.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{Place, text_of};

#[test]
fn a_cancelled_call_keeps_its_step_and_gets_no_reply() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    let id = server.begin("slow");
    place.wait_for("attempt.started");
    server.cancel(id);
    place.wait_for("attempt.cancelled");
    // The id is free again.
    server.next_id = id;
    assert_eq!(server.text("slow"), "second");
    assert!(!server.has_output(Duration::from_millis(100)));
    server.end();
    let [cancelled] = place.of_type("attempt.cancelled").try_into().unwrap();
    let [first, second] = place.of_type("attempt.started").try_into().unwrap();
    assert_eq!((&cancelled["attempt"], &cancelled["cause"]), (&first["seq"], &json!("cancel")));
    assert!(cancelled.get("exit_code").is_none());
    assert_eq!((&first["step"], &second["step"]), (&json!(0), &json!(1)));
    let [selected] = place.of_type("attempt.selected").try_into().unwrap();
    assert_eq!(selected["attempt"], second["seq"]);
    let events = &place.status()["tool_events"];
    assert_eq!((&events[0]["cancelled"], &events[0]["success"]), (&json!(true), &json!(false)));
    assert_eq!((events[0].get("result"), &events[0]["delivered"]), (None, &json!(false)));
    assert!(events[0]["duration_ms"].is_number());
}

/// Cancelled and called again in one write: nothing may be mixed up.
#[test]
fn a_cancelled_call_and_its_successor_may_come_at_once() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    let call = crate::request(7, "slow", &json!({})).to_string();
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 7}});
    server.send_line(&format!("{call}\n{cancel}\n{call}\n{call}"));
    let replies = [server.receive(), server.receive()];
    assert_eq!(replies.each_ref().map(|it| text_of(&it["result"])), ["second", "third"]);
    server.end();
    assert_eq!(place.of_type("attempt.started").len(), 3);
    assert_eq!(place.of_type("attempt.cancelled").len(), 1);
    assert_eq!(place.of_type("attempt.selected").len(), 2);
}

#[test]
fn a_queued_call_is_withdrawn_without_a_trace_in_the_sequence() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    let slow = server.begin("slow");
    let queued = server.begin("seq");
    let named = json!({"jsonrpc": "2.0", "id": "a \"name\"", "method": "tools/call",
        "params": {"name": "seq"}});
    server.send(&named);
    server.cancel(queued);
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": "a \"name\""}}));
    crate::wait_until(|| place.of_type("request.cancelled").len() == 2);
    server.cancel(slow);
    assert_eq!(server.text("seq"), "one");
    server.end();
    let [first, second] = place.of_type("request.cancelled").try_into().unwrap();
    assert_eq!((&first["request_id"], &first["operation"]), (&json!(queued), &json!("seq")));
    assert_eq!(second["request_id"], "a \"name\"");
    assert!(first.get("attempt").is_none());
    assert_eq!(place.of_type("attempt.started").len(), 2);
    assert_eq!(place.status()["mocks"]["s.seq"]["calls"], 1);
}

#[test]
fn a_cancellation_of_nothing_leaves_no_record() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    assert_eq!(server.text("seq"), "one");
    for id in [json!(1), json!(99), json!("1"), json!("hello"), json!(null), json!([1])] {
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id}}));
    }
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}));
    assert!(server.is_alive());
    server.end();
    assert_eq!(
        place.types(),
        [
            "program.opened",
            "attempt.started",
            "attempt.selected",
            "attempt.delivered",
            "program.closed"
        ]
    );
}

#[test]
fn questions_that_touch_no_state_leave_no_record() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    for (id, method) in ["ping", "tools/list", "resources/list", "prompts/get", "logging/setLevel"]
        .into_iter()
        .enumerate()
    {
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": method}));
        assert_eq!(server.receive()["id"], id);
    }
    for method in ["notifications/initialized", "tools/call", "notifications/unknown"] {
        server.send(&json!({"jsonrpc": "2.0", "method": method, "params": {"name": "seq"}}));
    }
    // A response that nobody asked for.
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    // A second handshake is no second start.
    server.shake_hands();
    server.end();
    assert_eq!(place.types(), ["program.opened", "program.closed"]);
}

#[test]
fn the_end_of_input_is_no_end_of_a_delay() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    server.begin("nap");
    server.begin("nap");
    server.hang_up();
    assert_eq!(server.exit().code(), Some(0));
    let replies = [server.receive(), server.receive()];
    assert_eq!(replies.each_ref().map(|it| text_of(&it["result"])), ["first", "second"]);
    let mut decided = place.types();
    decided.retain(|kind| kind != "attempt.delivered");
    let attempt = ["attempt.started", "attempt.selected"];
    assert_eq!(decided[1..5], [attempt, attempt].concat());
    assert_eq!(place.of_type("attempt.delivered").len(), 2);
    let [closed] = place.of_type("program.closed").try_into().unwrap();
    assert_eq!((&closed["cause"], &closed["seq"]), (&json!("eof"), &json!(8)));
}

#[test]
fn a_killed_server_leaves_an_attempt_without_an_end() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    server.begin("slow");
    place.wait_for("attempt.started");
    server.kill();
    assert_eq!(place.types(), ["program.opened", "attempt.started"]);
    let status = place.status();
    let event = &status["tool_events"][0];
    assert_eq!((&event["success"], &event["cancelled"]), (&json!(false), &json!(false)));
    assert_eq!((event.get("result"), &event["error"]), (None, &Value::Null));
    assert_eq!(event["duration_ms"], Value::Null);
    assert_eq!(status["mocks"]["s.slow"]["responses"][0]["used"], 1);
    let mut next = place.attach();
    assert_eq!(next.text("slow"), "second");
    next.end();
}

/// Whatever the moment of the kill, a step is used at most once and numbers have no gaps.
#[test]
fn kills_at_any_moment_lose_and_repeat_nothing() {
    let steps: Vec<String> = (0..100).map(|step| format!("{{text: s{step}}}")).collect();
    let place = Place::with_tools(&format!("{{seq: {{sequence: [{}]}}}}", steps.join(", ")));
    place.make();
    let mut seen = Vec::new();
    for round in 0..20 {
        let mut server = place.attach();
        for _ in 0..5 {
            server.begin("seq");
        }
        std::thread::sleep(Duration::from_micros(round * 40));
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut server.stdout, &mut rest).unwrap();
        let replies = rest.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        seen.extend(replies.map(|line| {
            let reply: Value = serde_json::from_str(line).unwrap();
            text_of(&reply["result"])[1..].parse::<u64>().unwrap()
        }));
    }
    assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
    let started = place.of_type("attempt.started");
    let steps: Vec<u64> = started.iter().map(|it| it["step"].as_u64().unwrap()).collect();
    assert_eq!(steps, (0..steps.len() as u64).collect::<Vec<u64>>());
    assert!(seen.iter().all(|step| steps.contains(step)));
}
