//! opencode, `--format json`: a tool is told of once, when its call has ended.

use serde_json::Value;

use super::{Ended, Seen, all_text, arguments, failed, text};

pub(super) fn seen(event: &Value) -> Vec<Seen> {
    let part = &event["part"];
    match text(event, "/type").as_str() {
        "tool_use" => {
            let id = text(part, "/callID");
            let state = &part["state"];
            let how = match text(state, "/status").as_str() {
                "error" => failed(all_text(&state["error"])),
                _ => Ended::Done,
            };
            let call = Seen::Call {
                id: id.clone(),
                server: None,
                tool: text(part, "/tool"),
                arguments: arguments(state.get("input")),
            };
            vec![call, Seen::Ended { id, how }]
        }
        "text" => vec![Seen::Said(text(part, "/text"))],
        "error" => vec![Seen::Problem(all_text(&event["error"]))],
        _ => Vec::new(),
    }
}
