//! `--journal FILE`: a record, while the steps are counted in memory.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::{Place, Server, records};

const ARGS: [&str; 3] = ["fixture.yaml", "--journal", "calls"];

#[test]
fn the_file_is_made_for_this_user_and_appended_to() {
    let place = Place::usual();
    let mut server = place.serve(&ARGS);
    assert_eq!([server.text("seq"), server.text("seq")], ["one", "two"]);
    server.end();
    assert_eq!(place.path("calls").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let types: Vec<_> = records(&place.path("calls")).iter().map(|it| it["type"].clone()).collect();
    assert_eq!(
        types,
        [
            "program.opened",
            "attempt.started",
            "attempt.selected",
            "attempt.delivered",
            "attempt.started",
            "attempt.selected",
            "attempt.delivered",
            "program.closed"
        ]
    );
    assert_eq!(place.names(), ["calls", "fixture.yaml"]);
}

/// The numbers go on, the steps do not.
#[test]
fn the_numbers_go_on_over_restarts() {
    let place = Place::usual();
    for _ in 0..3 {
        let mut server = place.serve(&ARGS);
        assert_eq!(server.text("seq"), "one");
        server.kill();
    }
    let records = records(&place.path("calls"));
    let started: Vec<_> = records.iter().filter(|it| it["type"] == "attempt.started").collect();
    assert_eq!(started.len(), 3);
    assert!(started.iter().all(|it| it["step"] == 0 && it["attempt"] == it["seq"]));
    assert!(started[0]["instance"] != started[1]["instance"]);
}

#[test]
fn a_torn_tail_is_cut_off_and_told() {
    let place = Place::usual();
    place.serve(&ARGS).end();
    let whole = std::fs::read_to_string(place.path("calls")).unwrap();
    for cut in 1..whole.len() {
        place.write("calls", &whole[..cut]);
        let lines = whole[..cut].matches('\n').count();
        let torn = cut - whole[..cut].rfind('\n').map_or(0, |end| end + 1);
        place.serve(&ARGS).end();
        let records = records(&place.path("calls"));
        assert_eq!(records.len(), lines + 2, "cut at {cut}");
        let told = records[lines].get("recovered_bytes");
        assert_eq!(told, (torn > 0).then(|| json!(torn)).as_ref(), "cut at {cut}");
    }
}

#[test]
fn a_file_that_is_no_journal_is_refused_and_left_alone() {
    let place = Place::usual();
    for text in
        ["hello\n", "{}\n", "[1]\n", "{\"v\":1,\"seq\":1}\n", "\n", "a\nb\nc\n", "a line\nno end"]
    {
        place.write("calls", text);
        let told = place.refused(&["serve", "fixture.yaml", "--journal", "calls"]);
        assert!(told.contains("calls"), "{told}");
        assert_eq!(std::fs::read_to_string(place.path("calls")).unwrap(), text);
    }
}

/// A torn record begins like a record; anything else is somebody's text.
#[test]
fn a_file_without_a_newline_that_is_no_journal_is_left_alone() {
    let place = Place::usual();
    let record = r#"{"v":1,"seq":1,"type":"x"}"#;
    for text in
        ["hello".to_owned(), "{\"a\"".to_owned(), "x".repeat(70_000), format!("{record}\nhello")]
    {
        place.write("calls", &text);
        place.refused(&["serve", "fixture.yaml", "--journal", "calls"]);
        assert!(std::fs::read_to_string(place.path("calls")).unwrap() == text);
    }
}

#[test]
fn a_newer_journal_is_refused_and_left_alone() {
    let place = Place::usual();
    let text = "{\"v\":2,\"seq\":1,\"type\":\"program.opened\"}\n";
    place.write("calls", text);
    let told = place.refused(&["serve", "fixture.yaml", "--journal", "calls"]);
    assert!(told.contains("version 2"), "{told}");
    assert_eq!(std::fs::read_to_string(place.path("calls")).unwrap(), text);
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let place = Place::usual();
    std::fs::create_dir(place.path("folder")).unwrap();
    nix::unistd::mkfifo(&place.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for name in ["/dev/null", "/dev/zero", "folder", "pipe", "absent/calls"] {
        place.refused(&["serve", "fixture.yaml", "--journal", name]);
    }
}

#[test]
fn two_servers_share_one_file() {
    let place = Place::usual();
    let mut servers = [place.serve(&ARGS), place.serve(&ARGS)];
    for _ in 0..10 {
        for server in &mut servers {
            for _ in 0..10 {
                server.begin("now");
            }
        }
        for server in &mut servers {
            for _ in 0..10 {
                assert_eq!(server.receive()["result"]["content"][0]["text"], "done");
            }
        }
    }
    servers.into_iter().for_each(Server::end);
    let records = records(&place.path("calls"));
    assert_eq!(records.len(), 2 * (100 * 3 + 2));
}

/// Unlike a session, a file counts nothing: it may be handed on, but not taken away.
#[test]
fn a_file_that_is_taken_away_fails_the_calls() {
    let place = Place::usual();
    let mut server = place.serve(&ARGS);
    assert_eq!(server.text("seq"), "one");
    std::fs::rename(place.path("calls"), place.path("moved")).unwrap();
    let (reason, text) = server.refusal("seq");
    assert_eq!(reason, "journal");
    assert!(text.contains("calls"), "{text}");
    std::fs::rename(place.path("moved"), place.path("calls")).unwrap();
    assert_eq!(server.text("seq"), "two");
    server.end();
}
