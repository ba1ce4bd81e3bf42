//! `calls`: the whole story of the operations that it names, in order.

use std::collections::{BTreeMap, BTreeSet};

use fixtures::document::task::{
    self, CallExpectation, CallGroup, CallOutcome, Expectation, Violates,
};
use fixtures::journal::record::{ReadText, Reason};
use fixtures::matching::equal;
use serde_json::{Map, Value};

use super::Evidence;
use super::circumstances::{self, Asked, Circumstances};
use crate::results::{Event, Record, Violation};

/// One attempt, as far as it is judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// Its place in the order of all attempts.
    pub(crate) sequence: u64,
    /// `SERVER.TOOL` or `command:EXECUTABLE`.
    pub(crate) operation: String,
    /// The argument object or vector, redacted.
    pub(crate) arguments: Value,
    /// What a command read, where it did.
    pub(crate) stdin: Option<ReadText>,
    /// Where a command ran, relative to the workspace.
    pub(crate) cwd: Option<String>,
    /// The variables that are on record.
    pub(crate) environment: BTreeMap<String, Option<String>>,
    pub(crate) outcome: CallOutcome,
    /// The response that owned it, if one did.
    pub(crate) response: Option<usize>,
    /// Whether it only looked.
    pub(crate) is_probe: bool,
    /// Whether the outcome is a fault under test.
    pub(crate) is_fault: bool,
    /// When it began, in milliseconds since the first one.
    pub(crate) began_ms: f64,
}

/// The calls of a run, in the order of the journal.
pub(crate) fn of(record: &Record) -> Vec<Call> {
    Event::all(record).into_iter().map(|event| Call::of(&event, record)).collect()
}

impl Call {
    fn of(event: &Event, record: &Record) -> Call {
        Call {
            sequence: event.sequence,
            outcome: outcome(event),
            operation: task::operation(event.tool_name.as_deref(), event.command.as_deref()),
            arguments: event.args.value(),
            stdin: event.stdin.clone(),
            cwd: event.cwd.clone(),
            environment: event.environment.clone(),
            response: usize::try_from(event.response_index).ok(),
            is_probe: event.reason == Reason::Probe,
            is_fault: event.fault,
            began_ms: record.began_ms.get(&event.sequence).copied().unwrap_or_default(),
        }
    }

    pub(crate) fn told(&self) -> String {
        format!("{} {} ({})", self.operation, self.arguments, named(self.outcome))
    }
}

fn outcome(event: &Event) -> CallOutcome {
    let is_success = event.success.unwrap_or(event.exit_code == Some(0));
    let has_outcome = event.result.is_some() || event.exit_code.is_some();
    match event.reason {
        Reason::Unmatched => CallOutcome::Unmatched,
        Reason::Exhausted => CallOutcome::Exhausted,
        Reason::UnknownTool => CallOutcome::UnknownTool,
        Reason::Matched | Reason::Probe if event.cancelled => CallOutcome::Cancelled,
        Reason::Matched | Reason::Probe if !has_outcome => CallOutcome::Killed,
        Reason::Matched | Reason::Probe if is_success => CallOutcome::Success,
        Reason::Matched | Reason::Probe => CallOutcome::Error,
    }
}

/// The calls that an expectation names, whatever became of them.
pub(crate) fn required(expect: &Expectation) -> impl Iterator<Item = &CallExpectation> {
    let all = expect.any_of.iter().chain([expect]).filter_map(|it| it.calls.as_ref()).flatten();
    all.flat_map(members)
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

pub(super) fn check(
    groups: &[CallGroup],
    evidence: &Evidence<'_>,
    place: &str,
    found: &mut Vec<Violation>,
) {
    let expected = || groups.iter().flat_map(members);
    let named: BTreeSet<String> = expected().map(CallExpectation::operation).collect();
    // A call that only looks belongs to it where it is named itself.
    let is_told = |call: &Call| !call.is_probe || expected().any(|it| names_probe(it, call));
    let is_part = |call: &&Call| named.contains(&call.operation) && is_told(call);
    let story: Vec<&Call> = evidence.calls.iter().filter(is_part).collect();
    let (mut next, mut is_told) = (0, false);
    for (index, group) in groups.iter().enumerate() {
        let wanted = members(group);
        let given = &story[next.min(story.len())..story.len().min(next + wanted.len())];
        if let Some(missing) = unpaired(wanted, given, &story) {
            let place = format!("{place}[{index}]");
            let told_of =
                |call: &&Call| call.told() + &circumstances::actual(&asked(missing, call, &story));
            let actual = given.iter().map(told_of).collect::<Vec<_>>().join(", ");
            let actual = if actual.is_empty() { "no further call".to_owned() } else { actual };
            found.push(Violation::new(Violates::Evidence, place, told(missing), actual));
            is_told = true;
            break;
        }
        next += wanted.len();
    }
    if let Some(extra) = story.get(next).filter(|_| !is_told) {
        let expected = "no further call of these operations";
        found.push(Violation::new(Violates::Evidence, place, expected, extra.told()));
    }
    for wanted in expected() {
        for pointer in &wanted.same {
            same(wanted, pointer, &story, place, found);
        }
    }
}

/// Whether an expectation means a call that only looks: by its tool, or by its
/// whole arguments.
fn names_probe(wanted: &CallExpectation, call: &Call) -> bool {
    let is_named = wanted.tool.is_some() || wanted.args.is_some();
    is_named && wanted.operation() == call.operation && has_arguments(wanted, call)
}

fn members(group: &CallGroup) -> &[CallExpectation] {
    match group {
        CallGroup::One(call) => std::slice::from_ref(call),
        CallGroup::Unordered(group) => &group.unordered,
    }
}

/// Gives each expectation a call of its own, however the calls must be dealt
/// out; an expectation that goes without, if one must.
fn unpaired<'e>(
    wanted: &'e [CallExpectation],
    given: &[&Call],
    story: &[&Call],
) -> Option<&'e CallExpectation> {
    let mut owners: Vec<Option<usize>> = vec![None; given.len()];
    wanted.iter().enumerate().find_map(|(index, expectation)| {
        let mut tried = vec![false; given.len()];
        (!place(index, wanted, given, story, &mut owners, &mut tried)).then_some(expectation)
    })
}

/// Finds a call for an expectation, and another one for who has it, if need be.
fn place(
    index: usize,
    wanted: &[CallExpectation],
    given: &[&Call],
    story: &[&Call],
    owners: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    // One that nobody has, before anybody is asked to give up theirs.
    let free = |call: &usize| owners[*call].is_none() && fits(&wanted[index], given[*call], story);
    if let Some(call) = (0..given.len()).find(free) {
        owners[call] = Some(index);
        return true;
    }
    for call in 0..given.len() {
        if tried[call] || !fits(&wanted[index], given[call], story) {
            continue;
        }
        tried[call] = true;
        let owner = owners[call];
        if owner.is_none_or(|owner| place(owner, wanted, given, story, owners, tried)) {
            owners[call] = Some(index);
            return true;
        }
    }
    false
}

fn fits(wanted: &CallExpectation, call: &Call, story: &[&Call]) -> bool {
    wanted.operation() == call.operation
        && wanted.result == call.outcome
        && has_arguments(wanted, call)
        && asked(wanted, call, story).iter().all(|it| it.holds)
}

/// What is asked of a call of that operation beside its arguments and its result.
fn asked(wanted: &CallExpectation, call: &Call, story: &[&Call]) -> Vec<Asked> {
    if wanted.operation() != call.operation {
        return Vec::new();
    }
    let before = story.iter().rev();
    let mut before =
        before.filter(|it| it.operation == call.operation && it.sequence < call.sequence);
    let took = before.next().map(|before| call.began_ms - before.began_ms);
    let mut asked = Circumstances::from(wanted).of(Some(call));
    asked.extend(wanted.gap_ms.map(|gap| circumstances::gap(gap, took)));
    asked
}

/// Whether a call has the arguments that are wanted, which are redacted as its own.
pub(crate) fn has_arguments(wanted: &CallExpectation, call: &Call) -> bool {
    are_arguments(wanted.arguments.as_ref(), wanted.args.as_ref(), call)
}

pub(super) fn are_arguments(
    arguments: Option<&Map<String, Value>>,
    args: Option<&Vec<String>>,
    call: &Call,
) -> bool {
    arguments.is_none_or(|it| equal(&Value::Object(it.clone()), &call.arguments))
        && args.is_none_or(|it| Value::from(it.clone()) == call.arguments)
}

fn told(wanted: &CallExpectation) -> String {
    let mut asked = Circumstances::from(wanted).of(None);
    asked.extend(wanted.gap_ms.map(|gap| circumstances::gap(gap, None)));
    let arguments = arguments_told(wanted.arguments.as_ref(), wanted.args.as_ref());
    let (operation, result) = (wanted.operation(), named(wanted.result));
    format!("{operation}{arguments} ({result}){}", circumstances::expected(&asked))
}

pub(super) fn arguments_told(
    arguments: Option<&Map<String, Value>>,
    args: Option<&Vec<String>>,
) -> String {
    match (arguments, args) {
        (Some(arguments), _) => format!(" {}", Value::Object(arguments.clone())),
        (None, Some(args)) => format!(" {}", Value::from(args.clone())),
        (None, None) => String::new(),
    }
}

/// The value that a pointer leads to is one in all calls of the operation.
fn same(
    wanted: &CallExpectation,
    pointer: &str,
    story: &[&Call],
    place: &str,
    found: &mut Vec<Violation>,
) {
    let operation = wanted.operation();
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
