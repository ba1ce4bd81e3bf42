//! Signals, and what is left behind.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::{GH, LOOKUP, PATIENCE, Place, Run};

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

fn end(child: Child) -> Run {
    Run::of(child.wait_with_output().unwrap())
}

#[test]
fn a_signal_goes_to_the_command() {
    for (signal, code) in [
        (Signal::SIGINT, 130),
        (Signal::SIGTERM, 143),
        (Signal::SIGHUP, 129),
        (Signal::SIGQUIT, 131),
    ] {
        let place = Place::new();
        let child = place.start(&[
            "--mock",
            GH,
            "--",
            "sh",
            "-c",
            "ulimit -c 0; touch ready; exec sleep 300",
        ]);
        send(&child, signal);
        let run = end(child);
        assert_eq!(run.code, Some(code), "{run:?}");
        assert!(run.stderr.contains("no mock was called"), "{run:?}");
    }
}

#[test]
fn the_command_decides_what_a_signal_means() {
    let place = Place::new();
    let script = "trap 'echo asked; exit 5' TERM; touch ready; while :; do sleep 0.05; done";
    let child = place.start(&["-q", "--", "sh", "-c", script]);
    send(&child, Signal::SIGTERM);
    let run = end(child);
    assert_eq!((run.code, run.stdout.as_str()), (Some(5), "asked\n"), "{run:?}");
}

#[test]
fn a_signal_that_was_ignored_stays_so() {
    let place = Place::new();
    let mut command = Command::new("sh");
    let script =
        "trap '' HUP; exec \"$0\" exec -q -- sh -c 'touch ready; kill -HUP $PPID $$; echo alive'";
    command.args(["-c", script]).arg(crate::program());
    place.settle(&mut command);
    let run = Run::of(command.output().unwrap());
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "alive\n"), "{run:?}");
}

#[test]
fn what_is_mocked_and_waits_is_ended_too() {
    let place = Place::new();
    let slow = "slow: [{stdout: late, delay_ms: 300000}]";
    let script = "slow & touch ready; wait";
    let mut command = place.exec(&["--mock", slow, "--json", "run.json", "--", "sh", "-c", script]);
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    crate::until(|| place.path("ready").exists());
    std::thread::sleep(Duration::from_millis(200));
    send(&child, Signal::SIGTERM);
    let run = end(child);
    assert_eq!(run.code, Some(143), "{run:?}");
    let evidence = crate::json(&place.read("run.json"));
    assert_eq!(evidence["signal"], 15);
    assert!(run.stderr.contains("slow  1 of 1  unfinished, exit unavailable"), "{run:?}");
}

#[test]
fn children_that_were_left_behind_are_ended() {
    let place = Place::new();
    let script =
        "setsid sleep 300 & (sleep 300 & sleep 300) & nohup sleep 300 >/dev/null 2>&1 & echo done";
    let run = place.run(&["--mock", GH, "--", "sh", "-c", script]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "done\n"), "{run:?}");
    assert!(run.stderr.contains("ended what the command left running: "), "{run:?}");
    assert!(run.stderr.contains("sleep ("), "{run:?}");
}

#[test]
fn a_daemon_is_ended_also_after_a_signal() {
    let place = Place::new();
    let script = "setsid sh -c 'sleep 300 & sleep 300' & touch ready; exec sleep 300";
    let child = place.start(&["-q", "--", "sh", "-c", script]);
    send(&child, Signal::SIGINT);
    assert_eq!(end(child).code, Some(130));
}

#[test]
fn a_daemon_that_will_not_end_is_killed() {
    let place = Place::new();
    let script = "setsid sh -c 'trap \"\" TERM; touch ready; while :; do sleep 1; done' & until [ -e ready ]; do sleep 0.01; done";
    let start = Instant::now();
    let run = place.run(&["-q", "--", "sh", "-c", script]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(start.elapsed() >= Duration::from_secs(6) && start.elapsed() < PATIENCE);
}

/// A server whose client is gone, while something keeps its input open.
#[test]
fn a_server_that_still_serves_sees_a_closed_session() {
    let place = Place::new();
    let script = r#"LEAVE_SERVER=1 python3 "$CLIENT" "$0" orders lookup"#;
    let args = ["--mock", LOOKUP, "--keep", "kept", "--", "sh", "-c", script, "{mcp_json}"];
    let run = place.run(&args);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "busy\n"), "{run:?}");
    assert!(run.stderr.contains("mcp-mock ("), "{run:?}");
    let journal = place.read("kept/journal.jsonl");
    assert!(journal.contains("\"session.closed\""), "{journal}");
}

/// Calls of what was left behind find no session, not the real program.
#[test]
fn a_late_call_is_not_served() {
    let place = Place::new();
    let script = "setsid sh -c 'trap \"\" TERM; while [ -d \"${0%/*}/bin\" ]; do gh >>said 2>&1; echo $? >>codes; done' \"$(command -v gh)/x\" & sleep 0.2";
    let mock = "gh: [{exit_code: 7, repeat: 100}]";
    place.write("codes", "");
    let _ = place.run(&["--mock", mock, "-q", "--", "sh", "-c", script]);
    let codes = place.read("codes");
    assert!(codes.lines().all(|code| code == "7" || code == "127"), "{codes}");
}

#[test]
fn nobody_elses_children_are_ended() {
    let place = Place::new();
    let mut command = Command::new("sh");
    let script = "sleep 300 >/dev/null 2>&1 & echo $!; exec \"$0\" exec -q -- true";
    command.args(["-c", script]).arg(crate::program());
    place.settle(&mut command);
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.code, Some(0), "{run:?}");
    let pid = Pid::from_raw(run.stdout.trim().parse().unwrap());
    kill(pid, Signal::SIGKILL).unwrap();
    crate::until(|| place.processes().is_empty());
}

#[test]
fn an_ignored_sigchld_is_told() {
    let place = Place::new();
    let mut command = Command::new("python3");
    let script = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])";
    command.args(["-c", script]).arg(crate::program()).args(["exec", "--", "true"]);
    place.settle(&mut command);
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("SIGCHLD is ignored"), "{run:?}");
}
