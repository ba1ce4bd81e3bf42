//! OpenHands CLI, `--json`; plain lines stand between the events.

use serde_json::Value;

use super::{Ended, Seen, all_text, arguments, failed, text};

pub(super) fn seen(event: &Value) -> Vec<Seen> {
    let id = text(event, "/tool_call_id");
    match text(event, "/kind").as_str() {
        "ActionEvent" => action(id, event),
        "ObservationEvent" => {
            let how = match event.pointer("/observation/is_error") {
                Some(Value::Bool(true)) => failed(all_text(&event["observation"])),
                _ => Ended::Done,
            };
            vec![Seen::Ended { id, how }]
        }
        "UserRejectObservation" => {
            vec![Seen::Ended { id, how: Ended::Refused(text(event, "/rejection_reason")) }]
        }
        "AgentErrorEvent" => vec![Seen::Ended { id, how: failed(text(event, "/error")) }],
        "MessageEvent" if event["source"] == "agent" => {
            vec![Seen::Said(all_text(&event["llm_message"]))]
        }
        "ConversationErrorEvent" => vec![Seen::Problem(all_text(event))],
        _ => Vec::new(),
    }
}

fn action(id: String, event: &Value) -> Vec<Seen> {
    let action = &event["action"];
    match text(action, "/kind").as_str() {
        "FinishAction" => vec![Seen::Answer(text(action, "/message"))],
        "MCPToolAction" => vec![Seen::Call {
            id,
            server: None,
            tool: text(event, "/tool_name"),
            arguments: arguments(action.get("data")),
        }],
        _ => vec![Seen::Call {
            id,
            server: None,
            tool: text(event, "/tool_name"),
            arguments: action.clone(),
        }],
    }
}
