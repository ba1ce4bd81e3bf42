//! Decides what the model does next, from the conversation alone.

use std::path::Path;
use std::time::Duration;

use fixtures::document::task::{Action, CallAction, RunAction, SayAction, Until, WriteAction};
use fixtures::journal::record::Outcome;
use fixtures::session::Session;
use serde_json::{Map, Value, json};

use super::Script;
use super::dialect::{Answered, Request, Turn};
use super::shell;
use super::tools::{self, Way};
use crate::scripted::tries;

/// What is said to a request that is none of the agent's work, such as for a title.
const ASIDE: &str = "Scripted run";

/// A call of the model: which action, which of its tries, and whether it only searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    action: usize,
    attempt: u32,
    searches: bool,
}

impl Step {
    fn first(action: usize) -> Step {
        Step { action, attempt: 1, searches: false }
    }

    fn id(self) -> String {
        let verb = if self.searches { "find" } else { "call" };
        format!("{verb}_s{}_t{}", self.action, self.attempt)
    }

    /// The step of an id, with whatever the agent has put around it.
    fn of(id: &str) -> Option<Step> {
        let read = |verb: &str| {
            let (_, rest) = id.rsplit_once(verb)?;
            let (action, rest) = rest.split_once("_t")?;
            let digits = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
            let (action, attempt) = (action.parse().ok()?, rest[..digits].parse().ok()?);
            Some(Step { action, attempt, searches: verb == "find_s" })
        };
        read("call_s").or_else(|| read("find_s"))
    }
}

/// The next turn, and how long the script has the model wait before it.
pub(super) fn next(script: &Script, request: &Request) -> (Turn, Duration) {
    if request.tools.is_empty() && script.actions.iter().any(needs_tool) {
        let text = if request.wants_json { "{}" } else { ASIDE };
        return (Turn::Say { id: "aside".to_owned(), text: text.to_owned() }, Duration::ZERO);
    }
    let mut step = reached(script, &request.results);
    let mut wait = Duration::ZERO;
    while let Some(action) = script.actions.get(step.action).filter(|it| !needs_tool(it)) {
        if let Action::Sleep(sleep) = action {
            wait = wait.saturating_add(Duration::from_millis(sleep.sleep_ms));
        }
        step = Step::first(step.action + 1);
    }
    let turn = match script.actions.get(step.action) {
        Some(action) => act(script, request, action, step),
        None => Turn::Say { id: "end".to_owned(), text: answer(&script.actions) },
    };
    (turn, wait)
}

fn needs_tool(action: &Action) -> bool {
    !matches!(action, Action::Say(_) | Action::Sleep(_))
}

/// All that is said, a line each.
fn answer(actions: &[Action]) -> String {
    let said = actions.iter().filter_map(|action| match action {
        Action::Say(SayAction { say }) => Some(say.as_str()),
        _ => None,
    });
    let said: Vec<&str> = said.collect();
    // Agents take an answer without words for none.
    if said.is_empty() { "Done".to_owned() } else { said.join("\n") }
}

/// The step that the conversation has come to.
fn reached(script: &Script, results: &[Answered]) -> Step {
    let told = results.iter().rev().find_map(|result| {
        let step = Step::of(result.id.as_deref()?)?;
        Some(after(script, step, result, script.session.as_deref()))
    });
    // An agent that drops ids keeps the order.
    let nameless = results.iter().filter(|result| result.id.is_none());
    told.unwrap_or_else(|| {
        nameless
            .fold(Step::first(0), |step, result| after(script, pending(script, step), result, None))
    })
}

/// The step with which the model went on from here.
fn pending(script: &Script, mut step: Step) -> Step {
    while script.actions.get(step.action).is_some_and(|action| !needs_tool(action)) {
        step = Step::first(step.action + 1);
    }
    step
}

/// The step after one that came to this.
fn after(script: &Script, step: Step, result: &Answered, session: Option<&Path>) -> Step {
    if step.searches {
        return Step { searches: false, ..step };
    }
    let next = Step::first(step.action + 1);
    let (until, at_most) = match script.actions.get(step.action) {
        Some(Action::Call(CallAction { until, at_most, .. })) => (*until, *at_most),
        Some(Action::Run(RunAction { until, at_most, .. })) => (*until, *at_most),
        _ => return next,
    };
    let is_success = || match script.actions.get(step.action) {
        Some(Action::Call(CallAction { call, .. })) => match session {
            Some(session) => last_outcome(session, call) == Some(Outcome::Success),
            None => !result.is_error && !sounds_failed(&result.text),
        },
        _ => shell::has_succeeded(&result.text),
    };
    let is_over = step.attempt >= tries(until, at_most) || until.is_some() && is_success();
    if is_over { next } else { Step { attempt: step.attempt + 1, ..step } }
}

/// How the last call of a tool ended, by the record.
fn last_outcome(session: &Path, call: &str) -> Option<Outcome> {
    let fold = Session::open(session).and_then(|session| session.fold()).ok()?;
    fold.attempts.iter().rev().find(|attempt| attempt.name() == call)?.outcome
}

/// Whether an agent that does not mark errors seems to tell of one.
fn sounds_failed(text: &str) -> bool {
    let text = text.trim_start().to_ascii_lowercase();
    let begins = ["error", "failed", "mcp error", "mcp server", "tool call error"];
    let holds = [
        "\"iserror\":true",
        "\"is_error\":true",
        "reported tool error",
        "returned an error",
        "mcp error",
        "error executing",
        "tool call error",
        "an error occurred during execution",
    ];
    begins.iter().any(|it| text.starts_with(it)) || holds.iter().any(|it| text.contains(it))
}

fn act(script: &Script, request: &Request, action: &Action, step: Step) -> Turn {
    let command = match action {
        Action::Call(call) => return make(script, request, call, step),
        Action::Run(RunAction { run, until: Some(Until::Success), .. }) => shell::telling(run),
        Action::Run(RunAction { run, until: None, .. }) => run.clone(),
        Action::Write(WriteAction { write, text }) => shell::write(write, text),
        Action::Read(read) => shell::read(&read.read),
        Action::Delete(delete) => shell::delete(&delete.delete),
        Action::Sleep(_) | Action::Say(_) => String::new(),
    };
    let shell = &script.shell;
    let Some(tool) = tools::own(&request.tools, &shell.name) else {
        return missing(&format!("a shell `{}`", shell.name), request);
    };
    let line = match tool.takes_list(&shell.argument) {
        _ if shell.takes_words => json!(["sh", "-c", command]),
        true => json!([command]),
        false => json!(command),
    };
    let mut arguments = shell.arguments.clone();
    arguments.insert(shell.argument.clone(), line);
    tool.complete(&mut arguments, &script.tool_arguments);
    Turn::Call { id: step.id(), tool: tool.clone(), arguments }
}

fn make(script: &Script, request: &Request, action: &CallAction, step: Step) -> Turn {
    let CallAction { call, arguments, .. } = action;
    let name = call.split_once('.').unwrap_or(("", call));
    let searched = request.results.iter().filter_map(|result| Step::of(result.id.as_deref()?));
    let searched = searched.filter(|step| step.searches).any(|step| {
        matches!(script.actions.get(step.action), Some(Action::Call(other)) if other.call == *call)
    });
    let (id, tool, mut arguments): (String, _, Map<String, Value>) =
        match tools::way(&request.tools, &script.tool, name, arguments, searched) {
            Way::Call(tool, arguments) => (step.id(), tool, arguments),
            Way::Search(tool, arguments) => (Step { searches: true, ..step }.id(), tool, arguments),
            Way::None => return missing(&format!("a tool for {call}"), request),
        };
    tool.complete(&mut arguments, &script.tool_arguments);
    Turn::Call { id, tool, arguments }
}

/// Words for a request that does not offer what comes next.
fn missing(what: &str, request: &Request) -> Turn {
    let names: Vec<String> = request.tools.iter().map(tools::Tool::full).collect();
    let text = if request.wants_json {
        "{}".to_owned()
    } else {
        format!("the script needs {what}, and only these tools are offered: {}", names.join(", "))
    };
    Turn::Say { id: "aside".to_owned(), text }
}
