//! Codex, `codex exec --json`.

use serde_json::Value;

use super::{Ended, Seen, all_text, arguments, failed, text, words};

pub(super) fn seen(event: &Value) -> Vec<Seen> {
    let item = &event["item"];
    match (text(event, "/type").as_str(), text(item, "/type").as_str()) {
        ("item.started", "mcp_tool_call") => vec![call(item)],
        ("item.started", "command_execution") => vec![command(item)],
        ("item.completed", "mcp_tool_call") => vec![ended(item)],
        ("item.completed", "command_execution") => vec![ended(item)],
        ("item.completed", "agent_message") => vec![Seen::Said(text(item, "/text"))],
        ("item.completed", "error") => vec![Seen::Problem(text(item, "/message"))],
        ("error", _) => vec![Seen::Problem(text(event, "/message"))],
        ("turn.failed", _) => vec![Seen::Problem(text(event, "/error/message"))],
        _ => Vec::new(),
    }
}

fn call(item: &Value) -> Seen {
    Seen::Call {
        id: text(item, "/id"),
        server: Some(text(item, "/server")),
        tool: text(item, "/tool"),
        arguments: arguments(item.get("arguments")),
    }
}

fn command(item: &Value) -> Seen {
    Seen::Command { id: text(item, "/id"), command: words(&item["command"]) }
}

fn ended(item: &Value) -> Seen {
    let how = match text(item, "/status").as_str() {
        "failed" | "declined" => {
            let words = format!("{}{}", all_text(&item["error"]), all_text(&item["result"]));
            let words = if words.is_empty() { text(item, "/aggregated_output") } else { words };
            match text(item, "/status").as_str() {
                "declined" => Ended::Refused(words),
                _ => failed(words),
            }
        }
        _ => Ended::Done,
    };
    Seen::Ended { id: text(item, "/id"), how }
}
