//! Signals keep their disposition: the server dies by them at once, whatever it does.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::{
    Fixture, INITIALIZE, assert_exit, assert_killed, call, send, shake_hands, signal, spawn,
    status_field,
};

/// Brings a server into a state in which it is to die.
type State = fn(&mut Child);

const STATES: [(&str, State); 6] = [
    ("idle", shake_hands),
    ("delayed", |child| {
        shake_hands(child);
        send(child, &call(1, "slow"));
    }),
    ("queued", |child| {
        shake_hands(child);
        send(child, &(call(1, "slow") + &call(2, "now")));
    }),
    ("draining", |child| {
        shake_hands(child);
        send(child, &call(1, "slow"));
        drop(child.stdin.take());
    }),
    ("with blocked stdout", |child| {
        shake_hands(child);
        send(child, &(1..=20).map(|id| call(id, "big")).collect::<String>());
    }),
    ("with blocked stdout and a delay", |child| {
        shake_hands(child);
        send(child, &((1..=20).map(|id| call(id, "big")).collect::<String>() + &call(21, "slow")));
    }),
];

#[test]
fn a_signal_ends_the_server_in_every_state() {
    let fixture = Fixture::usual(100_000);
    for signal_name in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        for (name, bring) in STATES {
            let mut child = fixture.piped();
            bring(&mut child);
            std::thread::sleep(Duration::from_millis(50));
            assert!(child.try_wait().unwrap().is_none(), "{name}: ended by itself");
            let start = Instant::now();
            signal(&child, signal_name);
            assert_killed(&mut child, signal_name);
            assert!(start.elapsed() < Duration::from_secs(3), "{name}: not at once");
        }
    }
}

#[test]
fn a_signal_ignored_at_entry_stays_ignored() {
    let fixture = Fixture::usual(1);
    let script = format!(
        "trap '' TERM INT HUP; exec {} serve {}",
        env!("CARGO_BIN_EXE_mcp-mock"),
        fixture.path().display()
    );
    let mut child = spawn(
        Command::new("sh").args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()),
    );
    shake_hands(&mut child);
    for ignored in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        signal(&child, ignored);
    }
    send(&mut child, &call(1, "nap"));
    drop(child.stdin.take());
    assert_exit(&mut child, 0);
}

#[test]
fn no_handler_and_no_thread_is_ever_there() {
    let fixture = Fixture::usual(1);
    let mut child = fixture.piped();
    shake_hands(&mut child);
    send(&mut child, &call(1, "slow"));
    let caught = u64::from_str_radix(&status_field(&child, "SigCgt"), 16).unwrap();
    for caught_not in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGCHLD] {
        assert_eq!(caught & (1 << (caught_not as u32 - 1)), 0, "{caught_not} is caught");
    }
    assert_eq!(status_field(&child, "Threads"), "1");
    signal(&child, Signal::SIGKILL);
    assert_killed(&mut child, Signal::SIGKILL);
}

#[test]
fn stopping_and_going_on_shortens_no_delay() {
    let fixture = Fixture::usual(1);
    let mut child = fixture.piped();
    shake_hands(&mut child);
    let start = Instant::now();
    send(&mut child, &call(1, "nap"));
    for _ in 0..5 {
        signal(&child, Signal::SIGSTOP);
        std::thread::sleep(Duration::from_millis(10));
        signal(&child, Signal::SIGCONT);
    }
    assert!(crate::read_line(&mut child).contains("slept"));
    assert!(start.elapsed() >= Duration::from_millis(300), "the delay was cut short");
    child.stdin.take().unwrap().flush().unwrap();
    assert_exit(&mut child, 0);
}

#[test]
fn a_delay_is_never_shorter_than_asked() {
    let fixture = Fixture::new(
        "{t: {sequence: [{text: a, delay_ms: 1, repeat: 30}, {text: b, delay_ms: 17, repeat: 10}, {text: c, delay_ms: 250}]}}",
    );
    let mut child = fixture.piped();
    send(&mut child, &format!("{INITIALIZE}\n"));
    crate::read_line(&mut child);
    for (count, least) in [(30, 1), (10, 17), (1, 250)] {
        for id in 0..count {
            let start = Instant::now();
            send(&mut child, &call(id, "t"));
            crate::read_line(&mut child);
            let took = start.elapsed();
            assert!(took >= Duration::from_millis(least), "{took:?} for {least} ms");
            assert!(took < Duration::from_secs(10), "{took:?} for {least} ms");
        }
    }
    drop(child.stdin.take());
    assert_exit(&mut child, 0);
}
