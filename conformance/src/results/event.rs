//! One attempt, as results have it.

use std::collections::BTreeMap;

use fixtures::document::Json;
use fixtures::journal::record::{ReadText, Reason};
use serde::Deserialize;

use super::Record;

/// A tool event or a command invocation, as far as anybody looks at it.
#[derive(Debug, Deserialize)]
pub(crate) struct Event {
    pub(crate) sequence: u64,
    pub(crate) tool_name: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) args: Json,
    pub(crate) stdin: Option<ReadText>,
    pub(crate) cwd: Option<String>,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, Option<String>>,
    pub(crate) success: Option<bool>,
    pub(crate) result: Option<Json>,
    pub(crate) error: Option<String>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) reason: Reason,
    pub(crate) response_index: i64,
    pub(crate) fault: bool,
    pub(crate) cancelled: bool,
    #[serde(default)]
    pub(crate) delivered: bool,
}

impl Event {
    /// The attempts of a run, in the order of the journal. What is none is left
    /// out, which [`Event::unreadable`] tells of results that are read.
    pub(crate) fn all(record: &Record) -> Vec<Event> {
        let all = record.tool_events.iter().chain(&record.command_invocations);
        let mut events: Vec<Event> =
            all.filter_map(|event| serde_json::from_str(event.text()).ok()).collect();
        events.sort_by_key(|event| event.sequence);
        events
    }

    /// Where an attempt stands that nobody can read, and why: judged without it,
    /// the evidence would have a hole.
    pub(crate) fn unreadable(record: &Record) -> Option<(String, String)> {
        let tools = record.tool_events.iter().enumerate().map(|it| ("tool_events", it));
        let commands = record.command_invocations.iter().enumerate();
        let mut all = tools.chain(commands.map(|it| ("command_invocations", it)));
        all.find_map(|(list, (index, event))| {
            let why = Event::fault(event, list == "tool_events")?;
            Some((format!("{list}[{index}]"), why))
        })
    }

    fn fault(event: &Json, is_tool: bool) -> Option<String> {
        let missing = match serde_json::from_str::<Event>(event.text()) {
            Ok(event) if is_tool => event.tool_name.is_none().then_some("tool_name"),
            Ok(event) => event.command.is_none().then_some("command"),
            Err(error) => {
                // Lines and columns of the attempt alone would mislead.
                let error = error.to_string();
                return error.split(" at line ").next().map(str::to_owned);
            }
        };
        missing.map(|name| format!("missing field `{name}`"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::{Value, json};

    use super::Event;
    use crate::results::Record;
    use crate::results::testing::record;

    #[test]
    fn an_attempt_that_nobody_can_read_is_named() {
        let tool = |name: &str| {
            json!({
                name: "s.t", "sequence": 1, "args": {}, "reason": "matched", "response_index": 0,
                "fault": false, "cancelled": false,
            })
        };
        let unreadable = |tools: Value, commands: Value| {
            let mut value = serde_json::to_value(record()).unwrap();
            (value["tool_events"], value["command_invocations"]) = (tools, commands);
            let record: Record = serde_json::from_str(&value.to_string()).unwrap();
            Event::unreadable(&record)
        };
        let good = || tool("tool_name");
        let mut odd = good();
        odd["reason"] = json!("odd");
        assert_eq!(unreadable(json!([good()]), json!([tool("command")])), None);
        for (tools, commands, place, why) in [
            (json!([good(), odd]), json!([]), "tool_events[1]", "unknown variant `odd`"),
            (json!([tool("command")]), json!([]), "tool_events[0]", "missing field `tool_name`"),
            (json!([]), json!([good()]), "command_invocations[0]", "missing field `command`"),
            (json!([]), json!([{}]), "command_invocations[0]", "missing field `sequence`"),
        ] {
            let (found, reason) = unreadable(tools, commands).unwrap();
            assert_eq!(found, place);
            assert!(reason.starts_with(why) && !reason.contains(" at line "), "{reason}");
        }
    }
}
