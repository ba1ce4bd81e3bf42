//! A session and configuration for somebody else's harness.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use serde_json::Value;

use super::{PROVEN, Place, case, program};

const BOTH: &str = r#"{schemaVersion: "2.0", scenario: b,
    mcp_servers: {s: {command: never}, u: {command: clock, args: [x], env: {A: b}}},
    mcp_mocks: [{name: s, tools: {t: {responses: [{return: 3}]}}}],
    command_mocks: [{name: gh, sequence: [{exit_code: 1}, {stdout: MERGED}]}]}"#;

#[test]
fn everything_is_made_and_works() {
    let place = Place::new();
    place.file("b.yaml", BOTH);
    let out = "out 'quoted' dir";
    let (made, advice) = place.run(&["wire", "b.yaml", "--for", "claude-code", "--out", out], 0);
    let names: Vec<&str> = made
        .lines()
        .map(|line| line.split('\t').next().unwrap().rsplit('/').next().unwrap())
        .collect();
    assert_eq!(names, ["session", "mcp.json", "client.json", "env.sh"]);
    assert!(advice.contains("--strict-mcp-config"), "{advice}");
    assert!(advice.contains("Live servers, in mcp.json alone: u"), "{advice}");
    let read = |name: &str| fs::read_to_string(place.path(out).join(name)).unwrap();
    let servers: Value = serde_json::from_str(&read("mcp.json")).unwrap();
    let servers = &servers["mcpServers"];
    assert_eq!(servers["u"]["command"], "clock");
    assert!(servers["s"]["command"].as_str().unwrap().ends_with("/mcp-mock"));
    let client: Value = serde_json::from_str(&read("client.json")).unwrap();
    assert_eq!(client["mcpServers"]["s"]["type"], "stdio");
    assert!(client["mcpServers"].get("u").is_none());
    let script = format!(". \"./{out}/env.sh\"; gh pr; gh pr");
    let output = Command::new("sh").args(["-c", &script]).current_dir(place.path("")).output();
    assert_eq!(output.unwrap().stdout, b"MERGED");
    let shim = program().with_file_name("cli-shim");
    let verified = Command::new(shim)
        .arg("verify")
        .arg(place.path(out).join("session"))
        .args(["--all-consumed"])
        .status();
    assert!(verified.unwrap().success());
}

#[test]
fn only_what_is_mocked_is_configured() {
    let place = Place::new();
    place.file("tools.yaml", r#"{schemaVersion: "2.0", scenario: t, command_mocks: [{name: gh, responses: [{stdout: x}]}]}"#);
    place.file("server.yaml", &case("a", PROVEN));
    let (made, _) = place.run(&["wire", "tools.yaml", "--for", "generic", "--out", "a"], 0);
    assert_eq!(made.lines().count(), 3, "{made}");
    let (made, _) = place.run(&["wire", "server.yaml", "--for", "codex", "--out", "b"], 0);
    assert!(made.contains("codex.toml") && !made.contains("env.sh"), "{made}");
}

/// Each client gets a file of its own kind, beside all else that is made.
#[test]
fn every_client_is_configured() {
    let place = Place::new();
    place.file("server.yaml", &case("a", PROVEN));
    for known in fixtures::client::KNOWN {
        let (made, _) =
            place.run(&["wire", "server.yaml", "--for", known.name, "--out", known.name], 0);
        assert_eq!(made.lines().count(), 3, "{made}");
        let file = place.path(known.name).join(known.client().file);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("--session"), "{text}");
        // The file alone holds what the client needs.
        assert!(!text.contains("{servers}") && !text.contains("--scope"), "{text}");
        let neutral = fs::read_to_string(place.path(known.name).join("mcp.json")).unwrap();
        assert!(neutral.contains("mcpServers"), "{neutral}");
    }
}

#[test]
fn a_task_with_mocks_of_its_own_is_chosen() {
    let place = Place::new();
    place.file(
        "c.yaml",
        &case("c", "command_mocks: [{name: gh, responses: [{stdout: x}]}], mcp_mocks: []").replace(
            "calls: [{tool: s.t, result: error}]",
            "calls: [{command: gh, result: success}]",
        ),
    );
    let wire = ["wire", "c.yaml", "--for", "generic", "--out", "out"];
    let (_, complaint) = place.run(&[&wire[..], &["--task", "u"]].concat(), 2);
    assert!(complaint.contains("there is no task `u`; the tasks are `t`"), "{complaint}");
    // There is but one.
    let (made, _) = place.run(&wire, 0);
    assert!(made.contains("env.sh") && !made.contains("client.json"), "{made}");
    let other = "{id: o, prompt: p, expect: {calls: [{tool: s.t, result: error}], answer: {absent: [x]}}}]}";
    let text = fs::read_to_string(place.path("c.yaml")).unwrap();
    place.file("d.yaml", &(text.strip_suffix("]}").unwrap().to_owned() + ", " + other));
    let wire = ["wire", "d.yaml", "--for", "generic", "--out", "other"];
    let (_, complaint) = place.run(&wire, 2);
    assert!(complaint.contains("choose one with `--task`, of `t`, `o`"), "{complaint}");
    let (made, _) = place.run(&[&wire[..], &["--task", "o"]].concat(), 0);
    assert!(made.contains("client.json") && !made.contains("env.sh"), "{made}");
}

#[test]
fn nothing_is_written_over_and_nothing_is_made_in_vain() {
    let place = Place::new();
    place.file("b.yaml", BOTH);
    place.file("full/x", "mine");
    place.file("nothing.yaml", r#"{schemaVersion: "2.0", scenario: n}"#);
    place.file("bad.yaml", r#"{schemaVersion: "2.0", scenario: n, mcp_mcks: []}"#);
    for (fixture, out, wanted) in [
        ("b.yaml", "full", "`full` is not empty"),
        ("b.yaml", "full/x", "cannot make `full/x`"),
        ("b.yaml", "no/such", "cannot make `no/such`"),
        ("nothing.yaml", "new", "`nothing.yaml` mocks nothing"),
        ("bad.yaml", "new", "did you mean `mcp_mocks`?"),
        ("missing.yaml", "new", "cannot open `missing.yaml`"),
    ] {
        let (made, complaint) = place.run(&["wire", fixture, "--for", "generic", "--out", out], 2);
        assert!(complaint.contains(wanted), "{complaint}");
        assert_eq!(made, "");
    }
    assert!(!place.path("new").exists());
    assert_eq!(fs::read_to_string(place.path("full/x")).unwrap(), "mine");
}

#[test]
fn an_unknown_client_is_refused_before_anything_is_made() {
    let place = Place::new();
    place.file("b.yaml", BOTH);
    for (name, reason) in [
        ("-x", "there is no client `-x`: choose one of claude-code, codex, gemini-cli,"),
        (
            "claud-code",
            "there is no client `claud-code` (did you mean `claude-code`?): choose one of",
        ),
    ] {
        let name = format!("--for={name}");
        let (_, complaint) = place.run(&["wire", "b.yaml", &name, "--out", "out"], 2);
        assert!(complaint.contains(reason), "{complaint}");
        assert!(!place.path("out").exists());
    }
}

/// The payload of a response is looked for when the directory is there already.
#[test]
fn a_late_failure_lists_what_was_made() {
    let place = Place::new();
    place.file("b.yaml", BOTH);
    // Not UTF-8: no configuration can name it, which turns out last.
    let out = std::ffi::OsStr::from_bytes(b"out-\xff");
    let wire = |more: &[&str]| {
        let mut command = place.command(&["wire", "b.yaml", "--for", "generic", "--out"]);
        let output = command.arg(out).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let complaint = wire(&[]);
    assert!(complaint.contains("is not UTF-8"), "{complaint}");
    assert!(complaint.contains("; generated so far: ") && complaint.contains("/session"));
    let folder = place.path("").join(out);
    assert!(folder.join("session").exists());
    fs::remove_dir_all(&folder).unwrap();
    let complaint = wire(&["--clean"]);
    assert!(complaint.contains("removed again: "), "{complaint}");
    assert!(!folder.exists());
}
