//! The cases, and what they are about.

use std::process::Stdio;

use serde_json::{Value, json};

use super::{PROVEN, Place, case};

#[test]
fn the_recovery_suites_are_listed() {
    let (table, _) = Place::new().run(&["list"], 0);
    let head = table.lines().next().unwrap();
    assert!(head.starts_with("task ") && head.ends_with("covers"), "{head}");
    let line = table.lines().find(|line| line.starts_with("mcp-transient/transient ")).unwrap();
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells[1..4], ["transient_then_success", "mcp", "yes"]);
    let classes = table.lines().skip(1).map(|line| line.split_whitespace().nth(1).unwrap());
    assert!(classes.clone().count() > 10 && classes.into_iter().all(|it| it != "-"), "{table}");
}

#[test]
fn programs_read_json() {
    let place = Place::new();
    place.file("cases/a.yaml", &case("a", PROVEN));
    place.file(
        "cases/deep/b.yml",
        &case("b", "command_mocks: [{name: gh, responses: [{stdout: x}]}]"),
    );
    let (text, _) = place.run(&["list", "cases", "--json"], 0);
    let listed: Value = serde_json::from_str(&text).unwrap();
    let first = json!({
        "case": "a", "task": "t", "file": "cases/a.yaml", "class": "busy", "kinds": ["mcp"],
        "covers": ["seed", "x"], "twin": false, "bad_agents": 7,
    });
    assert_eq!(listed[0], first);
    assert_eq!(listed[1]["kinds"], json!(["mcp", "cli"]));
    assert_eq!(listed[1]["bad_agents"], 0);
    assert_eq!(listed.as_array().unwrap().len(), 2);
}

#[test]
fn a_document_that_is_refused_lists_nothing() {
    let place = Place::new();
    place.file("a.yaml", &case("a", PROVEN));
    place.file("b.yaml", "{schemaVersion: \"2.0\"}");
    let (table, complaint) = place.run(&["list", "a.yaml", "b.yaml"], 2);
    assert_eq!(table, "");
    assert!(complaint.contains("scenario"), "{complaint}");
}

#[test]
fn a_reader_that_has_left_is_no_error() {
    let place = Place::new();
    let mut child = place.command(&["list"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
