//! Not random instants, but every system call that there is, by `strace`.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::{End, Place, end, skipped, status_field, types, wait_until};

const MOCKS: &str = "[{name: gh, responses: [{stdout: out, exit_code: 3, delay_ms: 5}]}]";

/// A call that does something special at a system call.
fn traced(place: &Place, special: &str, log: &Path) -> Command {
    let mut command = Command::new("strace");
    command.args(["-qq", "-e", special, "-o"]).arg(log).arg(place.shim("gh"));
    command.current_dir(place.root()).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// How often each system call is made; none where that cannot be told.
fn calls(place: &Place) -> Option<BTreeMap<String, usize>> {
    let log = place.path("log");
    let output = traced(place, "trace=all", &log).output();
    if !output.is_ok_and(|output| output.status.code() == Some(3)) {
        skipped("strace cannot be used here");
        return None;
    }
    let mut calls = BTreeMap::new();
    for line in std::fs::read_to_string(log).unwrap().lines() {
        if let Some((name, _)) = line.split_once('(') {
            *calls.entry(name.to_owned()).or_default() += 1;
        }
    }
    Some(calls)
}

#[test]
fn a_signal_at_each_system_call_leaves_a_consistent_record() {
    let place = Place::new(MOCKS);
    let Some(calls) = calls(&place) else { return };
    let (mut seen, mut before) = (BTreeSet::new(), place.records().len());
    let places = calls.iter().flat_map(|(name, count)| (1..=*count).map(move |it| (name, it)));
    for (name, count) in places {
        let inject = format!("inject={name}:signal=SIGTERM:when={count}");
        let mut child = traced(&place, &inject, Path::new("/dev/null")).spawn().unwrap();
        let ended = end(&mut child);
        let records = place.records();
        let own = types(&records[before..]);
        before = records.len();
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        match (&own[..], ended) {
            ([], End::Signal(libc::SIGTERM) | End::Exit(130)) => {}
            (["started", "cancelled"], End::Exit(130)) => {}
            (["started", "selected"], End::Signal(libc::SIGTERM)) => {}
            (["started", "selected", "delivered"], End::Signal(libc::SIGTERM) | End::Exit(3)) => {}
            other => panic!("{other:?} at {name} {count}"),
        }
        seen.insert(own.join(" "));
    }
    let all = ["", "started cancelled", "started selected", "started selected delivered"];
    assert!(all.iter().all(|it| seen.contains(*it)), "{seen:?}");
}

/// What stops a command must not stop it while it holds the lock: nobody else
/// would get on.
#[test]
fn a_stopped_command_holds_no_lock() {
    let place = Place::new(MOCKS);
    let Some(calls) = calls(&place) else { return };
    let mut stopped = 0;
    for name in ["flock", "write", "pwrite64"] {
        for count in 1..=calls[name] {
            let inject = format!("inject={name}:signal=SIGTSTP:when={count}");
            let mut command = traced(&place, &inject, Path::new("/dev/null"));
            // Its own group, whose leader has a parent elsewhere: only so it can be stopped.
            let mut child = command.process_group(0).spawn().unwrap();
            stopped += usize::from(stops(&mut child));
            let file = std::fs::File::open(place.journal()).unwrap();
            let start = Instant::now();
            while file.try_lock().is_err() {
                assert!(start.elapsed() < Duration::from_secs(3), "locked at {name} {count}");
                std::thread::sleep(Duration::from_millis(1));
            }
            file.unlock().unwrap();
            let _ = kill_process_group(Pid::from_child(&child), Signal::CONT);
            assert_eq!(end(&mut child), End::Exit(3), "{name} {count}");
        }
    }
    assert!(stopped > 3, "{stopped}");
}

/// Waits until what is traced is stopped for good, or has ended.
fn stops(child: &mut std::process::Child) -> bool {
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let mut rests = 0;
    wait_until(|| {
        let pid = std::fs::read_to_string(&children).unwrap_or_default();
        let state = pid.trim().parse().ok().and_then(|pid| status_field(pid, "State"));
        // Each system call stops it for a moment.
        let is_stopped = state.is_some_and(|it| it.starts_with(['T', 't']));
        rests = if is_stopped { rests + 1 } else { 0 };
        rests > 30 || child.try_wait().unwrap().is_some()
    });
    rests > 30
}
