//! One attempt in one line.

use fixtures::document::Json;
use serde::Deserialize;

use crate::results::Record;

/// A longer text is cut.
const MAX_CHARS: usize = 100;

/// A tool event or a command invocation, as far as it is shown.
#[derive(Debug, Deserialize)]
struct Event {
    sequence: u64,
    tool_name: Option<String>,
    command: Option<String>,
    args: Json,
    success: Option<bool>,
    error: Option<String>,
    exit_code: Option<i64>,
    reason: String,
    fault: bool,
    cancelled: bool,
    delivered: bool,
}

/// The attempts of a run in their order, one line each: who was called with
/// what, and what came of it.
pub(crate) fn lines(record: &Record) -> Vec<(String, String)> {
    let events = record.tool_events.iter().chain(&record.command_invocations);
    let mut events: Vec<Event> =
        events.filter_map(|event| serde_json::from_str(event.text()).ok()).collect();
    events.sort_by_key(|event| event.sequence);
    events.iter().map(|event| (event.call(), event.outcome())).collect()
}

impl Event {
    fn call(&self) -> String {
        let arguments = match serde_json::from_str::<Vec<String>>(self.args.text()) {
            Ok(words) => shell_words::join(words),
            Err(_) => self.args.text().to_owned(),
        };
        let name = self.tool_name.as_ref().or(self.command.as_ref());
        short(&format!("{} {arguments}", name.map_or("", String::as_str)))
    }

    fn outcome(&self) -> String {
        let mut text = match &*self.reason {
            "matched" => self.matched(),
            reason => reason.replace('_', " "),
        };
        if self.fault {
            text.push_str(", fault");
        }
        if self.reason == "matched" && !self.delivered && !self.cancelled {
            text.push_str(", delivery unknown");
        }
        text
    }

    fn matched(&self) -> String {
        let exit = match self.exit_code {
            Some(code) => format!("exit {code}"),
            None => "exit unavailable".to_owned(),
        };
        let is_command = self.command.is_some();
        match (self.cancelled, self.success, &self.error) {
            (true, ..) if is_command => format!("cancelled, {exit}"),
            (true, ..) => "cancelled".to_owned(),
            (false, ..) if is_command => exit,
            (false, Some(true), _) => "success".to_owned(),
            (false, _, Some(error)) => short(&format!("error: {error}")),
            (false, _, None) => "unfinished".to_owned(),
        }
    }
}

/// The text in one line, without what would move a terminal's cursor.
pub(crate) fn short(text: &str) -> String {
    let printable =
        |c: char| if c.is_control() { c.escape_default().collect() } else { c.to_string() };
    let text: String = text.chars().map(printable).collect();
    if text.chars().count() <= MAX_CHARS {
        return text;
    }
    text.chars().take(MAX_CHARS - 1).chain(['…']).collect()
}
