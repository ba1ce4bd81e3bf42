//! `mcp-mock config`: what every client's own parser reads, and what people are told.
#![allow(clippy::unwrap_used)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const CLIENTS: [&str; 4] = ["claude-code", "codex", "vscode", "generic"];
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
    let (key, value): (&str, Value) = match client {
        "codex" => ("mcp_servers", toml::from_str(configuration).unwrap()),
        "vscode" => ("servers", serde_json::from_str(configuration).unwrap()),
        _ => ("mcpServers", serde_json::from_str(configuration).unwrap()),
    };
    assert_eq!(value.as_object().unwrap().len(), 1);
    let servers = value[key].as_object().unwrap().iter().map(|(name, server)| {
        let args = server["args"].as_array().unwrap().iter();
        let args = args.map(|arg| arg.as_str().unwrap().to_owned()).collect();
        (name.clone(), server["command"].as_str().unwrap().to_owned(), args)
    });
    servers.collect()
}

#[test]
fn every_client_reads_absolute_paths() {
    let (folder, path) = folder_with(TWO_SERVERS);
    let name = path.file_name().unwrap();
    let program = Path::new(PROGRAM).canonicalize().unwrap();
    for client in CLIENTS {
        let output = config(folder.path(), &[name, "--for".as_ref(), client.as_ref()]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let mut servers = servers(client, text(&output.stdout));
        servers.sort();
        assert_eq!(servers.len(), 2);
        for (server, command, args) in &servers {
            assert_eq!(Path::new(command), program);
            assert_eq!(args, &["serve", path.to_str().unwrap(), "--server", server]);
        }
        assert_eq!((servers[0].0.as_str(), servers[1].0.as_str()), ("A-1", "orders"));
    }
}

#[test]
fn one_server_is_configured_alone() {
    let (folder, path) = folder_with(TWO_SERVERS);
    let program = Path::new(PROGRAM).canonicalize().unwrap();
    for client in CLIENTS {
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
        for client in CLIENTS {
            let args = [args[0], args[1], "--for", client].map(OsStr::new);
            let output = config(folder.path(), &args);
            assert_eq!(output.status.code(), Some(2), "{args:?}");
            assert_eq!(text(&output.stdout), "");
            assert!(text(&output.stderr).contains(reason), "{}", text(&output.stderr));
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
