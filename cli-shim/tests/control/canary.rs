//! The canary, from the side of the shim.

use serde_json::json;

use crate::Place;

const NONCE: &str = "00112233445566778899aabbccddeeff";

/// With word of a canary for the route `by hand`.
fn planted() -> Place {
    let place = Place::usual();
    place.install();
    place.write(&format!("run/canary.{NONCE}"), "the answer\nby hand\n");
    place
}

#[test]
fn a_canary_is_answered_and_recorded_and_consumes_nothing() {
    let place = planted();
    let output = place.call("lone", &[&format!("--cli-shim-canary={NONCE}")]);
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"the answer\n"[..]));
    let records = place.records();
    assert_eq!(records.len(), 1);
    let record = |key: &str| records[0][key].clone();
    assert_eq!(
        [record("type"), record("name"), record("route")],
        [json!("canary.reached"), json!("lone"), json!("by hand")]
    );
    assert_eq!(place.status()["mocks"]["command:lone"]["calls"], 0);
    assert_eq!(place.call("lone", &[]).stdout, b"one");
}

#[test]
fn what_only_looks_like_a_canary_is_an_ordinary_call() {
    let place = planted();
    let exact = format!("--cli-shim-canary={NONCE}");
    let other = exact.replace("00", "01");
    let upper = exact.to_uppercase();
    let path = "--cli-shim-canary=../canary.00112233445566778899aa";
    for args in [
        [&*other].as_slice(),
        &[&upper],
        &[&exact[..exact.len() - 1]],
        &[path],
        &["--cli-shim-canary"],
        &["--cli-shim-canary="],
        &[&exact, "more"],
        &["before", &exact],
    ] {
        let output = place.call("twin", args);
        assert_eq!(output.status.code(), Some(127), "{args:?}");
        assert_eq!(output.stderr, b"twin: unmatched: no response for this call\n", "{args:?}");
    }
    let seen = place.status();
    assert_eq!(seen["mocks"]["command:twin"]["calls"], 8);
}

#[test]
fn a_canary_fails_closed() {
    let place = planted();
    let canary = format!("--cli-shim-canary={NONCE}");
    let refused = |why: &str| {
        let output = place.call("lone", &[&canary]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(127), 0));
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.starts_with("lone: ") && told.contains(why), "{told}");
    };
    let plan = std::fs::read(place.path("run/commands/lone.json")).unwrap();
    place.write("run/commands/lone.json", "{}");
    refused("not what the session was made with");
    std::fs::write(place.path("run/commands/lone.json"), plan).unwrap();
    place.ok(&["close", "run"]);
    refused("session closed");
    assert_eq!(place.records().len(), 1);
    std::fs::remove_file(place.path("run/session.json")).unwrap();
    refused("no session");
}
