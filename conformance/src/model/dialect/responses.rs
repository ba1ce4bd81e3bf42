//! OpenAI responses.

use serde_json::{Value, json};

use super::{Answered, Request, TOKENS, Turn, list, string, text};
use crate::model::tools::Tool;

pub(super) fn read(body: &Value) -> Result<Request, String> {
    let items: &[Value] = match &body["input"] {
        Value::Array(items) => items,
        Value::String(_) => &[],
        _ => return Err("the request has no `input`, a string or a list".to_owned()),
    };
    let results = items.iter().filter(|item| {
        matches!(item["type"].as_str(), Some("function_call_output" | "custom_tool_call_output"))
    });
    let results = results.map(|item| Answered {
        id: string(&item["call_id"]),
        text: text(&item["output"]),
        is_error: false,
    });
    let tools = list(body, "tools").iter().flat_map(offered).collect();
    let format = &body["text"]["format"]["type"];
    let wants_json = format == "json_schema" || format == "json_object";
    Ok(Request { tools, results: results.collect(), wants_json })
}

/// A tool, or those of a namespace.
fn offered(tool: &Value) -> Vec<Tool> {
    let one = |tool: &Value| Tool::new(&tool["name"], &tool["parameters"]);
    match tool["type"].as_str() {
        Some("namespace") => {
            let namespace = string(&tool["name"]);
            let tools = list(tool, "tools").iter().filter_map(one);
            tools.map(|tool| tool.within(namespace.as_deref())).collect()
        }
        Some("function") => one(tool).into_iter().collect(),
        _ => Vec::new(),
    }
}

pub(super) fn whole(model: &str, turn: &Turn) -> Value {
    response(model, turn, "completed", &[item(turn)])
}

pub(super) fn events(model: &str, turn: &Turn) -> Vec<Value> {
    let whole = item(turn);
    let id = &whole["id"];
    let mut begun = whole.clone();
    begun["status"] = json!("in_progress");
    let mut events = vec![
        json!({"type": "response.created", "response": response(model, turn, "in_progress", &[])}),
    ];
    let mut add = |kind: &str, members: Value| {
        let mut event = json!({"type": kind, "item_id": id, "output_index": 0});
        for (key, value) in members.as_object().into_iter().flatten() {
            event[key] = value.clone();
        }
        events.push(event);
    };
    match turn {
        Turn::Say { text, .. } => {
            begun["content"] = json!([]);
            let part = &whole["content"][0];
            let empty = json!({"type": "output_text", "text": "", "annotations": []});
            add("response.output_item.added", json!({"item": begun}));
            add("response.content_part.added", json!({"content_index": 0, "part": empty}));
            add("response.output_text.delta", json!({"content_index": 0, "delta": text}));
            add("response.output_text.done", json!({"content_index": 0, "text": text}));
            add("response.content_part.done", json!({"content_index": 0, "part": part}));
        }
        Turn::Call { .. } => {
            let arguments = &whole["arguments"];
            begun["arguments"] = json!("");
            add("response.output_item.added", json!({"item": begun}));
            add("response.function_call_arguments.delta", json!({"delta": arguments}));
            add("response.function_call_arguments.done", json!({"arguments": arguments}));
        }
    }
    add("response.output_item.done", json!({"item": whole}));
    let whole = response(model, turn, "completed", &[whole]);
    events.push(json!({"type": "response.completed", "response": whole}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events
}

fn item(turn: &Turn) -> Value {
    match turn {
        Turn::Say { id, text } => json!({
            "type": "message", "id": format!("msg_{id}"), "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Turn::Call { id, tool, arguments } => {
            let mut item = json!({
                "type": "function_call", "id": format!("fc_{id}"), "call_id": id,
                "name": tool.name, "arguments": json!(arguments).to_string(),
                "status": "completed",
            });
            if let Some(namespace) = &tool.namespace {
                item["namespace"] = json!(namespace);
            }
            item
        }
    }
}

fn response(model: &str, turn: &Turn, status: &str, output: &[Value]) -> Value {
    json!({
        "id": format!("resp_{}", turn.id()), "object": "response", "created_at": 0,
        "status": status, "model": model, "output": output, "error": null,
        "incomplete_details": null, "parallel_tool_calls": false,
        "usage": {
            "input_tokens": TOKENS, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": TOKENS, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2 * TOKENS,
        },
    })
}
