//! Agents that turn against their supervisor, and what outlives them.

use std::time::{Duration, Instant};

use super::{GOOD, Place};

fn judged(script: &str, args: &[&str]) -> (i32, String) {
    let place = Place::new();
    let args = [&["c.yaml"], args].concat();
    place.run(place.agent(script, &args))
}

#[test]
fn who_kills_the_supervisor_ends_with_it() {
    for daemon in ["sleep 1000 &", "setsid sleep 1000 &", "(trap '' TERM; sleep 1000) &"] {
        let script = format!("{GOOD}\n{daemon}\nkill -9 $PPID\nsleep 1000");
        let (code, text) = judged(&script, &["--trials", "3", "--jobs", "2"]);
        assert_eq!(code, 3, "{text}");
        assert!(text.contains("and no outcome"), "{text}");
    }
}

#[test]
fn a_stopped_supervisor_goes_on() {
    let (code, text) = judged(&format!("{GOOD}\nkill -STOP $PPID"), &[]);
    assert_eq!(code, 0, "{text}");
    if super::interrupts::rounds(1) == 1 {
        // Being killed at last takes the time that ending an agent may.
        return;
    }
    let script = format!("{GOOD}\nwhile :; do kill -STOP $PPID; sleep 0.1; done");
    let (code, text) = judged(&script, &["--timeout", "2"]);
    assert_ne!(code, 0, "{text}");
}

/// An agent that is out of time may ask its supervisor to end, and gains nothing.
#[test]
fn time_that_is_up_stays_up() {
    let trap = "trap 'kill -TERM $PPID; sleep 0.2; exit 0' TERM";
    let script = format!("{trap}\n{GOOD}\nwhile :; do sleep 0.1; done");
    let (code, text) = judged(&script, &["--timeout", "1"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("the agent ends in time"), "{text}");
}

#[test]
fn asking_again_and_again_is_no_way_to_stay() {
    let script = format!("trap '' TERM\n{GOOD}\nwhile :; do kill -TERM $PPID; sleep 0.3; done");
    let start = Instant::now();
    judged(&script, &["--timeout", "2"]);
    assert!(start.elapsed() < Duration::from_secs(40));
}

#[test]
fn a_stopped_agent_need_not_be_killed() {
    let start = Instant::now();
    let (code, text) = judged(&format!("{GOOD}\nkill -STOP $$"), &["--timeout", "0.5"]);
    assert_eq!(code, 1, "{text}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// Whoever looks at one link of the chain finds that it has ended.
#[test]
fn a_chain_of_processes_has_an_end() {
    let chain =
        "trap '' TERM; n=$1; while [ $n -gt 0 ]; do n=$((n - 1)); (exec \"$0\" $n) & exit; done";
    for how in ["", "kill -9 $PPID"] {
        let place = Place::new();
        let file = place.path("chain.sh");
        std::fs::write(&file, format!("#!/bin/sh\n{chain}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&file, mode).unwrap();
        let script = format!("{GOOD}\nsetsid '{}' 1000000 &\n{how}", file.display());
        place.run(place.agent(&script, &["c.yaml"]));
    }
}

#[test]
fn the_name_of_an_orphan_cannot_paint() {
    let name = "\"../$(printf '\\033[31mred')\"";
    let script = format!("{GOOD}\ncp /bin/sleep {name}\nsetsid {name} 1000 &");
    let (code, text) = judged(&script, &[]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("left running, and was ended:  [31mred"), "{text}");
}
