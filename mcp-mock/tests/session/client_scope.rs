//! `--scope client`: sequences that go on as long as the same client lives.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::Place;

const HANDSHAKE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
const CALL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"seq","arguments":{}}}"#;

/// One start of a server with one call, as a shell types it.
const START: &str =
    "printf '%s\\n' \"$HANDSHAKE\" \"$CALL\" | \"$MOCK\" serve fixture.yaml --scope client; ";

struct Client {
    place: Place,
    runtime: PathBuf,
}

impl Client {
    fn new() -> Client {
        let place = Place::usual();
        let runtime = place.path("runtime");
        std::fs::create_dir(&runtime).unwrap();
        Client { place, runtime }
    }

    /// A client that runs `script`.
    fn command(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        // A shell may become its last command, which would have another parent then.
        command.args(["-c", &format!("{script} true")]).current_dir(self.place.path(""));
        command.env("XDG_RUNTIME_DIR", &self.runtime);
        command.env("MOCK", env!("CARGO_BIN_EXE_mcp-mock"));
        command.env("HANDSHAKE", HANDSHAKE).env("CALL", CALL);
        command
    }

    /// The texts of the calls of that client.
    fn texts(&self, script: &str) -> Vec<String> {
        let output = self.command(script).output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let replies = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let calls = replies.filter(|reply| reply["id"] == 1);
        calls.map(|reply| crate::text_of(&reply["result"])).collect()
    }

    fn sessions(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.runtime.join("mcp-mock")) else { return vec![] };
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    fn refused(&self) -> String {
        let Output { status, stdout, stderr } = self
            .command("\"$MOCK\" serve fixture.yaml --scope client < /dev/null; exit $?;")
            .output()
            .unwrap();
        let stderr = String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(2), "{stderr}");
        assert!(stdout.is_empty());
        stderr
    }
}

#[test]
fn restarts_by_the_same_client_go_on() {
    let client = Client::new();
    assert_eq!(client.texts(&START.repeat(3)), ["one", "two", "three"]);
    let sessions = client.sessions();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let mode = client.runtime.join("mcp-mock").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_new_client_starts_afresh() {
    let client = Client::new();
    assert_eq!(client.texts(&START.repeat(2)), ["one", "two"]);
    assert_eq!(client.texts(&START.repeat(2)), ["one", "two"]);
    assert_eq!(client.sessions().len(), 2);
}

#[test]
fn another_plan_is_another_session_of_the_same_client() {
    let client = Client::new();
    let other = crate::document("{seq: {sequence: [{text: other}, {text: another}]}}");
    client.place.write("other.yaml", &other);
    let start = START.replace("fixture.yaml", "other.yaml");
    assert_eq!(
        client.texts(&format!("{START}{start}{START}{start}")),
        ["one", "other", "two", "another"]
    );
    assert_eq!(client.sessions().len(), 2);
}

#[test]
fn the_session_of_a_client_can_be_looked_at() {
    let client = Client::new();
    client.texts(START);
    let session = client.sessions().pop().unwrap();
    let status = client.place.ok(&["status", session.to_str().unwrap(), "--json"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["mocks"]["s.seq"]["calls"], 1);
}

#[test]
fn the_scope_of_a_process_leaves_nothing_behind() {
    let client = Client::new();
    let start = START.replace("--scope client", "--scope process");
    assert_eq!(client.texts(&start.repeat(2)), ["one", "one"]);
    assert!(client.sessions().is_empty());
}

#[test]
fn a_runtime_directory_that_others_may_write_is_refused() {
    let client = Client::new();
    let folder = client.runtime.join("mcp-mock");
    std::fs::create_dir(&folder).unwrap();
    for mode in [0o777, 0o770, 0o702] {
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(mode)).unwrap();
        let told = client.refused();
        assert!(told.contains(folder.to_str().unwrap()) && told.contains("this user"), "{told}");
        assert!(client.sessions().is_empty());
    }
}

#[test]
fn a_runtime_directory_that_is_none_is_refused() {
    let client = Client::new();
    let folder = client.runtime.join("mcp-mock");
    std::fs::write(&folder, "").unwrap();
    client.refused();
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(client.place.path("elsewhere")).unwrap();
    symlink(client.place.path("elsewhere"), &folder).unwrap();
    client.refused();
    assert!(client.sessions().is_empty());
    let absent = Client { runtime: client.runtime.join("absent"), ..client };
    let told = absent.refused();
    assert!(told.contains("absent"), "{told}");
}

#[test]
fn without_a_runtime_directory_there_is_one_for_temporary_files() {
    let client = Client::new();
    for (name, value) in [("absent", None), ("empty", Some(""))] {
        let folder = client.place.path(name);
        std::fs::create_dir(&folder).unwrap();
        let mut command = client.command(&START.repeat(2));
        command.env_remove("XDG_RUNTIME_DIR").env("TMPDIR", &folder);
        command.envs(value.map(|value| ("XDG_RUNTIME_DIR", value)));
        let stdout = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(stdout.contains("\"one\"") && stdout.contains("\"two\""), "{stdout}");
        let made = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let user = rustix::process::getuid().as_raw();
        assert_eq!(made.file_name().unwrap().to_str().unwrap(), format!("mcp-mock-{user}"));
    }
    assert!(client.sessions().is_empty());
}

#[test]
fn racing_servers_of_one_client_share_one_session() {
    let client = Client::new();
    let start = START.replace("; ", " >> replies & ");
    for _ in 0..5 {
        client.command(&format!("{}wait;", start.repeat(4))).output().unwrap();
        let replies = std::fs::read_to_string(client.place.path("replies")).unwrap();
        let mut texts: Vec<&str> = ["one", "two", "three", "four"]
            .into_iter()
            .filter(|text| replies.matches(&format!("\"text\":\"{text}\"")).count() == 1)
            .collect();
        texts.dedup();
        assert_eq!(texts.len(), 4, "{replies}");
        std::fs::remove_file(client.place.path("replies")).unwrap();
    }
}
