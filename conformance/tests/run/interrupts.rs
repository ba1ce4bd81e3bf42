//! Signals to a run of which something was graded, and something goes on.

use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{GH, GOOD, Place, processes, trials};

/// Long enough for a busy machine, short enough to fail.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that left its group, and does not end when it is asked to.
const DEAF_DAEMON: &str = "(setsid sh -c \"trap '' TERM; while :; do sleep 1; done\" &)";

/// Six trials, three at once: the first one passes, the others make contact and `stay`.
fn begun(place: &Place, stay: &str) -> Child {
    let agent = place.agent(&format!(
        "case $PWD in */0000-*) {GOOD}; exit;; esac\ngh pr\n{stay} &\ntouch \"$TMPDIR/../ready-$$\"\nwait"
    ));
    let run = ["run", "c.yaml", "--no-twin", "--jobs", "3", "--trials", "6", "--out", "out"];
    let mut command = place.command(&[&run[..], &["--agent-cmd", &agent]].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // As many as there are at once: nobody is at the first one any more.
    until(|| {
        let files = std::fs::read_dir(place.path("")).unwrap().flatten();
        files.filter(|it| it.file_name().to_string_lossy().starts_with("ready-")).count() == 3
    });
    child
}

fn until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

/// All is ended, and what was graded by then is written, here and in the file.
fn ended(place: &Place, child: Child, exit: i32) {
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let [text, told] = [stdout, stderr].map(|it| String::from_utf8(it).unwrap());
    assert_eq!(status.code(), Some(exit), "{told}");
    place.is_clean();
    assert!(text.contains("PASS    gh/t (") && text.contains("1 passed, 0 failed"), "{text}");
    assert!(text.contains(", 5 not run"), "{text}");
    let results = place.results();
    assert_eq!(trials(&results).len(), 1);
    assert_eq!(results["summary"]["not_run"], 5);
    // Not all that was wanted has passed.
    place.say(&["grade", "out/results.json"], 3);
}

#[test]
fn an_interrupted_run_writes_what_was_graded() {
    for (signal, exit) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let place = Place::of(GH);
        let child = begun(&place, "setsid sleep 1000 & sleep 1000");
        send(&child, signal);
        ended(&place, child, exit);
    }
}

#[test]
fn an_agent_that_is_deaf_is_killed() {
    let place = Place::of(GH);
    let child = begun(&place, "trap '' TERM INT; sleep 1000");
    send(&child, Signal::SIGTERM);
    ended(&place, child, 143);
}

/// Who asks again does not want to wait, neither for the agent nor for what it left.
#[test]
fn nobody_waits_who_asks_again() {
    let place = Place::of(GH);
    let mut child = begun(&place, &format!("trap '' TERM; {DEAF_DAEMON}; sleep 1000"));
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        send(&child, Signal::SIGINT);
        std::thread::sleep(Duration::from_millis(300));
    }
    // Twice the time that one is given would be twelve seconds.
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    ended(&place, child, 130);
}

/// Nobody is left to ask: the supervisors see to it themselves.
#[test]
fn a_run_that_is_killed_leaves_no_agent() {
    let place = Place::of(GH);
    let child = begun(&place, &format!("{DEAF_DAEMON}; sleep 1000"));
    let own = |line: &String| line.contains("sleep") || line.contains("supervise");
    assert!(processes::with_tmpdir(&place.path("tmp")).iter().filter(|it| own(it)).count() >= 6);
    send(&child, Signal::SIGKILL);
    child.wait_with_output().unwrap();
    until(|| processes::with_tmpdir(&place.path("tmp")).is_empty());
    assert!(!place.path("out/results.json").exists());
}
