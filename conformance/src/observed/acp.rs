//! The stream of an agent that speaks the Agent Client Protocol, as
//! `agent-conformance acp` writes it down.

mod named;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Ended, Seen};

/// What agents say of a call that their own policy, or nobody's permission, has stopped.
const REFUSALS: [&str; 4] = [
    "Auto mode could not evaluate this action",
    "Automatic approval review",
    "The user doesn't want to proceed with this tool use",
    "requires approval",
];

/// Reads a stream, line by line. A call is told once, as soon as its arguments are known.
#[derive(Debug)]
pub(crate) struct Reader<'s> {
    servers: &'s [String],
    calls: BTreeMap<String, Call>,
    /// What was said since the last call.
    words: String,
    /// How much of that was told.
    told: usize,
    /// The message of which the last words were a part.
    message: Option<String>,
}

/// A call, as far as it is known.
#[derive(Debug, Default)]
struct Call {
    about: Map<String, Value>,
    is_told: bool,
    is_ended: bool,
}

/// What a whole stream tells.
pub(super) fn read(stream: &str, servers: &[String]) -> Vec<Seen> {
    let mut reader = Reader::new(servers);
    let mut seen: Vec<Seen> = lines(stream).flat_map(|line| reader.seen(&line)).collect();
    // A stream that was cut off has no last line.
    reader.finish(&mut seen);
    seen
}

/// Why the agent could not be asked, if that is so.
pub(crate) fn not_begun(stream: &str) -> Option<String> {
    let last = lines(stream).last().filter(|line| line["begun"] == false)?;
    last["failed"].as_str().map(str::to_owned)
}

/// The lines of a stream whose beginning may be missing.
fn lines(stream: &str) -> impl Iterator<Item = Value> {
    stream.lines().filter_map(|line| serde_json::from_str(line).ok())
}

impl<'s> Reader<'s> {
    /// A reader of the stream of an agent that has these servers.
    pub(crate) fn new(servers: &'s [String]) -> Reader<'s> {
        let (calls, words) = (BTreeMap::new(), String::new());
        Reader { servers, calls, words, told: 0, message: None }
    }

    /// What a line tells.
    pub(crate) fn seen(&mut self, line: &Value) -> Vec<Seen> {
        let mut seen = Vec::new();
        match line["sessionUpdate"].as_str() {
            Some("agent_message_chunk") => self.heard(line),
            Some("tool_call" | "tool_call_update") => self.called(line, &mut seen),
            Some(_) => {}
            None => {
                if let Some(permission) = line.get("permission") {
                    self.asked(permission, &mut seen);
                } else if line.get("stop").is_some() {
                    self.finish(&mut seen);
                    seen.push(Seen::Answer(self.words.clone()));
                } else if line.get("failed").is_some() {
                    self.finish(&mut seen);
                }
            }
        }
        seen
    }

    fn heard(&mut self, chunk: &Value) {
        let Some(text) = chunk["content"]["text"].as_str() else { return };
        let message = chunk["messageId"].as_str().map(str::to_owned);
        let is_another = message.is_some() && self.message.is_some() && message != self.message;
        if is_another && !self.words.is_empty() {
            self.words.push('\n');
        }
        self.message = message.or(self.message.take());
        self.words.push_str(text);
    }

    fn called(&mut self, update: &Value, seen: &mut Vec<Seen>) {
        let Some(id) = self.known(update, seen) else { return };
        let how = match update["status"].as_str() {
            Some("completed") => Ended::Done,
            Some("failed") => failed(words(&self.calls[&id].about)),
            _ => return,
        };
        self.end(&id, how, seen);
    }

    fn asked(&mut self, permission: &Value, seen: &mut Vec<Seen>) {
        let mut call = permission["toolCall"].clone();
        if let Some(about) = call.as_object_mut().filter(|it| !it.contains_key("rawInput")) {
            // Some show the arguments to whoever is asked, and tell them nowhere else.
            let shown = serde_json::from_str(&content(about)).ok().filter(Value::is_object);
            about.extend(shown.map(|arguments| ("rawInput".to_owned(), arguments)));
        }
        let Some(id) = self.known(&call, seen) else { return };
        let chosen = permission["chosen"].as_str();
        if !chosen.is_some_and(|kind| kind.starts_with("allow")) {
            let why = chosen.unwrap_or("nothing that could be chosen allows it");
            self.end(&id, Ended::Refused(format!("no permission: {why}")), seen);
        }
    }

    /// Adds what is said about a call to what is known, and tells of it if that is enough.
    fn known(&mut self, update: &Value, seen: &mut Vec<Seen>) -> Option<String> {
        let id = update["toolCallId"].as_str()?.to_owned();
        if !self.calls.contains_key(&id) {
            self.tell_words(seen);
            self.words.clear();
            self.told = 0;
        }
        let call = self.calls.entry(id.clone()).or_default();
        for (name, value) in update.as_object()? {
            let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
            if !is_empty {
                call.about.insert(name.clone(), value.clone());
            }
        }
        if named::is_known(&call.about) {
            self.tell(&id, seen);
        }
        Some(id)
    }

    /// Tells of a call once.
    fn tell(&mut self, id: &str, seen: &mut Vec<Seen>) {
        let Some(call) = self.calls.get_mut(id).filter(|call| !call.is_told) else { return };
        call.is_told = true;
        let id = id.to_owned();
        seen.push(match named::command(&call.about) {
            Some(command) => Seen::Command { id, command },
            None => {
                let (server, tool, arguments) = named::call(&call.about, self.servers);
                Seen::Call { id, server, tool, arguments }
            }
        });
    }

    fn end(&mut self, id: &str, how: Ended, seen: &mut Vec<Seen>) {
        self.tell(id, seen);
        if let Some(call) = self.calls.get_mut(id).filter(|call| !call.is_ended) {
            call.is_ended = true;
            seen.push(Seen::Ended { id: id.to_owned(), how });
        }
    }

    fn tell_words(&mut self, seen: &mut Vec<Seen>) {
        if let Some(words) = self.words.get(self.told..).filter(|words| !words.is_empty()) {
            seen.push(Seen::Said(words.to_owned()));
            self.told = self.words.len();
        }
    }

    /// Tells what was not told yet.
    fn finish(&mut self, seen: &mut Vec<Seen>) {
        let untold = self.calls.iter().filter(|(_, call)| !call.is_told);
        let untold: Vec<String> = untold.map(|(id, _)| id.clone()).collect();
        untold.iter().for_each(|id| self.tell(id, seen));
        self.tell_words(seen);
    }
}

fn failed(words: String) -> Ended {
    match REFUSALS.iter().any(|refusal| words.contains(refusal)) {
        true => Ended::Refused(words),
        false => Ended::Failed(words),
    }
}

/// What is said of the outcome of a call.
fn words(about: &Map<String, Value>) -> String {
    match (about.get("rawOutput"), content(about)) {
        (Some(Value::String(text)), _) => text.clone(),
        (Some(output), content) if content.is_empty() => output.to_string(),
        (_, content) => content,
    }
}

/// The text that stands beside a call.
fn content(about: &Map<String, Value>) -> String {
    let content = about.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> = content.filter_map(|block| block["content"]["text"].as_str()).collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests;
