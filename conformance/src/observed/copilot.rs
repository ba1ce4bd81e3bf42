//! Copilot CLI, `--output-format json`.

use serde_json::Value;

use super::{Ended, Seen, all_text, arguments, failed, text};

pub(super) fn seen(event: &Value) -> Vec<Seen> {
    let data = &event["data"];
    match text(event, "/type").as_str() {
        "tool.execution_start" => {
            let server = text(data, "/mcpServerName");
            let tool = match server.is_empty() {
                true => text(data, "/toolName"),
                false => text(data, "/mcpToolName"),
            };
            vec![Seen::Call {
                id: text(data, "/toolCallId"),
                server: (!server.is_empty()).then_some(server),
                tool,
                arguments: arguments(data.get("arguments")),
            }]
        }
        "tool.execution_complete" => {
            let how = match data["success"].as_bool() {
                Some(false) => {
                    let words = all_text(&data["error"]);
                    match text(data, "/error/code").as_str() {
                        "denied" | "rejected" => Ended::Refused(words),
                        _ => failed(words),
                    }
                }
                _ => Ended::Done,
            };
            vec![Seen::Ended { id: text(data, "/toolCallId"), how }]
        }
        "assistant.message" => vec![Seen::Said(text(data, "/content"))],
        "session.mcp_server_status_changed" => {
            let detail = text(data, "/status");
            let connected = !matches!(detail.as_str(), "failed" | "error" | "disconnected");
            vec![Seen::Server { name: text(data, "/serverName"), connected, detail }]
        }
        "session.error" => vec![Seen::Problem(text(data, "/message"))],
        _ => Vec::new(),
    }
}
