//! Places, limits and streams that nobody would choose.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{GOOD, Place, program};

#[test]
fn a_directory_need_not_be_utf8() {
    let place = Place::new();
    let folder = place.0.path().join(OsStr::from_bytes(b"\xff"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy("/bin/true", folder.join("agent")).unwrap();
    let args = ["run", "../c.yaml", "--clean", "--agent-cmd", "./agent"];
    let mut command = place.command(&args);
    command.current_dir(&folder);
    let (code, text) = place.run(command);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("saw no further call"), "{text}");
    // Where mocks are named in configurations, it is told.
    let mut command = place.command(&["run", "c.yaml", "--clean", "--agent-cmd", "true"]);
    command.env("TMPDIR", &folder);
    let (code, text) = place.run(command);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("is not UTF-8"), "{text}");
}

#[test]
fn sessions_are_kept_at_a_relative_place() {
    let place = Place::new();
    let args = ["c.yaml", "--out", "out", "--keep-sessions"];
    let (code, text) = place.run(place.agent(GOOD, &args));
    assert_eq!(code, 0, "{text}");
    assert!(place.path("out/sessions/0000-c-t/session/journal.jsonl").exists());
}

#[test]
fn where_nothing_can_be_written_nothing_runs() {
    for (prepare, args, wanted) in [
        ("mkdir -p out/results.json", ["--out", "out"], "is a directory"),
        ("touch out", ["--out", "out"], "File exists"),
        ("ln -s nowhere out", ["--out", "out"], "File exists"),
        ("mkdir out", ["--report", "json=out"], "Is a directory"),
        ("true", ["--report", "json=a/b"], "No such file"),
        ("rm -r \"$PWD\"", ["--out", "out"], "No such file"),
    ] {
        let place = Place::new();
        let ran = place.path("tmp/ran");
        let case = place.path("tmp/c.yaml");
        std::fs::copy(place.path("c.yaml"), &case).unwrap();
        let folder = place.path("here");
        std::fs::create_dir(&folder).unwrap();
        let shell = format!("{prepare}; exec \"$@\"");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &shell, "sh"]).arg(program()).arg("run").arg(&case).args(args);
        command.args(["--agent-cmd", &format!("/usr/bin/touch {}", ran.display())]);
        let output =
            command.current_dir(&folder).env("TMPDIR", place.path("tmp")).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{prepare}: {text}");
        assert!(text.contains(wanted) && !ran.exists(), "{prepare}: {text}");
    }
}

#[test]
fn a_report_goes_down_a_pipe() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let reader =
        Command::new("cat").arg(place.path("pipe")).stdout(Stdio::piped()).spawn().unwrap();
    let (code, text) = place.run(place.agent(GOOD, &["c.yaml", "--report", "json=pipe"]));
    assert_eq!(code, 0, "{text}");
    let read = reader.wait_with_output().unwrap().stdout;
    assert!(read.ends_with(b"}\n") && read.starts_with(b"{\"schemaVersion\""));
}

/// Whoever comes last has written the file, and all of it.
#[test]
fn two_at_once_do_not_mix_their_results() {
    let place = Place::new();
    let start = || {
        let mut command = place.agent(GOOD, &["c.yaml", "--trials", "20", "--out", "out"]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let all: Vec<_> = (0..3).map(|_| start()).collect();
    for child in all {
        let (code, text) = place.ended(child);
        assert_eq!(code, 0, "{text}");
    }
    let text = std::fs::read_to_string(place.path("out/results.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(results["runs"].as_array().unwrap().len(), 20);
    assert_eq!(std::fs::read_dir(place.path("out")).unwrap().count(), 1);
}

#[test]
fn streams_may_be_closed_or_full() {
    for (streams, exit) in [
        ("<&-", 0),
        (">&-", 0),
        ("2>&-", 0),
        ("<&- >&- 2>&-", 0),
        ("2>/dev/full", 0),
        // The report is lost, and the results are not.
        (">/dev/full", 2),
    ] {
        let place = Place::new();
        let agent = place.agent(GOOD, &["c.yaml", "--out", "out"]);
        let (code, text) = place.run(place.shell(&format!("exec \"$@\" {streams}"), &agent));
        assert_eq!(code, exit, "{streams}: {text}");
        let results = std::fs::read_to_string(place.path("out/results.json")).unwrap();
        assert!(results.contains(r#""verdict":"PASS""#), "{streams}: {results}");
    }
}

/// Limits of a shell, and what comes of it: never a panic, and never a signal.
#[test]
fn scarce_resources_are_told() {
    for (limit, args, wanted) in [
        // Too few processes for so many jobs: fewer have the same work. The superuser may have more.
        ("ulimit -u 200", ["--jobs", "256"], " passed"),
        ("ulimit -n 20", ["--jobs", "1"], "60 passed"),
        ("ulimit -n 7", ["--jobs", "1"], "Too many open files"),
        ("ulimit -f 1", ["--jobs", "2"], "File too large"),
    ] {
        let place = Place::new();
        let args =
            [&["c.yaml", "--trials", "60", "--report", "text=/dev/null"], &args[..]].concat();
        let agent = place.agent(GOOD, &args);
        let (code, text) = place.run(place.shell(&format!("{limit}; exec \"$@\""), &agent));
        assert!((0..=3).contains(&code), "{limit}: {code}, {text}");
        assert!(text.contains(wanted), "{limit}: {text}");
    }
}

/// A program that is copied beside others that start cannot be started at once.
#[test]
fn a_copied_shim_is_waited_for() {
    let shared = Path::new("/dev/shm");
    let device = |path: &Path| path.metadata().map(|about| about.dev()).ok();
    if device(shared).is_none() || device(shared) == device(program()) {
        return;
    }
    let place = Place::new();
    let elsewhere = tempfile::tempdir_in(shared).unwrap();
    let mut command = place.agent(GOOD, &["c.yaml", "--jobs", "16", "--trials", "100"]);
    command.env("TMPDIR", elsewhere.path());
    let (code, text) = place.run(command);
    assert_eq!(code, 0, "{text}");
}
