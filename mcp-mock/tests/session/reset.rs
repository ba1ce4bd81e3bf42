//! `reset` and `close`.

use std::time::{Duration, Instant};

use crate::{PATIENCE, Place, Server, document, reason_of, records};

#[test]
fn a_reset_keeps_each_old_journal_and_starts_anew() {
    let place = Place::usual();
    place.make();
    let mut old = Vec::new();
    for round in 1..=3 {
        let mut server = place.attach();
        assert_eq!([server.text("seq"), server.text("seq")], ["one", "two"]);
        server.end();
        let before = std::fs::read_to_string(place.journal()).unwrap();
        assert_eq!(place.ok(&["reset", "run"]), "");
        old.push(before);
        for (number, before) in (1..).zip(&old) {
            let kept = place.path(&format!("run/journal.{number}.jsonl"));
            assert!(std::fs::read_to_string(&kept).unwrap().starts_with(before), "{round}");
            let last = records(&kept).pop().unwrap();
            assert_eq!(
                (&last["type"], &last["cause"]),
                (&"session.closed".into(), &"reset".into())
            );
        }
        assert!(place.records().is_empty());
        assert_eq!(place.status()["mocks"]["s.seq"]["calls"], 0);
    }
    assert_eq!(place.names(), ["fixture.yaml", "run"]);
}

#[test]
fn a_reset_opens_a_closed_session_again() {
    let place = Place::usual();
    place.make();
    assert_eq!(place.attach().text("seq"), "one");
    place.ok(&["close", "run"]);
    place.ok(&["reset", "run"]);
    assert_eq!(place.status()["closed"], false);
    assert_eq!(place.attach().text("seq"), "one");
}

#[test]
fn a_reset_is_refused_while_a_server_lives() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    assert_eq!(server.text("seq"), "one");
    let told = place.refused(&["reset", "run"]);
    assert!(told.contains(&format!("process {}", server.pid())), "{told}");
    assert_eq!(server.text("seq"), "two");
    server.end();
    assert!(place.of_type("session.closed").is_empty());
    assert_eq!(place.names(), ["fixture.yaml", "run"]);
    place.ok(&["reset", "run"]);
}

#[test]
fn a_reset_takes_another_plan() {
    let place = Place::usual();
    place.make();
    place.attach().end();
    place.write("other.yaml", &document("{seq: {sequence: [{text: other}]}}"));
    place.ok(&["reset", "run", "--from", "other.yaml"]);
    assert_eq!(place.attach().text("seq"), "other");
    assert_eq!(place.records()[0]["seq"], 1);
    place.refused(&["serve", "fixture.yaml", "--session", "run"]);
    place.write("broken.yaml", "{");
    place.refused(&["reset", "run", "--from", "broken.yaml"]);
    place.refused(&["reset", "run", "--from", "absent.yaml"]);
    assert!(place.of_type("session.closed").is_empty());
    assert_eq!(place.status()["mocks"]["s.seq"]["calls"], 1);
}

#[test]
fn large_payloads_survive_a_reset() {
    let text = "é".repeat(5000);
    let place =
        Place::with_tools(&format!("{{big: {{sequence: [{{text: \"{text}\"}}, {{text: x}}]}}}}"));
    place.make();
    std::fs::remove_file(place.path("fixture.yaml")).unwrap();
    for _ in 0..3 {
        assert_eq!(place.attach().text("big"), text);
        place.ok(&["reset", "run"]);
    }
    assert_eq!(place.attach().text("big"), text);
}

#[test]
fn nothing_is_served_after_close() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    assert_eq!(server.text("seq"), "one");
    place.ok(&["close", "run"]);
    assert_eq!(place.status()["closed"], true);
    assert!(place.ok(&["status", "run"]).contains("closed"));
    for tool in ["seq", "now", "nothing"] {
        let (reason, text) = server.refusal(tool);
        assert_eq!(reason, "session_closed");
        assert!(text.contains("closed"), "{text}");
    }
    assert!(server.is_alive());
    server.end();
    let mut late = place.attach();
    assert_eq!(late.refusal("seq").0, "session_closed");
    late.end();
    assert_eq!(place.of_type("attempt.started").len(), 1);
    assert_eq!(place.of_type("session.closed")[0]["cause"], "close");
    assert_eq!(place.status()["mocks"]["s.seq"]["calls"], 1);
}

#[test]
fn a_call_in_its_delay_gets_nothing_after_close() {
    let place =
        Place::with_tools("{nap: {sequence: [{text: first, delay_ms: 1500}, {text: second}]}}");
    place.make();
    let mut server = place.attach();
    server.begin("nap");
    place.wait_for("attempt.started");
    place.ok(&["close", "run"]);
    let reply = server.receive();
    assert_eq!(reason_of(&reply["result"]), "session_closed");
    server.end();
    assert!(place.of_type("attempt.selected").is_empty());
    assert!(place.of_type("attempt.cancelled").is_empty());
    let event = &place.status()["tool_events"][0];
    assert_eq!((&event["success"], event.get("result")), (&false.into(), None));
}

/// A call in its delay was not selected, so nothing has to be waited for.
#[test]
fn close_is_prompt_and_can_be_repeated() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    server.text("seq");
    server.begin("slow");
    crate::wait_until(|| place.of_type("attempt.started").len() == 2);
    let start = Instant::now();
    place.ok(&["close", "run"]);
    assert!(start.elapsed() < Duration::from_millis(900), "{:?}", start.elapsed());
    place.ok(&["close", "run"]);
    assert_eq!(place.of_type("session.closed").len(), 1);
    server.kill();
}

#[test]
fn close_waits_a_second_for_a_reply_that_nobody_reads() {
    let place = Place::with_tools(&format!(
        "{{big: {{sequence: [{{text: \"{}\"}}, {{text: x}}]}}}}",
        "x".repeat(1_000_000)
    ));
    place.make();
    let mut server = place.attach();
    server.begin("big");
    place.wait_for("attempt.selected");
    let start = Instant::now();
    place.ok(&["close", "run"]);
    let waited = start.elapsed();
    assert!(waited >= Duration::from_secs(1) && waited < PATIENCE, "{waited:?}");
    assert!(place.of_type("attempt.delivered").is_empty());
    // What was selected before may still be delivered.
    assert!(server.receive().to_string().len() > 1_000_000);
    server.end();
    assert_eq!(place.of_type("attempt.delivered").len(), 1);
}

#[test]
fn close_returns_when_the_reply_was_read() {
    let place = Place::with_tools(&format!(
        "{{big: {{responses: [{{text: \"{}\"}}]}}}}",
        "x".repeat(1_000_000)
    ));
    place.make();
    let mut server = place.attach();
    server.begin("big");
    place.wait_for("attempt.selected");
    let reader = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        server.receive();
        server
    });
    place.ok(&["close", "run"]);
    assert_eq!(place.of_type("attempt.delivered").len(), 1);
    reader.join().unwrap().end();
}

#[test]
fn a_dead_server_is_not_waited_for() {
    let place = Place::with_tools(&format!(
        "{{big: {{responses: [{{text: \"{}\"}}]}}}}",
        "x".repeat(1_000_000)
    ));
    place.make();
    let mut server: Server = place.attach();
    server.begin("big");
    place.wait_for("attempt.selected");
    server.kill();
    let start = Instant::now();
    place.ok(&["close", "run"]);
    assert!(start.elapsed() < Duration::from_millis(900), "{:?}", start.elapsed());
}
