//! Whether agent and mocks were in contact, by the journal and by what the
//! agent's own events say.
//!
//! What never reached a mock is no behaviour of the agent's under test: the
//! wiring, an approval or a way around the shims is to blame, and is named.

use fixtures::document::Document;
use fixtures::document::task::CallOutcome;
use fixtures::matching::equal;
use fixtures::redact::Redactor;
use serde_json::Value;

use crate::grade::{Call, calls_of};
use crate::observed::{self, Ended, Seen, commands, is_refusal};
use crate::plain;
use crate::results::{AgentCall, How, Record};

/// So much of a text of the agent's is told.
const MAX_CHARS: usize = 200;

/// What an agent's own events say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heard<'a> {
    /// In order; none where they cannot be read.
    pub(crate) seen: Option<&'a [Seen]>,
    /// The template of a tool's name in them.
    pub(crate) tool: Option<&'a str>,
    pub(crate) redactor: &'a Redactor,
}

/// What is known about a run.
#[derive(Debug)]
pub(crate) struct Contact<'a> {
    document: &'a Document,
    record: &'a Record,
    heard: Heard<'a>,
    /// The agent's own calls of mocks, as its events have them.
    own: Option<Vec<AgentCall>>,
    /// The attempts on record.
    recorded: Vec<Call>,
}

impl<'a> Contact<'a> {
    pub(crate) fn new(document: &'a Document, record: &'a Record, heard: Heard<'a>) -> Contact<'a> {
        let own = heard.own_calls(document);
        Contact { document, record, heard, own, recorded: calls_of(record) }
    }

    /// The agent's own calls of mocks; none where its events cannot be read.
    pub(crate) fn into_own_calls(self) -> Option<Vec<AgentCall>> {
        self.own
    }

    /// Why the run is none, where the agent was promised to be wired.
    pub(crate) fn broken(&self) -> Option<String> {
        self.not_approved()
            .or_else(|| self.not_arrived())
            .or_else(|| self.bypassed())
            .or_else(|| self.not_wired())
    }

    fn not_approved(&self) -> Option<String> {
        let stopped = self.heard.seen?.iter().find_map(|it| match it {
            Seen::Problem(words) if is_refusal(words) => Some(words),
            _ => None,
        });
        if let Some(words) = stopped {
            return Some(format!(
                "not approved: the agent's own policy ended the run: {}",
                self.heard.short(words)
            ));
        }
        let calls = self.own.as_deref()?;
        let refused = calls.iter().find(|call| {
            let is_of_mock = match call.operation.as_str() {
                "shell" => self.mocked_in(call).is_some(),
                // Some tell of one that was stopped in the middle as of a refusal.
                tool => self.reached(tool) < made(calls, tool),
            };
            call.how == How::Refused && is_of_mock
        })?;
        let words = refused.words.as_deref().unwrap_or("it gave no reason");
        let what = match refused.operation.as_str() {
            "shell" => format!("the command {}", refused.arguments),
            tool => format!("the tool {tool}"),
        };
        Some(format!("not approved: the agent's own policy refused {what}: {words}"))
    }

    /// A call that the events show, and of which the journal knows nothing.
    fn not_arrived(&self) -> Option<String> {
        let calls = self.own.as_deref()?;
        for call in calls.iter().filter(|call| call.operation != "shell") {
            let (made, arrived) = (made(calls, &call.operation), self.reached(&call.operation));
            if made > arrived {
                let words = call.words.as_ref().map_or(String::new(), |it| format!(": {it}"));
                return Some(format!(
                    "not wired: the agent's events show {made} calls of {}, of which {arrived} reached the mock{words}",
                    call.operation
                ));
            }
        }
        None
    }

    /// How many calls of a tool are on record.
    fn reached(&self, operation: &str) -> usize {
        self.recorded.iter().filter(|it| it.operation == operation).count()
    }

    /// The mocked executable that a command is sure to start.
    fn mocked_in(&self, call: &AgentCall) -> Option<commands::Started> {
        let line = call.arguments.as_str()?;
        let is_mocked = |it: &commands::Started| {
            self.document.command_mocks.iter().any(|mock| mock.name == it.name)
        };
        commands::started(line).into_iter().find(is_mocked)
    }

    /// A command that names a mocked executable, and reached another one or none.
    fn bypassed(&self) -> Option<String> {
        let calls = self.own.as_deref()?;
        let is_run = |call: &&AgentCall| call.operation == "shell" && call.how != How::Unknown;
        calls.iter().filter(is_run).find_map(|call| {
            let started = self.mocked_in(call)?;
            let operation = format!("command:{}", started.name);
            let is_elsewhere =
                started.word.contains('/') && !started.word.contains("/session/bin/");
            let is_recorded = self.recorded.iter().any(|it| it.operation == operation);
            if is_recorded && !is_elsewhere {
                return None;
            }
            let words = call.words.as_deref().unwrap_or_default();
            let cause = match &started.by {
                _ if words.contains("make the session directory writable") => {
                    "the agent's sandbox lets nothing write the session".to_owned()
                }
                _ if is_elsewhere => "it was started by a path of its own".to_owned(),
                Some(by) => format!("it was started by `{by}`, which has another PATH"),
                None if words.contains("not found") => {
                    "the agent's shell has another PATH, as a login shell that resets it".to_owned()
                }
                None => "perhaps a login shell that resets PATH, or an alias".to_owned(),
            };
            let says = if words.is_empty() { String::new() } else { format!("; it saw: {words}") };
            Some(format!(
                "bypassed: the agent ran `{}`, of which no call of {} is on record: {cause}{says}",
                plain::short(call.arguments.as_str().unwrap_or_default(), MAX_CHARS),
                started.name
            ))
        })
    }

    /// A mocked server that was never initialised.
    fn not_wired(&self) -> Option<String> {
        let is_silent = |name: &&String| {
            let prefix = format!("{name}.");
            !self.record.contacts.iter().any(|it| it == *name || it.starts_with(&prefix))
        };
        let servers = self.document.mcp_mocks.iter().map(|mock| &mock.name);
        if let Some(server) = servers.into_iter().find(is_silent) {
            return Some(format!(
                "not wired: the agent never initialised the server `{server}`{}",
                self.why_not(server)
            ));
        }
        let says_nothing = self.heard.seen.is_some_and(<[Seen]>::is_empty);
        let has_failed = self.record.exit.code.is_none_or(|code| code != 0);
        let is_out_of_touch =
            !self.record.has_contact() && has_failed && !self.record.exit.timed_out;
        (is_out_of_touch && (says_nothing || self.heard.seen.is_none()))
            .then(|| format!("the agent got in touch with no mock{}", self.why_not("")))
    }

    /// What is known of the reason.
    fn why_not(&self, server: &str) -> String {
        let seen = self.heard.seen.unwrap_or_default();
        let status = seen.iter().rev().find_map(|it| match it {
            Seen::Server { name, connected: false, detail } if is_like(name, server) => {
                Some(format!(": it says `{detail}`"))
            }
            _ => None,
        });
        let problem = observed::problem(seen).map(|it| format!(": {}", self.heard.short(it)));
        let exit = self.record.exit.code.filter(|code| *code != 0).map(|code| {
            let complaint = self.record.complaint.as_deref().unwrap_or("it said nothing");
            format!(", and ended with status {code}: {}", self.heard.short(complaint))
        });
        status.or(problem).or(exit).unwrap_or_default()
    }

    /// The attempts that the agent's client made again by itself, by `sequence`:
    /// those of an operation and its arguments that no call of the agent's is left for.
    pub(crate) fn repeated(&self) -> Option<Vec<u64>> {
        let own = self.own.as_deref()?;
        let mut repeated = Vec::new();
        let mut left: Vec<&Call> =
            self.recorded.iter().filter(|it| !it.operation.starts_with("command:")).collect();
        while let Some(first) = left.first().copied() {
            let is_same = |operation: &str, arguments: &Value| {
                operation == first.operation && equal(arguments, &first.arguments)
            };
            let (attempts, others): (Vec<&Call>, Vec<&Call>) =
                left.into_iter().partition(|it| is_same(&it.operation, &it.arguments));
            left = others;
            let calls: Vec<&AgentCall> =
                own.iter().filter(|it| is_same(&it.operation, &it.arguments)).collect();
            // What the events do not show at all may be the agent's all the same.
            if !calls.is_empty() && attempts.len() > calls.len() {
                repeated.extend(surplus(&attempts, &calls));
            }
        }
        repeated.sort_unstable();
        Some(repeated)
    }
}

impl Heard<'_> {
    /// The agent's own calls of mocks, as its events have them.
    fn own_calls(&self, document: &Document) -> Option<Vec<AgentCall>> {
        let seen = self.seen?;
        let calls = seen.iter().filter_map(|it| match it {
            Seen::Call { id, server, tool, arguments } => {
                let operation = self.operation(document, server.as_deref(), tool)?;
                let arguments = match arguments.as_object() {
                    Some(arguments) => Value::Object(self.redactor.object(arguments)),
                    None => Value::Null,
                };
                let (how, words) = self.ended(id);
                Some(AgentCall { operation, arguments, how, words })
            }
            Seen::Command { id, command } => {
                let (how, words) = self.ended(id);
                let arguments = Value::String(self.redactor.text(command).into_owned());
                let operation = "shell".to_owned();
                Some(AgentCall { operation, arguments, how, words })
            }
            _ => None,
        });
        Some(calls.collect())
    }

    /// How a call ended, and what was said about it.
    fn ended(&self, id: &str) -> (How, Option<String>) {
        let ended = self.seen.iter().copied().flatten().rev().find_map(|it| match it {
            Seen::Ended { id: of, how } if of == id => Some(how),
            _ => None,
        });
        let words = |text: &String| {
            Some(plain::short(&self.redactor.text(text), MAX_CHARS)).filter(|it| !it.is_empty())
        };
        match ended {
            None => (How::Unknown, None),
            Some(Ended::Done) => (How::Done, None),
            Some(Ended::Failed(text)) => (How::Failed, words(text)),
            Some(Ended::Refused(text)) => (How::Refused, words(text)),
        }
    }

    /// The mocked operation that a name in the events means.
    fn operation(&self, document: &Document, server: Option<&str>, tool: &str) -> Option<String> {
        let all = document.mcp_mocks.iter();
        let mut all = all.flat_map(|mock| mock.tools.keys().map(move |tool| (&mock.name, tool)));
        let is_meant = |(mock, name): &(&String, &String)| match server {
            Some(server) => is_like(server, mock) && is_like(tool, name),
            None => {
                let rendered = self.tool.unwrap_or("{tool}");
                let rendered = rendered.replace("{server}", mock).replace("{tool}", name);
                is_like(tool, &rendered) || is_like(tool, &format!("{mock}_{name}"))
            }
        };
        all.find(is_meant).map(|(mock, name)| format!("{mock}.{name}"))
    }

    fn short(&self, text: &str) -> String {
        plain::short(&self.redactor.text(text), MAX_CHARS)
    }
}

/// The attempts that stand for none of the agent's calls. A client repeats until
/// it has what it tells the agent, so that the last attempt of that outcome is the call's.
fn surplus(attempts: &[&Call], calls: &[&AgentCall]) -> Vec<u64> {
    let mut left: Vec<&Call> = attempts.to_vec();
    for call in calls.iter().rev() {
        let is_told = |it: &&Call| match call.how {
            How::Done => it.outcome == CallOutcome::Success,
            How::Failed | How::Refused => it.outcome != CallOutcome::Success,
            How::Unknown => true,
        };
        let place = left.iter().rposition(is_told).unwrap_or(left.len() - 1);
        left.remove(place);
    }
    left.iter().map(|it| it.sequence).collect()
}

/// How many calls of a tool the events show.
fn made(calls: &[AgentCall], operation: &str) -> usize {
    // One whose end is not told may have been under way when the agent ended.
    let is_same = |it: &&AgentCall| it.operation == operation && it.how != How::Unknown;
    calls.iter().filter(is_same).count()
}

/// Whether two names are the same to an agent, which has few characters for names.
fn is_like(left: &str, right: &str) -> bool {
    let plain = |text: &str| -> String {
        let word = |it: char| if it.is_alphanumeric() { it.to_ascii_lowercase() } else { '_' };
        let mut plain: String = text.chars().map(word).collect();
        while plain.contains("__") {
            plain = plain.replace("__", "_");
        }
        plain
    };
    plain(left) == plain(right)
}
