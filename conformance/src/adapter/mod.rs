//! Adapters: what there is to know of an agent in order to run it, as data.
//!
//! An adapter is a TOML file. Those that are built in stand in
//! `conformance/adapters/`; a user adds an agent by copying one.

mod builtin;
mod detect;
mod home;
mod prepare;
mod template;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fixtures::client::Shape;
use fixtures::document::PathGlob;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::observed::{Dialect, Shell};

pub(crate) use builtin::{BUILT_IN, text_of};
pub(crate) use detect::{Found, detect};
pub(crate) use prepare::{Place, prepare};

/// An agent, as data.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Adapter {
    /// What `--agent` calls it.
    pub(crate) name: String,
    /// What people call it.
    pub(crate) title: String,
    pub(crate) door: Door,
    /// The version that it was tried with; none where nobody has tried it.
    pub(crate) verified: Option<String>,
    /// The dialect of the events on its standard output.
    pub(crate) events: Option<Dialect>,
    /// What cannot be expressed with it, a sentence each.
    #[serde(default)]
    pub(crate) gaps: Vec<String>,
    pub(crate) detect: Detect,
    pub(crate) run: RunPart,
    /// How it is told of its MCP servers.
    pub(crate) mcp: Option<Shape>,
    pub(crate) shell: Option<Shell>,
    #[serde(default)]
    pub(crate) ignore: Ignore,
    pub(crate) model: Option<Model>,
}

/// How an agent is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Door {
    /// By its own command line.
    Native,
    /// By the Agent Client Protocol.
    Acp,
}

impl Door {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Door::Native => "native",
            Door::Acp => "ACP",
        }
    }
}

/// How it is found.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Detect {
    /// Looked for on PATH.
    pub(crate) program: String,
    /// Arguments that make it tell its version.
    #[serde(default)]
    pub(crate) version: Vec<String>,
}

/// How it is started.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunPart {
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    /// Where its final words are; on its standard output when left out.
    #[serde(default)]
    pub(crate) answer: Answer,
    /// Whether it gets a private HOME, and XDG folders in it.
    #[serde(default = "yes")]
    pub(crate) home: bool,
    /// Arguments that are repeated for each server, in place of `{each_server}`.
    #[serde(default)]
    pub(crate) each_server: Vec<String>,
    /// The method by which it logs in over ACP; none when left out.
    pub(crate) login: Option<String>,
    /// The mode of an ACP session; its own when left out.
    pub(crate) mode: Option<String>,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) pass: Pass,
    #[serde(default)]
    pub(crate) files: Vec<File>,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    Events,
    #[default]
    Stdout,
}

/// What of the user's own an agent gets, for its login. It gets nothing else.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Pass {
    pub(crate) variables: Vec<String>,
    /// Relative to HOME; copied into the private one.
    pub(crate) files: Vec<PathBuf>,
}

/// A file that is generated before the start.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// What the agent's own harness writes into the workspace.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Ignore {
    pub(crate) paths: Vec<String>,
}

/// How the agent is pointed at the scripted model server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    /// The API that it speaks.
    pub(crate) dialect: ModelDialect,
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) files: Vec<File>,
    /// What the configuration of the servers says beside `mcp.base`: where both
    /// have a key, this one holds.
    #[serde(default)]
    pub(crate) base: Map<String, Value>,
    /// Arguments that the agent requires of every call, and keeps from the tool.
    #[serde(default)]
    pub(crate) tool_arguments: Map<String, Value>,
    /// Commands that are run before the agent, in its environment.
    #[serde(default)]
    pub(crate) before: Vec<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ModelDialect {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

impl ModelDialect {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ModelDialect::Anthropic => "Anthropic messages",
            ModelDialect::Responses => "OpenAI responses",
            ModelDialect::Chat => "OpenAI chat completions",
            ModelDialect::Gemini => "Gemini generateContent",
        }
    }
}

impl Adapter {
    /// The adapter of a built-in name, or of a file.
    ///
    /// # Errors
    /// There is no such adapter, or the file is none.
    pub(crate) fn find(name: &str) -> Result<Adapter, String> {
        if let Some(text) = text_of(name) {
            return Adapter::parse(text, &format!("{name}.toml"));
        }
        let path = Path::new(name);
        if path.extension().is_some_and(|it| it == "toml") || name.contains('/') {
            let text = std::fs::read_to_string(path)
                .map_err(|error| format!("cannot read the adapter `{name}`: {error}"))?;
            return Adapter::parse(&text, name);
        }
        let names = BUILT_IN.iter().map(|(name, _)| *name);
        let mut near: Vec<(f64, &str)> =
            names.map(|it| (strsim::jaro_winkler(it, name), it)).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let hint = match near.first() {
            Some((likeness, near)) if *likeness > 0.8 => format!("did you mean `{near}`?"),
            _ => "`agent-conformance agents` lists them, and a file of your own ends in `.toml`"
                .to_owned(),
        };
        Err(format!("there is no agent `{name}`: {hint}"))
    }

    /// Reads an adapter; `origin` is what errors call it.
    fn parse(text: &str, origin: &str) -> Result<Adapter, String> {
        let adapter: Adapter = toml::from_str(text).map_err(|error| {
            let place = error.span().map(|span| {
                let before = &text[..span.start.min(text.len())];
                let line = before.matches('\n').count() + 1;
                let column = before.chars().rev().take_while(|it| *it != '\n').count() + 1;
                format!(":{line}:{column}")
            });
            format!("`{origin}{}`: {}", place.unwrap_or_default(), error.message().trim())
        })?;
        let fault = |reason: String| format!("`{origin}`: {reason}");
        adapter.ignored().map_err(fault)?;
        if adapter.run.answer == Answer::Events
            && adapter.events.is_none()
            && adapter.door == Door::Native
        {
            return Err(fault(
                "`run.answer = \"events\"` wants `events`, the dialect of the stream".to_owned(),
            ));
        }
        template::check(&adapter).map_err(fault)?;
        Ok(adapter)
    }

    /// The paths of the workspace that are the harness's own.
    pub(crate) fn ignored(&self) -> Result<Vec<PathGlob>, String> {
        let globs = self.ignore.paths.iter();
        let globs = globs.map(|text| {
            PathGlob::parse(text).map_err(|reason| format!("`ignore.paths`: `{text}`: {reason}"))
        });
        globs.collect()
    }
}

#[cfg(test)]
mod tests;
