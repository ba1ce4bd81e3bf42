//! Looking at a session while others write to it.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::{Place, Server};

#[test]
fn a_status_beside_writers_never_shows_a_half_record() {
    let place = Place::usual();
    place.make();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let load = |mut server: Server| {
            for _ in 0..150 {
                server.text("now");
            }
            server.end();
        };
        let writers: Vec<_> = (0..4)
            .map(|_| place.attach())
            .map(|server| scope.spawn(move || load(server)))
            .collect();
        let reader = scope.spawn(|| {
            let (mut looks, mut before) = (0, 0);
            while !is_over.load(Ordering::Relaxed) || looks < 10 {
                let status = place.status();
                let events = status["tool_events"].as_array().unwrap();
                assert!(events.is_sorted_by_key(|event| event["sequence"].as_u64().unwrap()));
                assert!(events.len() >= before);
                before = events.len();
                // A call without a delay has its outcome from the first moment.
                let is_whole = |event: &Value| {
                    event["success"] == true && event["result"]["content"][0]["text"] == "done"
                };
                assert!(events.iter().all(is_whole));
                assert_eq!(status["mocks"]["s.now"]["calls"], before);
                place.ok(&["verify", "run"]);
                looks += 1;
            }
            before
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(reader.join().unwrap(), 600);
    });
    assert_eq!(place.of_type("attempt.delivered").len(), 600);
}

#[test]
fn servers_that_are_killed_beside_others_do_no_harm() {
    let place = Place::with_tools(
        "{seq: {sequence: [{text: x, repeat: 100}]}, now: {responses: [{text: done}]}}",
    );
    place.make();
    let mut steady = place.attach();
    let mut served = 0;
    for round in 0..20 {
        let mut victim = place.attach();
        for _ in 0..20 {
            victim.begin("now");
        }
        std::thread::sleep(std::time::Duration::from_micros(round * 100));
        victim.child.kill().unwrap();
        for _ in 0..5 {
            assert_eq!(steady.text("seq"), "x");
            served += 1;
        }
    }
    assert_eq!(steady.refusal("seq").0, "exhausted");
    steady.end();
    let mut started = place.of_type("attempt.started");
    started.retain(|record| record["operation"] == "seq" && record["reason"] == "matched");
    let steps: Vec<u64> = started.iter().map(|it| it["step"].as_u64().unwrap()).collect();
    assert_eq!(steps, (0..served).collect::<Vec<u64>>());
}

/// Each step goes to exactly one caller, whoever asks.
#[test]
fn servers_that_ask_at_once_share_the_steps() {
    let steps: Vec<String> = (0..100).map(|step| format!("{{text: s{step}}}")).collect();
    let place = Place::with_tools(&format!("{{seq: {{sequence: [{}]}}}}", steps.join(", ")));
    place.make();
    let mut texts: Vec<String> = std::thread::scope(|scope| {
        let ask = |mut server: Server| {
            let texts: Vec<String> = (0..25).map(|_| server.text("seq")).collect();
            server.end();
            texts
        };
        let askers: Vec<_> =
            (0..4).map(|_| place.attach()).map(|server| scope.spawn(move || ask(server))).collect();
        askers.into_iter().flat_map(|asker| asker.join().unwrap()).collect()
    });
    texts.sort_by_key(|text| text[1..].parse::<u32>().unwrap());
    assert_eq!(texts, (0..100).map(|step| format!("s{step}")).collect::<Vec<String>>());
}
