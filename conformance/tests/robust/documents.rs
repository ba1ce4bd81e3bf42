//! Documents that ask for what cannot be, and templates that reach for the user's files.

use std::os::unix::fs::symlink;
use std::process::Command;

use super::{GOOD, Place};

#[test]
fn a_template_leads_nowhere_else() {
    for (files, exit, wanted) in [
        ("{a: new}", 0, "PASS"),
        ("{d/kept: new}", 3, "a link on the way that leads out"),
        ("{d/deep/new: new}", 3, "a link on the way that leads out"),
    ] {
        let place = Place::new();
        for folder in ["tpl", "mine"] {
            std::fs::create_dir(place.path(folder)).unwrap();
        }
        std::fs::write(place.path("mine/kept"), "kept").unwrap();
        symlink(place.path("mine/kept"), place.path("tpl/a")).unwrap();
        symlink(place.path("mine"), place.path("tpl/d")).unwrap();
        place.case("l", &format!("workspace: tpl, files: {files},"), "");
        let (code, text) = place.run(place.agent(GOOD, &["l.yaml"]));
        assert_eq!(code, exit, "{text}");
        assert!(text.contains(wanted), "{text}");
        assert_eq!(std::fs::read_to_string(place.path("mine/kept")).unwrap(), "kept");
        assert_eq!(std::fs::read_dir(place.path("mine")).unwrap().count(), 1);
    }
}

#[test]
fn a_template_that_cannot_be_copied_is_an_error() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("tpl/d")).unwrap();
    let made = Command::new("mkfifo").arg(place.path("tpl/d/pipe")).status().unwrap();
    assert!(made.success());
    place.case("p", "workspace: tpl,", "");
    let (code, text) = place.run(place.agent(GOOD, &["p.yaml"]));
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("d/pipe`: it is neither file, directory nor link"), "{text}");
}

/// The run would be copied into itself, and so on.
#[test]
fn a_template_does_not_hold_its_own_run() {
    let place = Place::new();
    place.case("whole", "workspace: '.',", "");
    let (code, text) = place.run(place.agent(GOOD, &["whole.yaml"]));
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("runs take place in it"), "{text}");
}

#[test]
fn a_prompt_that_is_no_word_belongs_in_a_file() {
    for (prompt, wanted) in [
        ("x".repeat(1 << 20), "its command line is too long"),
        ("a\\0b".to_owned(), "a word of its command line holds a NUL"),
    ] {
        let place = Place::new();
        let text = std::fs::read_to_string(place.path("c.yaml")).unwrap();
        let text = text.replace("prompt: p", &format!("prompt: \"{prompt}\""));
        std::fs::write(place.path("c.yaml"), text).unwrap();
        let run = |words: &str| {
            let command = format!("/bin/sh -c '{GOOD}; wc -c < \"$0\"' {words}");
            place.run(place.command(&["run", "c.yaml", "--clean", "--agent-cmd", &command]))
        };
        let (code, said) = run("{prompt}");
        assert_eq!(code, 3, "{said}");
        assert!(said.contains(wanted) && said.contains("give it as {prompt_file}"), "{said}");
        let (code, said) = run("{prompt_file}");
        assert_eq!(code, 0, "{said}");
    }
}

#[test]
fn a_forbidden_path_is_looked_at_or_there_is_no_verdict() {
    for (path, script, exit) in [
        ("mine", "echo x > MINE/new", 1),
        ("mine", "true", 0),
        ("mine/kept", "rm MINE/kept; mkfifo MINE/kept", 1),
        ("missing/deep", "mkdir -p MINE/../missing/deep", 1),
    ] {
        let place = Place::new();
        std::fs::create_dir(place.path("mine")).unwrap();
        std::fs::write(place.path("mine/kept"), "kept").unwrap();
        place.case("f", "", &format!("forbid: [{}],", place.path(path).display()));
        let script = script.replace("MINE", place.path("mine").to_str().unwrap());
        let (code, text) = place.run(place.agent(&format!("{GOOD}\n{script}"), &["f.yaml"]));
        assert_eq!(code, exit, "{script}: {text}");
    }
    let place = Place::new();
    // Its files say that there is nothing to read, or are read without an end.
    place.case("f", "", "forbid: [/proc/self/task],");
    let (code, text) = place.run(place.agent(GOOD, &["f.yaml"]));
    assert!(code != 0 || text.contains("PASS"), "{text}");
}

/// serde_json has keys of its own, which are data in a document.
#[test]
fn any_key_may_stand_in_arguments() {
    for value in [
        r#"{"$serde_json::private::Number": "3"}"#,
        r#"{"$serde_json::private::Number": "x"}"#,
        r#"{"$serde_json::private::RawValue": "[1]"}"#,
    ] {
        let place = Place::new();
        let text = format!(
            r#"{{"schemaVersion": "2.0", "scenario": "k", "mcp_mocks": [{{"name": "s", "tools": {{"t": {{"responses": [{{"return": 3}}]}}}}}}],
            "tasks": [{{"id": "t", "prompt": "p", "expect": {{"calls": [{{"tool": "s.t", "arguments": {{"a": {value}}}, "result": "success"}}], "answer": {{"contains": ["3"]}}}},
            "self_test": {{"good": [{{"call": "s.t", "with": {{"a": {value}}}}}, {{"say": "3"}}]}}}}]}}"#
        );
        std::fs::write(place.path("k.yaml"), text).unwrap();
        let args = ["run", "k.yaml", "--agent", "scripted", "--out", "out"];
        let (code, text) = place.run(place.command(&args));
        assert_eq!(code, 0, "{text}");
        let again = place.command(&["grade", "out/results.json"]).output().unwrap();
        let saved = std::fs::read(place.path("out/results.json")).unwrap();
        assert_eq!(again.stdout, saved);
    }
}
