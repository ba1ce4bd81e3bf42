//! What an agent's own event stream says: one dialect a file, one meaning for all.
//!
//! It is no evidence of what reached a mock, which the journal alone tells. It
//! tells what the agent tried, so that a call which never arrived is not held
//! against the agent, and it holds the agent's final words.

pub(crate) mod acp;
mod claude;
mod cline;
mod codex;
pub(crate) mod commands;
mod copilot;
mod droid;
mod gemini;
mod opencode;
mod openhands;

use serde::Deserialize;
use serde_json::Value;

/// One thing that an agent's own event stream tells, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    /// The agent asked for a tool; `server` where the stream tells it.
    Call { id: String, server: Option<String>, tool: String, arguments: Value },
    /// The agent's shell tool was to run this.
    Command { id: String, command: String },
    /// How a call or a command ended.
    Ended { id: String, how: Ended },
    /// Words of the agent's. Those after its last call are its answer.
    Said(String),
    /// The final answer, where the stream marks one.
    Answer(String),
    /// A configured server, and whether the agent says that it is connected.
    Server { name: String, connected: bool, detail: String },
    /// What went wrong with the agent itself, in its words.
    Problem(String),
}

/// How a call or a command ended, as the agent says it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ended {
    Done,
    Failed(String),
    /// The agent's own policy refused it, with its words.
    Refused(String),
}

/// The language of an event stream: JSON, an event a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dialect {
    /// What `agent-conformance acp` writes down.
    Acp,
    Claude,
    Cline,
    Codex,
    Copilot,
    Droid,
    Gemini,
    Opencode,
    Openhands,
}

/// The names of the agent's shell tool, and of the argument that holds its command.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shell {
    /// The tool, as the event stream names it.
    pub(crate) tool: String,
    /// The argument with the command line, a string or a list of words.
    pub(crate) command: String,
    /// What else the tool wants to be told.
    #[serde(default)]
    pub(crate) arguments: serde_json::Map<String, Value>,
}

/// Reads a stream. Lines that are no JSON objects say nothing.
pub(crate) fn read(
    dialect: Dialect,
    stream: &str,
    shell: Option<&Shell>,
    servers: &[String],
) -> Vec<Seen> {
    let line = match dialect {
        Dialect::Acp => return acp::read(stream, servers),
        Dialect::Claude => claude::seen,
        Dialect::Cline => cline::seen,
        Dialect::Codex => codex::seen,
        Dialect::Copilot => copilot::seen,
        Dialect::Droid => droid::seen,
        Dialect::Gemini => gemini::seen,
        Dialect::Opencode => opencode::seen,
        Dialect::Openhands => openhands::seen,
    };
    let events = stream.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let seen = events.filter(Value::is_object).flat_map(|event| line(&event));
    seen.map(|it| as_command(it, shell)).collect()
}

/// The final words: what the stream marks as such, else what was said after the last call.
pub(crate) fn answer(seen: &[Seen]) -> String {
    let marked = seen.iter().rev().find_map(|it| match it {
        Seen::Answer(text) if !text.is_empty() => Some(text.clone()),
        _ => None,
    });
    marked.unwrap_or_else(|| {
        let is_call = |it: &Seen| matches!(it, Seen::Call { .. } | Seen::Command { .. });
        let after = seen.iter().rposition(is_call).map_or(0, |at| at + 1);
        let said = seen[after..].iter().filter_map(|it| match it {
            Seen::Said(text) => Some(text.as_str()),
            _ => None,
        });
        said.collect()
    })
}

/// What last went wrong with the agent itself.
pub(crate) fn problem(seen: &[Seen]) -> Option<&str> {
    seen.iter().rev().find_map(|it| match it {
        Seen::Problem(text) if !text.is_empty() => Some(text.as_str()),
        _ => None,
    })
}

/// A call of the shell tool is a command.
fn as_command(seen: Seen, shell: Option<&Shell>) -> Seen {
    match (seen, shell) {
        (Seen::Call { id, tool, arguments, .. }, Some(shell)) if tool == shell.tool => {
            let command = words(&arguments[&shell.command]);
            Seen::Command { id, command }
        }
        (seen, _) => seen,
    }
}

/// A command line, given as text or in words.
fn words(value: &Value) -> String {
    match value {
        Value::Array(words) => {
            shell_words::join(words.iter().map(|it| it.as_str().unwrap_or_default()))
        }
        Value::String(text) => text.clone(),
        _ => String::new(),
    }
}

/// The text at a place, empty where there is none.
fn text(event: &Value, pointer: &str) -> String {
    match event.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    }
}

/// All text below a value, however it is wrapped.
fn all_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(all_text).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => {
            let named = ["text", "message", "content", "output", "value", "error", "result"];
            named.iter().filter_map(|name| fields.get(*name)).map(all_text).collect()
        }
        _ => String::new(),
    }
}

/// Arguments that some streams hold as JSON text.
fn arguments(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or(Value::Null),
        Some(value) => value.clone(),
        None => Value::Null,
    }
}

/// What the agents say when their policy refused a call, in lower case.
const REFUSALS: [&str; 15] = [
    "requires approval",
    "requested permissions",
    "haven't granted",
    "insufficient permission",
    "permission denied by",
    "permission to use",
    "rejected permission",
    "rejected by user",
    "user rejected",
    "declined by",
    "denied by policy",
    "not allowed by",
    "denied by the user",
    "could not request permission",
    "user cancelled mcp tool call",
];

/// Whether these are the words of an agent whose own policy refused something.
pub(crate) fn is_refusal(words: &str) -> bool {
    let lower = words.to_lowercase();
    REFUSALS.iter().any(|it| lower.contains(it))
}

/// How a call ended that failed.
fn failed(words: String) -> Ended {
    if is_refusal(&words) { Ended::Refused(words) } else { Ended::Failed(words) }
}

#[cfg(test)]
mod tests;
