//! `mcp-mock check` as a program: exit statuses, reports, and what it leaves alone.
#![allow(clippy::print_stderr, clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

const GOOD: &str = "schemaVersion: \"2.0\"\nscenario: orders\n";
const BAD: &str = "schemaVersion: \"2.0\"\nscenario: orders\nquux: größe\n";
const WARNED: &str = "schemaVersion: \"2.0\"\nscenario: orders\ncommand_mocks: [{name: git, responses: [{args: [status], stdout: ok}]}]\n";
const UNRESOLVED: &str = "schemaVersion: \"2.0\"\nscenario: orders\nmcp_mocks: [{name: a, tools: {t: {responses: [{match_schema: {$ref: other.json}, return: ok}]}}}]\n";
const BEYOND: &str = "schemaVersion: \"2.0\"\nscenario: orders\nredact: {}\n";

/// A folder with one document of each kind.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let documents = [
        ("good.yaml", GOOD),
        ("bad.yaml", BAD),
        ("warned.yaml", WARNED),
        ("unresolved.yaml", UNRESOLVED),
        ("beyond.yaml", BEYOND),
        ("empty.yaml", ""),
    ];
    for (name, text) in documents {
        fs::write(folder.path().join(name), text).unwrap();
    }
    fs::write(folder.path().join("latin.yaml"), b"schemaVersion: \"\xe9\"\n").unwrap();
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-mock"));
    command.arg("check").args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

fn check(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn report(folder: &Path, arguments: &[&str]) -> Value {
    let output = check(folder, &[&["--format", "json"], arguments].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_exit_status_says_whether_a_document_is_refused() {
    let folder = folder();
    for (arguments, status) in [
        (["good.yaml"].as_slice(), 0),
        (&["warned.yaml"], 0),
        (&["unresolved.yaml"], 0),
        (&["beyond.yaml"], 0),
        (&["--compat", "waza", "beyond.yaml"], 0),
        (&["bad.yaml"], 1),
        (&["empty.yaml"], 1),
        (&["latin.yaml"], 1),
        (&["/dev/null"], 1),
        (&["good.yaml", "bad.yaml", "good.yaml"], 1),
        (&["--strict", "good.yaml"], 0),
        (&["--strict", "beyond.yaml"], 0),
        (&["--strict", "warned.yaml"], 1),
        (&["--strict", "unresolved.yaml"], 1),
        (&["--strict", "--compat", "waza", "beyond.yaml"], 1),
        (&["--strict", "--compat", "waza", "good.yaml"], 0),
        (&["missing.yaml"], 2),
        (&["bad.yaml", "missing.yaml"], 2),
        (&["."], 2),
        (&[], 2),
        (&["--format", "xml", "good.yaml"], 2),
        (&["--compat", "other", "good.yaml"], 2),
        (&["--quux", "good.yaml"], 2),
    ] {
        assert_eq!(check(folder.path(), arguments).status.code(), Some(status), "{arguments:?}");
    }
}

#[test]
fn a_file_that_cannot_be_opened_is_named_on_stderr_and_the_others_are_checked() {
    let folder = folder();
    let output = check(folder.path(), &["missing.yaml", "good.yaml"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("cannot open `missing.yaml`"), "{stderr}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "good.yaml: ok\n");
}

#[test]
fn the_report_for_people_shows_the_line() {
    let folder = folder();
    let output = check(folder.path(), &["bad.yaml", "good.yaml"]);
    let expected = "\
error[unknown-field]: a document has no field `quux`
 --> bad.yaml:3:1
  |
3 | quux: größe
  | ^^^^
  |
  = at: quux
  = hint: the fields are `schemaVersion`, `scenario`, `description`, `mcp_mocks`, `command_mocks`, `redact`, `class`, `covers`, `mcp_servers`, `tasks`

bad.yaml: refused, 1 finding
good.yaml: ok
";
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    assert!(output.stderr.is_empty());
}

#[test]
fn the_json_report_has_exactly_the_documented_shape() {
    let folder = folder();
    let files = ["good.yaml", "bad.yaml", "warned.yaml", "unresolved.yaml", "beyond.yaml"];
    let report = report(folder.path(), &[&["--compat", "waza"], files.as_slice()].concat());
    assert_eq!(keys(&report), ["documents", "schemaVersion", "valid"]);
    assert_eq!(report["schemaVersion"], "1.0");
    assert_eq!(report["valid"], false);
    let documents = report["documents"].as_array().unwrap();
    let mut severities = Vec::new();
    for (document, path) in documents.iter().zip(files) {
        assert_eq!(keys(document), ["diagnostics", "path"]);
        assert_eq!(document["path"], path);
        for diagnostic in document["diagnostics"].as_array().unwrap() {
            let wanted = [
                "code",
                "column",
                "end_column",
                "end_line",
                "file",
                "hint",
                "line",
                "message",
                "path",
                "severity",
            ];
            assert_eq!(keys(diagnostic), wanted);
            for text in ["code", "file", "hint", "message", "path", "severity"] {
                assert!(diagnostic[text].is_string(), "{diagnostic}");
            }
            for number in ["line", "column", "end_line", "end_column"] {
                assert!(diagnostic[number].as_u64().is_some_and(|n| n > 0), "{diagnostic}");
            }
            assert_eq!(diagnostic["file"], path);
            severities.push(diagnostic["severity"].as_str().unwrap());
        }
    }
    assert_eq!(documents.len(), files.len());
    assert_eq!(severities, ["error", "warning", "unresolved", "unsupported"]);
    let bad = &documents[1]["diagnostics"][0];
    let place = ["line", "column", "end_line", "end_column"].map(|key| bad[key].as_u64().unwrap());
    assert_eq!((bad["path"].as_str().unwrap(), place), ("quux", [3, 1, 3, 5]));
}

fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn a_json_report_is_valid_unless_a_document_is_refused() {
    let folder = folder();
    let valid = report(folder.path(), &["warned.yaml", "unresolved.yaml"]);
    assert_eq!(valid["valid"], true);
    let unopened = report(folder.path(), &["good.yaml", "missing.yaml"]);
    assert_eq!(unopened["valid"], false);
    assert_eq!(unopened["documents"].as_array().unwrap().len(), 1);
}

#[test]
fn every_run_prints_the_same_bytes() {
    let examples =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/tests/admit/bad").canonicalize();
    let examples = examples.unwrap();
    let mut names: Vec<String> = fs::read_dir(&examples)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".yaml") || name.ends_with(".json"))
        .collect();
    names.sort();
    for format in ["human", "json"] {
        let mut arguments = vec!["--compat", "waza", "--format", format];
        arguments.extend(names.iter().map(String::as_str));
        let first = check(&examples, &arguments);
        assert_eq!(first.status.code(), Some(1));
        for _ in 0..3 {
            assert_eq!(check(&examples, &arguments).stdout, first.stdout);
        }
        assert!(!first.stdout.contains(&0x1b), "colour without a terminal");
    }
}

#[test]
fn ten_independent_faults_are_ten_diagnostics() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/tests/admit/bad");
    let report = report(&examples, &["many.ten.yaml"]);
    assert_eq!(report["documents"][0]["diagnostics"].as_array().unwrap().len(), 10);
}

#[test]
fn a_document_may_come_through_a_pipe() {
    let folder = folder();
    let mut command = command(folder.path(), &["/dev/stdin"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), BAD.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().contains("/dev/stdin:3:1"));
}

#[test]
fn a_fifo_in_a_fixture_directory_is_no_fixture_and_is_not_waited_for() {
    let folder = folder();
    let path = folder.path();
    fs::create_dir(path.join("data")).unwrap();
    fs::write(path.join("data/t.json"), r#"{"responses": [{"return": 1}]}"#).unwrap();
    let mode = nix::sys::stat::Mode::S_IRWXU;
    nix::unistd::mkfifo(&path.join("data/pipe.json"), mode).unwrap();
    let text = format!(
        "{GOOD}mcp_mocks: [{{name: a, fixtures: data}}]\ncommand_mocks: [{{name: gh, responses: [{{fixture: data/pipe.json}}]}}]\n"
    );
    fs::write(path.join("fifo.yaml"), text).unwrap();
    let started = Instant::now();
    let report = report(path, &["fifo.yaml"]);
    assert!(started.elapsed() < Duration::from_secs(10));
    let diagnostics = &report["documents"][0]["diagnostics"];
    assert_eq!(diagnostics.as_array().unwrap().len(), 1);
    assert_eq!(diagnostics[0]["code"], "path-missing");
}

#[test]
fn nobody_listening_is_no_error() {
    let folder = folder();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command(folder.path(), &["bad.yaml"]).stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.is_empty());
}

/// Names, sizes and times below a folder.
fn listing(folder: &Path) -> BTreeMap<String, (u64, std::time::SystemTime)> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let facts = entries.map(|entry| {
        let metadata = entry.metadata().unwrap();
        (entry.path().display().to_string(), (metadata.len(), metadata.modified().unwrap()))
    });
    facts.collect()
}

#[test]
fn checking_writes_no_file() {
    let (folder, temporary) = (folder(), tempfile::tempdir().unwrap());
    let before = listing(folder.path());
    let files = ["good.yaml", "bad.yaml", "warned.yaml", "unresolved.yaml", "missing.yaml"];
    let mut command = command(folder.path(), &files);
    let output = command.env("TMPDIR", temporary.path()).env("HOME", temporary.path()).output();
    assert_eq!(output.unwrap().status.code(), Some(2));
    assert_eq!(listing(folder.path()), before);
    assert!(listing(temporary.path()).is_empty());
}

#[test]
fn checking_starts_no_process_and_opens_no_socket() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_mcp-mock");
    let trace = folder.path().join("trace");
    let traced = Command::new("strace")
        .args(["-f", "-e", "trace=%network,%process,open,openat,creat", "-o"])
        .arg(&trace)
        .args([program, "check", "bad.yaml", "unresolved.yaml", "warned.yaml"])
        .current_dir(folder.path())
        .output();
    let calls = match (&traced, fs::read_to_string(&trace)) {
        (Ok(output), Ok(calls)) if calls.contains("+++ exited with") => {
            assert_eq!(output.status.code(), Some(1));
            calls
        }
        (traced, _) => {
            eprintln!("skipped, since strace is missing or forbidden here: {traced:?}");
            return;
        }
    };
    let forbidden = ["socket(", "connect(", "fork(", "O_WRONLY", "O_RDWR", "O_CREAT", "creat("];
    for line in calls.lines() {
        assert!(!forbidden.iter().any(|call| line.contains(call)), "{line}");
        assert!(!line.contains("execve(") || line.contains(program), "{line}");
    }
}

#[test]
fn an_unreadable_file_cannot_be_opened() {
    let folder = folder();
    let path = folder.path().join("good.yaml");
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    if fs::File::open(&path).is_ok() {
        eprintln!("skipped, since this user reads every file");
        return;
    }
    assert_eq!(check(folder.path(), &["good.yaml"]).status.code(), Some(2));
}

#[test]
fn a_terminal_gets_colour_unless_no_color_is_set() {
    let folder = folder();
    for (no_color, is_coloured) in [(None, true), (Some(""), true), (Some("1"), false)] {
        let terminal = nix::pty::openpty(None, None).unwrap();
        let mut command = command(folder.path(), &["bad.yaml"]);
        command.env_remove("NO_COLOR").stdout(terminal.slave);
        command.envs(no_color.map(|value| ("NO_COLOR", value)));
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut printed = Vec::new();
        // The end of a terminal's output is an error on Linux.
        let _ = std::io::Read::read_to_end(&mut fs::File::from(terminal.master), &mut printed);
        assert_eq!(child.wait().unwrap().code(), Some(1));
        assert!(!printed.is_empty());
        assert_eq!(printed.contains(&0x1b), is_coloured, "{no_color:?}");
    }
}
