//! A journal whose last line was not written to its end.

use std::fs::OpenOptions;
use std::io::Write;

use serde_json::json;

use crate::{Place, text_of};

/// Cut within the last attempt: what stands whole counts, the rest is told.
#[test]
fn whatever_is_torn_is_cut_off_and_told() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    assert_eq!([server.text("seq"), server.text("seq")], ["one", "two"]);
    server.end();
    let whole = std::fs::read_to_string(place.journal()).unwrap();
    let state = std::fs::read(place.path("run/journal.state")).unwrap();
    let last = whole.rfind("attempt.started").unwrap();
    let begin = whole[..last].rfind('\n').unwrap() + 1;
    let started = whole[begin..].find('\n').unwrap() + begin + 1;
    // Each byte of the line that counts, and some of those that follow.
    let cuts = (begin..=started + 20).chain((started + 21..=whole.len()).step_by(7));
    for cut in cuts {
        place.write("run/journal.jsonl", &whole[..cut]);
        // With the checkpoint of before, which is ahead of the journal, and without one.
        match cut % 3 {
            0 => drop(std::fs::remove_file(place.path("run/journal.state"))),
            1 => std::fs::write(place.path("run/journal.state"), &state).unwrap(),
            _ => {}
        }
        let lines = whole[..cut].matches('\n').count();
        let torn = cut - whole[..cut].rfind('\n').unwrap() - 1;
        let mut server = place.attach();
        let expected = if cut < started { "two" } else { "three" };
        assert_eq!(server.text("seq"), expected, "cut at {cut}");
        server.end();
        let records = place.records();
        assert_eq!(records.len(), lines + 5, "cut at {cut}");
        let told = records[lines].get("recovered_bytes");
        assert_eq!(told, (torn > 0).then(|| json!(torn)).as_ref(), "cut at {cut}");
        assert!(records[lines + 1..].iter().all(|it| it.get("recovered_bytes").is_none()));
    }
}

#[test]
fn a_tail_that_another_left_is_cut_off_while_serving() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    assert_eq!(server.text("seq"), "one");
    assert!(server.is_alive());
    let torn = "{\"v\":1,\"seq\":5,\"at\":\"20";
    let mut journal = OpenOptions::new().append(true).open(place.journal()).unwrap();
    journal.write_all(torn.as_bytes()).unwrap();
    assert_eq!(server.text("seq"), "two");
    server.end();
    assert_eq!(place.records()[4]["recovered_bytes"], torn.len());
}

/// Readers leave the tail alone: it is neither a record nor an error.
#[test]
fn a_torn_tail_is_nothing_to_a_reader() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    assert_eq!(server.text("seq"), "one");
    server.end();
    let mut journal = OpenOptions::new().append(true).open(place.journal()).unwrap();
    journal.write_all("{\"v\":1,\"se\u{e9}".as_bytes()).unwrap();
    let before = std::fs::read_to_string(place.journal()).unwrap();
    assert_eq!(place.status()["tool_events"].as_array().unwrap().len(), 1);
    place.ok(&["verify", "run"]);
    assert_eq!(std::fs::read_to_string(place.journal()).unwrap(), before);
    place.ok(&["close", "run"]);
    let closed = place.records().pop().unwrap();
    assert_eq!(
        (&closed["type"], &closed["recovered_bytes"]),
        (&json!("session.closed"), &json!(12))
    );
}

#[test]
fn a_journal_of_nothing_but_a_torn_line_begins_anew() {
    let place = Place::usual();
    place.make();
    place.write("run/journal.jsonl", "{\"v\":1");
    let mut server = place.attach();
    assert_eq!(text_of(&server.call("seq")), "one");
    server.end();
    assert_eq!(place.records()[0]["recovered_bytes"], 6);
}
