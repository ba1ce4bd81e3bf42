//! Gemini generateContent.

use serde_json::{Value, json};

use super::{Answered, Request, TOKENS, Turn, conversation, list, string};
use crate::model::tools::Tool;

pub(super) fn read(body: &Value) -> Result<Request, String> {
    let parts = conversation(body, "contents")?.iter().flat_map(|content| list(content, "parts"));
    let responses = parts.map(|part| &part["functionResponse"]).filter(|it| it.is_object());
    let results = responses.map(|it| {
        let response = &it["response"];
        let error = &response["error"];
        let output = if error.is_null() { &response["output"] } else { error };
        Answered {
            id: string(&it["id"]),
            text: output.as_str().map_or_else(|| response.to_string(), str::to_owned),
            is_error: !error.is_null(),
        }
    });
    let declared = list(body, "tools").iter().flat_map(|it| list(it, "functionDeclarations"));
    let tools = declared.filter_map(|it| {
        let schema = if it["parameters"].is_null() { "parametersJsonSchema" } else { "parameters" };
        Tool::new(&it["name"], &it[schema])
    });
    let wants_json = body["generationConfig"]["responseMimeType"] == "application/json";
    Ok(Request { tools: tools.collect(), results: results.collect(), wants_json })
}

pub(super) fn whole(model: &str, turn: &Turn) -> Value {
    let part = match turn {
        Turn::Say { text, .. } => json!({"text": text}),
        Turn::Call { id, tool, arguments } => {
            json!({"functionCall": {"id": id, "name": tool.name, "args": arguments}})
        }
    };
    json!({
        "candidates": [{
            "content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0,
        }],
        "usageMetadata": {
            "promptTokenCount": TOKENS, "candidatesTokenCount": TOKENS,
            "totalTokenCount": 2 * TOKENS,
        },
        "modelVersion": model, "responseId": turn.id(),
    })
}
