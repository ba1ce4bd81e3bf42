//! Signals at moments that nobody chose. `ROBUST_ROUNDS` asks for more of them.

use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{GOOD, Place};

const AGENTS: [&str; 4] =
    ["sleep 0.05", "setsid sleep 1000 &", "sleep 1000", "(trap : TERM; sleep 50; sleep 50) &"];

/// How often something is tried.
pub(super) fn rounds(usual: usize) -> usize {
    let asked = std::env::var("ROBUST_ROUNDS").ok();
    asked.and_then(|it| it.parse().ok()).unwrap_or(usual)
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    let signals = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL, Signal::SIGHUP];
    for round in 0..rounds(16) {
        let place = Place::new();
        let (signal, agent) = (signals[round % 4], AGENTS[round / 4 % 4]);
        let args = ["c.yaml", "--jobs", "8", "--trials", "50", "--timeout", "5", "--out", "out"];
        let mut command = place.agent(&format!("{GOOD}\n{agent}"), &args);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        // Spread over the time from its start to the first agents that have ended.
        std::thread::sleep(Duration::from_millis((round as u64 * 37) % 400));
        kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
        let (code, text) = place.ended(child);
        let what = format!("{signal} {agent}: {code}, {text}");
        let results = std::fs::read_to_string(place.path("out/results.json")).ok();
        let is_whole = |text: &String| serde_json::from_str::<serde_json::Value>(text).is_ok();
        assert!(results.as_ref().is_none_or(is_whole), "{what}");
        if signal != Signal::SIGKILL {
            // Before it holds signals back, one ends it as any program.
            assert!([-1, 128 + signal as i32, 0, 1].contains(&code), "{what}");
            assert!(code == -1 || results.is_some(), "{what}");
            assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 0, "{what}");
        }
    }
}
