//! What runs leave behind: one record each, with all that a verdict needs, so
//! that grading works from `results.json` alone, live and offline.

mod event;
mod read;
mod summary;
#[cfg(test)]
pub(crate) mod testing;
mod write;

use std::collections::BTreeMap;

use fixtures::document::Json;
use fixtures::document::task::{Task, Violates};
use serde::{Deserialize, Serialize};

pub(crate) use event::Event;
pub(crate) use read::{Results, read};
pub(crate) use summary::{Summary, Tally};
pub(crate) use write::Writer;

/// The version of the format.
pub(crate) const VERSION: &str = "1.0";

/// The name of the agent that plays scripts.
pub(crate) const SCRIPTED: &str = "scripted";

/// The JSON Schema (draft 2020-12) of `results.json`.
pub(crate) const SCHEMA: &str = include_str!("../../schema/results.schema.json");

/// `CASE/TASK`, and which of its runs this is.
pub(crate) fn run_name(name: &str, trial: u32, twin: bool) -> String {
    match (twin, trial) {
        (true, _) => format!("{name} without the fault"),
        (false, 1) => name.to_owned(),
        (false, trial) => format!("{name} trial {trial}"),
    }
}

/// One run: who did what, what was seen, and what is to be thought of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    /// The scenario of the document.
    pub(crate) case: String,
    /// The identifier of the task.
    pub(crate) task: String,
    /// 1, 2, 3 …
    pub(crate) trial: u32,
    /// Whether the fault was taken out.
    pub(crate) twin: bool,
    pub(crate) verdict: Verdict,
    /// One sentence on every verdict but PASS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    pub(crate) violations: Vec<Violation>,
    /// What was configured, which proves no use.
    pub(crate) dependency_modes: Modes,
    /// The attempts, as a session's status has them.
    pub(crate) tool_events: Vec<Json>,
    pub(crate) command_invocations: Vec<Json>,
    /// When each attempt of both began, by `sequence`, in milliseconds since the first one.
    pub(crate) began_ms: BTreeMap<u64, f64>,
    /// The mocks that the agent got in touch with, called or not.
    pub(crate) contacts: Vec<String>,
    /// The responses that hold a fault under test, by operation.
    pub(crate) faults: BTreeMap<String, Vec<usize>>,
    pub(crate) changes: Vec<Change>,
    /// The agent's final words.
    pub(crate) answer: String,
    /// How much of it, from its beginning, is not kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) answer_bytes_missing: u64,
    /// The last line that the agent wrote on its standard error, redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) complaint: Option<String>,
    /// Attempts beyond the agent's own calls; null where nobody can tell.
    pub(crate) client_retries: Option<u32>,
    /// Which of them, by `sequence`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) client_repeated: Vec<u64>,
    /// What the agent's own events say that it tried; none where they cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent_calls: Option<Vec<AgentCall>>,
    /// What the graders beside `expect` said, in their order.
    pub(crate) graders: Vec<Graded>,
    pub(crate) exit: Exit,
    pub(crate) duration_ms: f64,
    pub(crate) agent: Agent,
    /// What kept the run from being one: no verdict on the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wiring_error: Option<String>,
    /// Why the agent cannot be asked this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) skipped: Option<String>,
    /// The document, as its path was given.
    pub(crate) document: String,
    /// Where in the document the parts of the task stand.
    pub(crate) positions: BTreeMap<String, Position>,
    /// The class of failure that the document names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) class: Option<String>,
    /// The published failure classes that the document covers.
    pub(crate) covers: Vec<String>,
    /// The admitted task without its scripts; what is expected of arguments is redacted as
    /// the arguments are.
    pub(crate) admitted: Task,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What is to be thought of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Verdict {
    /// All that is expected was seen.
    Pass,
    /// The agent did not do what is expected.
    Fail,
    /// The case proves nothing.
    Invalid,
    /// The run was none.
    Error,
    /// The agent cannot be asked this.
    Skipped,
}

impl Verdict {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "PASS",
            Verdict::Fail => "FAIL",
            Verdict::Invalid => "INVALID",
            Verdict::Error => "ERROR",
            Verdict::Skipped => "SKIPPED",
        }
    }
}

/// Something that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Violation {
    pub(crate) kind: Violates,
    /// Where the expectation stands, as in `expect.calls[1]`.
    pub(crate) expectation: String,
    pub(crate) expected: String,
    pub(crate) actual: String,
    /// The same place in the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<Source>,
}

impl Violation {
    /// One whose place in the document is not looked up yet.
    pub(crate) fn new(
        kind: Violates,
        expectation: impl Into<String>,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) -> Violation {
        Violation {
            kind,
            expectation: expectation.into(),
            expected: expected.into(),
            actual: actual.into(),
            source: None,
        }
    }
}

/// A place in a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// A line and a column, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// How each dependency was configured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Modes {
    pub(crate) mcp: BTreeMap<String, Mode>,
    pub(crate) commands: BTreeMap<String, Mode>,
}

/// How a dependency was configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    Mocked,
    Live,
}

impl Mode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Mocked => "mocked",
            Mode::Live => "live",
        }
    }
}

/// A file of the workspace, or a forbidden path, at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    /// Relative to the workspace; absolute outside of it.
    pub(crate) path: String,
    pub(crate) kind: ChangeKind,
    /// What stands there now, or stood there.
    #[serde(rename = "type")]
    pub(crate) entry: EntryType,
    /// Of a file, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sha256: Option<String>,
    /// A file's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
    /// A file's bytes, where they are no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) content_base64: Option<String>,
    /// The outermost directory above it that was not there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) new_directory: Option<String>,
    /// Whether the task or the user says that it is not the agent's own doing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) ignored: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChangeKind {
    Created,
    Modified,
    Deleted,
    /// As before; an expectation names it.
    Unchanged,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EntryType {
    File,
    Directory,
    Link,
    /// A socket, a pipe, a device.
    Other,
}

/// What a grader beside `expect` said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Graded {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) passed: bool,
    pub(crate) expected: String,
    pub(crate) actual: String,
    /// Why the grader itself could not be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// Whether it was not run again, but carried over from the results.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) carried_over: bool,
}

/// A call of a mock, or a command, as the agent's own events have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentCall {
    /// `SERVER.TOOL`, or `shell`.
    pub(crate) operation: String,
    /// The arguments, or the command line, redacted.
    pub(crate) arguments: serde_json::Value,
    pub(crate) how: How,
    /// What the agent says about a call that failed or was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) words: Option<String>,
}

/// How a call ended, as the agent says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum How {
    Done,
    Failed,
    /// By the agent's own policy.
    Refused,
    /// It does not say.
    Unknown,
}

/// How the agent ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exit {
    /// Its exit status, unless a signal ended it.
    pub(crate) code: Option<i32>,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
    /// Whether it was ended for taking too long.
    pub(crate) timed_out: bool,
    /// What it left running, by name and process; ended with the run.
    pub(crate) orphans: Vec<String>,
}

/// Who ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agent {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
}

impl Record {
    /// `CASE/TASK`
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.case, self.task)
    }

    /// Whether it is a run, of which something was seen.
    pub(crate) fn is_run(&self) -> bool {
        self.wiring_error.is_none() && self.skipped.is_none()
    }

    /// Whether the agent got in touch with any mock.
    pub(crate) fn has_contact(&self) -> bool {
        !self.contacts.is_empty()
    }
}
