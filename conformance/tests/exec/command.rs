//! What the command gets, and what is made of its end.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::{GH, LOOKUP, Place, Run, json, program};

const DOCUMENT: &str = r#"
schemaVersion: "2.0"
scenario: merge
mcp_mocks:
  - name: orders
    tools:
      lookup: {responses: [{match: {id: A}, sequence: [{error: busy}, {return: {ok: true}}]}]}
command_mocks:
  - name: gh
    responses:
      - args: [pr, merge, "7"]
        sequence: [{stderr: "HTTP 502\n", exit_code: 1}, {stdout: "MERGED\n"}]
"#;

/// Retries once what failed once.
const AGENT: &str = r#"
gh pr merge 7 || gh pr merge 7
lookup() { python3 "$CLIENT" "$1" orders lookup '{"id": "A"}'; }
lookup "$1" || lookup "$1"
"#;

#[test]
fn an_agent_sees_both_mocks() {
    let place = Place::new();
    place.write("fixture.yaml", DOCUMENT);
    place.write("agent.sh", AGENT);
    let run = place.run(&["fixture.yaml", "--verify", "--", "sh", "agent.sh", "{mcp_json}"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(run.stdout, "MERGED\nbusy\n{\"ok\":true}\n");
    assert_eq!(
        run.stderr,
        "HTTP 502
#  call                      step    outcome
1  gh pr merge 7             1 of 2  exit 1
2  gh pr merge 7             2 of 2  exit 0
3  orders.lookup {\"id\":\"A\"}  1 of 2  error: busy
4  orders.lookup {\"id\":\"A\"}  2 of 2  ok
"
    );
}

#[test]
fn no_document_is_needed() {
    let place = Place::new();
    place.write("agent.sh", AGENT);
    let args = ["--mock", GH, "--mock", LOOKUP, "--verify", "--", "sh", "agent.sh", "{mcp_json}"];
    let run = place.run(&args);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(run.stdout, "MERGED\nbusy\n{\"ok\":true}\n");
}

#[test]
fn a_document_and_mocks_of_the_command_line_come_together() {
    let place = Place::new();
    place.write("fixture.yaml", DOCUMENT);
    let cancel = "orders.cancel: [{text: cancelled}]";
    let script = r#"python3 "$CLIENT" "$1" orders cancel; gh pr merge 7; jq ."#;
    let jq = r#"jq: [{stdout: "two\n"}]"#;
    let args = ["fixture.yaml", "--mock", cancel, "--mock", jq, "-q", "--", "sh", "-c", script];
    let run = place.run(&[&args[..], &["-", "{mcp_json}"]].concat());
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "cancelled\ntwo\n"), "{run:?}");
    assert_eq!(run.stderr, "HTTP 502\n");
}

#[test]
fn the_configuration_has_an_entry_for_each_server() {
    let place = Place::new();
    let run = place.run(&["-q", "--", "cat", "{mcp_json}"]);
    assert_eq!(json(&run.stdout), json(r#"{"mcpServers": {}}"#));

    let mocks = ["a.x: [{text: x}]", "b.y: [{text: y}]", "a.z.z: [{text: z}]", "gh: [{stdout: 0}]"];
    let mocks: Vec<&str> = mocks.iter().flat_map(|mock| ["--mock", mock]).collect();
    let run = place.run(&[&mocks[..], &["-q", "--", "sh", "-c", "cat $0", "{mcp_json}"]].concat());
    let servers = json(&run.stdout)["mcpServers"].as_object().unwrap().clone();
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["a", "b"]);
    let about = &servers["b"];
    assert_eq!(about["command"], program().with_file_name("mcp-mock").to_str().unwrap());
    let args = about["args"].as_array().unwrap();
    let place = args[2].as_str().unwrap().to_owned();
    assert_eq!(about["args"], serde_json::json!(["serve", "--session", place, "--server", "b"]));
    assert_eq!(about["env"], serde_json::json!({}));
}

#[test]
fn the_command_itself_may_be_a_mock() {
    let place = Place::new();
    let run = place.run(&["--mock", GH, "--", "gh", "x"]);
    assert_eq!(run.code, Some(1), "{run:?}");
}

#[test]
fn the_command_has_the_streams_of_the_program() {
    let place = Place::new();
    let mut child = place
        .exec(&["-q", "--", "sh", "-c", "cat; echo said >&2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"typed\n").unwrap();
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.code, &*run.stdout, &*run.stderr), (Some(0), "typed\n", "said\n"));
}

#[test]
fn the_exit_status_is_that_of_the_command() {
    let place = Place::new();
    let status = |script: &str| place.run(&["-q", "--", "sh", "-c", script]).code;
    assert_eq!(status("true"), Some(0));
    assert_eq!(status("exit 7"), Some(7));
    assert_eq!(status("kill -9 $$"), Some(137));
    assert_eq!(status("kill -34 $$"), Some(162), "a real-time signal");
    let missing = place.run(&["--", "no-such-program"]);
    assert_eq!(missing.code, Some(127));
    assert_eq!(missing.stderr, "agent-conformance: `no-such-program` was not found\n");
    assert_eq!(place.run(&["--", "./no-such-program"]).code, Some(127));
    place.write("text", "no program");
    assert_eq!(place.run(&["--", "./text"]).code, Some(126));
}

#[test]
fn a_script_without_an_interpreter_runs_in_the_shell() {
    let place = Place::new();
    place.write("agent", "echo \"$0 $1\"\n");
    let made = Command::new("chmod").arg("+x").arg(place.path("agent")).status().unwrap();
    assert!(made.success());
    let run = place.run(&["-q", "--", "./agent", "one"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "./agent one\n"));
}

#[test]
fn nothing_of_the_command_changes_but_path() {
    let place = Place::new();
    let script = "env | grep -v -e ^PATH= -e ^_= -e ^SHLVL= | sort; pwd; grep -e ^Sig -e ^Shd /proc/self/status | grep -v SigQ";
    let mut bare = Command::new("sh");
    bare.args(["-c", script]);
    place.settle(&mut bare);
    let bare = Run::of(bare.output().unwrap());
    let run = place.run(&["-q", "--mock", GH, "--", "sh", "-c", script]);
    assert_eq!(run.stdout, bare.stdout);
    let run = place.run(&["-q", "--mock", GH, "--", "sh", "-c", "echo $PATH"]);
    let (first, rest) = run.stdout.trim_end().split_once(':').unwrap();
    assert!(first.ends_with("/session/bin"), "{first}");
    assert_eq!(rest, std::env::var("PATH").unwrap());
}

#[test]
fn a_program_of_the_toolkit_that_is_missing_is_told() {
    let place = Place::new();
    let alone = place.path("agent-conformance");
    std::fs::copy(program(), &alone).unwrap();
    let run = |mock: &str, path: &std::ffi::OsStr| {
        let mut command = Command::new(&alone);
        command.args(["exec", "-q", "--mock", mock, "--", "/bin/sh", "-c", "gh"]).env("PATH", path);
        place.settle(&mut command);
        Run::of(command.output().unwrap())
    };
    for (mock, name) in [(GH, "cli-shim"), (LOOKUP, "mcp-mock")] {
        let run = run(mock, "/nowhere".as_ref());
        assert_eq!(run.code, Some(2), "{run:?}");
        assert_eq!(
            run.stderr,
            format!(
                "agent-conformance: `{name}` is neither beside this program nor on PATH: put it there, or build it with `cargo build -p {name}`\n"
            )
        );
    }
    let found = run(GH, program().parent().unwrap().as_os_str());
    assert_eq!((found.code, found.stderr.as_str()), (Some(1), "HTTP 502\n"));
}
