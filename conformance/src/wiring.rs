//! How mocks reach the command: PATH, and a configuration of MCP servers.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::time::Duration;

use fixtures::document::Document;
use fixtures::document::task::LiveServer;
use fixtures::session::{self, Making, Session};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::find;

/// The permissions of a session: it is this user's alone.
const PRIVATE: u32 = 0o700;

/// Where programs are looked for when nobody says it.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Looks for the programs that play a document's mocks, before anything is made.
pub(crate) fn can_be_played(document: &Document) -> Result<(), String> {
    let wanted = |is_wanted: bool, name| is_wanted.then(|| find::own(name)).transpose();
    wanted(!document.mcp_mocks.is_empty(), "mcp-mock")?;
    wanted(!document.command_mocks.is_empty(), "cli-shim")?;
    Ok(())
}

/// Makes the session of a document's mocks.
pub(crate) fn make(
    document: Document,
    base: &Path,
    workspace: &Path,
    timeout: Option<Duration>,
    place: &Path,
) -> Result<Session, String> {
    let shim = (!document.command_mocks.is_empty()).then(|| find::own("cli-shim")).transpose()?;
    let making = Making {
        document,
        base,
        workspace: workspace.to_owned(),
        deadline: timeout.and_then(session::Deadline::after),
        call_timeout: None,
        shim,
        mode: PRIVATE,
        owner: None,
        is_durable: false,
        allows_network_fs: false,
    };
    session::make(place, making)
}

/// The `PATH` on which the session's executables come first.
pub(crate) fn path(session: &Session) -> Result<OsString, String> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    if session.executable_names().is_empty() {
        return Ok(path);
    }
    let bin = session.directory().join("bin");
    let folders = [bin.clone()].into_iter().chain(std::env::split_paths(&path));
    std::env::join_paths(folders).map_err(|_| {
        format!("`{}` cannot stand on PATH: choose another place with TMPDIR", bin.display())
    })
}

/// Refuses a session whose executables cannot be started: a search on PATH
/// would pass them by, and reach the real ones.
pub(crate) fn can_be_started(session: &Session) -> Result<(), String> {
    let bin = session.directory().join("bin");
    let names = session.executable_names().into_iter();
    match names.map(|name| bin.join(name)).find(|shim| !find::is_program(shim)) {
        None => Ok(()),
        Some(shim) => Err(format!(
            "`{}` cannot be executed, perhaps since its filesystem is mounted `noexec`: choose another place with TMPDIR or `--keep`",
            shim.display()
        )),
    }
}

/// How clients start the servers: the session's mocks, and the live ones that
/// no mock replaces.
pub(crate) fn servers(
    live: BTreeMap<String, LiveServer>,
    session: &Session,
) -> Result<BTreeMap<String, LiveServer>, String> {
    let mut servers = live;
    let mocked = session.server_names();
    if mocked.is_empty() {
        return Ok(servers);
    }
    let program = find::own("mcp-mock")?;
    let (program, directory) = (utf8(&program)?, utf8(session.directory())?);
    for name in mocked {
        let args = ["serve", "--session", directory, "--server", name];
        let args = args.map(str::to_owned).to_vec();
        let server = LiveServer { command: program.to_owned(), args, env: BTreeMap::new() };
        servers.insert(name.to_owned(), server);
    }
    Ok(servers)
}

/// Writes a configuration of servers, `{"mcpServers": {…}}`.
pub(crate) fn write_mcp_json(
    file: &Path,
    servers: &BTreeMap<String, LiveServer>,
) -> Result<(), String> {
    let entry = |LiveServer { command, args, env }: &LiveServer| json!({"command": command, "args": args, "env": env});
    let servers: Map<String, Value> =
        servers.iter().map(|(name, server)| (name.clone(), entry(server))).collect();
    let configuration = json!({"mcpServers": servers});
    std::fs::write(file, format!("{configuration:#}\n"))
        .map_err(|error| format!("cannot write `{}`: {error}", file.display()))
}

/// Reads a configuration of servers, `{"mcpServers": {…}}`.
pub(crate) fn read_mcp_json(file: &Path) -> Result<BTreeMap<String, LiveServer>, String> {
    #[derive(Deserialize)]
    struct Configuration {
        #[serde(rename = "mcpServers")]
        servers: BTreeMap<String, LiveServer>,
    }
    let unusable = |error: &dyn std::fmt::Display| format!("`{}`: {error}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| unusable(&error))?;
    let configuration: Configuration =
        serde_json::from_str(&text).map_err(|error| unusable(&error))?;
    Ok(configuration.servers)
}

pub(crate) fn utf8(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| {
        format!("the path `{}` is not UTF-8, so that no configuration can name it", path.display())
    })
}

/// A word with its placeholders, as in `{mcp_json}`, filled in once: what a
/// value holds is no placeholder.
pub(crate) fn fill_in(word: &OsStr, values: &[(&str, &OsStr)]) -> OsString {
    let mut filled = Vec::new();
    let mut rest = word.as_bytes();
    while let Some(at) = rest.iter().position(|byte| *byte == b'{') {
        let (before, from) = rest.split_at(at);
        filled.extend_from_slice(before);
        let hit = values.iter().find_map(|(name, value)| {
            let after = from.strip_prefix(b"{")?.strip_prefix(name.as_bytes())?;
            Some((value.as_bytes(), after.strip_prefix(b"}")?))
        });
        let (value, after) = hit.unwrap_or(from.split_at(1));
        filled.extend_from_slice(value);
        rest = after;
    }
    filled.extend_from_slice(rest);
    OsString::from_vec(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_is_filled_in_wherever_it_stands() {
        for (word, filled) in [
            ("{mcp_json}", "/t/mcp.json"),
            ("--config={mcp_json}", "--config=/t/mcp.json"),
            ("a{mcp_json}{mcp_json}b", "a/t/mcp.json/t/mcp.jsonb"),
            ("{mcp_jso}", "{mcp_jso}"),
            ("{{mcp_json}}", "{/t/mcp.json}"),
            ("", ""),
        ] {
            let values = [("mcp_json", OsStr::new("/t/mcp.json"))];
            assert_eq!(fill_in(OsStr::new(word), &values), filled);
        }
    }

    #[test]
    fn placeholders_are_filled_in_once() {
        let values = [("prompt", OsStr::new("say {mcp_json}")), ("mcp_json", OsStr::new("/t/m"))];
        for (word, expected) in [
            ("{prompt}", "say {mcp_json}"),
            ("--mcp={mcp_json}{mcp_json}", "--mcp=/t/m/t/m"),
            ("{\"a\": {mcp_json}}", "{\"a\": /t/m}"),
            ("{{mcp_json}}", "{/t/m}"),
            ("{mcp_jso}{", "{mcp_jso}{"),
            ("é{prompt", "é{prompt"),
            ("", ""),
        ] {
            assert_eq!(fill_in(OsStr::new(word), &values), expected);
        }
    }
}
