//! `close`: from here on nobody starts, selects or cancels.

use std::time::{Duration, Instant};

use crate::{PATIENCE, Place, Server, reason_of};

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
/// Nobody cancels any more, but a withdrawn request is still told.
#[test]
fn a_cancellation_after_close_is_no_record() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    let running = server.begin("slow");
    let queued = server.begin("seq");
    place.wait_for("attempt.started");
    place.ok(&["close", "run"]);
    server.cancel(queued);
    server.cancel(running);
    assert_eq!(server.refusal("slow").0, "session_closed");
    server.end();
    assert!(place.of_type("attempt.cancelled").is_empty());
    assert_eq!(place.of_type("request.cancelled").len(), 1);
}

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

#[test]
fn nothing_is_decided_after_the_session_was_closed_under_load() {
    let place = Place::usual();
    place.make();
    let served: usize = std::thread::scope(|scope| {
        // Calls until one is refused.
        let load = |mut server: Server| {
            let results = std::iter::repeat_with(|| server.call("now"));
            let served = results.take_while(|result| match result.get("isError") {
                None => true,
                Some(_) => {
                    assert_eq!(reason_of(result), "session_closed");
                    false
                }
            });
            let served = served.count();
            server.end();
            served
        };
        let writers: Vec<_> = (0..3)
            .map(|_| place.attach())
            .map(|server| scope.spawn(move || load(server)))
            .collect();
        crate::wait_until(|| place.of_type("attempt.started").len() > 30);
        place.ok(&["close", "run"]);
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    let mut after = place.types();
    let closed = after.iter().position(|it| it == "session.closed").unwrap();
    after.drain(..=closed);
    after.retain(|it| it.starts_with("attempt.") && it != "attempt.delivered");
    assert_eq!(after, [""; 0]);
    assert_eq!(served, place.of_type("attempt.started").len());
}
