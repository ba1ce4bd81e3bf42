//! `agents`: who can be run by name.

use std::fs;
use std::path::Path;

use super::Place;

#[test]
fn the_readme_has_the_table_that_the_adapters_make() {
    let (table, _) = Place::new().run(&["agents", "--markdown"], 0);
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    assert!(readme.contains(&table), "put this into README.md:\n{table}");
}

#[test]
fn the_adapter_of_an_agent_is_printed_and_taken_back_as_a_file() {
    let place = Place::new();
    let (adapter, _) = place.run(&["agents", "codex"], 0);
    assert!(adapter.starts_with("name = \"codex\"\n"), "{adapter}");
    place.file("mine.toml", &adapter);
    assert_eq!(place.run(&["agents", "mine.toml"], 0).0, adapter);
    place.file("mine.toml", &adapter.replace("door", "dor"));
    let (_, told) = place.run(&["agents", "./mine.toml"], 2);
    assert!(told.contains("`./mine.toml:3:1`: unknown field `dor`"), "{told}");
    let (_, told) = place.run(&["agents", "codx"], 2);
    assert!(told.contains("did you mean `codex`?"), "{told}");
}

#[test]
fn an_agent_that_is_not_here_is_refused_before_anything_is_made() {
    let place = Place::new();
    let mut command = place.command(&["run", "--agent", "codex", "--out", "out"]);
    let output = command.env("PATH", "/nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("Codex CLI is not here: there is no `codex` on PATH"), "{told}");
    assert!(!place.path("out").exists());
}
