//! What happened: a table for people, and JSON for programs.

use std::ffi::OsString;
use std::fmt::Write;

use fixtures::journal::fold::Attempt;
use fixtures::journal::record::{Kind, Reason};
use fixtures::redact::Redactor;
use fixtures::session::status::Status;
use serde_json::{Map, Value};

use super::command::Ended;
use crate::plain;

/// A longer cell of the table is cut.
const MAX_CELL_CHARS: usize = 60;

/// One line an attempt, then why calls did not match, and what was left over
/// if nobody else tells.
pub(crate) fn table(status: &Status, with_differences: bool, is_styled: bool) -> String {
    let attempts = status.attempts();
    if attempts.is_empty() {
        return "no mock was called\n".to_owned() + &remarks(status, with_differences);
    }
    let mut rows = vec![["#", "call", "step", "outcome"].map(str::to_owned)];
    rows.extend(attempts.iter().enumerate().map(|(index, attempt)| {
        let number = (index + 1).to_string();
        [number, call(attempt), step(status, attempt), outcome(attempt)]
    }));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let [numbers, calls, steps] = [0, 1, 2].map(|column| width(column).unwrap_or_default());
    let mut text = String::new();
    for (index, [number, call, step, outcome]) in rows.iter().enumerate() {
        let attempt = index.checked_sub(1).map(|index| &attempts[index]);
        let (before, after) = match attempt {
            _ if !is_styled => ("", ""),
            None => ("\x1b[1m", "\x1b[0m"),
            Some(attempt) if !attempt.started.reason.is_answered() => ("\x1b[31m", "\x1b[0m"),
            Some(attempt) if attempt.started.fault => ("\x1b[33m", "\x1b[0m"),
            Some(_) => ("", ""),
        };
        // A string takes any text.
        let _ = writeln!(
            text,
            "{number:>numbers$}  {call:calls$}  {step:steps$}  {before}{outcome}{after}"
        );
    }
    text + &remarks(status, with_differences)
}

/// What did not match, and what was not used.
fn remarks(status: &Status, with_differences: bool) -> String {
    let mut text = String::new();
    for (index, attempt) in status.attempts().iter().enumerate() {
        let started = &attempt.started;
        if let (Some(nearest), Some(difference)) = (started.nearest, &started.difference) {
            let _ = write!(text, "#{}: nearest is response {nearest}: ", index + 1);
            let _ = writeln!(text, "{}", plain::printable(difference));
        }
    }
    for difference in status.differences(true).iter().filter(|_| with_differences) {
        let _ = writeln!(text, "{difference}");
    }
    text
}

/// Why `--verify` fails, one sentence each.
pub(crate) fn complaints(status: &Status) -> Vec<String> {
    let attempts = status.attempts().iter().enumerate();
    let unanswered = attempts.filter(|(_, attempt)| !attempt.started.reason.is_answered());
    let unanswered = unanswered.map(|(index, attempt)| {
        let reason = reason(attempt.started.reason);
        format!("#{} {}: {reason}", index + 1, call(attempt))
    });
    let differences = status.differences(true).into_iter().map(|it| it.to_string());
    unanswered.chain(differences).collect()
}

fn call(attempt: &Attempt) -> String {
    let started = &attempt.started;
    let name = match started.kind {
        Kind::Cli => started.mock.to_string(),
        Kind::Mcp | Kind::Runner => attempt.name(),
    };
    let json = started.arguments.get();
    let arguments = match serde_json::from_str::<Vec<String>>(json) {
        Ok(words) => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        Err(_) if json == "{}" => String::new(),
        Err(_) => json.to_owned(),
    };
    cell(format!("{name} {arguments}").trim_end())
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=+./:,@%^~{}[]".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("{word:?}")
    }
}

fn step(status: &Status, attempt: &Attempt) -> String {
    let started = &attempt.started;
    let steps = status.steps(&attempt.name(), started.response);
    match (started.step, steps) {
        (Some(step), Some(steps)) => format!("{} of {steps}", step + 1),
        _ => "-".to_owned(),
    }
}

fn outcome(attempt: &Attempt) -> String {
    let exit = attempt.exit_code.map(|code| format!("exit {code}"));
    let text = match (attempt.started.reason, attempt.is_cancelled, attempt.outcome) {
        (Reason::Matched | Reason::Probe, true, _) => match exit {
            Some(exit) => format!("cancelled, {exit}"),
            None => "cancelled".to_owned(),
        },
        (Reason::Matched | Reason::Probe, false, None) => match attempt.started.kind {
            Kind::Cli => "unfinished, exit unavailable".to_owned(),
            Kind::Mcp | Kind::Runner => "unfinished".to_owned(),
        },
        (Reason::Matched | Reason::Probe, false, Some(_)) => match (exit, attempt.error()) {
            (Some(exit), _) => exit,
            (None, Some(error)) => format!("error: {error}"),
            (None, None) => "ok".to_owned(),
        },
        (reason_of, ..) => reason(reason_of).to_owned(),
    };
    let text = match attempt.started.reason {
        Reason::Probe => text + ", probe",
        _ => text,
    };
    match attempt.started.reason {
        Reason::Matched | Reason::Probe if attempt.outcome.is_some() && !attempt.is_delivered => {
            cell(&(text + ", not delivered"))
        }
        _ => cell(&text),
    }
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Matched => "matched",
        Reason::Probe => "probe",
        Reason::Unmatched => "unmatched",
        Reason::Exhausted => "exhausted",
        Reason::UnknownTool => "no such tool",
    }
}

fn cell(text: &str) -> String {
    plain::short(text, MAX_CELL_CHARS)
}

/// The status of the session, with the command before it.
pub(crate) fn json(
    status: &Status,
    words: &[OsString],
    ended: Ended,
    redactor: &Redactor,
) -> String {
    let words: Vec<String> = words.iter().map(|it| it.to_string_lossy().into_owned()).collect();
    let mut head = Map::new();
    head.insert("command".to_owned(), redactor.argv(&words).into());
    match ended {
        Ended::Exited(code) => head.insert("exit_code".to_owned(), code.into()),
        Ended::Signalled(signal) => head.insert("signal".to_owned(), signal.into()),
    };
    // Numbers of the journal keep their digits when its text is taken as it is.
    let head = Value::Object(head).to_string();
    let (head, tail) = (head.trim_end_matches('}'), status.to_json());
    format!("{head},{}\n", tail.trim_start_matches('{'))
}
