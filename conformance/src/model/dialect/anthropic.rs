//! Anthropic messages.

use serde_json::{Value, json};

use super::{Answered, Request, TOKENS, Turn, conversation, list, string, text};
use crate::model::tools::Tool;

pub(super) fn read(body: &Value) -> Result<Request, String> {
    let blocks = conversation(body, "messages")?
        .iter()
        .flat_map(|message| list(message, "content"))
        .filter(|block| block["type"] == "tool_result");
    let results = blocks.map(|block| Answered {
        id: string(&block["tool_use_id"]),
        text: text(&block["content"]),
        is_error: block["is_error"] == true,
    });
    let tools = list(body, "tools").iter();
    let tools = tools.filter_map(|tool| Tool::new(&tool["name"], &tool["input_schema"]));
    let wants_json = !body["output_config"]["format"].is_null() || !body["output_format"].is_null();
    Ok(Request { tools: tools.collect(), results: results.collect(), wants_json })
}

pub(super) fn whole(model: &str, turn: &Turn) -> Value {
    let (block, reason) = match turn {
        Turn::Say { text, .. } => (json!({"type": "text", "text": text}), "end_turn"),
        Turn::Call { id, tool, arguments } => {
            let block =
                json!({"type": "tool_use", "id": id, "name": tool.name, "input": arguments});
            (block, "tool_use")
        }
    };
    let mut message = begun(model, turn);
    message["content"] = json!([block]);
    message["stop_reason"] = json!(reason);
    message
}

pub(super) fn events(model: &str, turn: &Turn) -> Vec<Value> {
    let whole = whole(model, turn);
    let mut block = whole["content"][0].clone();
    let delta = match turn {
        Turn::Say { text, .. } => {
            block["text"] = json!("");
            json!({"type": "text_delta", "text": text})
        }
        Turn::Call { arguments, .. } => {
            block["input"] = json!({});
            let text = json!(arguments).to_string();
            json!({"type": "input_json_delta", "partial_json": text})
        }
    };
    let end = json!({"stop_reason": whole["stop_reason"], "stop_sequence": null});
    vec![
        json!({"type": "message_start", "message": begun(model, turn)}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": TOKENS}}),
        json!({"type": "message_stop"}),
    ]
}

fn begun(model: &str, turn: &Turn) -> Value {
    json!({
        "id": format!("msg_{}", turn.id()), "type": "message", "role": "assistant",
        "model": model, "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": TOKENS, "output_tokens": TOKENS},
    })
}
