//! A disk that is full, or a file that may not grow: nothing is used, nothing is torn.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::{Place, Server, reason_of, records, skipped, text_of};

/// Two sequences of a hundred steps, the second with a delay.
fn place() -> Place {
    let steps = |delay: &str| -> String {
        (0..100).map(|step| format!("{{text: s{step}{delay}}}, ")).collect()
    };
    Place::with_tools(&format!(
        "{{seq: {{sequence: [{}]}}, late: {{sequence: [{}]}}}}",
        steps(""),
        steps(", delay_ms: 1")
    ))
}

/// Starts the program as a shell does that runs `before` first.
fn in_shell(place: &Place, before: &str, args: &[&str]) -> Server {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{before}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_mcp-mock")]);
    let mut server = Server::start(command.args(args).current_dir(place.path("")));
    server.shake_hands();
    server
}

/// What SIGXFSZ does to the program, if it is not careful.
const DISPOSITIONS: [&str; 2] = ["trap - XFSZ", "trap '' XFSZ"];

fn limit(server: &Server, bytes: Option<u64>) {
    let pid = Pid::from_raw(server.pid().cast_signed());
    prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
}

fn length(path: &Path) -> u64 {
    path.metadata().unwrap().len()
}

/// How many steps of a tool the journal says are used; no line of it is torn.
fn used(journal: &Path, tool: &str) -> usize {
    let text = std::fs::read_to_string(journal).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "a torn line is left");
    let mut records = records(journal);
    records.retain(|it| it["type"] == "attempt.started" && it["operation"] == tool);
    for (record, step) in records.iter().zip(0..) {
        assert_eq!(record["step"], step, "{record}");
    }
    records.len()
}

/// Whether a call got the step that is next; otherwise it got an error.
fn gets(server: &mut Server, tool: &str, step: usize) -> bool {
    let result = server.call(tool);
    if result.get("isError").is_some() {
        assert_eq!(reason_of(&result), "journal");
        assert!(text_of(&result).contains("journal"), "{result}");
        return false;
    }
    assert_eq!(text_of(&result), format!("s{step}"));
    true
}

/// The room that is left for the records of one call.
fn levels() -> impl Iterator<Item = u64> {
    [0, 1, 2].into_iter().chain((10..860).step_by(17))
}

#[test]
fn a_call_whose_records_do_not_fit_uses_nothing() {
    for disposition in DISPOSITIONS {
        let place = place();
        place.make();
        let mut server = in_shell(&place, disposition, &["serve", "--session", "run"]);
        let (mut refused, mut undelivered, mut whole) = (0, 0, 0);
        for room in levels() {
            assert!(server.is_alive());
            let before = length(&place.journal());
            limit(&server, Some(before + room));
            let step = used(&place.journal(), "seq");
            let is_served = gets(&mut server, "seq", step);
            assert!(server.is_alive());
            if is_served {
                assert_eq!(used(&place.journal(), "seq"), step + 1);
                let last = place.types().pop().unwrap();
                *(if last == "attempt.delivered" { &mut whole } else { &mut undelivered }) += 1;
            } else {
                assert_eq!(length(&place.journal()), before, "with room for {room}");
                refused += 1;
            }
            limit(&server, None);
            if !is_served {
                assert!(gets(&mut server, "seq", step), "with room for {room}");
            }
        }
        assert!(refused > 10 && undelivered > 2 && whole > 2, "{refused} {undelivered} {whole}");
        server.end();
        assert!(place.records().iter().all(|it| it.get("recovered_bytes").is_none()));
    }
}

/// Once it started, a delayed call has used its step; what cannot be recorded is not sent.
#[test]
fn an_outcome_that_does_not_fit_is_not_sent() {
    for disposition in DISPOSITIONS {
        let place = place();
        place.make();
        let mut server = in_shell(&place, disposition, &["serve", "--session", "run"]);
        let (mut refused, mut unselected, mut served) = (0, 0, 0);
        for room in levels() {
            assert!(server.is_alive());
            let before = length(&place.journal());
            limit(&server, Some(before + room));
            let step = used(&place.journal(), "late");
            let is_served = gets(&mut server, "late", step);
            assert!(server.is_alive());
            let started = used(&place.journal(), "late") - step;
            let selected = place.types().iter().rev().take(2).any(|it| it == "attempt.selected");
            match (is_served, started) {
                (true, 1) => served += 1,
                (false, 1) => unselected += 1,
                (false, 0) => refused += 1,
                other => panic!("{other:?} with room for {room}"),
            }
            assert!(!is_served || selected, "with room for {room}");
            limit(&server, None);
        }
        assert!(refused > 5 && unselected > 5 && served > 5, "{refused} {unselected} {served}");
        server.end();
        let successes = place.of_type("attempt.selected").len();
        assert_eq!(successes, served);
    }
}

#[test]
fn a_journal_file_that_may_not_grow_uses_nothing() {
    let place = place();
    let mut server = place.serve(&["fixture.yaml", "--journal", "calls"]);
    let journal = place.path("calls");
    let mut step = 0;
    for room in levels() {
        assert!(server.is_alive());
        limit(&server, Some(length(&journal) + room));
        step += usize::from(gets(&mut server, "seq", step));
        assert!(server.is_alive());
        assert_eq!(used(&journal, "seq"), step);
        limit(&server, None);
    }
    assert!(step > 10 && step < levels().count());
    server.end();
}

/// The limit of the shell, which nobody lifts: the next server finds all as it was.
#[test]
fn a_limit_of_the_shell_ends_no_server() {
    for disposition in DISPOSITIONS {
        let place = place();
        place.make();
        let before = format!("ulimit -f 4; {disposition}");
        let mut server = in_shell(&place, &before, &["serve", "--session", "run"]);
        let mut step = 0;
        while gets(&mut server, "seq", step) {
            step += 1;
        }
        for _ in 0..5 {
            assert!(!gets(&mut server, "seq", step));
        }
        assert!(step > 1 && server.is_alive());
        server.end();
        assert_eq!(used(&place.journal(), "seq"), step);
        assert!(gets(&mut place.attach(), "seq", step));
    }
}

#[test]
fn a_session_that_finds_no_room_leaves_nothing_behind() {
    let place = place();
    let script = "ulimit -f 1; trap '' XFSZ; exec \"$0\" session fixture.yaml --dir run";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_mcp-mock")]).current_dir(place.path(""));
    let output = command.stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("cannot write the session"), "{told}");
    assert_eq!(place.names(), ["fixture.yaml"]);
}

/// Fills what is left, to the last page.
fn fill(path: &Path) {
    let mut file = std::fs::File::create(path).unwrap();
    while std::io::Write::write_all(&mut file, &[0; 1024]).is_ok() {}
}

#[test]
fn a_full_filesystem_uses_nothing() {
    let place = place();
    std::fs::create_dir(place.path("disk")).unwrap();
    let mount = "mount -t tmpfs -o size=256k none disk";
    let namespace = if rustix::process::geteuid().is_root() { "-m" } else { "-rm" };
    let mut probe = Command::new("unshare");
    probe.args([namespace, "sh", "-c", mount]).current_dir(place.path(""));
    match probe.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => return skipped(&String::from_utf8_lossy(&output.stderr)),
        Err(error) => return skipped(&format!("cannot start unshare: {error}")),
    }
    let script = format!(
        "{mount} && \"$0\" session fixture.yaml --dir disk/run >&2 && exec \"$0\" serve --session disk/run"
    );
    let mut command = Command::new("unshare");
    command.args([namespace, "sh", "-c", &script, env!("CARGO_BIN_EXE_mcp-mock")]);
    let mut server = Server::start(command.current_dir(place.path("")));
    server.shake_hands();
    // The mount is seen by the server alone.
    let root =
        PathBuf::from(format!("/proc/{}/root{}", server.pid(), place.path("disk").display()));
    let (journal, filler) = (root.join("run/journal.jsonl"), root.join("filler"));
    let mut failed = 0;
    for round in 0..8 {
        assert!(server.is_alive());
        fill(&filler);
        let tool = if round % 2 == 0 { "seq" } else { "late" };
        for _ in 0..8 {
            let step = used(&journal, tool);
            if !gets(&mut server, tool, step) {
                failed += 1;
                break;
            }
            assert!(server.is_alive());
        }
        let step = used(&journal, tool);
        std::fs::remove_file(&filler).unwrap();
        assert!(gets(&mut server, tool, step));
        assert_eq!(used(&journal, tool), step + 1);
    }
    assert!(failed >= 4, "{failed}");
    server.end();
}
