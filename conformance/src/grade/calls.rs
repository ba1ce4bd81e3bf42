//! `calls`: the whole story of the operations that it names, in order.

use std::collections::BTreeSet;

use fixtures::document::task::{CallExpectation, CallGroup, CallOutcome, Violates};
use fixtures::journal::fold::{Attempt, Fold};
use fixtures::journal::record::{Outcome, Reason};
use fixtures::matching::equal;
use serde_json::Value;

use super::{Evidence, Violation};

/// One attempt, as far as it is judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// `SERVER.TOOL` or `command:EXECUTABLE`.
    pub(crate) operation: String,
    /// The argument object or vector, redacted.
    pub(crate) arguments: Value,
    pub(crate) outcome: CallOutcome,
    /// Whether the outcome is a fault under test.
    pub(crate) is_fault: bool,
    /// When it began, in milliseconds of a clock of its own.
    pub(crate) began_ms: u64,
}

/// The calls of a session.
pub(crate) fn of(fold: &Fold) -> Vec<Call> {
    fold.attempts.iter().map(Call::of).collect()
}

impl Call {
    fn of(attempt: &Attempt) -> Call {
        let started = &attempt.started;
        Call {
            operation: attempt.name(),
            arguments: fixtures::json::parse(started.arguments.get()).unwrap_or_default(),
            outcome: outcome(attempt),
            is_fault: started.fault,
            began_ms: attempt.began_us / 1000,
        }
    }

    fn told(&self) -> String {
        format!("{} {} ({})", self.operation, self.arguments, named(self.outcome))
    }
}

fn outcome(attempt: &Attempt) -> CallOutcome {
    match (attempt.started.reason, attempt.outcome) {
        (Reason::Unmatched, _) => CallOutcome::Unmatched,
        (Reason::Exhausted, _) => CallOutcome::Exhausted,
        (Reason::UnknownTool, _) => CallOutcome::UnknownTool,
        (Reason::Matched, Some(Outcome::Success)) => CallOutcome::Success,
        (Reason::Matched, Some(Outcome::Error)) => CallOutcome::Error,
        (Reason::Matched, None) if attempt.is_cancelled => CallOutcome::Cancelled,
        (Reason::Matched, None) => CallOutcome::Killed,
    }
}

pub(super) fn named(outcome: CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Success => "success",
        CallOutcome::Error => "error",
        CallOutcome::Unmatched => "unmatched",
        CallOutcome::Exhausted => "exhausted",
        CallOutcome::UnknownTool => "unknown_tool",
        CallOutcome::Cancelled => "cancelled",
        CallOutcome::Killed => "killed",
    }
}

/// The name of an operation, as the journal has it.
pub(super) fn operation(tool: Option<&String>, command: Option<&String>) -> String {
    match (tool, command) {
        (Some(tool), _) => tool.clone(),
        (None, Some(command)) => format!("command:{command}"),
        (None, None) => String::new(),
    }
}

pub(super) fn check(
    groups: &[CallGroup],
    evidence: &Evidence<'_>,
    place: &str,
    found: &mut Vec<Violation>,
) {
    let expected = || {
        groups.iter().flat_map(|group| match group {
            CallGroup::One(call) => std::slice::from_ref(call),
            CallGroup::Unordered(group) => &group.unordered,
        })
    };
    let named: BTreeSet<String> =
        expected().map(|it| operation(it.tool.as_ref(), it.command.as_ref())).collect();
    let story: Vec<&Call> =
        evidence.calls.iter().filter(|call| named.contains(&call.operation)).collect();
    let mut next = 0;
    for (index, group) in groups.iter().enumerate() {
        let place = format!("{place}[{index}]");
        let wanted = match group {
            CallGroup::One(call) => std::slice::from_ref(call),
            CallGroup::Unordered(group) => &group.unordered,
        };
        let given = &story[next.min(story.len())..story.len().min(next + wanted.len())];
        if let Err(missing) = pair(wanted, given, &story, evidence) {
            let actual = given.iter().map(|call| call.told()).collect::<Vec<_>>().join(", ");
            let actual = if actual.is_empty() { "no further call".to_owned() } else { actual };
            found.push(Violation::new(Violates::Evidence, place, told(missing), actual));
            return;
        }
        next += wanted.len();
    }
    if let Some(extra) = story.get(next) {
        let expected = "no further call of these operations";
        found.push(Violation::new(Violates::Evidence, place, expected, extra.told()));
    }
    for wanted in expected() {
        for pointer in &wanted.same {
            same(wanted, pointer, &story, place, found);
        }
    }
}

/// Whether each expectation has a call of its own; the first that has none.
fn pair<'e>(
    wanted: &'e [CallExpectation],
    given: &[&Call],
    story: &[&Call],
    evidence: &Evidence<'_>,
) -> Result<(), &'e CallExpectation> {
    let mut left: Vec<&Call> = given.to_vec();
    for wanted in wanted {
        let place = left.iter().position(|call| fits(wanted, call, story, evidence));
        left.swap_remove(place.ok_or(wanted)?);
    }
    Ok(())
}

fn fits(wanted: &CallExpectation, call: &Call, story: &[&Call], evidence: &Evidence<'_>) -> bool {
    let arguments = wanted.arguments.as_ref().is_none_or(|arguments| {
        equal(&Value::Object(evidence.redactor.object(arguments)), &call.arguments)
    });
    let args = wanted
        .args
        .as_ref()
        .is_none_or(|args| Value::from(evidence.redactor.argv(args)) == call.arguments);
    let gap = wanted.gap_ms.is_none_or(|gap| {
        let before = story.iter().rev().find(|it| {
            it.operation == call.operation && it.began_ms <= call.began_ms && **it != call
        });
        before.is_none_or(|before| {
            let took = call.began_ms - before.began_ms;
            gap.at_least.is_none_or(|least| took >= least)
                && gap.at_most.is_none_or(|most| took <= most)
        })
    });
    operation(wanted.tool.as_ref(), wanted.command.as_ref()) == call.operation
        && call.outcome == wanted.result
        && arguments
        && args
        && gap
}

fn told(wanted: &CallExpectation) -> String {
    let arguments = match (&wanted.arguments, &wanted.args) {
        (Some(arguments), _) => format!(" {}", Value::Object(arguments.clone())),
        (None, Some(args)) => format!(" {}", Value::from(args.clone())),
        (None, None) => String::new(),
    };
    let operation = operation(wanted.tool.as_ref(), wanted.command.as_ref());
    format!("{operation}{arguments} ({})", named(wanted.result))
}

/// The value that a pointer leads to is one in all calls of the operation.
fn same(
    wanted: &CallExpectation,
    pointer: &str,
    story: &[&Call],
    place: &str,
    found: &mut Vec<Violation>,
) {
    let operation = operation(wanted.tool.as_ref(), wanted.command.as_ref());
    let mut values = story
        .iter()
        .filter(|call| call.operation == operation)
        .map(|call| call.arguments.pointer(pointer));
    let Some(first) = values.next() else { return };
    let is_same = |value: Option<&Value>| match (first, value) {
        (Some(first), Some(value)) => equal(first, value),
        (None, None) => true,
        _ => false,
    };
    if let Some(other) = values.find(|value| !is_same(*value)) {
        let shown = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
        let expected = format!("the same `{pointer}` in all calls of {operation}");
        let actual = format!("{}, then {}", shown(first), shown(other));
        found.push(Violation::new(Violates::Evidence, place, expected, actual));
    }
}
