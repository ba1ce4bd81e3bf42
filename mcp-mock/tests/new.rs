//! `mcp-mock new`: what it prints is admitted without a word.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

fn mcp_mock(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-mock")).current_dir(folder).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Runs `new` with success, and `check --strict` on the result.
fn admitted(folder: &Path, args: &[&str]) -> String {
    let output = mcp_mock(folder, args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    fs::write(folder.join("new.yaml"), &output.stdout).unwrap();
    let check = mcp_mock(folder, &["check", "--strict", "new.yaml"]);
    assert_eq!(check.status.code(), Some(0), "{}", text(&check.stdout));
    text(&output.stdout).to_owned()
}

#[test]
fn the_example_is_admitted_whatever_the_server_is_called() {
    let folder = TempDir::new().unwrap();
    // As long as a provider takes it with `mcp__` and `__lookup_order`.
    let longest = "a".repeat(45);
    for name in ["orders", "true", "2e5", "0x1F", "A_b-c", "null", longest.as_str()] {
        let document = admitted(folder.path(), &["new", name]);
        assert!(document.contains(name));
        let served = fixtures::load(&folder.path().join("new.yaml"), false).unwrap();
        assert_eq!(served.mcp_mocks[0].name, name);
    }
}

#[test]
fn a_name_that_no_server_can_have_is_refused() {
    let folder = TempDir::new().unwrap();
    let too_long = "a".repeat(65);
    for name in ["", " orders", "a.b", "-a", "_a", "é", "a\nb", too_long.as_str()] {
        let output = mcp_mock(folder.path(), &["new", "--", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert_eq!(text(&output.stdout), "");
        assert!(text(&output.stderr).contains("cannot name a server"), "{}", text(&output.stderr));
    }
}

#[test]
fn saved_tools_become_tools_of_the_document() {
    let folder = TempDir::new().unwrap();
    let schema =
        json!({"type": "object", "properties": {"id": {"type": "string"}, "n": {"maximum": 1.50}}});
    let tools = json!([
        {"name": "lookup", "title": "Look up", "description": "One order.\n\"Quoted\": yes # no comment",
         "inputSchema": schema, "annotations": {"readOnlyHint": true}, "_meta": {"a/b": [1, null]},
         "icons": [{"src": "data:,"}]},
        {"name": "true", "inputSchema": {"type": "object"}, "description": null},
        {"name": "a: b #c"},
        {"name": "Schritt für Schritt"},
        {"name": "typed", "outputSchema": {"type": "object", "required": ["id", "kind", "at"], "properties": {
            "id": {"type": "string", "minLength": 3}, "kind": {"enum": ["a", "b"]},
            "at": {"type": "object", "properties": {"line": {"type": "integer", "minimum": 1}}, "required": ["line"]}}}},
    ]);
    fs::write(folder.path().join("list.json"), json!({"tools": tools}).to_string()).unwrap();
    let output = mcp_mock(folder.path(), &["new", "orders", "--tools", "list.json"]);
    assert_eq!(output.status.code(), Some(0));
    let remarks = text(&output.stderr);
    for name in ["a: b #c", "Schritt für Schritt"] {
        let remark = format!("model providers refuse the tool name `{name}`");
        assert!(remarks.contains(&remark), "{remarks}");
    }
    assert_eq!(remarks.matches("\nwarning").count(), 2, "{remarks}");
    fs::write(folder.path().join("new.yaml"), &output.stdout).unwrap();
    let document = text(&output.stdout);
    insta::assert_snapshot!(document);

    let served = fixtures::load(&folder.path().join("new.yaml"), false).unwrap();
    let served = &served.mcp_mocks[0].tools;
    assert_eq!(served.len(), 5);
    assert_eq!(served["lookup"].input_schema.as_ref().unwrap().value(), schema);
    assert_eq!(served["lookup"].description.as_deref(), tools[0]["description"].as_str());
    assert_eq!(served["lookup"].meta.as_ref().unwrap().value(), tools[0]["_meta"]);

    for wrapped in [tools.clone(), json!({"jsonrpc": "2.0", "id": 7, "result": {"tools": tools}})] {
        fs::write(folder.path().join("list.json"), format!("\u{feff}{wrapped}")).unwrap();
        let again = mcp_mock(folder.path(), &["new", "orders", "--tools", "list.json"]);
        assert_eq!(text(&again.stdout), document);
    }
}

#[test]
fn what_is_no_list_of_tools_is_refused() {
    let folder = TempDir::new().unwrap();
    let cases: [(&[u8], &str); 7] = [
        (b"{\"tools\": [\n  {\"name\": }]}", "line 2 column 12"),
        (b"", "line 1 column 0"),
        (b"[{\"name\": \"a\xff\"}]", "line 1 column"),
        (br#"{"tools": [{"name": "a"}, {"name": "a"}]}"#, "tools[1]: a second tool named \"a\""),
        (br#"{"result": {"tools": []}}"#, "no tools"),
        (br#"{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}}"#, "error response"),
        (br#"[{"name": "a", "inputSchema": "x"}]"#, "`inputSchema` of \"a\" is not an object"),
    ];
    for (content, reason) in cases {
        fs::write(folder.path().join("list.json"), content).unwrap();
        let output = mcp_mock(folder.path(), &["new", "orders", "--tools", "list.json"]);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(text(&output.stdout), "");
        assert!(text(&output.stderr).contains(reason), "{reason}: {}", text(&output.stderr));
    }
    let output = mcp_mock(folder.path(), &["new", "orders", "--tools", "absent.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cannot open"), "{}", text(&output.stderr));
}

#[test]
fn what_check_will_say_is_said_at_once() {
    let folder = TempDir::new().unwrap();
    let list: Value = json!({"nextCursor": "2", "tools": [{"name": "a", "execution": {"taskSupport": "optional"},
        "inputSchema": {"$ref": "https://example.com/schema.json"}}]});
    fs::write(folder.path().join("list.json"), list.to_string()).unwrap();
    let output = mcp_mock(folder.path(), &["new", "orders", "--tools", "list.json"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("https://example.com/schema.json"));
    for part in ["`nextCursor`", "`execution`", "never fetched"] {
        assert!(text(&output.stderr).contains(part), "{part}: {}", text(&output.stderr));
    }
}

#[test]
fn no_response_breaks_its_output_schema() {
    let folder = TempDir::new().unwrap();
    let draft_7 = "http://json-schema.org/draft-07/schema#";
    let tools = json!([
        {"name": "list", "outputSchema": {"type": "array", "items": {"type": "string"}}},
        {"name": "pattern", "outputSchema": {"type": "object", "required": ["a"],
            "properties": {"a": {"type": "string", "pattern": "^[0-9]{7}$"}}}},
        {"name": "formats", "outputSchema": {"$schema": draft_7, "type": "object", "required": ["a", "b"],
            "properties": {"a": {"type": "string", "format": "date-time"}, "b": {"type": "string", "format": "uuid"}}}},
        {"name": "endless", "outputSchema": {"$ref": "#"}},
        {"name": "nothing", "outputSchema": {"not": {}}},
    ]);
    fs::write(folder.path().join("list.json"), tools.to_string()).unwrap();
    let document = admitted(folder.path(), &["new", "orders", "--tools", "list.json"]);
    assert!(document.contains("- structured_content: []\n"), "{document}");
    let held = "          #   - return:\n          #       a: TODO\n          - error: TODO\n";
    assert!(document.contains(held), "{document}");
    assert!(document.contains("a: \"2026-01-01T00:00:00Z\"\n"), "{document}");
}
