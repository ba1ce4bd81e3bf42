//! Agents that refuse, end or hang, and what is said of it.

use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::{Place, Told};

/// Told to end once it hangs, as a supervisor does.
fn told_to_end(place: &Place, waits_for: &str) -> (Told, Duration) {
    let mut command = place.command();
    let driver = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let sent = || std::fs::read_to_string(place.path("log")).unwrap_or_default();
    let end = Instant::now() + Duration::from_secs(20);
    while !sent().contains(waits_for) {
        assert!(Instant::now() < end, "{waits_for} never came");
        std::thread::sleep(Duration::from_millis(10));
    }
    let start = Instant::now();
    kill(Pid::from_raw(driver.id().cast_signed()), Signal::SIGTERM).unwrap();
    let told = Told::of(driver.wait_with_output().unwrap());
    (told, start.elapsed())
}

#[test]
fn an_agent_that_dies_is_told_by_when() {
    for (words, reason, is_begun) in [
        (&["dies=start"][..], "ended with exit status 3 before it answered `initialize`", false),
        (&["dies=initialize"], "ended with exit status 3 before it answered `initialize`", false),
        (&["dies=session/new"], "ended with exit status 3 before it answered `session/new`", false),
        (&["dies=session/prompt"], "exit status 3 before it answered `session/prompt`", true),
        (
            &["quits", "mute=session/prompt"],
            "1 before it answered `session/prompt`; its last words: nobody has a key",
            true,
        ),
        (&["crash"], "was ended by signal 9 before it answered `session/prompt`", true),
    ] {
        let told = Place::of(words).told();
        assert_eq!(told.exit, Some(1), "{told:?}");
        let failed = told.last()["failed"].as_str().unwrap();
        assert!(failed.ends_with(reason), "{failed}");
        assert_eq!(told.last()["begun"], is_begun, "{told:?}");
        assert!(told.complaint.trim_end().ends_with(failed), "{told:?}");
    }
}

#[test]
fn an_agent_that_refuses_is_quoted() {
    for (words, reason, is_begun) in [
        (&["version=2"][..], "speaks version 2 of the Agent Client Protocol", false),
        (
            &["refuses=session/new"],
            r#"refused `session/new`: Internal error: {"details":"no model"} (code -32603)"#,
            false,
        ),
        (&["refuses=session/prompt"], "refused `session/prompt`: Internal error", true),
        (&["auth"], "not logged in, as it answered to `session/new`: Authentication", false),
        (&["auth"], "the logins that it offers: `k` (API key); log in", false),
        (&["auth-late"], "not logged in, as it answered to `session/prompt`", false),
    ] {
        let told = Place::of(words).told();
        assert_eq!(told.exit, Some(1), "{told:?}");
        assert!(told.last()["failed"].as_str().unwrap().contains(reason), "{told:?}");
        assert_eq!(told.last()["begun"], is_begun, "{told:?}");
    }
}

#[test]
fn an_agent_that_is_not_there_is_named() {
    let told = Place::of(&[]).with("command", json!(["no-such-agent"])).told();
    assert_eq!(told.exit, Some(1));
    let failed = told.last()["failed"].as_str().unwrap();
    assert!(failed.starts_with("the agent does not start: `no-such-agent`: "), "{failed}");
}

#[test]
fn stopping_for_another_reason_is_no_success() {
    let told = Place::of(&["say=hm", "stop=max_tokens"]).told();
    assert_eq!((told.exit, told.said().as_str()), (Some(1), "hm"));
    assert_eq!(*told.last(), json!({"stop": {"stopReason": "max_tokens"}}));
    assert_eq!(told.complaint.trim(), "the agent stopped with `max_tokens`");
}

#[test]
fn an_agent_that_takes_too_long_is_told_to_cancel() {
    for words in [&["hang"][..], &["hang", "ends"]] {
        let place = Place::of(words);
        let (told, took) = told_to_end(&place, "session/prompt");
        let reason = "the agent took too long, and stopped when told to";
        assert_eq!(*told.last(), json!({"failed": reason, "begun": true}));
        assert_eq!(told.exit, Some(1), "whatever it says of its end");
        assert!(took < Duration::from_secs(2), "{took:?}");
        let cancel = place.sent().pop().unwrap();
        assert_eq!((&cancel["method"], cancel.get("id")), (&json!("session/cancel"), None));
    }
}

/// A supervisor has patience for six seconds.
#[test]
fn an_agent_that_does_not_cancel_is_ended_in_time() {
    let place = Place::of(&["hang", "stubborn", "lingers"]);
    let (told, took) = told_to_end(&place, "session/prompt");
    assert_eq!(told.last()["begun"], true, "{told:?}");
    assert!(told.last()["failed"].as_str().unwrap().contains("did not stop"), "{told:?}");
    assert!(took < Duration::from_secs(6), "{took:?}");
}

#[test]
fn an_agent_that_never_stops_talking_is_ended_in_time() {
    let (told, took) = told_to_end(&Place::of(&["flood"]), "session/prompt");
    assert!(told.last()["failed"].as_str().unwrap().contains("did not stop"), "{:?}", told.last());
    assert!(took < Duration::from_secs(6), "{took:?}");
}

#[test]
fn an_agent_that_is_mute_is_ended_without_a_prompt() {
    for method in ["initialize", "session/new"] {
        let place = Place::of(&[&format!("mute={method}")]);
        let (told, took) = told_to_end(&place, method);
        assert_eq!((told.exit, &told.last()["begun"]), (Some(1), &json!(false)), "{told:?}");
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
}

#[test]
fn an_agent_that_outlives_its_input_is_ended() {
    let start = Instant::now();
    let told = Place::of(&["say=done", "lingers"]).told();
    assert_eq!((told.exit, told.said().as_str()), (Some(0), "done"));
    let took = start.elapsed();
    assert!(took > Duration::from_secs(3) && took < Duration::from_secs(6), "{took:?}");
}
