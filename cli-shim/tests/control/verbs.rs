//! `status`, `verify`, `reset` and `close`.

use crate::{DOCUMENT, Place};

#[test]
fn status_is_a_table_or_json() {
    let place = Place::usual();
    place.install();
    place.call("lone", &[]);
    place.call("twin", &["stop"]);
    let table = place.ok(&["status", "run"]);
    assert!(table.contains("command:lone      1         1  1 of 2"), "{table}");
    assert!(table.contains("nearest is response 0"), "{table}");
    let status = place.status();
    assert_eq!(status["mocks"]["command:lone"]["responses"][0]["used"], 1);
    assert_eq!(status["command_invocations"][1]["reason"], "unmatched");
    assert_eq!(status["closed"], false);
}

#[test]
fn verify_compares_with_what_the_document_expects() {
    let place = Place::usual();
    place.install();
    let differs = |args: &[&str]| {
        let output = place.run(args);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(differs(&["verify", "run"]), "command:lone: expected 1 calls, saw 0\n");
    place.call("lone", &[]);
    assert_eq!(place.ok(&["verify", "run"]), "");
    assert_eq!(
        differs(&["verify", "run", "--all-consumed"]),
        "command:lone: expected 2 steps of response 0, saw 1\n"
    );
    let told = differs(&["verify", "run", "--all-consumed", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["ok"], &told["differences"][0]["seen"]), (&false.into(), &1.into()));
    assert_eq!(place.ok(&["verify", "run", "--json"]), "{\"ok\":true,\"differences\":[]}\n");
}

#[test]
fn reset_starts_anew_with_the_old_plans_or_others() {
    let place = Place::usual();
    place.install();
    place.ok(&["env", "run"]);
    assert_eq!(place.call("lone", &[]).stdout, b"one");
    assert_eq!(place.ok(&["reset", "run"]), "");
    assert_eq!(place.call("lone", &[]).stdout, b"one");
    assert!(place.path("run/journal.1.jsonl").exists());
    place.write("other.yaml", &DOCUMENT.replace("mocked", "other"));
    place.ok(&["reset", "run", "--from", "other.yaml"]);
    assert_eq!(place.call("twin", &["go"]).stdout, b"other");
    // Shells that were started before still read what keeps the shims first.
    for name in ["bash", "bin/sh", "zsh/.zshenv", "data/fish/vendor_conf.d/cli-shim.fish"] {
        assert!(place.path("run/shell").join(name).exists(), "{name}");
    }
    place.refused(&["reset", "run", "--from", "absent.yaml"]);
}

#[test]
fn nothing_is_served_after_close() {
    let place = Place::usual();
    place.install();
    assert_eq!(place.ok(&["close", "run"]), "");
    let output = place.call("lone", &[]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(127), 0));
    let again = place.run(&["close", "run"]);
    assert_eq!(again.status.code(), Some(0));
    assert!(String::from_utf8(again.stderr).unwrap().contains("closed already"));
    assert!(place.ok(&["status", "run"]).contains("the session is closed"));
}
