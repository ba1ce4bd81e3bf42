//! What cannot be served is refused before anything is.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const TOOLS: &str = "{t: {responses: [{return: 1}]}}";

fn refused(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-mock"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_cannot_be_served_is_refused_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let head = "schemaVersion: \"2.0\", scenario: s";
    let documents = [
        ("none.yaml", format!("{{{head}}}")),
        (
            "two.yaml",
            format!(
                "{{{head}, mcp_mocks: [{{name: a, tools: {TOOLS}}}, {{name: b, tools: {TOOLS}}}]}}"
            ),
        ),
        (
            "bad.yaml",
            format!("{{{head}, mcp_mocks: [{{name: a, tools: {{t: {{responses: [{{}}]}}}}}}]}}"),
        ),
        (
            "outside.yaml",
            format!(
                "{{{head}, mcp_mocks: [{{name: a, tools: {{t: {{responses: [{{match_schema: {{$ref: \"other.json\"}}, return: 1}}]}}}}}}]}}"
            ),
        ),
    ];
    for (name, text) in documents {
        fs::write(folder.path().join(name), text).unwrap();
    }
    for (args, reason) in [
        (&["serve"][..], "Usage:"),
        (&["serve", "absent.yaml"], "cannot open `absent.yaml`"),
        (&["serve", "."], "cannot open `.`"),
        (&["serve", "none.yaml"], "nothing to serve"),
        (&["serve", "two.yaml"], "choose one of the servers `a`, `b` with `--server NAME`"),
        (
            &["serve", "two.yaml", "--server", "c"],
            "there is no server `c`; the servers are `a`, `b`",
        ),
        (&["serve", "bad.yaml"], "error[no-output]"),
        (&["serve", "outside.yaml"], "external-match-schema"),
        (&["serve", "two.yaml", "--nonsense"], "--nonsense"),
    ] {
        let said = refused(folder.path(), args);
        assert!(said.contains(reason), "{args:?}: {said}");
    }
}

#[test]
fn the_server_is_chosen_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let tools = |text: &str| format!("{{t: {{responses: [{{text: {text}}}]}}}}");
    let text = format!(
        "{{schemaVersion: \"2.0\", scenario: s, mcp_mocks: [{{name: a, tools: {}}}, {{name: b, tools: {}}}]}}",
        tools("from-a"),
        tools("from-b")
    );
    fs::write(folder.path().join("two.yaml"), text).unwrap();
    let call = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2025-11-25\"}}}";
    fs::write(folder.path().join("in"), call).unwrap();
    for name in ["a", "b"] {
        let output = Command::new(env!("CARGO_BIN_EXE_mcp-mock"))
            .args(["serve", "two.yaml", "--server", name])
            .current_dir(folder.path())
            .stdin(fs::File::open(folder.path().join("in")).unwrap())
            .output()
            .unwrap();
        assert!(String::from_utf8(output.stdout).unwrap().contains(&format!("from-{name}")));
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn the_options_of_a_server_shape_its_own_errors() {
    let folder = tempfile::tempdir().unwrap();
    let text = "{schemaVersion: \"2.0\", scenario: s, mcp_mocks: [{name: s, unknown_tool: result, error_format: prefixed, \
                explain: true, instructions: Be kind., title: Shop, tools: {t: {responses: [{match: {a: 1}, error: busy}]}}}]}";
    fs::write(folder.path().join("s.yaml"), text).unwrap();
    let call = |id: u32, tool: &str, a: u32| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{{\"a\":{a}}}}}}}\n"
        )
    };
    let requests = crate::INITIALIZE.to_owned()
        + "\n"
        + &call(1, "t", 1)
        + &call(2, "t", 2)
        + &call(3, "nope", 1);
    fs::write(folder.path().join("in"), requests).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-mock"))
        .args(["serve", "s.yaml"])
        .current_dir(folder.path())
        .stdin(fs::File::open(folder.path().join("in")).unwrap())
        .output()
        .unwrap();
    let replies: Vec<serde_json::Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    assert_eq!(replies[0]["result"]["instructions"], "Be kind.");
    assert_eq!(replies[0]["result"]["serverInfo"]["title"], "Shop");
    for (reply, text, reason) in [
        (&replies[1], "mcp mock \"s\" tool \"t\" fixture error: busy", None),
        (
            &replies[2],
            "unmatched: no response for this call of s.t; nearest is response 0: `/a` has another value",
            Some("unmatched"),
        ),
        (&replies[3], "unknown tool: s.nope", Some("unknown_tool")),
    ] {
        assert_eq!(reply["result"]["content"][0]["text"], text);
        assert_eq!(reply["result"]["isError"], true);
        assert_eq!(reply["result"]["_meta"]["mcp-mock/reason"].as_str(), reason);
    }
    assert_eq!(output.status.code(), Some(0));
}
