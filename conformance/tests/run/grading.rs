//! Saved results: their schema, and grading them again.

use std::fs;

use serde_json::json;

use super::{GH, GOOD, Place};

/// Results with every verdict, several trials, both kinds of mocks.
fn all_kinds() -> Place {
    let place = Place::of(GH);
    let counter = place.path("counter").display().to_string();
    let script = format!(
        "echo >> {counter}; n=$(wc -l < {counter}); case $n in 1|2) {GOOD};; 3) gh pr; printf '\\377' > raw;; 4) kill -9 $$;; esac"
    );
    place.run(
        Some(&script),
        &["--jobs", "1", "--trials", "3", "--require-pass", "1/3", "--clean"],
        0,
    );
    let unproven = GH.replace("scenario: gh", "scenario: other");
    let invalid = GH.replace("scenario: gh", "scenario: odd").replacen(
        "result: success}], files: {r: {equals: done}}}}}]}",
        "result: success}], files: {r: {equals: other}}}}}]}",
        1,
    );
    place.file("all/a.yaml", &unproven);
    place.file(
        "all/b.yaml",
        &invalid.replace(
            "}}}]}",
            "}}, self_test: {good: [{run: \"gh pr || gh pr; echo done > r\"}]}}]}",
        ),
    );
    place
}

#[test]
fn grading_saved_results_gives_the_same_bytes() {
    let place = all_kinds();
    let same = |exit| {
        let saved = fs::read_to_string(place.path("out/results.json")).unwrap();
        let (again, summary) = place.say(&["grade", "out/results.json"], exit);
        assert_eq!(saved, again);
        assert!(summary.starts_with("out/results.json: "), "{summary}");
        saved
    };
    let saved = same(0);
    for verdict in ["PASS", "FAIL", "ERROR"] {
        assert!(saved.contains(&format!("\"verdict\":\"{verdict}\"")), "{verdict}");
    }
    assert!(saved.contains("\"content_base64\":\"/w==\""));
    place.say(&["run", "all", "--agent", "scripted", "--out", "out"], 3);
    let saved = same(3);
    assert!(saved.contains("\"verdict\":\"SKIPPED\"") && saved.contains("\"verdict\":\"INVALID\""));
    place.say(&["run", "--agent", "scripted", "--out", "out"], 0);
    same(0);
    place.say(&["run", "--agent-cmd", "true", "--out", "out"], 1);
    same(1);
    // The verdict comes from the evidence, not from what is written down.
    let forged =
        fs::read_to_string(place.path("out/results.json")).unwrap().replace("\"FAIL\"", "\"PASS\"");
    place.file("forged.json", &forged);
    let (again, _) = place.say(&["grade", "forged.json"], 1);
    assert_eq!(again, fs::read_to_string(place.path("out/results.json")).unwrap());
}

#[test]
fn the_published_schema_holds_for_results_and_for_nothing_else() {
    let place = all_kinds();
    place.results();
    place.say(&["run", "all", "--agent", "scripted", "--out", "out"], 3);
    place.results();
    place.say(&["run", "--agent", "scripted", "--out", "out"], 0);
    let good = place.results();
    for (pointer, value) in [
        ("/schemaVersion", json!("2.0")),
        ("/runs", json!({})),
        ("/runs/0/verdict", json!("pass")),
        ("/runs/0/trial", json!(0)),
        ("/runs/0/dependency_modes/mcp/inventory", json!("recorded")),
        ("/runs/0/tool_events/0/reason", json!("other")),
        ("/runs/0/tool_events/0/sequence", json!(-1)),
        ("/runs/0/exit/code", json!("0")),
        ("/runs/0/changes/0/kind", json!("touched")),
        ("/runs/0/admitted", json!({})),
        ("/summary/passed", json!(null)),
        ("/summary/recovery_rate", json!(1.5)),
    ] {
        let mut spoiled = good.clone();
        *spoiled.pointer_mut(pointer).unwrap() = value;
        assert!(!super::schema().is_valid(&spoiled), "{pointer}");
    }
    let mut more = good.clone();
    more["runs"][0]["more"] = json!(1);
    assert!(!super::schema().is_valid(&more));
}

/// Judged without what it cannot read, a run would pass that did not.
#[test]
fn evidence_that_cannot_be_read_is_no_evidence_less() {
    let place = Place::of(GH);
    let failed = place.run(Some("gh pr || gh pr; gh pr; echo done > r"), &["--no-twin"], 1);
    let invocation = "/runs/0/command_invocations/2";
    for (pointer, value, wanted) in [
        (format!("{invocation}/reason"), json!("other"), "is no attempt: unknown variant `other`"),
        (format!("{invocation}/sequence"), json!(-1), "is no attempt: invalid value"),
        (format!("{invocation}/fault"), json!("no"), "is no attempt: invalid type"),
        (format!("{invocation}/command"), json!(null), "is no attempt: missing field `command`"),
        (invocation.to_owned(), json!([]), "is no attempt: invalid"),
        ("/runs/0/trial".to_owned(), json!(0), "`runs[0].trial` is 0"),
        // Else none of one trial would be enough.
        ("/summary/k".to_owned(), json!(0), "`summary` wants 0 of 1 trials"),
        ("/summary/k".to_owned(), json!(2), "`summary` wants 2 of 1 trials"),
    ] {
        let mut spoiled = failed.clone();
        *spoiled.pointer_mut(&pointer).unwrap() = value;
        place.file("spoiled.json", &spoiled.to_string());
        for verb in ["grade", "report"] {
            let (text, complaint) = place.say(&[verb, "spoiled.json"], 2);
            assert!(text.is_empty() && complaint.contains(wanted), "{complaint}");
            assert!(!complaint.contains(" at line "), "{complaint}");
        }
    }
}

#[test]
fn several_files_are_graded_one_after_the_other() {
    let place = Place::of(GH);
    place.run(Some(GOOD), &[], 0);
    fs::rename(place.path("out/results.json"), place.path("good.json")).unwrap();
    place.run(Some("true"), &[], 1);
    let (both, _) = place.say(&["grade", "good.json", "out/results.json"], 1);
    let whole =
        ["good.json", "out/results.json"].map(|it| fs::read_to_string(place.path(it)).unwrap());
    assert_eq!(both, whole.concat());
    // One that is none refuses all, before anything is printed.
    place.file("junk.json", &whole[0][..whole[0].len() / 2]);
    let (text, complaint) = place.say(&["grade", "good.json", "junk.json"], 2);
    assert!(text.is_empty() && complaint.contains("`junk.json` holds no results"), "{complaint}");
    place.file(
        "next.json",
        &whole[0].replace("\"schemaVersion\":\"1.0\"", "\"schemaVersion\":\"9.0\""),
    );
    let (_, complaint) = place.say(&["report", "next.json"], 2);
    assert!(complaint.contains("is of version"), "{complaint}");
}
