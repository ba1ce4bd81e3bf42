//! `session`, `serve --session`, `status`, `verify` and `config`.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::{PATIENCE, Place, Server, document, skipped};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_session_is_made_for_this_user_alone() {
    let place = Place::usual();
    let printed = place.ok(&["session", "fixture.yaml", "--dir", "run"]);
    assert_eq!(printed.trim_end(), place.path("run").canonicalize().unwrap().to_str().unwrap());
    assert_eq!(mode(&place.path("run")), 0o700);
    for name in ["session.json", "journal.jsonl", "mcp/s.json"] {
        assert_eq!(mode(&place.path("run").join(name)), 0o600, "{name}");
    }
    assert!(place.records().is_empty());
    assert_eq!(place.names(), ["fixture.yaml", "run"]);
}

#[test]
fn a_mode_is_given_to_the_directory_and_to_the_files() {
    let place = Place::usual();
    place.ok(&["session", "fixture.yaml", "--dir", "run", "--mode", "0755"]);
    assert_eq!(mode(&place.path("run")), 0o755);
    assert_eq!(mode(&place.path("run/mcp")), 0o755);
    assert_eq!(mode(&place.path("run/journal.jsonl")), 0o644);
    for wrong in ["0655", "rwx", "1777"] {
        place.refused(&["session", "fixture.yaml", "--dir", "other", "--mode", wrong]);
    }
}

#[test]
fn making_the_same_session_again_changes_nothing() {
    let place = Place::usual();
    let args = ["session", "fixture.yaml", "--dir", "run", "--json"];
    let first = place.ok(&args);
    let about: Value = serde_json::from_str(&first).unwrap();
    assert_eq!((&about["servers"], &about["executables"]), (&json!(["s"]), &json!([])));
    place.attach().end();
    let before = std::fs::read(place.path("run/session.json")).unwrap();
    let journal = std::fs::read_to_string(place.journal()).unwrap();
    assert_eq!(place.ok(&args), first);
    assert_eq!(std::fs::read(place.path("run/session.json")).unwrap(), before);
    assert_eq!(std::fs::read_to_string(place.journal()).unwrap(), journal);
    assert_eq!(place.names(), ["fixture.yaml", "run"]);
}

#[test]
fn another_plan_in_the_same_place_is_refused() {
    let place = Place::usual();
    place.make();
    place.write("other.yaml", &document("{seq: {sequence: [{text: other}]}}"));
    for args in
        [["session", "other.yaml", "--dir", "run"], ["serve", "other.yaml", "--session", "run"]]
    {
        let told = place.refused(&args);
        assert!(told.contains("something else") && told.contains("reset"), "{told}");
    }
    assert_eq!(place.attach().text("seq"), "one");
    assert_eq!(place.names(), ["fixture.yaml", "other.yaml", "run"]);
}

#[test]
fn an_empty_directory_becomes_the_session() {
    let place = Place::usual();
    std::fs::create_dir(place.path("run")).unwrap();
    place.make();
    assert_eq!(place.attach().text("seq"), "one");
    assert_eq!(mode(&place.path("run")), 0o700);
}

#[test]
fn what_stands_in_the_way_is_left_alone() {
    let place = Place::usual();
    std::fs::create_dir(place.path("full")).unwrap();
    place.write("full/mine", "kept");
    place.write("file", "kept");
    let before = place.names();
    for name in ["full", "file"] {
        let told = place.refused(&["session", "fixture.yaml", "--dir", name]);
        assert!(told.contains("choose another"), "{told}");
        let told = place.refused(&["serve", "fixture.yaml", "--session", name]);
        assert!(told.contains("choose another"), "{told}");
    }
    assert_eq!(std::fs::read_to_string(place.path("full/mine")).unwrap(), "kept");
    assert_eq!(std::fs::read_to_string(place.path("file")).unwrap(), "kept");
    assert_eq!(place.names(), before);
}

#[test]
fn a_parent_that_is_missing_or_not_writable_is_named() {
    let place = Place::usual();
    let told = place.refused(&["session", "fixture.yaml", "--dir", "no/run"]);
    assert!(told.contains("`no`") && told.contains("No such file"), "{told}");
    std::fs::create_dir(place.path("locked")).unwrap();
    std::fs::set_permissions(place.path("locked"), PermissionsExt::from_mode(0o555)).unwrap();
    std::fs::set_permissions(place.path(""), PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = place.command(&["session", "fixture.yaml", "--dir", "locked/run"]);
    if rustix::process::geteuid().is_root() {
        command.uid(65534);
    }
    let output = match command.stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) => return skipped(&format!("another user cannot start the program: {error}")),
    };
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("`locked`") && told.contains("ermission denied"), "{told}");
    assert!(std::fs::read_dir(place.path("locked")).unwrap().next().is_none());
}

#[test]
fn a_refused_document_makes_no_session() {
    let place = Place::with_tools("{seq: {sequence: []}, seq: 1}");
    place.refused(&["session", "fixture.yaml", "--dir", "run"]);
    place.refused(&["serve", "fixture.yaml", "--session", "run"]);
    assert_eq!(place.names(), ["fixture.yaml"]);
}

#[test]
fn sequences_go_on_over_restarts_and_beside_each_other() {
    let place = Place::usual();
    let mut first = place.serve(&["fixture.yaml", "--session", "run"]);
    assert_eq!(first.text("seq"), "one");
    let mut second = place.serve(&["--session", "run", "--server", "s"]);
    assert_eq!(second.text("seq"), "two");
    assert_eq!(first.text("seq"), "three");
    first.kill();
    second.end();
    std::fs::remove_file(place.path("fixture.yaml")).unwrap();
    let mut third = place.attach();
    assert_eq!(third.text("seq"), "four");
    assert_eq!(third.refusal("seq").0, "exhausted");
    third.end();
}

#[test]
fn a_session_of_several_servers_wants_a_name() {
    let place = Place::usual();
    let tools = "{seq: {sequence: [{text: one}, {text: two}]}}";
    place.write(
        "fixture.yaml",
        &format!(
            "{{schemaVersion: \"2.0\", scenario: s, mcp_mocks: [{{name: a, tools: {tools}}}, {{name: b, tools: {tools}}}]}}"
        ),
    );
    place.make();
    let told = place.refused(&["serve", "--session", "run"]);
    assert!(told.contains("`a`, `b`") && told.contains("--server"), "{told}");
    let told = place.refused(&["serve", "--session", "run", "--server", "c"]);
    assert!(told.contains("no server `c`"), "{told}");
    let (mut a, mut b) = (
        place.serve(&["--session", "run", "--server", "a"]),
        place.serve(&["--session", "run", "--server", "b"]),
    );
    assert_eq!([a.text("seq"), b.text("seq"), b.text("seq")], ["one", "one", "two"]);
    assert_eq!(a.text("seq"), "two");
    let status = place.status();
    assert_eq!(status["mocks"]["a.seq"]["calls"], 2);
    assert_eq!(status["mocks"]["b.seq"]["calls"], 2);
}

#[test]
fn a_session_is_made_where_a_link_leads_but_not_in_the_current_directory() {
    let place = Place::usual();
    for name in ["here", "there"] {
        std::fs::create_dir(place.path(name)).unwrap();
    }
    std::os::unix::fs::symlink("there", place.path("link")).unwrap();
    place.ok(&["session", "fixture.yaml", "--dir", "link"]);
    let mut command = place.command(&["session", "../fixture.yaml", "--dir", "."]);
    let output = command.current_dir(place.path("here")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("../NAME"));
    for name in ["there", "link", "there/", "./link"] {
        let mut server = place.serve(&["--session", name]);
        server.text("seq");
        server.end();
    }
    assert_eq!(place.names(), ["fixture.yaml", "here", "link", "there"]);
}

#[test]
fn a_session_may_belong_to_another_user_and_be_durable() {
    let place = Place::usual();
    place.ok(&["session", "fixture.yaml", "--dir", "run", "--durable"]);
    assert!(
        std::fs::read_to_string(place.path("run/session.json"))
            .unwrap()
            .contains("\"durable\": true")
    );
    assert_eq!(place.attach().text("seq"), "one");
    let args = ["session", "fixture.yaml", "--dir", "theirs", "--owner", "65534"];
    if !rustix::process::geteuid().is_root() {
        place.refused(&args);
        return;
    }
    place.ok(&args);
    std::fs::set_permissions(place.path(""), PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = place.command(&["serve", "--session", "theirs"]);
    if let Err(error) =
        std::process::Command::new(env!("CARGO_BIN_EXE_mcp-mock")).uid(65534).output()
    {
        return skipped(&format!("another user cannot start the program: {error}"));
    }
    let mut server = Server::start(command.uid(65534));
    server.shake_hands();
    assert_eq!(server.text("seq"), "one");
    server.end();
    // The user of the session may write into it, and not beside it.
    let mut command = place.command(&["serve", "fixture.yaml", "--session", "theirs"]);
    let mut server = Server::start(command.uid(65534));
    server.shake_hands();
    assert_eq!(server.text("seq"), "two");
    server.end();
    let reset = place.ok(&["reset", "theirs"]);
    assert_eq!(reset, "");
    let mut server = Server::start(place.command(&["serve", "--session", "theirs"]).uid(65534));
    server.shake_hands();
    assert_eq!(server.text("seq"), "one");
    server.end();
}

#[test]
fn racing_makers_share_one_sequence() {
    for _ in 0..8 {
        let steps: Vec<String> = (0..16).map(|step| format!("{{text: s{step}}}")).collect();
        let place = Place::with_tools(&format!("{{seq: {{sequence: [{}]}}}}", steps.join(", ")));
        let start = || {
            let args = ["serve", "fixture.yaml", "--session", "run"];
            Server::start(&mut place.command(&args))
        };
        let mut servers: Vec<Server> = (0..8).map(|_| start()).collect();
        for server in &mut servers {
            server.shake_hands();
            server.begin("seq");
            server.begin("seq");
        }
        let mut texts = Vec::new();
        for server in &mut servers {
            assert!(server.has_output(PATIENCE));
            texts.extend([server.receive(), server.receive()].map(|reply| {
                reply["result"]["content"][0]["text"].as_str().unwrap()[1..].parse::<u32>().unwrap()
            }));
        }
        texts.sort_unstable();
        assert_eq!(texts, (0..16).collect::<Vec<u32>>());
        servers.into_iter().for_each(Server::end);
        assert_eq!(place.of_type("program.closed").len(), 8);
        assert_eq!(place.names(), ["fixture.yaml", "run"]);
    }
}

#[test]
fn flags_that_exclude_each_other_are_refused() {
    let place = Place::usual();
    for args in [
        ["serve", "fixture.yaml", "--session", "run", "--journal", "file"].as_slice(),
        &["serve", "fixture.yaml", "--session", "run", "--scope", "client"],
        &["serve", "fixture.yaml", "--scope", "client", "--journal", "file"],
        &["serve", "--session", "run", "--scope", "process"],
        &["serve", "--journal", "file"],
        &["serve", "--session", "absent"],
        &["session", "fixture.yaml"],
        &["status"],
        &["status", "absent"],
        &["verify", "absent"],
        &["reset", "absent"],
        &["close", "absent"],
        &["config", "--session", "absent", "--for", "generic"],
    ] {
        place.refused(args);
    }
    assert_eq!(place.names(), ["fixture.yaml"]);
}
