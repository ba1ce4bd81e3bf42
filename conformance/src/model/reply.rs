//! From a request to its answer.

use std::time::Duration;

use serde_json::{Value, json};

use super::Script;
use super::dialect::{Dialect, Endpoint, Turn};
use super::play;

/// The model that is served, whatever a request calls it.
const MODEL: &str = "scripted-model";

/// An answer over HTTP.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) body: String,
    /// How long it is held back.
    pub(super) after: Duration,
    /// For the log.
    pub(super) about: String,
}

impl Reply {
    fn json(body: &Value, about: &str) -> Reply {
        Reply {
            status: 200,
            content_type: "application/json",
            body: body.to_string(),
            after: Duration::ZERO,
            about: about.to_owned(),
        }
    }

    /// An error, in a shape that has what each dialect looks for.
    pub(super) fn refusal(status: u16, message: &str) -> Reply {
        let (kind, name) = match status {
            404 => ("not_found_error", "NOT_FOUND"),
            _ => ("invalid_request_error", "INVALID_ARGUMENT"),
        };
        let error = json!({"type": kind, "code": status, "status": name, "message": message});
        Reply { status, ..Reply::json(&json!({"type": "error", "error": error}), message) }
    }
}

/// What is answered to a request.
pub(super) fn to(
    script: &Script,
    method: &str,
    path: &str,
    query: Option<&str>,
    body: &[u8],
) -> Reply {
    match (method, path.trim_end_matches('/')) {
        ("GET", "/v1/models" | "/models" | "/v1beta/models") => {
            return Reply::json(&models(), "models");
        }
        ("POST", path) => {
            if let Some((dialect, endpoint)) = Dialect::at(path) {
                return asked(script, dialect, endpoint, query, body);
            }
        }
        _ => {}
    }
    let reason = "served are POST /v1/messages, /v1/messages/count_tokens, /v1/responses, \
        /v1/chat/completions, /v1beta/models/NAME:generateContent, :streamGenerateContent \
        and :countTokens, and GET /v1/models";
    Reply::refusal(404, &format!("no {method} {path}: {reason}"))
}

fn models() -> Value {
    let model = json!({
        "id": MODEL, "object": "model", "type": "model", "display_name": MODEL,
        "created": 0, "created_at": "1970-01-01T00:00:00Z", "owned_by": "agent-conformance",
    });
    json!({"object": "list", "data": [model], "has_more": false, "models": []})
}

fn asked(
    script: &Script,
    dialect: Dialect,
    endpoint: Endpoint,
    query: Option<&str>,
    body: &[u8],
) -> Reply {
    let body: Value = match serde_json::from_slice(body) {
        Ok(body) => body,
        Err(error) => return Reply::refusal(400, &format!("the request is no JSON: {error}")),
    };
    if endpoint == Endpoint::Count {
        return Reply::json(&dialect.count(), "tokens counted");
    }
    let request = match dialect.read(&body) {
        Ok(request) => request,
        Err(reason) => return Reply::refusal(400, &reason),
    };
    let (turn, after) = play::next(script, &request);
    let about = match &turn {
        Turn::Say { text, .. } => format!("says {text:?}"),
        Turn::Call { id, tool, .. } => format!("{id} calls {}", tool.full()),
    };
    let model = body["model"].as_str().unwrap_or(MODEL);
    let streams = endpoint == Endpoint::Stream || body["stream"] == true;
    let events = query.is_some_and(|query| query.split('&').any(|it| it == "alt=sse"));
    let reply = match (streams, dialect) {
        (false, _) => Reply::json(&dialect.whole(model, &turn), &about),
        (true, Dialect::Gemini) if !events => {
            Reply::json(&json!([dialect.whole(model, &turn)]), &about)
        }
        (true, _) => Reply {
            content_type: "text/event-stream",
            body: dialect.stream(model, &turn),
            ..Reply::json(&Value::Null, &about)
        },
    };
    Reply { after, ..reply }
}
