//! Factory Droid, `-o stream-json`.

use serde_json::Value;

use super::{Ended, Seen, all_text, arguments, failed, text};

pub(super) fn seen(event: &Value) -> Vec<Seen> {
    match text(event, "/type").as_str() {
        "tool_call" => vec![Seen::Call {
            id: text(event, "/id"),
            server: None,
            tool: text(event, "/toolName"),
            arguments: arguments(event.get("parameters")),
        }],
        "tool_result" => {
            let how = match event["isError"].as_bool() {
                Some(true) => failed(all_text(&event["value"])),
                _ => Ended::Done,
            };
            vec![Seen::Ended { id: text(event, "/id"), how }]
        }
        "message" if event["role"] == "assistant" => vec![Seen::Said(text(event, "/text"))],
        "completion" => vec![Seen::Answer(text(event, "/finalText"))],
        "error" => vec![Seen::Problem(all_text(event))],
        _ => Vec::new(),
    }
}
