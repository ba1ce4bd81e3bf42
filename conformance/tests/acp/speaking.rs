//! What is said to an agent, and what is written down of what it says.

use serde_json::{Value, json};

use super::Place;

#[test]
fn an_agent_is_asked_and_heard() {
    let place = Place::of(&["run=echo hi", "say=all ", "say=done"]);
    let told = place.told();
    assert_eq!(told.exit, Some(0), "{told:?}");
    assert_eq!(told.said(), "all done");
    assert_eq!(*told.last(), json!({"stop": {"stopReason": "end_turn"}}));
    let kinds: Vec<_> = told.lines.iter().filter_map(|it| it["sessionUpdate"].as_str()).collect();
    let (chunk, update) = ("agent_message_chunk", "tool_call_update");
    assert_eq!(kinds, ["tool_call", update, chunk, chunk]);
    assert_eq!(told.lines[1]["rawOutput"], "hi\n", "updates are as they came");
    let sent = place.sent();
    let methods: Vec<_> = sent.iter().map(|it| it["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["initialize", "session/new", "session/prompt"]);
    let can = &sent[0]["params"]["clientCapabilities"];
    assert_eq!(can["fs"]["readTextFile"], false);
    assert_eq!(can["terminal"], false);
    assert_eq!(sent[1]["params"]["cwd"], json!(place.directory.path()));
    assert_eq!(sent[2]["params"]["prompt"], json!([{"type": "text", "text": "do it"}]));
}

#[test]
fn permission_is_given_once_and_written_down() {
    let told = Place::of(&["permit=echo hi > here", "say=done"]).told();
    assert_eq!(told.exit, Some(0), "{told:?}");
    let permission = &told.lines[0]["permission"];
    assert_eq!(permission["chosen"], "allow_once");
    assert_eq!(permission["toolCall"]["rawInput"]["command"], "echo hi > here");
    assert_eq!(permission["options"].as_array().unwrap().len(), 3);
    assert!(told.lines.iter().any(|it| it["status"] == "completed"), "{told:?}");
}

#[test]
fn what_was_not_offered_is_declined() {
    for method in ["craft/drainMidTurnQueue", "fs/read_text_file", "terminal/create"] {
        let told = Place::of(&[&format!("ask={method}")]).told();
        assert_eq!((told.said().as_str(), told.exit), ("-32601", Some(0)), "{told:?}");
    }
}

#[test]
fn a_mode_is_chosen_where_the_agent_has_it() {
    let methods = |place: &Place| -> Vec<String> {
        place.sent().iter().map(|it| it["method"].as_str().unwrap().to_owned()).collect()
    };
    let place = Place::of(&["modes"]).with("mode", "full");
    assert_eq!(place.told().exit, Some(0));
    assert_eq!(methods(&place)[2], "session/set_mode");
    assert_eq!(place.sent()[2]["params"], json!({"sessionId": "s-1", "modeId": "full"}));
    let place = Place::of(&["options"]).with("mode", "full");
    assert_eq!(place.told().exit, Some(0));
    let params = json!({"sessionId": "s-1", "configId": "approval", "value": "full"});
    assert_eq!(methods(&place)[2], "session/set_config_option");
    assert_eq!(place.sent()[2]["params"], params);
}

#[test]
fn an_agent_is_logged_in_on_demand() {
    let place = Place::of(&["auth", "say=done"]).with("login", "k");
    let told = place.told();
    assert_eq!((told.exit, told.said().as_str()), (Some(0), "done"), "{told:?}");
    assert_eq!(place.sent()[1]["params"], json!({"methodId": "k"}));
}

#[test]
fn a_mode_that_is_not_offered_ends_it_before_the_prompt() {
    let place = Place::of(&["modes"]).with("mode", "yolo");
    let told = place.told();
    assert_eq!(told.exit, Some(1));
    let reason = "the agent offers no mode `yolo`: it has `auto`, `full`";
    assert_eq!(*told.last(), json!({"failed": reason, "begun": false}));
    assert_eq!(told.complaint.trim(), reason);
    assert_eq!(place.sent().len(), 2, "no prompt was sent");
}

#[test]
fn junk_on_standard_output_is_passed_by() {
    let told = Place::of(&["junk", "say=done"]).told();
    assert_eq!((told.said().as_str(), told.exit), ("done", Some(0)), "{told:?}");
    assert!(told.complaint.contains("Loading…"), "{told:?}");
    assert!(!told.complaint.contains('\x1b'), "{told:?}");
    assert!(told.lines.iter().all(Value::is_object), "{told:?}");
}

#[test]
fn a_prompt_may_be_longer_than_a_pipe_holds() {
    let place = Place::of(&["say=done"]).with("prompt", "x".repeat(3 << 20));
    let told = place.told();
    assert_eq!(told.exit, Some(0), "{:?}", told.complaint);
    let sent = place.sent();
    assert_eq!(sent[2]["params"]["prompt"][0]["text"].as_str().unwrap().len(), 3 << 20);
}
