//! A call cannot dress one argument up as another.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

const DOCUMENT: &str = r#"
schemaVersion: "2.0"
scenario: s
mcp_mocks:
  - name: a
    tools:
      t:
        responses:
          - {match: {x: 1}, text: number}
          - {match: {x: {"$serde_json::private::Number": "1"}}, text: object}
"#;

fn answers(arguments: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("document.yaml");
    fs::write(&path, DOCUMENT).unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_mcp-mock"))
        .arg("serve")
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = server.stdin.take().unwrap();
    stdin.write_all(br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#).unwrap();
    for (index, x) in arguments.iter().enumerate() {
        let id = index + 1;
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","arguments":{{"x":{x}}}}}}}"#
        );
        stdin.write_all(format!("\n{call}").as_bytes()).unwrap();
    }
    stdin.write_all(b"\n").unwrap();
    drop(stdin);
    let output = server.wait_with_output().unwrap();
    let replies = std::str::from_utf8(&output.stdout).unwrap().lines().skip(1);
    let text = |line| {
        let reply: Value = serde_json::from_str(line).unwrap();
        reply["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    replies.map(text).collect()
}

#[test]
fn a_number_is_a_number_and_an_object_an_object() {
    let unmatched = "unmatched: no response for this call of a.t";
    let calls = [
        ("1", "number"),
        (r#"{"$serde_json::private::Number":"1"}"#, "object"),
        (r#"{"\u0024serde_json::private::Number":"1"}"#, "object"),
        (r#"{"$serde_json::private::Number":"not a number"}"#, unmatched),
        (r#"{"$serde_json::private::RawValue":"1"}"#, unmatched),
        (r#"{"$serde_json::private::RawValue":"["}"#, unmatched),
    ];
    let arguments: Vec<&str> = calls.iter().map(|(x, _)| *x).collect();
    let expected: Vec<&str> = calls.iter().map(|(_, answer)| *answer).collect();
    assert_eq!(answers(&arguments), expected);
}
