//! `reset`: the same place, from the first steps, with the old journals kept.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::{Place, Server, document, records};

#[test]
fn a_reset_keeps_each_old_journal_and_starts_anew() {
    let place = Place::usual();
    place.make();
    let mut old = Vec::new();
    for round in 1..=3 {
        let mut server = place.attach();
        assert_eq!([server.text("seq"), server.text("seq")], ["one", "two"]);
        server.end();
        let before = std::fs::read_to_string(place.journal()).unwrap();
        assert_eq!(place.ok(&["reset", "run"]), "");
        old.push(before);
        for (number, before) in (1..).zip(&old) {
            let kept = place.path(&format!("run/journal.{number}.jsonl"));
            assert!(std::fs::read_to_string(&kept).unwrap().starts_with(before), "{round}");
            let last = records(&kept).pop().unwrap();
            assert_eq!(
                (&last["type"], &last["cause"]),
                (&"session.closed".into(), &"reset".into())
            );
        }
        assert!(place.records().is_empty());
        assert_eq!(place.status()["mocks"]["s.seq"]["calls"], 0);
    }
    assert_eq!(place.names(), ["fixture.yaml", "run"]);
}

#[test]
fn a_reset_opens_a_closed_session_again() {
    let place = Place::usual();
    place.make();
    assert_eq!(place.attach().text("seq"), "one");
    place.ok(&["close", "run"]);
    place.ok(&["reset", "run"]);
    assert_eq!(place.status()["closed"], false);
    assert_eq!(place.attach().text("seq"), "one");
}

#[test]
fn a_reset_is_refused_while_a_server_lives() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    assert_eq!(server.text("seq"), "one");
    let told = place.refused(&["reset", "run"]);
    assert!(told.contains(&format!("process {}", server.pid())), "{told}");
    assert_eq!(server.text("seq"), "two");
    server.end();
    assert!(place.of_type("session.closed").is_empty());
    assert_eq!(place.names(), ["fixture.yaml", "run"]);
    place.ok(&["reset", "run"]);
}

#[test]
fn a_reset_takes_another_plan() {
    let place = Place::usual();
    place.make();
    place.attach().end();
    place.write("other.yaml", &document("{seq: {sequence: [{text: other}]}}"));
    place.ok(&["reset", "run", "--from", "other.yaml"]);
    assert_eq!(place.attach().text("seq"), "other");
    assert_eq!(place.records()[0]["seq"], 1);
    place.refused(&["serve", "fixture.yaml", "--session", "run"]);
    place.write("broken.yaml", "{");
    place.refused(&["reset", "run", "--from", "broken.yaml"]);
    place.refused(&["reset", "run", "--from", "absent.yaml"]);
    assert!(place.of_type("session.closed").is_empty());
    assert_eq!(place.status()["mocks"]["s.seq"]["calls"], 1);
}

#[test]
fn large_payloads_survive_a_reset() {
    let text = "é".repeat(5000);
    let place =
        Place::with_tools(&format!("{{big: {{sequence: [{{text: \"{text}\"}}, {{text: x}}]}}}}"));
    place.make();
    std::fs::remove_file(place.path("fixture.yaml")).unwrap();
    for _ in 0..3 {
        assert_eq!(place.attach().text("big"), text);
        place.ok(&["reset", "run"]);
    }
    assert_eq!(place.attach().text("big"), text);
}

#[test]
fn a_reset_through_a_link_or_from_inside_is_a_reset_of_the_session() {
    let place = Place::usual();
    place.make();
    symlink("run", place.path("link")).unwrap();
    for (folder, name) in [("", "link"), ("run", "."), ("", "run/"), ("run/mcp", "..")] {
        assert_eq!(place.attach().text("seq"), "one");
        let mut command = place.command(&["reset", name]);
        assert_eq!(command.current_dir(place.path(folder)).status().unwrap().code(), Some(0));
        assert!(place.path("link").is_symlink());
    }
    assert_eq!(place.attach().text("seq"), "one");
    assert!(place.path("run/journal.4.jsonl").exists());
    assert_eq!(place.names(), ["fixture.yaml", "link", "run"]);
}

#[test]
fn a_reset_that_fails_leaves_the_session_as_it_was() {
    let steps: String = (0..100).map(|step| format!("{{text: step number {step}}}, ")).collect();
    let place = Place::with_tools(&format!("{{seq: {{sequence: [{steps}]}}}}"));
    place.make();
    let before = std::fs::read_to_string(place.journal()).unwrap();
    let script = "ulimit -f 1; trap '' XFSZ; exec \"$0\" reset run";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_mcp-mock")]).current_dir(place.path(""));
    assert_eq!(command.output().unwrap().status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(place.journal()).unwrap(), before);
    assert_eq!(place.names(), ["fixture.yaml", "run"]);
    assert_eq!(place.attach().text("seq"), "step number 0");
}

#[test]
fn racing_resets_each_start_anew_or_say_that_they_did_not() {
    let place = Place::usual();
    place.make();
    let mut done = 0;
    for _ in 0..5 {
        let racers: Vec<_> = (0..6)
            .map(|_| place.command(&["reset", "run"]))
            .map(|mut command| command.stderr(std::process::Stdio::piped()).spawn().unwrap())
            .collect();
        for racer in racers {
            let output = racer.wait_with_output().unwrap();
            let told = String::from_utf8(output.stderr).unwrap();
            match output.status.code() {
                Some(0) => done += 1,
                code => {
                    assert_eq!(code, Some(2), "{told}");
                    assert!(told.contains("another process") || told.contains("in use"), "{told}");
                }
            }
        }
    }
    let kept = std::fs::read_dir(place.path("run")).unwrap();
    let kept = kept
        .filter(|it| it.as_ref().unwrap().file_name().to_string_lossy().matches('.').count() == 2);
    assert_eq!(kept.count(), done);
    assert!(
        (1..=done)
            .all(|number| records(&place.path(&format!("run/journal.{number}.jsonl"))).len() == 1)
    );
    assert_eq!(place.attach().text("seq"), "one");
    assert_eq!(place.names(), ["fixture.yaml", "run"]);
}

/// A server that starts meanwhile serves the old session or the new one, never half of each.
#[test]
fn servers_may_start_while_a_session_is_reset() {
    let place = Place::usual();
    place.make();
    for _ in 0..20 {
        let start = || Server::start(&mut place.command(&["serve", "--session", "run"]));
        let mut reset = place.command(&["reset", "run"]);
        let mut reset = reset.stderr(std::process::Stdio::null()).spawn().unwrap();
        for mut server in [start(), start(), start()] {
            server.shake_hands();
            let result = server.call("seq");
            let is_fair = result["isError"] != true || crate::reason_of(&result) == "exhausted";
            assert!(is_fair, "{result}");
            server.end();
        }
        reset.wait().unwrap();
        place.status();
    }
}
