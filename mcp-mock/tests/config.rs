//! `mcp-mock config`: what every client's own parser reads, and what people are told.
#![allow(clippy::unwrap_used)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fixtures::client::{Client, KNOWN};
use serde_json::Value;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-mock");

const TWO_SERVERS: &str = r#"{"schemaVersion": "2.0", "scenario": "two", "mcp_mocks": [
    {"name": "orders", "tools": {"lookup": {"responses": [{"return": 1}]}}},
    {"name": "A-1", "tools": {"lookup": {"responses": [{"return": 1}]}}}
]}"#;

/// A folder with one document, whose name no configuration may take apart.
fn folder_with(document: &str) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().canonicalize().unwrap().join("it's \"two\" \\ é.json");
    fs::write(&path, document).unwrap();
    (folder, path)
}

fn config(folder: &Path, args: &[&OsStr]) -> Output {
    Command::new(PROGRAM).current_dir(folder).arg("config").args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The servers of a configuration: name, command, arguments.
fn servers(client: &str, configuration: &str) -> Vec<(String, String, Vec<String>)> {
    let path = match client {
        "codex" => "/mcp_servers",
        "vscode" => "/servers",
        "opencode" | "crush" => "/mcp",
        "zed" => "/context_servers",
        "goose" => "/extensions",
        "fast-agent" | "mcp-eval" => "/mcp/servers",
        "promptfoo" => "/providers/0/config/mcp/servers",
        "harbor" => "/environment/mcp_servers",
        "vally" => "/environments/mocked/mcpServers",
        "inspect-ai" | "langchain" | "openai-agents" | "pydantic-ai" => "",
        _ => "/mcpServers",
    };
    let file = KNOWN.iter().find(|known| known.name == client).unwrap().client().file;
    let value: Value = match file.rsplit('.').next().unwrap() {
        "toml" => toml::from_str(configuration).unwrap(),
        "yaml" => serde_saphyr::from_str(configuration).unwrap(),
        // What the program has between its outermost braces.
        "py" => {
            let servers = configuration.split_once("{\n").unwrap().1.rsplit_once("\n}").unwrap().0;
            serde_json::from_str(&format!("{{{servers}}}")).unwrap()
        }
        _ => serde_json::from_str(configuration).unwrap(),
    };
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let words = |value: &Value| value.as_array().unwrap().iter().map(text).collect::<Vec<_>>();
    let server = |name: String, server: &Value| match client {
        "opencode" => {
            let line = words(&server["command"]);
            (name, line[0].clone(), line[1..].to_vec())
        }
        "goose" => (name, text(&server["cmd"]), words(&server["args"])),
        _ => (name, text(&server["command"]), words(&server["args"])),
    };
    match value.pointer(path).unwrap() {
        Value::Object(servers) => {
            servers.iter().map(|(name, it)| server(name.clone(), it)).collect()
        }
        Value::Array(servers) => servers.iter().map(|it| server(text(&it["name"]), it)).collect(),
        other => panic!("{client}: {other}"),
    }
}

fn clients() -> impl Iterator<Item = (&'static str, Client)> {
    KNOWN.iter().map(|known| (known.name, known.client()))
}

/// What stands behind the path of the document: a client that starts a server for
/// each call has the sequences go on.
fn scope(client: &Client) -> &'static [&'static str] {
    if client.restarts { &["--scope", "client"] } else { &[] }
}

#[test]
fn every_client_reads_absolute_paths() {
    let (folder, path) = folder_with(TWO_SERVERS);
    let name = path.file_name().unwrap();
    let program = Path::new(PROGRAM).canonicalize().unwrap();
    for (client, known) in clients() {
        let output = config(folder.path(), &[name, "--for".as_ref(), client.as_ref()]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let mut servers = servers(client, text(&output.stdout));
        servers.sort();
        assert_eq!(servers.len(), 2);
        for (server, command, args) in &servers {
            assert_eq!(Path::new(command), program);
            let words = [&["serve", path.to_str().unwrap()], scope(&known), &["--server", server]];
            assert_eq!(args, &words.concat());
        }
        assert_eq!((servers[0].0.as_str(), servers[1].0.as_str()), ("A-1", "orders"));
    }
}

#[test]
fn one_server_is_configured_alone() {
    let (folder, path) = folder_with(TWO_SERVERS);
    let program = Path::new(PROGRAM).canonicalize().unwrap();
    for (client, _) in clients() {
        let args = ["--for", client, "--server", "orders"].map(OsStr::new);
        let output = config(folder.path(), &[&[path.as_os_str()], args.as_slice()].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(servers(client, text(&output.stdout)).len(), 1);
        let plain = folder.path().join("orders.json");
        fs::write(&plain, TWO_SERVERS).unwrap();
        let output = config(folder.path(), &[&[plain.as_os_str()], args.as_slice()].concat());
        let configuration = text(&output.stdout)
            .replace(program.to_str().unwrap(), "[PROGRAM]")
            .replace(plain.canonicalize().unwrap().to_str().unwrap(), "[FIXTURE]");
        let advice = text(&output.stderr);
        insta::assert_snapshot!(client, format!("{configuration}--- stderr\n{advice}"));
    }
}

#[test]
fn what_cannot_be_configured_is_refused() {
    let no_server = r#"{"schemaVersion": "2.0", "scenario": "none", "command_mocks": []}"#;
    let (folder, _) = folder_with(no_server);
    fs::write(folder.path().join("none.json"), no_server).unwrap();
    fs::write(folder.path().join("two.json"), TWO_SERVERS).unwrap();
    fs::write(folder.path().join("bad.json"), "{}").unwrap();
    for (args, reason) in [
        (["none.json", "--server=orders"], "no server to configure"),
        (["two.json", "--server=Orders"], "no server `Orders`; its servers are `orders`, `A-1`"),
        (["bad.json", "--server=orders"], "is refused"),
        (["absent.json", "--server=orders"], "cannot open `absent.json`"),
    ] {
        for (client, _) in clients() {
            let args = [args[0], args[1], "--for", client].map(OsStr::new);
            let output = config(folder.path(), &args);
            assert_eq!(output.status.code(), Some(2), "{args:?}");
            assert_eq!(text(&output.stdout), "");
            assert!(text(&output.stderr).contains(reason), "{}", text(&output.stderr));
        }
    }
}

#[test]
fn an_unknown_client_is_told_which_are_known() {
    let (folder, path) = folder_with(TWO_SERVERS);
    let args = [path.as_os_str(), "--for".as_ref(), "claude".as_ref()];
    let output = config(folder.path(), &args);
    assert_eq!(output.status.code(), Some(2));
    let complaint = text(&output.stderr);
    assert!(complaint.contains("similar value"), "{complaint}");
    assert!(complaint.contains("'claude-code'"), "{complaint}");
    for (client, _) in clients() {
        assert!(complaint.contains(client), "{complaint}");
    }
}

/// A session keeps the sequences, so that nothing else has to.
#[test]
fn a_session_needs_no_scope() {
    let (folder, path) = folder_with(TWO_SERVERS);
    for (client, known) in clients() {
        let args = [path.as_os_str(), "--for".as_ref(), client.as_ref(), "--session=s".as_ref()];
        let output = config(folder.path(), &args);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let told = text(&output.stderr);
        assert_eq!(told.contains("The session keeps the sequences"), known.restarts, "{told}");
        for (server, _, args) in servers(client, text(&output.stdout)) {
            let session = path.with_file_name("s");
            let session = session.to_str().unwrap();
            let words =
                ["serve", path.to_str().unwrap(), "--session", session, "--server", &server];
            assert_eq!(args, words, "{client}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStringExt;

    let folder = TempDir::new().unwrap();
    let name = OsString::from_vec(b"\xff.json".to_vec());
    if fs::write(folder.path().join(&name), TWO_SERVERS).is_err() {
        return; // a file system that has no such names
    }
    let output = config(folder.path(), &[&name, "--for=codex".as_ref()]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stdout), "");
    assert!(text(&output.stderr).contains("is not UTF-8"), "{}", text(&output.stderr));
}
