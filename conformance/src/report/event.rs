//! One attempt in one line.

use fixtures::journal::record::Reason;

use crate::plain;
use crate::results::{Event, Record};

/// A longer text is cut.
pub(crate) const MAX_CHARS: usize = 100;

/// The attempts of a run in their order, one line each: who was called with
/// what, and what came of it.
pub(crate) fn lines(record: &Record) -> Vec<(String, String)> {
    Event::all(record).iter().map(|event| (call(event), outcome(event))).collect()
}

fn call(event: &Event) -> String {
    let arguments = match serde_json::from_str::<Vec<String>>(event.args.text()) {
        Ok(words) => shell_words::join(words),
        Err(_) => event.args.text().to_owned(),
    };
    let name = event.tool_name.as_ref().or(event.command.as_ref());
    plain::short(&format!("{} {arguments}", name.map_or("", String::as_str)), MAX_CHARS)
}

fn outcome(event: &Event) -> String {
    let mut text = match event.reason {
        Reason::Matched => matched(event),
        Reason::Probe => matched(event) + ", probe",
        Reason::Unmatched => "unmatched".to_owned(),
        Reason::Exhausted => "exhausted".to_owned(),
        Reason::UnknownTool => "unknown tool".to_owned(),
    };
    if event.fault {
        text.push_str(", fault");
    }
    if event.reason.is_answered() && !event.delivered && !event.cancelled {
        text.push_str(", delivery unknown");
    }
    text
}

fn matched(event: &Event) -> String {
    let exit = match event.exit_code {
        Some(code) => format!("exit {code}"),
        None => "exit unavailable".to_owned(),
    };
    let is_command = event.command.is_some();
    match (event.cancelled, event.success, &event.error) {
        (true, ..) if is_command => format!("cancelled, {exit}"),
        (true, ..) => "cancelled".to_owned(),
        (false, ..) if is_command => exit,
        (false, Some(true), _) => "success".to_owned(),
        (false, _, Some(error)) => plain::short(&format!("error: {error}"), MAX_CHARS),
        (false, _, None) => "unfinished".to_owned(),
    }
}
