//! Messages of the protocol: JSON-RPC, one a line.

use agent_client_protocol_schema::v1::{Error, ErrorCode};
use serde::Serialize;
use serde_json::{Value, json};

/// What came from the agent.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// An answer to the request of this number.
    Response { id: u64, result: Result<Value, Error> },
    /// Something that wants an answer.
    Request { id: Value, method: String, params: Value },
    /// Something that wants none.
    Notification { method: String, params: Value },
}

impl Incoming {
    /// Reads a line; none if it is no message.
    pub(super) fn read(line: &[u8]) -> Option<Incoming> {
        let Ok(Value::Object(mut message)) = serde_json::from_slice(line) else { return None };
        let id = message.remove("id").filter(|id| !id.is_null());
        if let Some(Value::String(method)) = message.remove("method") {
            let params = message.remove("params").unwrap_or_default();
            return Some(match id {
                Some(id) => Incoming::Request { id, method, params },
                None => Incoming::Notification { method, params },
            });
        }
        let id = id?.as_u64()?;
        let result = match message.remove("error").filter(|error| !error.is_null()) {
            Some(error) => Err(understood(error)),
            None => Ok(message.remove("result")?),
        };
        Some(Incoming::Response { id, result })
    }
}

/// An error, also one that is not quite as it should be.
fn understood(error: Value) -> Error {
    let words = error.to_string();
    serde_json::from_value(error)
        .unwrap_or_else(|_| Error::new(ErrorCode::InternalError.into(), words))
}

pub(super) fn request(id: u64, method: &str, params: &impl Serialize) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

pub(super) fn notification(method: &str, params: &impl Serialize) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

pub(super) fn response(id: &Value, result: Result<Value, Error>) -> String {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    }
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_told_from_what_is() {
        for junk in [
            "",
            "Loading…",
            "{",
            "[]",
            "7",
            r#"{"level": "info"}"#,
            r#"{"id": "a", "result": {}}"#,
            r#"{"id": 1}"#,
            r#"{"id": null, "result": {}}"#,
        ] {
            assert_eq!(Incoming::read(junk.as_bytes()), None, "{junk}");
        }
        let read = |text: &str| Incoming::read(text.as_bytes());
        assert_eq!(
            read(r#"{"jsonrpc": "2.0", "id": 1, "result": null}"#),
            Some(Incoming::Response { id: 1, result: Ok(Value::Null) })
        );
        assert_eq!(
            read(r#"{"id": "a", "method": "fs/read_text_file"}"#),
            Some(Incoming::Request {
                id: json!("a"),
                method: "fs/read_text_file".to_owned(),
                params: Value::Null
            })
        );
        let notification = read(r#"{"method": "session/update", "params": {"update": 1.50}}"#);
        let Some(Incoming::Notification { params, .. }) = notification else { panic!() };
        assert_eq!(params.to_string(), r#"{"update":1.50}"#, "digits are kept");
    }

    #[test]
    fn errors_are_understood_or_quoted() {
        let error = |text: &str| match Incoming::read(text.as_bytes()) {
            Some(Incoming::Response { result: Err(error), .. }) => error,
            other => panic!("{other:?}"),
        };
        let known = error(r#"{"id": 1, "error": {"code": -32000, "message": "log in"}}"#);
        assert_eq!((known.code, &*known.message), (ErrorCode::AuthRequired, "log in"));
        assert_eq!(error(r#"{"id": 1, "error": "no way"}"#).message, "\"no way\"");
    }
}
