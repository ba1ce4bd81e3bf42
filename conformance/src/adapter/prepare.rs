//! What an adapter makes of a run: files, words, and the whole environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fixtures::client::{self, Server};
use fixtures::document::task::LiveServer;
use fixtures::session::Session;
use serde_json::{Map, Value};

use super::{Adapter, File, home, template};
use crate::{find, wiring};

/// What every agent gets of the user's environment: who and where it is, and
/// how it reaches its model.
const USUAL: [&str; 21] = [
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "TZ",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "SHELL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
];

/// A run, as far as an adapter has to know it.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    /// The run's own folder.
    pub(crate) folder: &'a Path,
    pub(crate) workspace: &'a Path,
    pub(crate) session: &'a Session,
    pub(crate) servers: &'a BTreeMap<String, LiveServer>,
    pub(crate) mcp_json: &'a Path,
    /// PATH, with the shims first.
    pub(crate) path: OsString,
    pub(crate) prompt: &'a str,
    /// Where the scripted model is served, if it is.
    pub(crate) model_url: Option<&'a str>,
}

/// An agent that can be started.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) arguments: Vec<String>,
    /// Every variable that it gets.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Commands that are run before it, in the same environment.
    pub(crate) before: Vec<Vec<String>>,
}

/// Makes everything that the adapter wants made.
///
/// # Errors
/// Something cannot be made, or a template cannot be filled in.
pub(crate) fn prepare(
    adapter: &Adapter,
    more: &[String],
    place: &Place<'_>,
) -> Result<Prepared, String> {
    let own_home = place.folder.join("home");
    let has_shims = !place.session.executable_names().is_empty();
    let shell = if has_shims { shell_variables(place)? } else { BTreeMap::new() };
    if adapter.run.home {
        home::make(&own_home, &adapter.run.pass, has_shims.then_some(place.session))?;
    }
    let path = match shell.get("PATH") {
        Some(path) => path.clone(),
        None => place.path.to_string_lossy().into_owned(),
    };
    let mut values = values(place, &own_home, path)?;
    configuration(adapter, place, &mut values)?;
    let model = adapter.model.as_ref().filter(|_| place.model_url.is_some());
    let files = adapter.run.files.iter().chain(model.iter().flat_map(|it| &it.files));
    for File { path, text } in files {
        let path = PathBuf::from(template::fill_in(path, &values)?);
        written(&path, &template::fill_in(text, &values)?)?;
    }
    let environment = environment(adapter, &own_home, shell, &values, place)?;
    let filled = |text: &String| template::fill_in(text, &values);
    let mut arguments = Vec::new();
    for word in &adapter.run.arguments {
        match word == template::EACH_SERVER {
            true => arguments.extend(each_server(adapter, place)?),
            false => arguments.push(filled(word)?),
        }
    }
    for word in model.iter().flat_map(|it| &it.arguments) {
        arguments.push(filled(word)?);
    }
    arguments.extend(more.iter().cloned());
    let before = model.iter().flat_map(|it| &it.before);
    let before = before.map(|words| words.iter().map(filled).collect::<Result<_, _>>());
    Ok(Prepared { arguments, environment, before: before.collect::<Result<_, _>>()? })
}

fn values(
    place: &Place<'_>,
    home: &Path,
    path: String,
) -> Result<BTreeMap<&'static str, String>, String> {
    let text = |path: &Path| wiring::utf8(path).map(str::to_owned);
    let prompt_file = place.folder.join("prompt.txt");
    written(&prompt_file, place.prompt)?;
    let servers: Vec<&str> = place.servers.keys().map(String::as_str).collect();
    Ok(BTreeMap::from([
        ("prompt", place.prompt.to_owned()),
        ("prompt_file", text(&prompt_file)?),
        ("mcp_json", text(place.mcp_json)?),
        ("workspace", text(place.workspace)?),
        ("shim_dir", text(&place.session.directory().join("bin"))?),
        ("path", path),
        ("session", text(place.session.directory())?),
        ("home", text(home)?),
        ("run", text(place.folder)?),
        ("servers", servers.join(",")),
        ("model_url", place.model_url.unwrap_or_default().to_owned()),
    ]))
}

/// Writes the configuration of the servers as this agent reads it.
fn configuration(
    adapter: &Adapter,
    place: &Place<'_>,
    values: &mut BTreeMap<&'static str, String>,
) -> Result<(), String> {
    let (mut file, mut text, mut allowed) = (place.mcp_json.to_owned(), String::new(), Vec::new());
    if let Some(mcp) = &adapter.mcp {
        let servers: Vec<Server> = place.servers.iter().map(server).collect();
        let mut shape = mcp.clone();
        // What else stands in the file may name places of the run.
        if let Some(model) = adapter.model.as_ref().filter(|_| place.model_url.is_some()) {
            lay_over(&mut shape.base, &model.base);
        }
        shape.base = filled_in(&shape.base, values)?;
        text = client::render(&shape, &servers)?;
        file = match &mcp.file {
            Some(file) => PathBuf::from(template::fill_in(file, values)?),
            None => place.folder.join("client-mcp.json"),
        };
        written(&file, &text)?;
        for name in place.servers.keys() {
            let values = BTreeMap::from([("server", name.clone()), ("tool", "*".to_owned())]);
            let words = mcp.allowed.iter().map(|it| template::fill_in(it, &values));
            allowed.extend(words.collect::<Result<Vec<_>, _>>()?);
        }
    }
    values.insert("mcp_config", wiring::utf8(&file)?.to_owned());
    values.insert("mcp_text", text.trim_end().to_owned());
    let shell = adapter.shell.iter().map(|shell| shell.tool.clone());
    let allowed: Vec<String> = allowed.into_iter().chain(shell).collect();
    values.insert("allowed_tools", allowed.join(","));
    Ok(())
}

/// Puts one table over another, tables within them likewise.
fn lay_over(below: &mut Map<String, Value>, above: &Map<String, Value>) {
    for (key, value) in above {
        match (below.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => lay_over(below, above),
            _ => {
                below.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Fills in every text of a table.
fn filled_in(
    table: &Map<String, Value>,
    values: &BTreeMap<&str, String>,
) -> Result<Map<String, Value>, String> {
    fn value(given: &Value, values: &BTreeMap<&str, String>) -> Result<Value, String> {
        Ok(match given {
            Value::String(text) => Value::String(template::fill_in(text, values)?),
            Value::Array(items) => {
                items.iter().map(|it| value(it, values)).collect::<Result<_, _>>()?
            }
            Value::Object(fields) => Value::Object(filled_in(fields, values)?),
            other => other.clone(),
        })
    }
    table.iter().map(|(key, given)| Ok((key.clone(), value(given, values)?))).collect()
}

fn server((name, server): (&String, &LiveServer)) -> Server {
    let LiveServer { command, args, env } = server.clone();
    Server { name: name.clone(), command, args, env }
}

/// The words that stand for each server.
fn each_server(adapter: &Adapter, place: &Place<'_>) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    for (name, server) in place.servers {
        let args = serde_json::to_string(&server.args).expect("texts always serialise");
        let command = serde_json::to_string(&server.command).expect("a text always serialises");
        let values =
            BTreeMap::from([("server", name.clone()), ("command", command), ("args", args)]);
        for word in &adapter.run.each_server {
            words.push(template::fill_in(word, &values)?);
        }
    }
    Ok(words)
}

/// Every variable of the agent: the usual ones, what it is passed on, its own.
fn environment(
    adapter: &Adapter,
    own_home: &Path,
    shell: BTreeMap<String, String>,
    values: &BTreeMap<&str, String>,
    place: &Place<'_>,
) -> Result<Vec<(OsString, OsString)>, String> {
    let passed = USUAL.iter().copied().chain(adapter.run.pass.variables.iter().map(String::as_str));
    let passed = passed.filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    let mut all: BTreeMap<OsString, OsString> = passed.collect();
    all.insert("PATH".into(), place.path.clone());
    all.extend(shell.into_iter().map(|(name, value)| (name.into(), value.into())));
    if adapter.run.home {
        all.insert("HOME".into(), own_home.into());
        for (name, folder) in home::XDG {
            all.insert(name.into(), own_home.join(folder).into());
        }
    } else if let Some(home) = std::env::var_os("HOME") {
        all.insert("HOME".into(), home);
    }
    let model = adapter.model.iter().filter(|_| place.model_url.is_some());
    for (name, value) in adapter.run.environment.iter().chain(model.flat_map(|it| &it.environment))
    {
        all.insert(name.into(), template::fill_in(value, values)?.into());
    }
    Ok(all.into_iter().collect())
}

/// What keeps the shims first in every shell, as `cli-shim` says it.
fn shell_variables(place: &Place<'_>) -> Result<BTreeMap<String, String>, String> {
    let mut env = Command::new(find::own("cli-shim")?);
    env.arg("env").arg(place.session.directory()).arg("--json");
    // Start files of the user's are not to be read by the agent's shells.
    env.env_clear().env("PATH", &place.path).stdin(Stdio::null());
    let output = env.output().map_err(|error| format!("cannot start `cli-shim`: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("`cli-shim env --json` says something else: {error}"))
}

fn written(file: &Path, text: &str) -> Result<(), String> {
    file.parent().map_or(Ok(()), home::folder_made)?;
    fs::write(file, text).map_err(|error| format!("cannot write `{}`: {error}", file.display()))
}
