//! What can be said with `--mock`, and what is refused.

use crate::{GH, LOOKUP, Place};

/// The complaint about these mocks, from its first fault on.
fn complaint(mocks: &[&str]) -> String {
    let place = Place::new();
    let mut args: Vec<&str> = mocks.iter().flat_map(|mock| ["--mock", *mock]).collect();
    args.extend(["--", "touch", "ran"]);
    let run = place.run(&args);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(!place.path("ran").exists());
    let begin = "agent-conformance: `--mock` is refused\n\n";
    run.stderr.strip_prefix(begin).unwrap_or_else(|| panic!("{}", run.stderr)).to_owned()
}

#[test]
fn a_fault_has_its_place_in_what_was_typed() {
    assert_eq!(
        complaint(&["gh: [{stdout: x}, {stdut: y}]"]),
        "error[unknown-field]: a step has no field `stdut`
 --> --mock:1:20
  |
1 | gh: [{stdout: x}, {stdut: y}]
  |                    ^^^^^
  |
  = at: gh[1].stdut
  = hint: did you mean `stdout`?
"
    );
}

#[test]
fn every_fault_of_every_mock_is_told() {
    let told = complaint(&["gh: [{}, {exit_code: 256}]", GH, "s.t: [{error: ''}]"]);
    for (code, place) in [
        ("no-output", "--mock 1:1:6"),
        ("out-of-range", "--mock 1:1:22"),
        ("empty-error", "--mock 3:1:15"),
    ] {
        assert!(told.contains(&format!("error[{code}]")), "{code}: {told}");
        assert!(told.contains(&format!("--> {place}\n")), "{place}: {told}");
    }
}

#[test]
fn what_is_no_list_of_steps_is_refused() {
    for (mock, message, hint) in [
        ("gh", "a mock must be `NAME: [STEP, …]`, not a string", "write `NAME: [STEP, …]` here"),
        ("gh:[{stdout: x}]", "there is no space after the colon", "write `gh: [STEP, …]`"),
        ("gh:[x]", "a mock must be `NAME: [STEP, …]`, not a string", "write `NAME: [STEP, …]`"),
        ("", "there is no mock", "write `NAME: [STEP, …]`"),
        ("# gh", "there is no mock", "write `NAME: [STEP, …]`"),
        ("{}", "there is no mock", "write `NAME: [STEP, …]`"),
        ("gh: {stdout: x}", "a mock must be a list of steps, not a mapping", "each call takes one"),
        ("gh: x", "a mock must be a list of steps, not a string", "each call takes one"),
        ("gh: []", "a sequence needs at least one step", "add a step"),
        ("gh: [{stdout: x}", "unclosed bracket '['", "neither YAML 1.2 nor JSON"),
        ("gh: [{stdout: x}]]}, y: [", "", ""),
        ("7: [{stdout: x}]", "", ""),
        ("gh: [{stdout: x, sequence: [{stdout: x}]}]", "a step cannot be a sequence itself", ""),
        ("gh: [{args: [x], stdout: x}]", "a step has no matcher, and `args` is one", ""),
        ("gh: [{stdout: x, repeat: 101}]", "", "1 to 100"),
        ("gh: [{fixture: none}]", "", ""),
    ] {
        let told = complaint(&[mock]);
        assert!(told.contains(message) && told.contains(hint), "{mock}: {told}");
        assert_eq!(told.matches("error[").count(), 1, "{mock}: {told}");
    }
}

#[test]
fn names_that_cannot_be_are_refused() {
    for mock in [
        "a/b: [{stdout: x}]",
        "a b.c: [{text: x}]",
        "s.: [{text: x}]",
        ".t: [{text: x}]",
        "command:: [{stdout: x}]",
    ] {
        let told = complaint(&[mock]);
        assert!(told.contains("error[bad-name]"), "{mock}: {told}");
    }
}

#[test]
fn a_name_of_the_other_kind_is_explained() {
    let told = complaint(&["python3.12: [{stdout: x}]"]);
    assert!(told.contains("this name is that of a tool, which has no `stdout`"), "{told}");
    assert!(told.contains("for an executable write `command:python3.12: [STEP, …]`"), "{told}");
    let told = complaint(&["lookup: [{error: busy}]"]);
    assert!(told.contains("this name is that of an executable, which has no `error`"), "{told}");
    assert!(told.contains("for a tool write `SERVER.lookup: [STEP, …]`"), "{told}");
}

#[test]
fn a_name_that_is_there_twice_is_refused() {
    for mocks in [
        &[GH, GH][..],
        &[GH, "GH: [{stdout: x}]"],
        &[GH, "command:gh: [{stdout: x}]"],
        &[LOOKUP, LOOKUP],
        &[LOOKUP, "Orders.cancel: [{text: x}]"],
    ] {
        let told = complaint(mocks);
        assert!(told.contains("error[duplicate-name]") && told.contains("already"), "{told}");
        assert!(told.contains("--> --mock 2:1:1\n"), "{told}");
    }
    let told = complaint(&["{gh: [{stdout: x}], gh: [{stdout: y}]}"]);
    assert!(told.contains("error[duplicate-key]"), "{told}");
}

#[test]
fn a_name_of_the_document_is_there_already() {
    let place = Place::new();
    place.write(
        "fixture.yaml",
        "{schemaVersion: '2.0', scenario: s, mcp_mocks: [{name: orders, tools: {lookup: {sequence: [{text: x}]}}}], command_mocks: [{name: gh, sequence: [{stdout: x}]}]}",
    );
    for mock in [GH, LOOKUP] {
        let run = place.run(&["fixture.yaml", "--mock", mock, "--", "true"]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.contains("is mocked already"), "{run:?}");
    }
}

#[test]
fn a_document_that_is_refused_or_absent_starts_nothing() {
    let place = Place::new();
    place.write("fixture.yaml", "{schemaVersion: '2.0', scenaro: s}");
    let run = place.run(&["fixture.yaml", "--", "touch", "ran"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("did you mean `scenario`?"), "{run:?}");
    let run = place.run(&["absent.yaml", "--", "touch", "ran"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("cannot open `absent.yaml`"), "{run:?}");
    assert!(!place.path("ran").exists());
}

#[test]
fn an_executable_may_have_dots_in_its_name() {
    let place = Place::new();
    let mock = r#"command:python3.12: [{stdout: "mocked\n"}]"#;
    let run = place.run(&["--verify", "--mock", mock, "--", "python3.12", "-V"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "mocked\n"), "{run:?}");
}

#[test]
fn several_mocks_make_one_server() {
    let place = Place::new();
    let mocks = ["--mock", "s.a: [{text: one}]", "--mock", "s.b.c: [{text: two}]"];
    let script = r#"python3 "$CLIENT" "$0" s b.c; python3 "$CLIENT" "$0" s a"#;
    let run =
        place.run(&[&mocks[..], &["--verify", "--", "sh", "-c", script, "{mcp_json}"]].concat());
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "two\none\n"), "{run:?}");
}

#[test]
fn a_mock_may_be_written_in_any_style() {
    let place = Place::new();
    for mock in [
        "gh:\n- stdout: |\n    mocked\n",
        r#"{"gh": [{"stdout": "mocked\n"}]}"#,
        "gh: [{stdout: \"mocked\\n\", repeat: 2}]",
        "{gh: [{stdout: \"mocked\\n\"}], jq: [{stdout: x}]}",
    ] {
        let run = place.run(&["-q", "--mock", mock, "--", "gh"]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), "mocked\n"), "{mock}: {run:?}");
    }
}

#[test]
fn files_are_found_where_the_document_is() {
    let place = Place::new();
    let mock = ["--mock", "gh: [{fixture: reply.txt}]", "--", "gh"];
    place.write("reply.txt", "here\n");
    let run = place.run(&mock);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "here\n"), "{run:?}");
    std::fs::create_dir(place.path("sub")).unwrap();
    place.write("sub/reply.txt", "there\n");
    place.write("sub/fixture.yaml", "{schemaVersion: '2.0', scenario: s}");
    let run = place.run(&[&["sub/fixture.yaml"], &mock[..]].concat());
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "there\n"), "{run:?}");
}
