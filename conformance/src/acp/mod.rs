//! The client of an agent that speaks the Agent Client Protocol: started in the
//! agent's place, it starts the agent, gives it servers and prompt, answers what
//! it asks, and writes down what it tells, one line of JSON each.

mod contact;
mod conversation;
mod failed;
mod message;
mod mode;
mod peer;
mod permission;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::exit::Exit;
use conversation::Conversation;
use failed::Failed;

/// How long a prompt waits for servers where nobody says it, in milliseconds.
pub(crate) const PATIENCE_MS: u64 = 20_000;

/// How the agent says that it has done what it was asked.
const END_TURN: &str = "end_turn";

/// What to have which agent do.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    /// The words of the agent's command line.
    pub(crate) command: Vec<String>,
    /// The configuration of its MCP servers.
    pub(crate) mcp_json: PathBuf,
    /// What it is asked.
    pub(crate) prompt: String,
    /// The way of logging in that is asked for first; none when left out.
    #[serde(default)]
    pub(crate) login: Option<String>,
    /// The mode of its session; its own when left out.
    #[serde(default)]
    pub(crate) mode: Option<String>,
    /// Where it works.
    pub(crate) workspace: PathBuf,
    /// The session of the mocks.
    #[serde(default)]
    pub(crate) session: Option<PathBuf>,
    /// The servers among its own that are mocked.
    #[serde(default)]
    pub(crate) servers: Vec<String>,
    /// How long the prompt waits for those servers, in milliseconds.
    #[serde(default = "patience_ms")]
    pub(crate) patience_ms: u64,
}

fn patience_ms() -> u64 {
    PATIENCE_MS
}

/// Carries out the order of a file.
pub(crate) fn run(file: &Path) -> Exit {
    let ended = read(file).and_then(|order| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failed::before(format!("cannot start: {error}")))?;
        runtime.block_on(carry_out(&order))
    });
    let told = match ended {
        Ok(stop) if stop["stopReason"] == END_TURN => {
            return told(&json!({"stop": stop}))
                .map_or_else(|it| complain(&it), |()| Exit::Success);
        }
        Ok(stop) => {
            let reason = stop["stopReason"].as_str().unwrap_or_default();
            let reason = format!("the agent stopped with `{reason}`");
            told(&json!({"stop": stop})).map(|()| reason)
        }
        Err(Failed { reason, is_begun }) => {
            told(&json!({"failed": reason, "begun": is_begun})).map(|()| reason)
        }
    };
    complain(&told.unwrap_or_else(|unwritten| unwritten))
}

fn read(file: &Path) -> Result<Order, Failed> {
    let failed = |error: &dyn std::fmt::Display| {
        Failed::before(format!("cannot carry out `{}`: {error}", file.display()))
    };
    let text = fs::read_to_string(file).map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}

/// What the agent answered to the prompt, once it has ended.
async fn carry_out(order: &Order) -> Result<Value, Failed> {
    let mut conversation = Conversation::begin(order)?;
    let stop = conversation.hold(order).await;
    conversation.end().await;
    stop
}

/// Writes one line of what was seen.
fn told(line: &Value) -> Result<(), String> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")
        .and_then(|()| stdout.flush())
        .map_err(|error| format!("cannot write to stdout: {error}"))
}

fn complain(reason: &str) -> Exit {
    crate::note(&reason);
    Exit::Failed
}
