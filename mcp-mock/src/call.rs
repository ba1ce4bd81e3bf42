//! One `tools/call`: params → decision → reply. The waiting comes after.

use std::time::Duration;

use fixtures::document::{ErrorFormat, McpOutcome, Server, UnknownTool};
use fixtures::engine::{Decision, Engine, ToolCall};
use serde_json::{Map, Value};

use crate::protocol::{self, CallResult, Content, Era, RpcError};
use crate::stdio::Id;

/// A call that was accepted, and waits for its turn.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: Id,
    pub(crate) era: Era,
    tool: String,
    arguments: Map<String, Value>,
}

/// What a call gets, and when.
#[derive(Debug)]
pub(crate) struct Begun {
    /// How long the reply waits.
    pub(crate) delay: Duration,
    /// The whole reply line.
    pub(crate) reply: Vec<u8>,
    /// What to tell people, if nothing answered the call.
    pub(crate) complaint: Option<String>,
}

impl Call {
    /// Reads the params of `tools/call`; nothing is consumed by bad ones.
    pub(crate) fn read(id: Id, era: Era, mut params: Map<String, Value>) -> Result<Call, RpcError> {
        let arguments = match params.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => {
                return Err(RpcError::invalid_params("`arguments` must be an object or null"));
            }
        };
        match params.remove("name") {
            Some(Value::String(tool)) => Ok(Call { id, era, tool, arguments }),
            _ => Err(RpcError::invalid_params("`name` must be a string")),
        }
    }

    /// Decides the call: from here on its step is used.
    pub(crate) fn begin(&self, engine: &mut Engine<'_>) -> Begun {
        let server = engine.server();
        let name = format!("{}.{}", server.name, self.tool);
        let call = ToolCall { tool: &self.tool, arguments: &self.arguments };
        match engine.begin(&call) {
            Decision::Matched { outcome, delay, .. } => {
                Begun { delay, reply: self.outcome(server, outcome), complaint: None }
            }
            Decision::Exhausted { .. } => {
                let text = format!("exhausted: no further response for this call of {name}");
                self.refused(server, &text, "exhausted", &text)
            }
            Decision::Unmatched { explanation } => {
                let text = format!("unmatched: no response for this call of {name}");
                let explained = format!("{text}; {explanation}");
                let told = if server.explain { &explained } else { &text };
                self.refused(server, told, "unmatched", &explained)
            }
            Decision::UnknownTool => {
                let text = format!("unknown tool: {name}");
                match server.unknown_tool {
                    UnknownTool::Result => self.refused(server, &text, "unknown_tool", &text),
                    UnknownTool::Error => {
                        let mut reply = Vec::new();
                        protocol::write_error(
                            &mut reply,
                            Some(&self.id),
                            &RpcError::invalid_params(&*text),
                        );
                        Begun { delay: Duration::ZERO, reply, complaint: Some(text) }
                    }
                }
            }
        }
    }

    fn refused(&self, server: &Server, text: &str, reason: &'static str, complaint: &str) -> Begun {
        let reply = self.reply(server, CallResult::mock_error(text, reason));
        Begun { delay: Duration::ZERO, reply, complaint: Some(complaint.to_owned()) }
    }

    fn outcome(&self, server: &Server, outcome: &McpOutcome) -> Vec<u8> {
        let has_output_schema =
            server.tools.get(&self.tool).is_some_and(|tool| tool.output_schema.is_some());
        match outcome {
            McpOutcome::Return { value, structured } => {
                let structured =
                    if has_output_schema { outcome.structured() } else { structured.as_ref() };
                self.reply(server, CallResult::success(Content::Text(value.text()), structured))
            }
            McpOutcome::Text { text, structured } => {
                self.reply(server, CallResult::success(Content::Text(text), structured.as_ref()))
            }
            McpOutcome::Content { blocks, is_error, structured } => {
                let result = CallResult::success(Content::Blocks(blocks), structured.as_ref());
                self.reply(server, result.with_is_error(*is_error))
            }
            McpOutcome::Structured(value) => {
                self.reply(server, CallResult::success(Content::Text(value.text()), Some(value)))
            }
            McpOutcome::Error(text) => match server.error_format {
                ErrorFormat::Plain => self.reply(server, CallResult::error(Content::Text(text))),
                ErrorFormat::Prefixed => {
                    let text = format!(
                        "mcp mock \"{}\" tool \"{}\" fixture error: {text}",
                        server.name, self.tool
                    );
                    self.reply(server, CallResult::error(Content::Text(&text)))
                }
            },
        }
    }

    fn reply<'a>(&self, server: &'a Server, result: CallResult<'a>) -> Vec<u8> {
        let mut reply = Vec::new();
        protocol::write_result(&mut reply, &self.id, &result.shaped(self.era, server));
        reply
    }
}
