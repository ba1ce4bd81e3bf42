//! `mcp-mock config`: what to paste into a client, and where.

mod advice;

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::path::Path;

use fixtures::session::Session;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::{Client, ConfigArgs};
use crate::exit::Exit;

pub(crate) fn run(args: &ConfigArgs) -> Exit {
    match configuration(args) {
        Ok((text, servers)) => {
            let printed = crate::print(text.as_bytes());
            crate::note(&advice::about(args.client, &servers[0]));
            printed
        }
        Err(reason) => crate::complain(&reason),
    }
}

/// The configuration, and the names of the servers in it.
fn configuration(args: &ConfigArgs) -> Result<(String, Vec<String>), String> {
    let (names, place): (Vec<String>, _) = match (&args.fixture, &args.session) {
        (Some(fixture), _) => {
            let document = fixtures::load(fixture, crate::is_styled(&io::stderr()))?;
            (document.mcp_mocks.into_iter().map(|server| server.name).collect(), fixture)
        }
        (None, Some(directory)) => {
            let session = Session::open(directory)?;
            (session.server_names().into_iter().map(str::to_owned).collect(), directory)
        }
        (None, None) => unreachable!("the command line wants one of the two"),
    };
    let place = place.display();
    if names.is_empty() {
        return Err(format!("`{place}` has no server to configure: add one under `mcp_mocks`"));
    }
    let chosen = match &args.server {
        None => names,
        Some(name) if names.contains(name) => vec![name.clone()],
        Some(name) => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let names = names.join(", ");
            return Err(format!("`{place}` has no server `{name}`; its servers are {names}"));
        }
    };
    let program = std::env::current_exe()
        .map_err(|error| format!("cannot tell where this program is: {error}"))?;
    let program = utf8(&program)?;
    let mut serve = vec!["serve".to_owned()];
    if let Some(fixture) = &args.fixture {
        let fixture = fixture
            .canonicalize()
            .map_err(|error| format!("cannot resolve `{}`: {error}", fixture.display()))?;
        serve.push(utf8(&fixture)?.to_owned());
    }
    if let Some(directory) = &args.session {
        // A session that is made at the first start is not there yet.
        let directory = std::path::absolute(directory)
            .map_err(|error| format!("cannot resolve `{}`: {error}", directory.display()))?;
        serve.extend(["--session".to_owned(), utf8(&directory)?.to_owned()]);
    }
    let entries = chosen.iter().map(|name| Entry::new(program, &serve, name));
    let text = render(args.client, entries.collect())?;
    Ok((text, chosen))
}

fn utf8(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| {
        format!(
            "the path `{}` is not UTF-8, so that no configuration can name it: rename or move it",
            path.display()
        )
    })
}

/// How a client starts one server.
#[derive(Debug)]
struct Entry {
    name: String,
    command: String,
    args: Vec<String>,
}

impl Entry {
    fn new(program: &str, serve: &[String], name: &str) -> Entry {
        let server = ["--server", name].map(str::to_owned);
        Entry {
            name: name.to_owned(),
            command: program.to_owned(),
            args: serve.iter().cloned().chain(server).collect(),
        }
    }
}

fn render(client: Client, entries: Vec<Entry>) -> Result<String, String> {
    let rendered = match client {
        Client::ClaudeCode => json("mcpServers", Some("stdio"), entries),
        Client::Vscode => json("servers", Some("stdio"), entries),
        Client::Generic => json("mcpServers", None, entries),
        Client::Codex => codex(entries),
    };
    rendered.map_err(|error| format!("cannot write the configuration: {error}"))
}

fn json(key: &str, kind: Option<&str>, entries: Vec<Entry>) -> Result<String, Box<dyn Error>> {
    let mut servers = Map::new();
    for Entry { name, command, args } in entries {
        let mut server = Map::new();
        server.extend(kind.map(|kind| ("type".to_owned(), kind.into())));
        server.insert("command".to_owned(), command.into());
        server.insert("args".to_owned(), args.into());
        servers.insert(name, server.into());
    }
    let configuration: Map<String, Value> =
        [(key.to_owned(), servers.into())].into_iter().collect();
    Ok(serde_json::to_string_pretty(&configuration)? + "\n")
}

#[derive(Debug, Serialize)]
struct Codex {
    mcp_servers: BTreeMap<String, CodexServer>,
}

#[derive(Debug, Serialize)]
struct CodexServer {
    command: String,
    args: Vec<String>,
    required: bool,
    startup_timeout_sec: u32,
    default_tools_approval_mode: &'static str,
}

fn codex(entries: Vec<Entry>) -> Result<String, Box<dyn Error>> {
    let servers = entries.into_iter().map(|Entry { name, command, args }| {
        let server = CodexServer {
            command,
            args,
            required: true,
            startup_timeout_sec: 20,
            default_tools_approval_mode: "approve",
        };
        (name, server)
    });
    Ok(toml::to_string(&Codex { mcp_servers: servers.collect() })?)
}
