//! `until: success`, by the record of a session.

use std::process::Command;

use serde_json::json;

use crate::{Model, common};

const ORDERS: &str = r#"{schemaVersion: "2.0", scenario: orders,
    mcp_mocks: [{name: orders, tools: {lookup: {sequence: [{error: busy}, {return: 3}]}}}]}"#;

#[test]
fn the_record_decides_and_not_the_words_of_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(common::program());
        let output = command.args(arguments).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{arguments:?} {output:?}");
    };
    std::fs::write(path("orders.yaml"), ORDERS).unwrap();
    std::fs::write(path("once.json"), r#"[{"call": "orders.lookup"}]"#).unwrap();
    run(&["wire", "orders.yaml", "--for", "generic", "--out", "wired"]);

    let script = json!([{"call": "orders.lookup", "until": "success"}, {"say": "done"}]);
    let session = path("wired/session").to_str().unwrap().to_owned();
    let model = Model::start(&script, &["--session".to_owned(), session]);
    let next = |text: &str| {
        let result = json!({"role": "tool", "tool_call_id": "call_s0_t1", "content": text});
        let tools = json!([{"type": "function", "function": {"name": "mcp__orders__lookup"}}]);
        let request = json!({"messages": [result], "tools": tools});
        let message = model.json("POST /v1/chat/completions", &request);
        let message = &message["choices"][0]["message"];
        let call = message["tool_calls"][0]["id"].as_str();
        call.or(message["content"].as_str()).unwrap().to_owned()
    };
    // The agent never reached the mock, so nothing has succeeded.
    assert_eq!(next("3"), "call_s0_t2");
    run(&["scripted", "once.json", "wired/mcp.json"]);
    assert_eq!(next("3"), "call_s0_t2");
    run(&["scripted", "once.json", "wired/mcp.json"]);
    assert_eq!(next("error: busy"), "done");
}
