//! The languages in which agents talk with models.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::{Map, Value};

use super::tools::Tool;

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// An answer; in a stream if the request says so.
    Answer,
    /// An answer in a stream.
    Stream,
    /// How many tokens a request would have.
    Count,
}

/// What an agent tells a model.
#[derive(Debug)]
pub(super) struct Request {
    /// The tools that the model may call.
    pub(super) tools: Vec<Tool>,
    /// What its calls came to, in order.
    pub(super) results: Vec<Answered>,
    /// Whether the answer has to be JSON.
    pub(super) wants_json: bool,
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct Answered {
    /// The id of the call, where the agent gives it back.
    pub(super) id: Option<String>,
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// What the model answers.
#[derive(Debug)]
pub(super) enum Turn {
    /// Words, which end the turn.
    Say { id: String, text: String },
    /// A call of a tool.
    Call { id: String, tool: Tool, arguments: Map<String, Value> },
}

impl Turn {
    fn id(&self) -> &str {
        match self {
            Turn::Say { id, .. } | Turn::Call { id, .. } => id,
        }
    }
}

impl Dialect {
    /// What is served at a path.
    pub(super) fn at(path: &str) -> Option<(Dialect, Endpoint)> {
        let short = path.strip_prefix("/v1").unwrap_or(path);
        Some(match short {
            "/messages" => (Dialect::Anthropic, Endpoint::Answer),
            "/messages/count_tokens" => (Dialect::Anthropic, Endpoint::Count),
            "/responses" => (Dialect::Responses, Endpoint::Answer),
            "/chat/completions" => (Dialect::Chat, Endpoint::Answer),
            _ => {
                let model = path.strip_prefix("/v1beta").unwrap_or(short);
                let endpoint = match model.strip_prefix("/models/")?.split_once(':')?.1 {
                    "generateContent" => Endpoint::Answer,
                    "streamGenerateContent" => Endpoint::Stream,
                    "countTokens" => Endpoint::Count,
                    _ => return None,
                };
                (Dialect::Gemini, endpoint)
            }
        })
    }

    pub(super) fn read(self, body: &Value) -> Result<Request, String> {
        match self {
            Dialect::Anthropic => anthropic::read(body),
            Dialect::Responses => responses::read(body),
            Dialect::Chat => chat::read(body),
            Dialect::Gemini => gemini::read(body),
        }
    }

    /// The answer to a request to count tokens.
    pub(super) fn count(self) -> Value {
        match self {
            Dialect::Gemini => serde_json::json!({"totalTokens": TOKENS}),
            _ => serde_json::json!({"input_tokens": TOKENS}),
        }
    }

    /// The answer in one piece.
    pub(super) fn whole(self, model: &str, turn: &Turn) -> Value {
        match self {
            Dialect::Anthropic => anthropic::whole(model, turn),
            Dialect::Responses => responses::whole(model, turn),
            Dialect::Chat => chat::whole(model, turn),
            Dialect::Gemini => gemini::whole(model, turn),
        }
    }

    /// The answer as server-sent events.
    pub(super) fn stream(self, model: &str, turn: &Turn) -> String {
        match self {
            Dialect::Anthropic => named(&anthropic::events(model, turn)),
            Dialect::Responses => named(&responses::events(model, turn)),
            Dialect::Chat => chat::stream(model, turn),
            Dialect::Gemini => format!("data: {}\n\n", gemini::whole(model, turn)),
        }
    }
}

/// So few that no agent thinks of shortening the conversation.
const TOKENS: u32 = 10;

/// Events that are named after their type.
fn named(events: &[Value]) -> String {
    let events = events.iter().map(|event| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    });
    events.collect()
}

/// The list at a key; nothing there is an empty one.
fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// The list that a conversation is.
fn conversation<'v>(body: &'v Value, key: &str) -> Result<&'v [Value], String> {
    let list = body[key].as_array().map(Vec::as_slice);
    list.ok_or_else(|| format!("the request has no list `{key}`"))
}

fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The text of a content, which is a string or a list of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
