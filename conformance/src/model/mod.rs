//! A scripted model: a server that speaks as a model provider does, and has a
//! real agent do what a script says.
//!
//! It keeps nothing between requests. What comes next is read off the
//! conversation that the agent sends, so a request that is repeated gets the
//! same answer.

mod dialect;
mod play;
mod reply;
mod server;
mod shell;
mod tools;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fixtures::document::task::{Action, CallAction};
use serde_json::{Map, Value};

use crate::cli::ModelArgs;
use crate::exit::Exit;

pub(crate) use server::Served;

/// What the model has the agent do, and the names of the tools for it.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) actions: Vec<Action>,
    /// How the agent names the tools of MCP servers, with `{server}` and `{tool}`.
    pub(crate) tool: String,
    /// Arguments that the agent asks of each call and keeps for itself, where its schemas have them.
    pub(crate) tool_arguments: Map<String, Value>,
    /// The agent's own tool that runs command lines.
    pub(crate) shell: ShellTool,
    /// The session whose journal tells which calls succeeded.
    pub(crate) session: Option<PathBuf>,
}

/// The tool that runs command lines.
#[derive(Debug, Clone)]
pub(crate) struct ShellTool {
    pub(crate) name: String,
    /// The argument that holds the command line: a string, or where the tool's
    /// schema has a list, one with nothing else in it.
    pub(crate) argument: String,
    /// Other arguments that it requires.
    pub(crate) arguments: Map<String, Value>,
    /// Whether the argument is a list of words, program first.
    pub(crate) takes_words: bool,
}

impl Script {
    /// Whether a model can have an agent do all of it.
    ///
    /// # Errors
    /// Why it cannot.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (place, action) in self.actions.iter().enumerate() {
            let Action::Call(CallAction { call, cancel_after_ms, .. }) = action else { continue };
            if cancel_after_ms.is_some() {
                return Err(format!(
                    "action {place} withdraws its call of {call} after a time, which is not a model's to do"
                ));
            }
            if !call.contains('.') {
                return Err(format!("action {place}: `{call}` is not SERVER.TOOL"));
            }
        }
        Ok(())
    }
}

/// Serves until the process is ended.
pub(crate) fn run(args: &ModelArgs) -> Exit {
    let served = read(args).and_then(|script| {
        let served = Served::start(script, args.port, Box::new(io::stderr()))?;
        writeln!(io::stdout(), "{}", served.url())
            .and_then(|()| io::stdout().flush())
            .map_err(|error| format!("cannot write to stdout: {error}"))?;
        served.wait()
    });
    match served {
        Ok(()) => Exit::Success,
        Err(reason) => crate::complain(&reason),
    }
}

fn read(args: &ModelArgs) -> Result<Script, String> {
    let (name, argument) = args
        .shell
        .split_once(':')
        .ok_or_else(|| format!("`{}` is not TOOL:ARGUMENT, as in Bash:command", args.shell))?;
    let shell = ShellTool {
        name: name.to_owned(),
        argument: argument.trim_end_matches("[]").to_owned(),
        arguments: args.shell_arguments.clone().unwrap_or_default().0,
        takes_words: argument.ends_with("[]"),
    };
    let tool = args.tool_format.clone();
    if !tool.contains("{tool}") {
        return Err(format!("`{tool}` does not name the tool: write {{tool}} into it"));
    }
    let session = args.session.clone();
    let tool_arguments = args.tool_arguments.clone().unwrap_or_default().0;
    let actions = actions(&args.script)?;
    let script = Script { actions, tool, tool_arguments, shell, session };
    script.check().map_err(|reason| format!("`{}`: {reason}", args.script.display()))?;
    Ok(script)
}

fn actions(path: &Path) -> Result<Vec<Action>, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| {
        format!("`{}` is no script, a JSON list of actions: {error}", path.display())
    })
}

/// A JSON object on the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arguments(Map<String, Value>);

impl std::str::FromStr for Arguments {
    type Err = String;

    fn from_str(text: &str) -> Result<Arguments, String> {
        serde_json::from_str(text)
            .map(Arguments)
            .map_err(|_| r#"write a JSON object, as in {"timeout": 60}"#.to_owned())
    }
}
