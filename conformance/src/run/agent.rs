//! Agents: what is started, in which words.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use fixtures::document::PathGlob;
use fixtures::document::task::{Action, SelfTest, Task};
use fixtures::session::Session;

use super::setup::Wired;
use crate::acp;
use crate::adapter::{self, Adapter, Answer, Door, Found, Place};
use crate::exec::command;
use crate::find;
use crate::model::{Script, Served, ShellTool};
use crate::observed::{self, Dialect, Seen};
use crate::results;
use crate::wiring;

/// Who is run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Agent<'a> {
    /// Plays a script, through a real client and a real shell.
    Scripted(&'a [Action]),
    /// A command line of the user's.
    Command(&'a Template),
    /// A command line of the user's that speaks the Agent Client Protocol.
    Acp {
        template: &'a Template,
        /// How it logs in.
        login: Option<&'a str>,
        /// The mode of its session.
        mode: Option<&'a str>,
    },
    /// One that an adapter knows.
    Adapter(&'a Hired),
}

/// An agent that an adapter knows, and that is here.
#[derive(Debug)]
pub(crate) struct Hired {
    pub(crate) adapter: Adapter,
    pub(crate) found: Found,
    /// Arguments of the user's beside those of the adapter.
    pub(crate) more: Vec<String>,
    /// Whether a scripted model has it play the good script of each case.
    pub(crate) is_scripted: bool,
    /// What its harness writes into the workspace.
    pub(crate) ignored: Vec<PathGlob>,
}

impl Hired {
    /// Finds the agent of a built-in name, or of an adapter file.
    ///
    /// # Errors
    /// There is no such adapter, or its program is not here, or it cannot be
    /// pointed at the scripted model that it is to have.
    pub(crate) fn find(name: &str, more: &[String], is_scripted: bool) -> Result<Hired, String> {
        let adapter = Adapter::find(name)?;
        let found = adapter::detect(&adapter).ok_or_else(|| {
            let Adapter { title, detect, .. } = &adapter;
            format!("{title} is not here: there is no `{}` on PATH", detect.program)
        })?;
        if is_scripted && adapter.model.is_none() {
            return Err(format!(
                "`--scripted-model` is not for {}: its adapter has no `[model]`, which points it at one",
                adapter.title
            ));
        }
        let ignored = adapter.ignored()?;
        Ok(Hired { adapter, found, more: more.to_vec(), is_scripted, ignored })
    }

    /// The dialect in which it tells what it does.
    fn dialect(&self) -> Option<Dialect> {
        match self.adapter.door {
            Door::Acp => Some(Dialect::Acp),
            Door::Native => self.adapter.events,
        }
    }
}

/// A command line with placeholders, in words.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    words: Vec<String>,
}

/// What to start.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    /// Every variable, where the agent does not get those of the runner.
    pub(super) environment: Option<Vec<(OsString, OsString)>>,
    /// Commands that are run before it, in the same environment.
    pub(super) before: Vec<Vec<String>>,
}

impl Launch {
    fn new(program: PathBuf, arguments: Vec<String>) -> Launch {
        Launch { program, arguments, environment: None, before: Vec::new() }
    }
}

/// What stands for something else in a template. `{mcp_url}` waits for HTTP.
const PLACEHOLDERS: [&str; 7] =
    ["prompt", "prompt_file", "mcp_json", "shim_dir", "workspace", "home", "session"];

impl Template {
    /// Splits the command line of a flag into words, as a POSIX shell quotes them.
    ///
    /// # Errors
    /// A quote is open, there is no word, or a placeholder cannot be filled in.
    pub(crate) fn parse(flag: &str, text: &str) -> Result<Template, String> {
        let words = shell_words::split(text)
            .map_err(|_| format!("`{flag} {text}` has a quote that is not closed"))?;
        if words.first().is_none_or(String::is_empty) {
            return Err(format!("`{flag}` names no program"));
        }
        if words.iter().any(|word| word.contains("{mcp_url}")) {
            return Err(format!(
                "`{flag}` has {{mcp_url}}, but mocks are not served over HTTP yet: use {{mcp_json}}"
            ));
        }
        Ok(Template { words })
    }

    /// Whether the agent is told where something is.
    pub(crate) fn names(&self, placeholder: &str) -> bool {
        let placeholder = format!("{{{placeholder}}}");
        self.words.iter().any(|word| word.contains(&placeholder))
    }

    /// Words that name a file here, and another one or none where the agent starts.
    pub(crate) fn relative_files(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().skip(1).map(String::as_str);
        words.filter(|word| Path::new(word).is_relative() && Path::new(word).is_file())
    }

    /// The program, and its arguments.
    fn command(&self, wired: &Wired, prompt: &str) -> Result<(PathBuf, Vec<String>), String> {
        let mut words = self.fill_in(wired, prompt)?.into_iter();
        let name = words.next().unwrap_or_default();
        let program = command::find(OsStr::new(&name), &wired.path)
            .map_err(|not_run| format!("the agent does not start: {}", not_run.reason))?;
        // The agent starts in its workspace.
        let program = std::path::absolute(&program)
            .map_err(|error| format!("cannot tell where `{name}` is: {error}"))?;
        Ok((program, words.collect()))
    }

    fn fill_in(&self, wired: &Wired, prompt: &str) -> Result<Vec<String>, String> {
        let text = |path: &Path| wiring::utf8(path).map(str::to_owned);
        let mut values = Vec::new();
        for name in PLACEHOLDERS.into_iter().filter(|name| self.names(name)) {
            let value = match name {
                "prompt" => prompt.to_owned(),
                "prompt_file" => text(&written(wired.folder.join("prompt.txt"), prompt)?)?,
                "mcp_json" => text(&wired.mcp_json)?,
                "shim_dir" => text(&wired.session.directory().join("bin"))?,
                "workspace" => text(&wired.workspace)?,
                "home" => text(&made(wired.folder.join("home"))?)?,
                _ => text(wired.session.directory())?,
            };
            values.push((name, value));
        }
        let values: Vec<(&str, &OsStr)> =
            values.iter().map(|(name, value)| (*name, OsStr::new(value))).collect();
        let words = self.words.iter().map(|word| wiring::fill_in(OsStr::new(word), &values));
        let text = |word: OsString| word.into_string().expect("words and values are text");
        Ok(words.map(text).collect())
    }
}

impl Agent<'_> {
    /// Who it is, for the results.
    pub(super) fn about(&self) -> results::Agent {
        match self {
            Agent::Scripted(_) => results::Agent {
                name: results::SCRIPTED.to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            },
            Agent::Command(template) | Agent::Acp { template, .. } => {
                let program = Path::new(&template.words[0]);
                let name = program.file_name().unwrap_or(program.as_os_str());
                results::Agent { name: name.to_string_lossy().into_owned(), version: None }
            }
            Agent::Adapter(hired) => results::Agent {
                name: hired.adapter.name.clone(),
                version: hired.found.version.clone(),
            },
        }
    }

    /// The model that has it play a script, where it is to have one.
    ///
    /// # Errors
    /// No model can play it, or none can be served.
    pub(super) fn model(&self, task: &Task, session: &Session) -> Result<Option<Served>, String> {
        let Agent::Adapter(hired) = self else { return Ok(None) };
        let script = task.self_test.as_ref().filter(|_| hired.is_scripted);
        let serve = |script: &SelfTest| {
            let script = hired.played(&script.good, Some(session));
            Served::start(script, 0, Box::new(std::io::sink()))
        };
        script.map(serve).transpose()
    }

    /// What an adapter knows to be the harness's own in the workspace.
    pub(super) fn ignored(&self) -> &[PathGlob] {
        match self {
            Agent::Adapter(hired) => &hired.ignored,
            Agent::Scripted(_) | Agent::Command(_) | Agent::Acp { .. } => &[],
        }
    }

    pub(super) fn launch(
        &self,
        wired: &Wired,
        prompt: &str,
        model_url: Option<&str>,
    ) -> Result<Launch, String> {
        match self {
            Agent::Scripted(script) => {
                let actions = serde_json::to_string(script).expect("string keys always serialise");
                let file = written(wired.folder.join("script.json"), &actions)?;
                let program = find::this()?;
                let text = |path: &Path| wiring::utf8(path).map(str::to_owned);
                let arguments = vec!["scripted".to_owned(), text(&file)?, text(&wired.mcp_json)?];
                Ok(Launch::new(program, arguments))
            }
            Agent::Command(template) => {
                let (program, arguments) = template.command(wired, prompt)?;
                Ok(Launch::new(program, arguments))
            }
            Agent::Acp { template, login, mode } => {
                let (agent, arguments) = template.command(wired, prompt)?;
                let (program, arguments) =
                    by_acp(wired, &agent, arguments, (*login, *mode), prompt)?;
                Ok(Launch::new(program, arguments))
            }
            Agent::Adapter(hired) => hired.launch(wired, prompt, model_url),
        }
    }

    /// What it said, of what it wrote on its standard output, and how many bytes of that are missing.
    ///
    /// # Errors
    /// It could not be asked.
    pub(super) fn answer(
        &self,
        written: (String, u64),
        seen: Option<&[Seen]>,
    ) -> Result<(String, u64), String> {
        let by_events = match self {
            Agent::Acp { .. } => true,
            Agent::Adapter(hired) => {
                hired.adapter.door == Door::Acp || hired.adapter.run.answer == Answer::Events
            }
            Agent::Scripted(_) | Agent::Command(_) => false,
        };
        if self.dialect() == Some(Dialect::Acp)
            && let Some(reason) = observed::acp::not_begun(&written.0)
        {
            return Err(reason);
        }
        match seen {
            Some(seen) if by_events => Ok((observed::answer(seen), 0)),
            _ => Ok(written),
        }
    }

    fn dialect(&self) -> Option<Dialect> {
        match self {
            Agent::Acp { .. } => Some(Dialect::Acp),
            Agent::Adapter(hired) => hired.dialect(),
            Agent::Scripted(_) | Agent::Command(_) => None,
        }
    }

    /// What its events say, where it has a stream of them.
    pub(super) fn seen(&self, stream: &str, servers: &[String]) -> Option<Vec<Seen>> {
        let shell = match self {
            Agent::Adapter(hired) => hired.adapter.shell.as_ref(),
            _ => None,
        };
        Some(observed::read(self.dialect()?, stream, shell, servers))
    }

    /// Whether whoever wires it promises that it gets in touch with the mocks.
    pub(super) fn is_promised(&self) -> bool {
        matches!(self, Agent::Acp { .. } | Agent::Adapter(_))
    }

    /// The template of a tool's name in its events.
    pub(super) fn tool(&self) -> Option<&str> {
        match self {
            Agent::Adapter(hired) => hired.adapter.mcp.as_ref()?.tool.as_deref(),
            _ => None,
        }
    }
}

impl Hired {
    /// The script as a model plays it through this agent.
    pub(super) fn played(&self, actions: &[Action], session: Option<&Session>) -> Script {
        let Adapter { mcp, shell, model, .. } = &self.adapter;
        let tool = mcp.as_ref().and_then(|it| it.tool.clone());
        let shell = shell.as_ref();
        let shell = ShellTool {
            name: shell.map(|it| it.tool.clone()).unwrap_or_default(),
            argument: shell.map(|it| it.command.clone()).unwrap_or_default(),
            arguments: shell.map(|it| it.arguments.clone()).unwrap_or_default(),
            // What the agent's own schema says is seen when it offers the tool.
            takes_words: false,
        };
        Script {
            actions: actions.to_vec(),
            tool: tool.unwrap_or_else(|| "{tool}".to_owned()),
            shell,
            tool_arguments: model.as_ref().map(|it| it.tool_arguments.clone()).unwrap_or_default(),
            session: session.map(|it| it.directory().to_owned()),
        }
    }

    fn launch(
        &self,
        wired: &Wired,
        prompt: &str,
        model_url: Option<&str>,
    ) -> Result<Launch, String> {
        let place = Place {
            folder: &wired.folder,
            workspace: &wired.workspace,
            session: &wired.session,
            servers: &wired.servers,
            mcp_json: &wired.mcp_json,
            path: wired.path.clone(),
            prompt,
            model_url,
        };
        let prepared = adapter::prepare(&self.adapter, &self.more, &place)?;
        let program = self.found.program.clone();
        let (login, mode) = (self.adapter.run.login.as_deref(), self.adapter.run.mode.as_deref());
        let (program, arguments) = match self.adapter.door {
            Door::Native => (program, prepared.arguments),
            Door::Acp => by_acp(wired, &program, prepared.arguments, (login, mode), prompt)?,
        };
        let environment = Some(prepared.environment);
        Ok(Launch { program, arguments, environment, before: prepared.before })
    }
}

/// What is started in place of an agent that is spoken to by ACP.
fn by_acp(
    wired: &Wired,
    agent: &Path,
    arguments: Vec<String>,
    (login, mode): (Option<&str>, Option<&str>),
    prompt: &str,
) -> Result<(PathBuf, Vec<String>), String> {
    let agent = wiring::utf8(agent)?.to_owned();
    let servers = wired.session.server_names();
    let order = acp::Order {
        command: [agent].into_iter().chain(arguments).collect(),
        mcp_json: wired.mcp_json.clone(),
        prompt: prompt.to_owned(),
        login: login.map(str::to_owned),
        mode: mode.map(str::to_owned),
        workspace: wired.workspace.clone(),
        session: Some(wired.session.directory().to_owned()),
        servers: servers.into_iter().map(str::to_owned).collect(),
        patience_ms: acp::PATIENCE_MS,
    };
    let order = serde_json::to_string(&order)
        .map_err(|error| format!("cannot write down what the agent is asked: {error}"))?;
    let file = written(wired.folder.join("acp.json"), &order)?;
    Ok((find::this()?, vec!["acp".to_owned(), wiring::utf8(&file)?.to_owned()]))
}

fn written(file: PathBuf, text: &str) -> Result<PathBuf, String> {
    fs::write(&file, text)
        .map_err(|error| format!("cannot write `{}`: {error}", file.display()))?;
    Ok(file)
}

fn made(folder: PathBuf) -> Result<PathBuf, String> {
    fs::create_dir(&folder)
        .map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_split_as_a_shell_quotes() {
        let template = Template::parse("--agent-cmd", r#"my\ agent 'a b' "c {prompt}" d"e"f"#);
        assert_eq!(
            template.map(|it| it.words),
            Ok(vec![
                "my agent".to_owned(),
                "a b".to_owned(),
                "c {prompt}".to_owned(),
                "def".to_owned()
            ])
        );
        for text in ["", "  ", "'", "a \"b", "''", "a {mcp_url}"] {
            assert!(Template::parse("--agent-cmd", text).is_err(), "{text}");
        }
    }
}
