//! Somebody who holds the lock of the journal, and may not even be running.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::{Place, reason_of, text_of};

/// A stopped process that holds the lock; killed with the value.
struct Holder(Child);

impl Holder {
    fn of(place: &Place) -> Holder {
        Holder::of_file(&place.journal())
    }

    fn of_file(path: &Path) -> Holder {
        let mut command = Command::new("flock");
        command.arg("--no-fork").arg(path).args(["sh", "-c", "echo held; exec sleep 600"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "held\n");
        kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGSTOP).unwrap();
        Holder(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that has nothing left to write.
fn idle(place: &Place) -> crate::Server {
    let mut server = place.attach();
    place.wait_for("program.opened");
    assert!(server.is_alive());
    server
}

#[test]
fn a_busy_lock_delays_a_call_and_nothing_else() {
    let place = Place::usual();
    place.make();
    let mut server = idle(&place);
    let holder = Holder::of(&place);
    let start = Instant::now();
    let waiting = server.begin("seq");
    let withdrawn = server.begin("seq");
    server.cancel(withdrawn);
    for _ in 0..5 {
        assert!(server.is_alive());
    }
    server.send(&json!({"jsonrpc": "2.0", "id": "list", "method": "tools/list"}));
    assert_eq!(server.receive()["id"], "list");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(!server.has_output(Duration::from_secs(1)));
    assert_eq!(place.types(), ["program.opened"]);
    drop(holder);
    let reply = server.receive();
    assert_eq!((&reply["id"], text_of(&reply["result"])), (&json!(waiting), "one".to_owned()));
    assert_eq!(server.text("seq"), "two");
    server.end();
    let [withdrawal] = place.of_type("request.cancelled").try_into().unwrap();
    assert_eq!(withdrawal["request_id"], withdrawn);
    assert_eq!(place.of_type("attempt.started").len(), 2);
}

/// Withdrawn while only the lock kept it: it never started.
#[test]
fn a_call_that_waits_for_the_lock_can_be_withdrawn() {
    let place = Place::usual();
    place.make();
    let mut server = idle(&place);
    let holder = Holder::of(&place);
    let id = server.begin("seq");
    server.cancel(id);
    assert!(server.is_alive());
    drop(holder);
    place.wait_for("request.cancelled");
    server.next_id = id;
    assert_eq!(server.text("seq"), "one");
    server.end();
    assert_eq!(place.of_type("attempt.started").len(), 1);
}

#[test]
fn a_cancellation_that_waits_for_the_lock_holds_back_the_next_call() {
    let place = Place::usual();
    place.make();
    let mut server = idle(&place);
    let slow = server.begin("slow");
    place.wait_for("attempt.started");
    let holder = Holder::of(&place);
    server.cancel(slow);
    server.begin("slow");
    assert!(server.is_alive());
    assert!(!server.has_output(Duration::from_millis(300)));
    drop(holder);
    assert_eq!(text_of(&server.receive()["result"]), "second");
    server.end();
    assert_eq!(
        place.types()[1..4],
        ["attempt.started", "attempt.cancelled", "attempt.started"].map(str::to_owned)
    );
}

#[test]
fn an_outcome_that_waits_for_the_lock_holds_back_its_reply() {
    let place = Place::usual();
    place.make();
    let mut server = idle(&place);
    server.begin("nap");
    place.wait_for("attempt.started");
    let holder = Holder::of(&place);
    assert!(!server.has_output(Duration::from_secs(1)));
    assert!(server.is_alive());
    drop(holder);
    assert_eq!(text_of(&server.receive()["result"]), "first");
    server.end();
    let event = place.status()["tool_events"][0].take();
    assert_eq!((&event["success"], &event["delivered"]), (&json!(true), &json!(true)));
    assert!(event["duration_ms"].as_f64().unwrap() >= 1000.0, "{event}");
}

#[test]
fn the_end_of_input_waits_for_the_lock_too() {
    let place = Place::usual();
    place.make();
    let mut server = idle(&place);
    let holder = Holder::of(&place);
    server.begin("seq");
    server.hang_up();
    std::thread::sleep(Duration::from_millis(300));
    assert!(server.child.try_wait().unwrap().is_none());
    drop(holder);
    assert_eq!(server.exit().code(), Some(0));
    assert_eq!(text_of(&server.receive()["result"]), "one");
    assert_eq!(place.types().last().unwrap(), "program.closed");
}

/// One holder for all who wait, since each of them waits for ten seconds.
#[test]
fn after_ten_seconds_the_holder_is_named_and_nothing_was_used() {
    let place = Place::usual();
    place.make();
    let mut waiting = idle(&place);
    let mut napping = idle(&place);
    napping.begin("nap");
    place.wait_for("attempt.started");
    let holder = Holder::of(&place);
    let before = std::fs::read_to_string(place.journal()).unwrap();
    let pid = holder.0.id().to_string();
    let start = Instant::now();
    waiting.begin("seq");
    let mut late = place.attach();
    late.begin("seq");
    place.write("calls", "");
    let other = Holder::of_file(&place.path("calls"));
    let mut command = place.command(&["serve", "fixture.yaml", "--journal", "calls"]);
    let refused = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut leaving = place.attach();
    leaving.hang_up();
    let verbs = ["status", "verify", "close", "reset"].map(|verb| {
        let mut command = place.command(&[verb, "run"]);
        (verb, command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
    });
    for server in [&mut waiting, &mut napping, &mut late] {
        let reply = server.receive();
        let (reason, text) = (reason_of(&reply["result"]), text_of(&reply["result"]));
        assert_eq!(reason, "journal");
        assert!(text.contains(&format!("process {pid}")), "{text}");
        assert!(start.elapsed() >= Duration::from_millis(9900), "{:?}", start.elapsed());
        assert!(server.is_alive());
    }
    for (verb, child) in verbs {
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{verb}: {told}");
        // A reset is refused by the servers that live.
        assert!(told.contains("process "), "{verb}: {told}");
    }
    let output = refused.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains(&format!("process {}", other.0.id())), "{told}");
    assert_eq!(leaving.exit().code(), Some(0));
    assert_eq!(std::fs::read_to_string(place.journal()).unwrap(), before);
    drop(holder);
    assert_eq!([waiting.text("seq"), late.text("seq")], ["one", "two"]);
    // That step was used before the lock was taken.
    assert_eq!(napping.text("nap"), "second");
    for server in [waiting, napping, late] {
        server.end();
    }
    assert_eq!(place.of_type("attempt.started").len(), 4);
    assert!(place.of_type("session.closed").is_empty());
}

/// A pause may be over before the server comes to wait: here it writes a large
/// reply to a file meanwhile.
#[test]
fn a_lock_that_comes_and_goes_keeps_no_call_for_ever() {
    let place = Place::with_tools(&format!(
        "{{big: {{responses: [{{text: \"{}\"}}]}}, now: {{responses: [{{text: done}}]}}, \
           late: {{responses: [{{text: done, delay_ms: 1}}]}}}}",
        "x".repeat(1_000_000)
    ));
    place.make();
    let mut command = place.command(&["serve", "--session", "run"]);
    let out = std::fs::File::create(place.path("out")).unwrap();
    let mut child = command.stdin(Stdio::piped()).stdout(out).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let is_over = AtomicBool::new(false);
    let ended = std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let journal = std::fs::File::open(place.journal()).unwrap();
                for pause in (50..900).step_by(70).cycle().map(Duration::from_micros) {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    journal.lock().unwrap();
                    std::thread::sleep(pause);
                    journal.unlock().unwrap();
                    std::thread::sleep(pause / 2);
                }
            });
        }
        let mut id = 0;
        let mut lines = format!("{}\n", crate::server::hello());
        for tool in ["big", "now", "big", "late"].into_iter().cycle().take(60) {
            id += 1;
            lines += &format!("{}\n", crate::request(id, tool, &json!({})));
        }
        stdin.write_all(lines.as_bytes()).unwrap();
        let start = Instant::now();
        let mut is_served = false;
        while !is_served && start.elapsed() < crate::PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
            is_served = place.of_type("attempt.delivered").len() == 60;
        }
        is_over.store(true, Ordering::Relaxed);
        is_served
    });
    drop(stdin);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(ended, "{} of 60 calls were answered", place.of_type("attempt.delivered").len());
}

/// More calls in one write than may be pending: another server's lock is not the client's fault.
#[test]
fn a_busy_lock_makes_no_overflow_of_instant_calls() {
    const CALLS: usize = 300;
    let place = Place::with_tools("{now: {responses: [{text: done}]}}");
    place.make();
    let mut servers: Vec<crate::Server> = (0..3).map(|_| place.attach()).collect();
    let holder = Holder::of(&place);
    for server in &mut servers {
        for _ in 0..CALLS {
            server.begin("now");
        }
    }
    std::thread::sleep(Duration::from_millis(200));
    drop(holder);
    for mut server in servers {
        for _ in 0..CALLS {
            assert_eq!(text_of(&server.receive()["result"]), "done");
        }
        server.end();
    }
    assert_eq!(place.of_type("attempt.delivered").len(), 3 * CALLS);
}

/// Ten seconds in all, not for each of them.
#[test]
fn calls_that_wait_together_are_given_up_together() {
    let place = Place::usual();
    place.make();
    let mut server = idle(&place);
    let _holder = Holder::of(&place);
    let start = Instant::now();
    for _ in 0..4 {
        server.begin("seq");
    }
    for _ in 0..4 {
        assert_eq!(reason_of(&server.receive()["result"]), "journal");
    }
    let took = start.elapsed();
    assert!(Duration::from_secs(10) <= took && took < Duration::from_secs(25), "{took:?}");
}
