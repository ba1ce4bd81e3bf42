//! One `tools/call`: params → decision → reply. The waiting comes after.

use std::ops::Range;
use std::time::{Duration, Instant};

use fixtures::document::{ErrorFormat, McpOutcome, Revision, Server, UnknownTool};
use fixtures::engine::{Decision, Engine, ToolCall};
use fixtures::journal::record::Outcome;
use fixtures::journal::{JournalError, Refusal};
use serde_json::{Map, Value};

use crate::protocol::{self, CallResult, Content, RpcError};
use crate::stdio::Id;

/// A call that was accepted, and waits for its turn.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: Id,
    pub(crate) tool: String,
    /// When it was accepted.
    pub(crate) accepted: Instant,
    revision: Revision,
    arguments: Map<String, Value>,
}

/// What a call gets, and when.
#[derive(Debug)]
pub(crate) struct Begun {
    /// The number of its record, if it is recorded.
    pub(crate) attempt: Option<u64>,
    /// How long the reply waits.
    pub(crate) delay: Duration,
    pub(crate) reply: Reply,
    /// What to tell people, if nothing answered the call.
    pub(crate) complaint: Option<String>,
}

/// What goes out, whole.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The line with its newline.
    pub(crate) line: Vec<u8>,
    /// What the caller sees.
    pub(crate) outcome: Outcome,
    result: Range<usize>,
}

impl Reply {
    /// The result, or the error, as JSON text.
    pub(crate) fn result(&self) -> &str {
        str::from_utf8(&self.line[self.result.clone()]).expect("JSON was written")
    }
}

impl Call {
    /// Reads the params of `tools/call`; nothing is consumed by bad ones.
    pub(crate) fn read(
        id: Id,
        revision: Revision,
        mut params: Map<String, Value>,
    ) -> Result<Call, RpcError> {
        let arguments = match params.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => {
                return Err(RpcError::invalid_params("`arguments` must be an object or null"));
            }
        };
        match params.remove("name") {
            Some(Value::String(tool)) => {
                Ok(Call { id, tool, accepted: Instant::now(), revision, arguments })
            }
            _ => Err(RpcError::invalid_params("`name` must be a string")),
        }
    }

    /// Decides the call, and records it: from here on its step is used.
    ///
    /// # Errors
    /// The journal does not take the record: nothing is used.
    pub(crate) fn begin(&self, engine: &mut Engine<'_>) -> Result<Begun, Refusal> {
        let server = engine.server();
        let request_id = self.id.to_string();
        let call =
            ToolCall { tool: &self.tool, arguments: &self.arguments, request_id: &request_id };
        let mut claim = engine.begin(&call)?;
        let begun = self.answer(server, claim.decision());
        if begun.delay.is_zero() {
            claim.select(begun.reply.outcome, begun.reply.result());
        }
        Ok(Begun { attempt: claim.commit()?, ..begun })
    }

    /// The reply to a call that the journal does not take.
    pub(crate) fn refused_by(&self, server: &Server, error: Option<&JournalError>) -> Begun {
        let name = self.name(server);
        match error {
            Some(error) => {
                let text = format!("journal: this call of {name} was not served: {error}");
                self.refused(server, &text, "journal", &text)
            }
            None => {
                let text = format!("session closed: this call of {name} was not served");
                self.refused(server, &text, "session_closed", &text)
            }
        }
    }

    fn name(&self, server: &Server) -> String {
        format!("{}.{}", server.name, self.tool)
    }

    fn answer(&self, server: &Server, decision: &Decision<'_>) -> Begun {
        match decision {
            Decision::Matched { outcome, delay, .. } => {
                let reply = self.outcome(server, outcome);
                Begun { attempt: None, delay: *delay, reply, complaint: None }
            }
            Decision::Exhausted { .. } => {
                let name = self.name(server);
                let text = format!("exhausted: no further response for this call of {name}");
                self.refused(server, &text, "exhausted", &text)
            }
            Decision::Unmatched { explanation } => {
                let name = self.name(server);
                let text = format!("unmatched: no response for this call of {name}");
                let explained = format!("{text}; {explanation}");
                let told = if server.explain { &explained } else { &text };
                self.refused(server, told, "unmatched", &explained)
            }
            Decision::UnknownTool => {
                let text = format!("unknown tool: {}", self.name(server));
                match server.unknown_tool {
                    UnknownTool::Result => self.refused(server, &text, "unknown_tool", &text),
                    UnknownTool::Error => {
                        let mut line = Vec::new();
                        let error = RpcError::invalid_params(&*text);
                        let result = protocol::write_error(&mut line, Some(&self.id), &error);
                        let reply = Reply { line, outcome: Outcome::Error, result };
                        let delay = Duration::ZERO;
                        Begun { attempt: None, delay, reply, complaint: Some(text) }
                    }
                }
            }
        }
    }

    fn refused(&self, server: &Server, text: &str, reason: &'static str, complaint: &str) -> Begun {
        let result = CallResult::mock_error(text, reason);
        let reply = self.reply(server, Outcome::Error, result);
        let complaint = Some(complaint.to_owned());
        Begun { attempt: None, delay: Duration::ZERO, reply, complaint }
    }

    fn outcome(&self, server: &Server, outcome: &McpOutcome) -> Reply {
        let has_output_schema =
            server.tools.get(&self.tool).is_some_and(|tool| tool.output_schema.is_some());
        let seen = if outcome.is_error() { Outcome::Error } else { Outcome::Success };
        let result = match outcome {
            McpOutcome::Return { value, structured } => {
                let structured =
                    if has_output_schema { outcome.structured() } else { structured.as_ref() };
                CallResult::success(Content::Text(value.text()), structured)
            }
            McpOutcome::Text { text, structured } => {
                CallResult::success(Content::Text(text), structured.as_ref())
            }
            McpOutcome::Content { blocks, is_error, structured } => {
                let result = CallResult::success(Content::Blocks(blocks), structured.as_ref());
                result.with_is_error(*is_error)
            }
            McpOutcome::Structured(value) => {
                CallResult::success(Content::Text(value.text()), Some(value))
            }
            McpOutcome::Error(text) => match server.error_format {
                ErrorFormat::Plain => CallResult::error(Content::Text(text)),
                ErrorFormat::Prefixed => {
                    let text = format!(
                        "mcp mock \"{}\" tool \"{}\" fixture error: {text}",
                        server.name, self.tool
                    );
                    return self.reply(server, seen, CallResult::error(Content::Text(&text)));
                }
            },
            McpOutcome::Stored { .. } => {
                unreachable!("the engine reads a stored outcome before it decides")
            }
        };
        self.reply(server, seen, result)
    }

    fn reply<'a>(&self, server: &'a Server, outcome: Outcome, result: CallResult<'a>) -> Reply {
        let mut line = Vec::new();
        let shaped = result.shaped(self.revision, server);
        let result = protocol::write_result(&mut line, &self.id, &shaped);
        Reply { line, outcome, result }
    }
}
