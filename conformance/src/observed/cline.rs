//! Cline CLI, `--json`.

use serde_json::Value;

use super::{Ended, Seen, all_text, arguments, failed, text};

pub(super) fn seen(event: &Value) -> Vec<Seen> {
    match text(event, "/type").as_str() {
        "agent_event" => part(&event["event"]),
        "run_result" => vec![Seen::Answer(text(event, "/text"))],
        "error" => vec![Seen::Problem(all_text(event))],
        _ => Vec::new(),
    }
}

fn part(event: &Value) -> Vec<Seen> {
    let id = text(event, "/toolCallId");
    match (text(event, "/type").as_str(), text(event, "/contentType").as_str()) {
        ("content_start", "tool") => {
            let tool = text(event, "/toolName");
            vec![Seen::Call { id, server: None, tool, arguments: arguments(event.get("input")) }]
        }
        ("content_end", "tool") => {
            let error = all_text(&event["error"]);
            let how = if error.is_empty() { Ended::Done } else { failed(error) };
            vec![Seen::Ended { id, how }]
        }
        ("content_end", "text") => vec![Seen::Said(text(event, "/text"))],
        _ => Vec::new(),
    }
}
