//! One line as a JSON-RPC 2.0 message.

use std::fmt;

use fixtures::document::limits::MAX_NESTING;
use serde::Deserialize;
use serde::de::Error;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// What a line is.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A blank line.
    Nothing,
    /// Not JSON: nothing goes to stdout.
    NotJson(serde_json::Error),
    /// JSON, but no message: `-32600`.
    Invalid { id: Option<Id>, reason: &'static str },
    /// A request, which is answered.
    Request(Request),
    /// A notification, which is never answered.
    Notification { method: String, params: Option<Value> },
    /// A response to a request that was never made.
    Response,
}

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: Id,
    pub(crate) method: String,
    /// As it was given; absent is not null.
    pub(crate) params: Option<Value>,
}

/// The id of a request; `1` and `"1"` differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Id {
    /// A whole number of 64 bits, in any spelling.
    Integer(i128),
    /// A string, after unescaping.
    String(String),
}

impl Id {
    /// The id in JSON-RPC, if it is one.
    pub(super) fn read(value: &Value) -> Option<Id> {
        match value {
            Value::String(text) => Some(Id::String(text.clone())),
            Value::Number(number) => fixtures::number::as_integer(number.as_str()).map(Id::Integer),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

impl Id {
    /// The id as JSON.
    pub(super) fn to_json(&self) -> Box<RawValue> {
        RawValue::from_string(self.to_string()).expect("an id is written as JSON")
    }
}

/// As JSON.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Integer(integer) => integer.fmt(f),
            Id::String(text) => Value::from(text.as_str()).fmt(f),
        }
    }
}

/// Reads a line without its newline.
pub(super) fn read(line: &[u8]) -> Incoming {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Incoming::Nothing;
    }
    match parse(line) {
        Ok(Value::Object(message)) => classify(message),
        Ok(Value::Array(_)) => Incoming::Invalid { id: None, reason: "batches are not supported" },
        Ok(_) => Incoming::Invalid { id: None, reason: "a message is an object" },
        Err(error) => Incoming::NotJson(error),
    }
}

/// serde_json allows one level of nesting less than we do.
fn parse(line: &[u8]) -> Result<Value, serde_json::Error> {
    // A key that serde_json has a use for is a key like any other.
    if let Ok(text) = std::str::from_utf8(line)
        && fixtures::json::has_private_key(text)
    {
        return fixtures::json::parse(text);
    }
    match serde_json::from_slice(line) {
        Err(error) if is_too_deep(&error) && nesting(line) <= MAX_NESTING => {
            let mut reader = serde_json::Deserializer::from_slice(line);
            reader.disable_recursion_limit();
            let value = Value::deserialize(&mut reader)?;
            reader.end()?;
            Ok(value)
        }
        Err(error) if is_too_deep(&error) => Err(serde_json::Error::custom(format!(
            "more than {MAX_NESTING} collections inside one another"
        ))),
        result => result,
    }
}

fn is_too_deep(error: &serde_json::Error) -> bool {
    error.is_syntax() && error.to_string().starts_with("recursion limit exceeded")
}

/// How deep the brackets outside of strings are nested.
fn nesting(line: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = line.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'\\' => drop(bytes.next()),
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    deepest
}

fn classify(mut message: Map<String, Value>) -> Incoming {
    let given = message.get("id");
    let id = given.and_then(Id::read);
    let is_bad_id = given.is_some() && id.is_none();
    let is_version_2 = message.get("jsonrpc").is_some_and(|version| version == "2.0");
    let (has_result, has_error) = (message.contains_key("result"), message.contains_key("error"));
    let reason = match message.get("method") {
        _ if !is_version_2 => "`jsonrpc` must be \"2.0\"",
        None if has_result != has_error => return Incoming::Response,
        None => "a message has a `method`, a `result` or an `error`",
        Some(_) if has_result || has_error => "a message is a request or a response, not both",
        Some(Value::String(_)) if is_bad_id => "an `id` is a string or an integer of 64 bits",
        Some(Value::String(method)) => {
            let method = method.clone();
            let params = message.remove("params");
            return match id {
                Some(id) => Incoming::Request(Request { id, method, params }),
                None => Incoming::Notification { method, params },
            };
        }
        Some(_) => "`method` must be a string",
    };
    Incoming::Invalid { id, reason }
}
