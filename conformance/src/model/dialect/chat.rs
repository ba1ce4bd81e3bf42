//! OpenAI chat completions.

use serde_json::{Value, json};

use super::{Answered, Request, TOKENS, Turn, conversation, list, string, text};
use crate::model::tools::Tool;

pub(super) fn read(body: &Value) -> Result<Request, String> {
    let messages = conversation(body, "messages")?.iter();
    let results = messages.filter(|message| message["role"] == "tool").map(|message| Answered {
        id: string(&message["tool_call_id"]),
        text: text(&message["content"]),
        is_error: false,
    });
    let functions = list(body, "tools").iter().map(|tool| &tool["function"]);
    let tools = functions.filter_map(|it| Tool::new(&it["name"], &it["parameters"]));
    let format = body["response_format"]["type"].as_str();
    let wants_json = format.is_some_and(|format| format != "text");
    Ok(Request { tools: tools.collect(), results: results.collect(), wants_json })
}

pub(super) fn whole(model: &str, turn: &Turn) -> Value {
    let (message, reason) = message(turn);
    let choice = json!({"index": 0, "message": message, "finish_reason": reason});
    let mut whole = head(model, turn, "chat.completion", &json!([choice]));
    whole["usage"] = usage();
    whole
}

pub(super) fn stream(model: &str, turn: &Turn) -> String {
    let (mut delta, reason) = message(turn);
    if let Some(call) = delta.pointer_mut("/tool_calls/0") {
        call["index"] = json!(0);
    }
    let chunk = |delta: &Value, reason: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        head(model, turn, "chat.completion.chunk", &json!([choice]))
    };
    let mut last = head(model, turn, "chat.completion.chunk", &json!([]));
    last["usage"] = usage();
    let chunks = [chunk(&delta, None), chunk(&json!({}), Some(reason)), last];
    let chunks = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    chunks.chain(["data: [DONE]\n\n".to_owned()]).collect()
}

fn message(turn: &Turn) -> (Value, &'static str) {
    match turn {
        Turn::Say { text, .. } => (json!({"role": "assistant", "content": text}), "stop"),
        Turn::Call { id, tool, arguments } => {
            let arguments = json!(arguments).to_string();
            let function = json!({"name": tool.name, "arguments": arguments});
            let call = json!({"id": id, "type": "function", "function": function});
            let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
            (message, "tool_calls")
        }
    }
}

fn head(model: &str, turn: &Turn, object: &str, choices: &Value) -> Value {
    json!({
        "id": format!("chatcmpl-{}", turn.id()), "object": object, "created": 0,
        "model": model, "choices": choices,
    })
}

fn usage() -> Value {
    json!({"prompt_tokens": TOKENS, "completion_tokens": TOKENS, "total_tokens": 2 * TOKENS})
}
