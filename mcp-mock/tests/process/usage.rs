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
