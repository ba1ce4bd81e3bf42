//! Signals and deadlines, instant by instant.

use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::launch::{Launcher, pipe};
use crate::{
    End, Place, SERVED, deadline_in, end, number, records, rest, signal, status_field, wait_until,
};

/// A second's delay, and then some.
const NAP: &str = "[{name: gh, responses: [{stdout: slept, exit_code: 3, delay_ms: 1000}]}]";

/// Half a minute, which nobody waits for.
const SLEEP: &str = "[{name: gh, responses: [{stdout: slept, delay_ms: 30000}]}]";

#[test]
fn a_command_that_reads_its_input_dies_as_any_other() {
    let mocks = "[{name: gh, responses: [{stdin: x, stdout: y}]}]";
    let place = Place::with(mocks, |making| making.call_timeout = Some(Duration::from_secs(1)));
    for number in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGKILL] {
        let (reader, writer) = pipe();
        let mut child = place.command("gh", &[]).stdin(reader).spawn().unwrap();
        wait_until(|| status_field(child.id(), "State").is_some_and(|it| it.starts_with('S')));
        signal(child.id(), number);
        assert_eq!(end(&mut child), End::Signal(number));
        drop(writer);
    }
    let start = Instant::now();
    let (reader, writer) = pipe();
    let mut child = place.command("gh", &[]).stdin(reader).spawn().unwrap();
    assert_eq!(end(&mut child), End::Exit(124));
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(place.records(), [] as [Value; 0]);
    drop(writer);
}

#[test]
fn a_delay_is_never_shorter_than_asked_also_when_stopped_and_continued() {
    let place = Place::new(NAP);
    let start = Instant::now();
    let mut child = place.command("gh", &[]).stdout(Stdio::piped()).spawn().unwrap();
    place.wait_for("attempt.started");
    for _ in 0..20 {
        signal(child.id(), libc::SIGSTOP);
        wait_until(|| status_field(child.id(), "State").is_some_and(|it| it.starts_with('T')));
        signal(child.id(), libc::SIGCONT);
    }
    assert_eq!(end(&mut child), End::Exit(3));
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(rest(child.stdout.unwrap()), b"slept");
    let records = place.records();
    let mono = |record: &Value| record["mono_us"].as_u64().unwrap();
    assert!(mono(&records[1]) - mono(&records[0]) >= 1_000_000);
    assert_eq!(place.types(), SERVED);
    assert_eq!(records[0]["delay_ms"], 1000);
}

#[test]
fn a_deadline_that_has_passed_wins_over_a_signal() {
    let place = Place::with(SLEEP, |making| making.call_timeout = Some(Duration::from_secs(1)));
    let start = Instant::now();
    let mut child = place.command("gh", &[]).stdout(Stdio::piped()).spawn().unwrap();
    place.wait_for("attempt.started");
    signal(child.id(), libc::SIGSTOP);
    std::thread::sleep(Duration::from_millis(1100).saturating_sub(start.elapsed()));
    signal(child.id(), libc::SIGTERM);
    signal(child.id(), libc::SIGCONT);
    assert_eq!(end(&mut child), End::Exit(124));
    let cancelled = &place.of_type("attempt.cancelled")[0];
    assert_eq!((&cancelled["cause"], &cancelled["exit_code"]), (&json!("deadline"), &json!(124)));
}

#[test]
fn the_earlier_of_two_deadlines_counts_and_one_of_another_boot_has_passed() {
    let soon = deadline_in(Duration::from_secs(1));
    let place = Place::with(SLEEP, |making| {
        making.deadline = Some(soon);
        making.call_timeout = Some(Duration::from_secs(20));
    });
    assert_eq!(place.call("gh", &[]), (124, String::new(), String::new()));
    assert_eq!(place.types(), ["started", "cancelled"]);
    // It has passed by now: a call does not even begin.
    assert_eq!(place.call("gh", &[]), (124, String::new(), String::new()));
    assert_eq!(place.types(), ["started", "cancelled"]);
    let place = Place::with(NAP, |making| {
        let mut late = deadline_in(Duration::from_secs(1000));
        late.boot_id = "00000000-0000-0000-0000-000000000000".to_owned();
        making.deadline = Some(late);
    });
    assert_eq!(place.call("gh", &[]), (124, String::new(), String::new()));
    assert_eq!(place.types(), [""; 0]);
}

#[test]
fn authored_130_and_124_are_ordinary_outcomes() {
    let place = Place::new(
        "[{name: gh, responses: [{args: [i], exit_code: 130, delay_ms: 1}, {exit_code: 124}]}]",
    );
    assert_eq!((place.call("gh", &["i"]).0, place.call("gh", &[]).0), (130, 124));
    assert_eq!(place.types(), SERVED.repeat(2));
    let selected = place.of_type("attempt.selected");
    assert_eq!((&selected[0]["exit_code"], &selected[1]["exit_code"]), (&json!(130), &json!(124)));
}

#[test]
fn a_cancellation_that_gets_no_lock_in_half_a_second_goes_without() {
    for is_deadline in [false, true] {
        let place = Place::with(SLEEP, |making| {
            making.call_timeout = is_deadline.then_some(Duration::from_secs(2));
        });
        let mut child = place.command("gh", &[]).spawn().unwrap();
        place.wait_for("attempt.started");
        let lock = place.lock();
        let mut start = Instant::now();
        if !is_deadline {
            signal(child.id(), libc::SIGTERM);
        }
        let code = if is_deadline { 124 } else { 130 };
        assert_eq!(end(&mut child), End::Exit(code));
        if is_deadline {
            // At the latest when the lock was taken it had begun.
            start += Duration::from_millis(1);
        }
        assert!(start.elapsed() >= Duration::from_millis(500));
        assert!(start.elapsed() < Duration::from_secs(8));
        drop(lock);
        // It reads as killed.
        assert_eq!(place.types(), ["started"]);
    }
}

#[test]
fn a_session_that_is_closed_during_a_delay_serves_no_more() {
    let place = Place::new(NAP);
    let mut child = place.command("gh", &[]);
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    place.wait_for("attempt.started");
    place.close();
    let told = crate::refused(&child.wait_with_output().unwrap());
    assert!(told.contains("session closed"), "{told}");
    assert_eq!(place.types(), ["started", "session.closed"]);
}

#[test]
fn a_signal_at_any_instant_selects_or_cancels_and_never_both() {
    let place = Place::new("[{name: gh, responses: [{stdout: out, exit_code: 3, delay_ms: 12}]}]");
    let (calls, next) = (number("SIGNALS", 300), AtomicUsize::new(0));
    let ends = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let call = next.fetch_add(1, Ordering::Relaxed);
                    if call >= calls {
                        return;
                    }
                    let mut command = place.command("gh", &[]);
                    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
                    // Each instant of the first 25 ms, spread evenly.
                    let at = (call as u64 * 7919) % 25_000;
                    std::thread::sleep(Duration::from_micros(at));
                    let number = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP][call % 3];
                    signal(child.id(), number);
                    let ended = end(&mut child);
                    let output = rest(child.stdout.take().unwrap());
                    ends.lock().unwrap().push((child.id(), number, ended, output));
                }
            });
        }
    });
    let records = records(&place.journal());
    let mut seen = [0; 4];
    for (pid, number, ended, output) in ends.into_inner().unwrap() {
        let own: Vec<_> = records.iter().filter(|record| record["pid"] == pid).collect();
        let own: Vec<_> = own.iter().map(|record| record["type"].as_str().unwrap()).collect();
        let kind = match (&own[..], ended) {
            ([], End::Signal(it)) if it == number => 0,
            ([], End::Exit(130)) => 0,
            (["attempt.started", "attempt.cancelled"], End::Exit(130)) => 1,
            (["attempt.started", "attempt.selected"], End::Signal(it)) if it == number => 2,
            (["attempt.started", "attempt.selected", "attempt.delivered"], End::Signal(it))
                if it == number =>
            {
                2
            }
            (["attempt.started", "attempt.selected", "attempt.delivered"], End::Exit(3)) => 3,
            other => panic!("{other:?}"),
        };
        assert!(output.is_empty() || (kind >= 2 && output == b"out"), "{kind} {output:?}");
        seen[kind] += 1;
    }
    assert!(seen[1] > 0 && seen[3] > 0, "{seen:?}");
}

#[test]
fn ctrl_c_on_a_terminal_cancels_a_delay() {
    let place = Place::new(SLEEP);
    let (reader, writer) = pipe();
    let mut running = Launcher::Terminal.start(&place, &[], writer);
    place.wait_for("attempt.started");
    running.signal(libc::SIGINT);
    assert_eq!(running.end(), End::Exit(130));
    assert_eq!(rest(reader), b"");
    assert_eq!(place.types(), ["started", "cancelled"]);
}
