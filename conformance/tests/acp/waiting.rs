//! Prompts wait for the servers.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Place, program};

/// An order with a mocked server, for which the prompt waits so long.
fn place(words: &[&str], patience: Duration) -> Place {
    let place = Place::of(words);
    let document = r#"{schemaVersion: "2.0", scenario: shop,
        mcp_mocks: [{name: orders, tools: {lookup: {responses: [{return: {paid: true}}]}}}]}"#;
    fs::write(place.path("shop.yaml"), document).unwrap();
    let mut wire = Command::new(program());
    wire.args(["wire", "shop.yaml", "--for", "generic", "--out", "wired"]);
    let output = wire.current_dir(place.path("")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let (session, mcp_json) = (place.path("wired/session"), place.path("wired/mcp.json"));
    let patience = u64::try_from(patience.as_millis()).unwrap();
    let place = place.with("session", json!(session)).with("mcp_json", json!(mcp_json));
    place.with("servers", json!(["orders"])).with("patience_ms", patience)
}

#[test]
fn a_prompt_waits_until_the_servers_are_opened() {
    let place = place(&["slow", "call=orders.lookup:{}", "say=done"], Duration::from_secs(20));
    let told = place.told();
    assert_eq!((told.exit, told.said().as_str()), (Some(0), "late, done"), "{told:?}");
    assert!(told.lines.iter().all(|line| line.get("waited").is_none()), "{told:?}");
}

#[test]
fn a_prompt_does_not_wait_for_ever() {
    let place = place(&["lazy", "call=orders.lookup:{}", "say=done"], Duration::from_millis(300));
    let told = place.told();
    assert_eq!((told.exit, told.said().as_str()), (Some(0), "done"), "{told:?}");
    assert_eq!(told.lines[0], json!({"waited": ["orders"]}));
    assert!(told.lines.iter().any(|line| line["status"] == "completed"), "{told:?}");
}

#[test]
fn nobody_waits_for_an_agent_that_is_gone() {
    let start = Instant::now();
    let told = place(&["lazy", "quits"], Duration::from_secs(20)).told();
    assert!(start.elapsed() < Duration::from_secs(10));
    let reason = "the agent ended with exit status 1 before the prompt was sent; its last words: nobody has a key";
    assert_eq!(*told.last(), json!({"failed": reason, "begun": false}));
}

#[test]
fn a_session_that_is_not_there_is_told() {
    let told = Place::of(&[]).with("session", "/nowhere").with("servers", json!(["s"])).told();
    assert_eq!((told.exit, &told.last()["begun"]), (Some(1), &json!(false)));
    assert!(told.complaint.contains("/nowhere"), "{told:?}");
}
