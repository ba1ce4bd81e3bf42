//! Verdicts: what is to be thought of a run, from its record alone.
//!
//! FAIL comes before everything that a case could be to blame for, ERROR before
//! what would be held against an agent that never had a chance.

use fixtures::document::task::{CallOutcome, Expectation, Violates};

use crate::grade::{self, Call, Evidence};
use crate::results::{Mode, Record, SCRIPTED, Source, Verdict, Violation};

/// Sets verdict, reason and violations, by what else the record says.
pub(crate) fn judge(record: &mut Record) {
    let (verdict, reason, mut violations) = of(record);
    for violation in &mut violations {
        violation.source = source(record, &violation.expectation);
    }
    record.verdict = verdict;
    record.reason = reason.or_else(|| violations.first().map(told));
    if verdict == Verdict::Fail && is_perhaps_not_wired(record) {
        let reason = record.reason.take().unwrap_or_default();
        record.reason =
            Some(format!("{reason}; no contact with any mock: the command may not be wired"));
    }
    record.violations = violations;
}

/// An agent that nobody promised to be wired, and that got in touch with no mock.
fn is_perhaps_not_wired(record: &Record) -> bool {
    let modes = &record.dependency_modes;
    let has_mocks = modes.mcp.values().chain(modes.commands.values()).any(|it| *it == Mode::Mocked);
    has_mocks
        && !record.has_contact()
        && record.agent_calls.is_none()
        && record.agent.name != SCRIPTED
}

fn of(record: &Record) -> (Verdict, Option<String>, Vec<Violation>) {
    let because = |verdict, reason: &str| (verdict, Some(reason.to_owned()), Vec::new());
    if let Some(reason) = &record.skipped {
        return because(Verdict::Skipped, reason);
    }
    if let Some(reason) = &record.wiring_error {
        return because(Verdict::Error, reason);
    }
    let evidence = Evidence::of(record);
    if let Some(reason) = out_of_reach(record).or_else(|| dead_mock(record, &evidence.calls)) {
        return (Verdict::Error, Some(reason), Vec::new());
    }
    if let Some(reason) = hidden_fault(record) {
        return (Verdict::Invalid, Some(reason), Vec::new());
    }
    let (expect, place) = expectation(record);
    let mut violations = grade::grade(expect, &evidence, place);
    violations.extend(graders(record));
    if record.exit.timed_out {
        let (expected, actual) = ("the agent ends in time", "it was ended for taking too long");
        violations.push(outcome("timeout", expected, actual));
    }
    if record.answer_bytes_missing > 0 {
        let missing = format!("{} bytes more than are kept", record.answer_bytes_missing);
        violations.push(outcome("answer", "an answer that can be kept", &missing));
    }
    if !violations.is_empty() {
        return (Verdict::Fail, None, violations);
    }
    let failed = record.graders.iter().find_map(|grader| grader.error.as_ref());
    if let Some(reason) = failed.cloned().or_else(|| failed_script(record)) {
        return because(Verdict::Error, &reason);
    }
    match not_landed(record, expect, &evidence.calls) {
        Some(reason) => (Verdict::Invalid, Some(reason), Vec::new()),
        None => (Verdict::Pass, None, Vec::new()),
    }
}

/// A fault that the agent's client repeated away: the agent never saw it.
fn hidden_fault(record: &Record) -> Option<String> {
    let calls = grade::calls_of(record);
    let is_hidden = |it: &&Call| it.is_fault && record.client_repeated.contains(&it.sequence);
    let call = calls.iter().find(is_hidden)?;
    Some(format!(
        "the agent's client repeated {} by itself, so that the agent did not see the fault",
        call.told()
    ))
}

/// What the run is held to, and where that stands in its task.
fn expectation(record: &Record) -> (&Expectation, &'static str) {
    match &record.admitted.no_fault {
        Some(twin) if record.twin => (&twin.expect, "no_fault.expect"),
        _ => (&record.admitted.expect, "expect"),
    }
}

/// An agent that did not end by itself, and got in touch with no mock.
fn out_of_reach(record: &Record) -> Option<String> {
    let exit = &record.exit;
    let how = match exit.signal {
        _ if exit.timed_out => "took too long".to_owned(),
        Some(signal) => format!("was ended by signal {signal}"),
        None => return None,
    };
    let has_mocks =
        !record.dependency_modes.mcp.is_empty() || !record.dependency_modes.commands.is_empty();
    (has_mocks && !record.has_contact())
        .then(|| format!("the agent {how}, and had not got in touch with any mock"))
}

/// A server that was killed before it answered, which nobody expects.
fn dead_mock(record: &Record, calls: &[Call]) -> Option<String> {
    let (expect, _) = expectation(record);
    let is_expected = grade::required(expect).any(|it| it.result == CallOutcome::Killed)
        || expect.limits.iter().any(|it| it.result == Some(CallOutcome::Killed));
    let is_server = |call: &&Call| !call.operation.starts_with("command:");
    let killed = |call: &&Call| call.outcome == CallOutcome::Killed;
    let dead = calls.iter().filter(is_server).find(killed);
    let dead = dead.filter(|_| !is_expected && !record.exit.timed_out)?;
    Some(format!("a mock died: its call {} has no outcome", dead.told()))
}

/// A script that could not be played to its end, for which no agent is to blame.
fn failed_script(record: &Record) -> Option<String> {
    let complaint = record.complaint.as_deref().unwrap_or("it said nothing");
    let is_scripted = record.agent.name == SCRIPTED;
    (is_scripted && record.exit.code != Some(0)).then(|| format!("the script failed: {complaint}"))
}

/// What the graders beside `expect` found.
fn graders(record: &Record) -> Vec<Violation> {
    let graders = record.graders.iter().enumerate();
    let failed = graders.filter(|(_, it)| it.error.is_none() && !it.passed);
    failed
        .map(|(index, it)| outcome(&format!("graders[{index}]"), &it.expected, &it.actual))
        .collect()
}

fn outcome(expectation: &str, expected: &str, actual: &str) -> Violation {
    Violation::new(Violates::Outcome, expectation, expected, actual)
}

/// Why a run that shows no violation proves nothing: a fault that it is about
/// was not selected.
fn not_landed(record: &Record, expect: &Expectation, calls: &[Call]) -> Option<String> {
    if record.twin || record.faults.is_empty() {
        return None;
    }
    if !calls.iter().any(|call| call.is_fault) {
        return Some("no call met a fault".to_owned());
    }
    let has_fault = |call: &Call| {
        let faulted = record.faults.get(&call.operation);
        faulted.zip(call.response).is_some_and(|(faulted, response)| faulted.contains(&response))
    };
    let is_required = |call: &Call| {
        grade::required(expect)
            .any(|it| it.operation() == call.operation && grade::has_arguments(it, call))
    };
    let landed = |call: &Call| {
        calls
            .iter()
            .any(|it| it.is_fault && it.operation == call.operation && it.response == call.response)
    };
    let call = calls.iter().find(|call| has_fault(call) && is_required(call) && !landed(call))?;
    Some(format!("the response to {} holds a fault, which no call met", call.told()))
}

/// What the twin of a task tells about its trials.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TwinSays {
    /// Why the twin failed, if it did after it had made contact.
    failed: Option<String>,
    /// What the agent did wrong by itself, without any fault.
    violations: Vec<Violation>,
}

impl TwinSays {
    pub(crate) fn of(twin: &Record) -> TwinSays {
        let is_telling = twin.verdict == Verdict::Fail && twin.has_contact();
        let is_own = |it: &Violation| is_telling && it.kind != Violates::Outcome;
        TwinSays {
            failed: twin.reason.clone().filter(|_| is_telling),
            violations: twin.violations.iter().filter(|it| is_own(it)).cloned().collect(),
        }
    }

    /// Whether the agent fails the case without any fault: what it called, or
    /// changed, is its own doing.
    pub(crate) fn is_failure(&self) -> bool {
        !self.violations.is_empty()
    }
}

/// Sets a judged trial against its twin: what is wrong without the fault, too,
/// is the agent's; what only comes out otherwise without it proves nothing.
pub(crate) fn settle(record: &mut Record, twin: &TwinSays) {
    let Some(why) = twin.failed.as_ref().filter(|_| !record.twin) else { return };
    match record.verdict {
        Verdict::Pass | Verdict::Invalid if twin.is_failure() => {
            record.verdict = Verdict::Fail;
            record.reason = Some(format!("without the fault: {why}"));
            record.violations.clone_from(&twin.violations);
        }
        Verdict::Pass => {
            record.verdict = Verdict::Invalid;
            record.reason = Some(format!("the twin without the fault fails: {why}"));
        }
        Verdict::Fail => {
            let reason = record.reason.take().unwrap_or_default();
            record.reason = Some(format!("{reason}; also without the fault: {why}"));
        }
        Verdict::Invalid | Verdict::Error | Verdict::Skipped => {}
    }
}

/// A violation in one sentence.
pub(crate) fn told(violation: &Violation) -> String {
    let Violation { kind, expectation, expected, actual, source } = violation;
    let place = source.as_ref().map_or(String::new(), |source| {
        format!(" ({}:{}:{})", source.file, source.line, source.column)
    });
    let kind = named(*kind);
    format!("{kind}: {expectation}{place}: expected {expected}, saw {actual}")
}

pub(crate) fn named(kind: Violates) -> &'static str {
    match kind {
        Violates::Evidence => "evidence",
        Violates::SideEffect => "side_effect",
        Violates::Outcome => "outcome",
    }
}

/// Where the document says it, or says what it is a part of.
fn source(record: &Record, expectation: &str) -> Option<Source> {
    let mut path = expectation;
    loop {
        if let Some(position) = record.positions.get(path) {
            let (file, line, column) = (record.document.clone(), position.line, position.column);
            return Some(Source { file, line, column });
        }
        path = &path[..path.rfind(['.', '['])?];
    }
}

#[cfg(test)]
mod tests;
