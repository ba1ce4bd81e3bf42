//! Claude Code and Qwen Code, `--output-format stream-json`.

use serde_json::Value;

use super::{Ended, Seen, all_text, failed, text};

pub(super) fn seen(event: &Value) -> Vec<Seen> {
    match text(event, "/type").as_str() {
        "system" => servers(event),
        "assistant" => content(event).filter_map(said).collect(),
        "user" => content(event).filter_map(ended).collect(),
        "result" => result(event),
        _ => Vec::new(),
    }
}

fn content(event: &Value) -> impl Iterator<Item = &Value> {
    event.pointer("/message/content").and_then(Value::as_array).into_iter().flatten()
}

fn servers(event: &Value) -> Vec<Seen> {
    let servers = event["mcp_servers"].as_array().into_iter().flatten();
    let server = |server: &Value| {
        let (name, detail) = (text(server, "/name"), text(server, "/status"));
        // A server that is still starting may yet come.
        let connected = matches!(detail.as_str(), "connected" | "pending");
        Seen::Server { name, connected, detail }
    };
    servers.map(server).collect()
}

fn said(block: &Value) -> Option<Seen> {
    match text(block, "/type").as_str() {
        "text" => Some(Seen::Said(text(block, "/text"))),
        "tool_use" => {
            let (name, input) = (text(block, "/name"), &block["input"]);
            let id = text(block, "/id");
            // Qwen Code calls what it had to look for through a tool of its own.
            let (name, input) = match (name.as_str(), input["name"].as_str()) {
                ("tool_call", Some(inner)) => (inner.to_owned(), &input["arguments"]),
                _ => (name, input),
            };
            let arguments = super::arguments(Some(input));
            let (server, tool) = match name.strip_prefix("mcp__").and_then(|it| it.split_once("__"))
            {
                Some((server, tool)) => (Some(server.to_owned()), tool.to_owned()),
                None => (None, name),
            };
            Some(Seen::Call { id, server, tool, arguments })
        }
        _ => None,
    }
}

fn ended(block: &Value) -> Option<Seen> {
    if text(block, "/type") != "tool_result" {
        return None;
    }
    let id = text(block, "/tool_use_id");
    let how = match block["is_error"].as_bool() {
        Some(true) => failed(all_text(&block["content"])),
        _ => Ended::Done,
    };
    Some(Seen::Ended { id, how })
}

fn result(event: &Value) -> Vec<Seen> {
    let denials = event["permission_denials"].as_array().into_iter().flatten();
    let denied = |denial: &Value| Seen::Ended {
        id: text(denial, "/tool_use_id"),
        how: Ended::Refused(format!(
            "permission for {} was not granted",
            text(denial, "/tool_name")
        )),
    };
    let mut seen: Vec<Seen> = denials.map(denied).collect();
    let words = text(event, "/result");
    if event["is_error"] == true {
        let words = if words.is_empty() { text(event, "/error/message") } else { words };
        seen.push(Seen::Problem(words));
    } else {
        seen.push(Seen::Answer(words));
    }
    seen
}
