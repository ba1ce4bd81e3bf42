//! Gemini CLI, `-o stream-json`.

use serde_json::Value;

use super::{Ended, Seen, all_text, arguments, failed, text};

pub(super) fn seen(event: &Value) -> Vec<Seen> {
    match text(event, "/type").as_str() {
        "message" if event["role"] == "assistant" => vec![Seen::Said(text(event, "/content"))],
        "tool_use" => {
            let name = text(event, "/tool_name");
            // mcp_SERVER_TOOL: where the server ends is found by those that are configured.
            vec![Seen::Call {
                id: text(event, "/tool_id"),
                server: None,
                tool: name,
                arguments: arguments(event.get("parameters")),
            }]
        }
        "tool_result" => {
            let how = match text(event, "/status").as_str() {
                "error" => {
                    let words = all_text(&event["error"]);
                    failed(if words.is_empty() { text(event, "/output") } else { words })
                }
                _ => Ended::Done,
            };
            vec![Seen::Ended { id: text(event, "/tool_id"), how }]
        }
        "error" => vec![Seen::Problem(all_text(event))],
        "result" if event["status"] == "error" => vec![Seen::Problem(all_text(&event["error"]))],
        _ => Vec::new(),
    }
}
