//! What an agent's own event stream tells of a run.

pub(crate) mod acp;

use serde_json::Value;

/// One thing that an agent's own event stream tells, in order.
#[derive(Debug, Clone, PartialEq)]
#[allow(dead_code, reason = "not every stream tells everything")]
pub(crate) enum Seen {
    /// The agent asked for a tool. `server` where the stream tells it.
    Call { id: String, server: Option<String>, tool: String, arguments: Value },
    /// The agent's shell tool was to run this.
    Command { id: String, command: String },
    /// How a call or a command ended.
    Ended { id: String, how: Ended },
    /// Words of the agent's. The last ones are the answer.
    Said(String),
    /// The final answer, where the stream marks one.
    Answer(String),
    /// A server of the configuration, and whether the agent says it is connected.
    Server { name: String, connected: bool, detail: String },
}

/// How a call or a command ended.
#[derive(Debug, Clone, PartialEq)]
#[allow(dead_code, reason = "the words are for whoever reads the stream")]
pub(crate) enum Ended {
    /// It did what it was to do.
    Done,
    /// It did not, with what is said about it.
    Failed(String),
    /// The agent's own policy refused it, with its words.
    Refused(String),
}
