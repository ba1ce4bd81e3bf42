//! The graders beside `expect`: each looks at the same evidence, live and offline.

mod code;
mod file;
pub(crate) mod jq;
mod outside;
mod program;

use std::path::Path;

use fixtures::document::Json;
use fixtures::document::task::{Grader, Language};
use serde::Serialize;

use super::Evidence;
use crate::results::{Change, Graded, Record};
use crate::supervise::{Order, Outcome};

/// Where graders run that start programs.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Where the document is, from which its programs start.
    pub(crate) base: &'a Path,
    /// Where evidence and output may lie.
    pub(crate) folder: &'a Path,
    /// Has a supervisor run what it is told to.
    pub(crate) supervised: &'a dyn Fn(&Order) -> Result<Outcome, String>,
}

/// What a grader said.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    passed: bool,
    /// What was wanted.
    expected: String,
    /// What was seen instead; empty when it passed.
    actual: String,
}

impl Finding {
    /// All is well as long as nothing is seen that should not be.
    fn of(found: impl IntoIterator<Item = (String, String)>) -> Finding {
        let first = found.into_iter().next();
        let (expected, actual) = first.clone().unwrap_or_default();
        Finding { passed: first.is_none(), expected, actual }
    }
}

/// What graders look at, as JSON.
#[derive(Serialize)]
struct Exhibit<'a> {
    tool_events: &'a [Json],
    command_invocations: &'a [Json],
    answer: &'a str,
    changes: &'a [Change],
}

/// Has every grader of a run's task judge its record. Those that start programs
/// of the host are carried over unless they are allowed. A twin has none, and
/// what is no run is not judged.
pub(crate) fn judge(record: &Record, allows_programs: bool, place: Place<'_>) -> Vec<Graded> {
    let graders = &record.admitted.graders;
    if record.twin || !record.is_run() {
        return record.graders.clone();
    }
    if graders.is_empty() {
        return Vec::new();
    }
    let evidence = Evidence::of(record);
    let Record { tool_events, command_invocations, answer, changes, .. } = record;
    let exhibit = Exhibit { tool_events, command_invocations, answer, changes };
    let exhibit = serde_json::to_string(&exhibit).expect("string keys always serialise");
    let judged = graders.iter().enumerate().map(|(index, grader)| {
        let before = record.graders.get(index);
        match before.filter(|_| starts_programs(grader) && !allows_programs) {
            Some(before) => Graded { carried_over: true, ..before.clone() },
            None => graded(grader, &evidence, &exhibit, place),
        }
    });
    judged.collect()
}

/// Whether a grader starts a program of the host.
fn starts_programs(grader: &Grader) -> bool {
    match grader {
        Grader::File { .. } => false,
        Grader::Code { language, .. } => *language != Language::Jq,
        Grader::Program { .. } => true,
    }
}

fn graded(grader: &Grader, evidence: &Evidence<'_>, exhibit: &str, place: Place<'_>) -> Graded {
    let (kind, found) = match grader {
        Grader::File { must_exist, must_not_exist, content_patterns } => {
            ("file", Ok(file::judge(must_exist, must_not_exist, content_patterns, evidence)))
        }
        Grader::Code { language, assert } => {
            ("code", code::judge(*language, assert, exhibit, place))
        }
        Grader::Program { command } => ("program", program::judge(command, exhibit, place)),
    };
    let kind = kind.to_owned();
    let carried_over = false;
    match found {
        Ok(Finding { passed, expected, actual }) => {
            Graded { kind, passed, expected, actual, error: None, carried_over }
        }
        Err(reason) => Graded {
            error: Some(format!("the {kind} grader cannot judge: {reason}")),
            kind,
            passed: false,
            expected: String::new(),
            actual: String::new(),
            carried_over,
        },
    }
}
