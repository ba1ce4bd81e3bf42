//! Payloads of more than 4 KiB, which are kept beside the plan.

use crate::Place;

const BIG: usize = 5000;

/// A session with payloads of more than 4 KiB, of each kind.
fn with_payloads() -> Place {
    let place = Place::with_tools(&format!(
        "{{big: {{sequence: [{{text: \"a\\u00e9 {a}\"}}, {{return: {{n: 1.50, s: \"{b}\"}}}}, \
           {{error: \"{c}\"}}, {{content: [{{type: text, text: \"{d}\", extra: 1e2}}], is_error: true}}]}}}}",
        a = "a".repeat(BIG),
        b = "b".repeat(BIG),
        c = "c".repeat(BIG),
        d = "d".repeat(BIG),
    ));
    place.make();
    place
}

#[test]
fn payloads_are_sent_as_they_were_written() {
    let place = with_payloads();
    assert_eq!(std::fs::read_dir(place.path("run/blobs")).unwrap().count(), 4);
    let mut stored = place.attach();
    let mut plain = place.serve(&["fixture.yaml"]);
    for _ in 0..4 {
        let (stored, plain) = (stored.call("big"), plain.call("big"));
        // Numbers keep their digits, and keys their order.
        assert!(stored.to_string().as_str() == plain.to_string().as_str());
    }
    assert_eq!(stored.refusal("big").0, "exhausted");
    stored.end();
    assert_eq!(place.status()["tool_events"][2]["fault"], true);
}

#[test]
fn an_altered_payload_is_not_sent_and_uses_nothing() {
    let place = with_payloads();
    let mut server = place.attach();
    let blob = std::fs::read_dir(place.path("run/blobs")).unwrap().map(|it| it.unwrap().path());
    let first =
        blob.into_iter().find(|path| std::fs::read_to_string(path).unwrap().contains("aaa"));
    let path = first.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    for altered in [text.replacen('a', "b", 1), text[..10].to_owned(), String::new()] {
        std::fs::write(&path, altered).unwrap();
        let (reason, told) = server.refusal("big");
        assert!(reason == "journal" && told.contains("payload"), "{reason}: {told}");
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(server.refusal("big").0, "journal");
    assert!(place.of_type("attempt.started").is_empty());
    std::fs::write(&path, text).unwrap();
    assert!(server.text("big").starts_with("aé aaa"));
    server.end();
}
