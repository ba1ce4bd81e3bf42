//! Real dependencies beside mocked ones.

use serde_json::json;

use super::{Place, trials};

/// A case with a live server `fs`, and a mock `s` that replaces a live server.
fn case(task: &str, good: &str) -> Place {
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run/live_server.py");
    let live = format!("{{command: python3, args: [{server}]}}");
    Place::of(&format!(
        r#"{{schemaVersion: "2.0", scenario: c, mcp_servers: {{fs: {live}, s: {live}}},
        mcp_mocks: [{{name: s, tools: {{write: {{sequence: [{{error: busy}}, {{return: 3}}]}}}}}}],
        command_mocks: [{{name: gh, responses: [{{stdout: ok}}]}}],
        tasks: [{{id: t, prompt: p, {task}, self_test: {{good: [{good}]}}}}]}}"#
    ))
}

/// What is written on another server is neither a call of this one nor a retry.
#[test]
fn calls_of_a_live_server_are_no_retries() {
    let written = |text: &str| format!("{{call: fs.write, with: {{path: r, text: \"{text}\"}}}}");
    let (one, two, three) = (written("1"), written("2"), written("3"));
    let expect = r#"expect: {files: {r: {equals: "123"}}, limits: [{any: true, exactly: 2}],
        calls: [{tool: s.write, result: error}, {tool: s.write, result: success}]}"#;
    for (good, exit, calls) in [
        (format!("{one}, {{call: s.write}}, {two}, {{call: s.write}}, {three}"), 0, 2),
        (format!("{one}, {{call: s.write}}, {two}, {three}"), 1, 1),
        (format!("{one}, {two}, {three}"), 1, 0),
    ] {
        let place = case(expect, &good);
        let record = &trials(&place.run(None, &[], exit))[0];
        assert_eq!(record["tool_events"].as_array().unwrap().len(), calls, "{record}");
        assert_eq!(record["changes"][0]["content"], "123");
        let modes = json!({"mcp": {"fs": "live", "s": "mocked"}, "commands": {"gh": "mocked"}});
        assert_eq!(record["dependency_modes"], modes);
        let kinds = record["violations"].as_array().unwrap().iter().map(|it| &it["kind"]);
        assert!(kinds.into_iter().all(|kind| kind == "evidence"), "{record}");
        place.is_clean();
    }
}

/// Whoever wants the live server says so, and it is told.
#[test]
fn a_mock_that_a_task_switches_off_leaves_the_live_server() {
    let task = r#"mcp_mocks: [], expect: {files: {r: {equals: real}}, limits: [{command: gh, exactly: 1}]}"#;
    let place = case(task, "{call: s.write, with: {path: r, text: real}}, {run: gh}");
    let record = &trials(&place.run(None, &[], 0))[0];
    let modes = json!({"mcp": {"fs": "live", "s": "live"}, "commands": {"gh": "mocked"}});
    assert_eq!(record["dependency_modes"], modes);
    assert_eq!(record["tool_events"], json!([]));
}
