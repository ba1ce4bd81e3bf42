//! Files that are not what they were: nothing is served, nothing is used.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::{Place, text_of};

fn append(path: &Path, text: &str) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn replace(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn an_altered_plan_is_refused() {
    let place = Place::usual();
    place.make();
    replace(&place.path("run/mcp/s.json"), "one", "uno");
    for args in [
        ["serve", "--session", "run"].as_slice(),
        &["serve", "fixture.yaml", "--session", "run"],
        &["status", "run"],
        &["verify", "run"],
        &["reset", "run"],
    ] {
        let told = place.refused(args);
        assert!(told.contains("not what the session was made with"), "{told}");
    }
    std::fs::remove_file(place.path("run/mcp/s.json")).unwrap();
    place.refused(&["serve", "--session", "run"]);
    place.ok(&["session", "fixture.yaml", "--dir", "other"]);
    replace(&place.path("other/session.json"), "\"sha256\": \"", "\"sha256\": \"0");
    place.refused(&["serve", "--session", "other"]);
    place.refused(&["serve", "fixture.yaml", "--session", "other"]);
    assert!(place.records().is_empty());
}

#[test]
fn a_session_of_a_newer_version_is_refused() {
    let place = Place::usual();
    place.make();
    replace(&place.path("run/session.json"), "\"version\": 1", "\"version\": 2, \"new\": 1");
    for args in [
        ["serve", "--session", "run"].as_slice(),
        &["serve", "fixture.yaml", "--session", "run"],
        &["session", "fixture.yaml", "--dir", "run"],
        &["status", "run"],
        &["verify", "run"],
        &["reset", "run"],
        &["reset", "run", "--from", "fixture.yaml"],
        &["close", "run"],
        &["config", "--session", "run", "--for", "generic"],
    ] {
        let told = place.refused(args);
        assert!(told.contains("version 2"), "{told}");
    }
    for broken in ["", "{}", "[]", "{\"version\": 1}"] {
        place.write("run/session.json", broken);
        place.refused(&["serve", "--session", "run"]);
    }
    assert!(place.records().is_empty());
}

/// What makes a complete line wrong, and what is said about it.
const LINES: [(&str, &str); 6] = [
    ("garbage\n", "no record"),
    ("\n", "no record"),
    ("{\"v\":1,\"seq\":1}\n", ""),
    (
        "{\"v\":2,\"seq\":NEXT,\"at\":\"\",\"mono_us\":1,\"pid\":1,\"instance\":\"\",\"type\":\"x\"}\n",
        "version 2",
    ),
    (
        "{\"v\":1,\"seq\":9999,\"at\":\"\",\"mono_us\":1,\"pid\":1,\"instance\":\"\",\"type\":\"x\"}\n",
        "9999",
    ),
    ("\u{0}\u{0}\u{0}\n", "no record"),
];

#[test]
fn a_damaged_journal_fails_every_call() {
    for (line, told) in LINES {
        let place = Place::usual();
        place.make();
        let mut server = place.attach();
        assert_eq!(server.text("seq"), "one");
        assert!(server.is_alive());
        let next = (place.records().len() + 1).to_string();
        append(&place.journal(), &line.replace("NEXT", &next));
        let before = std::fs::read_to_string(place.journal()).unwrap();
        for _ in 0..2 {
            let (reason, text) = server.refusal("seq");
            assert!(reason == "journal" && text.contains(told), "{reason}: {text}");
        }
        server.end();
        // A server that comes later sees it too; its checkpoint ends before the line.
        let mut late = place.attach();
        assert_eq!(late.refusal("seq").0, "journal");
        late.end();
        for verb in ["status", "verify", "close", "reset"] {
            let text = place.refused(&[verb, "run"]);
            assert!(text.contains(told), "{verb}: {text}");
        }
        assert_eq!(std::fs::read_to_string(place.journal()).unwrap(), before);
    }
}

#[test]
fn unknown_types_and_keys_are_ignored() {
    let place = Place::usual();
    place.make();
    place.attach().end();
    let next = place.records().len() + 1;
    append(
        &place.journal(),
        &format!(
            "{{\"v\":1,\"seq\":{next},\"at\":\"\",\"mono_us\":1,\"pid\":1,\"instance\":\"\",\"type\":\"of.tomorrow\",\"step\":\"x\"}}\n"
        ),
    );
    let mut server = place.attach();
    assert_eq!(server.text("seq"), "one");
    server.end();
    assert_eq!(place.status()["mocks"]["s.seq"]["calls"], 1);
}

/// Takes the journal away in some way; how to bring it back.
type Fault = fn(&Place);

const FAULTS: [(&str, Fault); 4] = [
    ("replaced", |place| {
        std::fs::copy(place.journal(), place.path("copy")).unwrap();
        std::fs::rename(place.path("copy"), place.journal()).unwrap();
    }),
    ("removed", |place| std::fs::remove_file(place.journal()).unwrap()),
    ("truncated", |place| std::fs::write(place.journal(), "").unwrap()),
    ("replaced by a directory", |place| {
        std::fs::remove_file(place.journal()).unwrap();
        std::fs::create_dir(place.journal()).unwrap();
    }),
];

#[test]
fn a_journal_that_is_taken_away_fails_every_call() {
    for (name, fault) in FAULTS {
        let place = Place::usual();
        place.make();
        let mut server = place.attach();
        assert_eq!(server.text("seq"), "one");
        assert!(server.is_alive());
        fault(&place);
        for tool in ["seq", "now", "nap"] {
            let (reason, text) = server.refusal(tool);
            assert!(reason == "journal" && text.contains("replaced or removed"), "{name}: {text}");
        }
        assert!(server.is_alive());
        server.end();
        assert!(
            !place.journal().is_file() || place.of_type("attempt.started").len() <= 1,
            "{name}"
        );
        if !place.journal().is_file() {
            place.refused(&["serve", "--session", "run"]);
            place.refused(&["close", "run"]);
            assert!(!place.journal().is_file(), "nobody but the maker makes it");
        }
    }
}

#[test]
fn a_journal_that_is_gone_during_a_delay_holds_back_the_reply() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    server.begin("nap");
    place.wait_for("attempt.started");
    let aside = place.path("aside");
    std::fs::rename(place.journal(), &aside).unwrap();
    let reply: Value = server.receive();
    assert_eq!(crate::reason_of(&reply["result"]), "journal");
    assert!(text_of(&reply["result"]).contains("journal.jsonl"));
    std::fs::rename(&aside, place.journal()).unwrap();
    assert_eq!(server.text("nap"), "second");
    server.end();
    assert_eq!(place.of_type("attempt.selected").len(), 1);
    assert_eq!(place.status()["tool_events"][0]["success"], json!(false));
}

/// The checkpoint is derived: without it, or with another one, all is replayed.
#[test]
fn a_checkpoint_that_is_wrong_changes_nothing() {
    let place = Place::usual();
    place.make();
    let state = place.path("run/journal.state");
    let mut server = place.attach();
    assert_eq!(server.text("seq"), "one");
    server.end();
    let old = std::fs::read(&state).unwrap();
    assert_eq!(place.attach().text("seq"), "two");
    let mut zeros = old.clone();
    zeros.fill(0);
    let mut flipped = old.clone();
    *flipped.last_mut().unwrap() ^= 1;
    std::fs::write(&state, &old).unwrap();
    assert_eq!(place.attach().text("seq"), "three");
    for (bytes, text) in [(zeros, "four"), (flipped, ""), (old[..20].to_vec(), ""), (vec![], "")] {
        std::fs::write(&state, bytes).unwrap();
        let mut server = place.attach();
        let result = server.call("seq");
        if text.is_empty() {
            assert_eq!(crate::reason_of(&result), "exhausted");
        } else {
            assert_eq!(text_of(&result), text);
        }
    }
    std::fs::remove_file(&state).unwrap();
    std::fs::create_dir(&state).unwrap();
    assert_eq!(place.attach().refusal("seq").0, "exhausted");
}

/// Killed between the record and the checkpoint, a server leaves it behind the
/// journal; whoever writes it next must not hide that.
#[test]
fn a_step_that_the_checkpoint_missed_is_not_served_again() {
    let place = Place::usual();
    place.make();
    let mut steady = place.attach();
    assert_eq!(steady.text("nap"), "first");
    // What comes now does not get at the checkpoint.
    let (state, aside) = (place.path("run/journal.state"), place.path("aside"));
    std::fs::rename(&state, &aside).unwrap();
    std::fs::create_dir(&state).unwrap();
    let mut victim = place.attach();
    assert_eq!(victim.text("seq"), "one");
    victim.kill();
    std::fs::remove_dir(&state).unwrap();
    std::fs::rename(&aside, &state).unwrap();
    assert_eq!(steady.text("nap"), "second");
    assert_eq!(steady.text("now"), "done");
    let mut late = place.attach();
    assert_eq!([late.text("seq"), late.text("nap")], ["two", "third"]);
    late.end();
    steady.end();
}
