//! Where nothing can be recorded nothing is served: another user, a read-only
//! or full filesystem, a limit.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::launch::ignoring;
use crate::{Place, SERVED, refused, skipped, told};

const MOCKS: &str = "[{name: gh, on_unmatched: host, responses: [{args: [a], sequence: [{stdout: one}, {stdout: two}]}, {args: [late], sequence: [{stdout: out, delay_ms: 1, repeat: 100}]}]}]";

const HINT: &str = "perhaps a sandbox: make the session directory writable for the agent";

/// A session that others may read, in a place that they may enter.
fn open_place() -> Option<Place> {
    if !rustix::process::geteuid().is_root() {
        skipped("only root can run a program as somebody else");
        return None;
    }
    let place = Place::with(MOCKS, |making| making.mode = 0o755);
    std::fs::set_permissions(place.path(""), PermissionsExt::from_mode(0o755)).unwrap();
    place.program("host/gh", "#!/bin/sh\necho host\n");
    if as_nobody(&place, &["unmatched"]).is_none() {
        skipped("somebody else cannot enter the folder of the tests");
        return None;
    }
    Some(place)
}

/// A call by somebody who owns nothing here.
fn as_nobody(place: &Place, args: &[&str]) -> Option<Output> {
    let mut command = place.command("gh", args);
    command.uid(65534).gid(65534).env("PATH", format!("{}/host", place.root().display()));
    command.output().ok()
}

#[test]
fn a_session_of_somebody_else_says_what_is_wrong_with_it() {
    let Some(place) = open_place() else { return };
    let refuses = |reason: &str| {
        for args in [["a"], ["unmatched"]] {
            let told = refused(&as_nobody(&place, &args).unwrap());
            assert!(told.contains(reason), "{told}");
        }
        assert_eq!(place.types(), [""; 0]);
    };
    let set = |file: &str, mode: u32| {
        std::fs::set_permissions(place.path("run").join(file), PermissionsExt::from_mode(mode))
            .unwrap();
    };
    refuses(HINT);
    set("journal.jsonl", 0o666);
    set("commands/gh.json", 0o600);
    refuses("Permission denied");
    set("commands/gh.json", 0o644);
    set("session.json", 0o600);
    refuses("Permission denied");
    set("session.json", 0o644);
    set("journal.jsonl", 0o222);
    refuses("Permission denied");
    // The journal is enough: the checkpoint may stay out of reach.
    set("journal.jsonl", 0o666);
    assert_eq!(told(&as_nobody(&place, &["a"]).unwrap()).1, "one");
    assert_eq!(told(&as_nobody(&place, &["unmatched"]).unwrap()).1, "host\n");
    assert_eq!(place.call("gh", &["a"]).1, "two");
}

/// Runs a script with mounts of its own; none where that is forbidden.
fn mounted(place: &Place, mount: &str, script: &str) -> Option<Output> {
    let namespace = if rustix::process::geteuid().is_root() { "-m" } else { "-rm" };
    let run = |script: &str| {
        let mut command = Command::new("unshare");
        command.args([namespace, "sh", "-c", script]).current_dir(place.root());
        command.stdin(Stdio::null()).output()
    };
    match run(mount) {
        Ok(output) if output.status.success() => {
            Some(run(&format!("{mount} && {script}")).unwrap())
        }
        Ok(output) => {
            skipped(&String::from_utf8_lossy(&output.stderr));
            None
        }
        Err(error) => {
            skipped(&format!("cannot start unshare: {error}"));
            None
        }
    }
}

#[test]
fn a_read_only_filesystem_uses_nothing() {
    let place = Place::new(MOCKS);
    place.program("host/gh", "#!/bin/sh\necho host\n");
    let mount = "mount --bind run run && mount -o remount,ro,bind run";
    for args in ["a", "unmatched"] {
        let script = format!("PATH=host:$PATH exec run/bin/gh {args}");
        let Some(output) = mounted(&place, mount, &script) else { return };
        let told = refused(&output);
        assert!(told.contains(HINT), "{told}");
    }
    assert_eq!(place.types(), [""; 0]);
    assert_eq!(place.call("gh", &["a"]).1, "one");
}

#[test]
fn a_full_filesystem_uses_nothing() {
    let place = Place::new(MOCKS);
    place.program("host/gh", "#!/bin/sh\necho host\n");
    std::fs::create_dir(place.path("disk")).unwrap();
    let size = std::fs::metadata(place.shim("gh")).unwrap().len() / 1024 + 1024;
    let mount = format!("mount -t tmpfs -o size={size}k none disk");
    let script = "cp -a --sparse=never run disk/ && { cat /dev/zero >disk/filler 2>/dev/null; \
        export PATH=host:$PATH; \
        disk/run/bin/gh a; echo \" $?\"; disk/run/bin/gh unmatched; echo \" $?\"; \
        rm disk/filler; disk/run/bin/gh a; echo \" $?\"; cp disk/run/journal.jsonl run/; }";
    let Some(output) = mounted(&place, &mount, script) else { return };
    let (_, stdout, stderr) = told(&output);
    assert_eq!(stdout, " 127\n 127\none 0\n", "{stderr}");
    assert_eq!(stderr.lines().count(), 2, "{stderr}");
    assert!(stderr.lines().all(|line| line.contains("cannot write")), "{stderr}");
    assert_eq!(place.types(), SERVED);
}

/// Has a command start with a limit for the size of files.
#[expect(unsafe_code, reason = "what a child does before it becomes the program has no safe way")]
fn limited(command: &mut Command, bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a system call that is async-signal-safe, on memory of the closure.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
}

fn length(path: &Path) -> u64 {
    path.metadata().unwrap().len()
}

#[test]
fn a_file_that_may_not_grow_ends_no_call_and_uses_nothing_for_nothing() {
    for is_ignored in [false, true] {
        for name in ["now", "late"] {
            let delay = if name == "late" { ", delay_ms: 1" } else { "" };
            let mocks = format!(
                "[{{name: gh, responses: [{{sequence: [{{stdout: out{delay}, repeat: 100}}]}}]}}]"
            );
            let place = Place::new(&mocks);
            let (mut refusals, mut served, mut unselected) = (0, 0, 0);
            for room in (0..1500).step_by(60) {
                let before = place.records().len();
                let mut command = place.command("gh", &[]);
                limited(&mut command, length(&place.journal()) + room);
                if is_ignored {
                    ignoring(&mut command, libc::SIGXFSZ);
                }
                let output = command.output().unwrap();
                let own = crate::types(&place.records()[before..]);
                let own: Vec<&str> = own.iter().map(String::as_str).collect();
                let (code, stdout, _) = told(&output);
                match (code, &*stdout, &own[..]) {
                    (0, "out", ["started", "selected"] | SERVED_) => served += 1,
                    (127, "", []) => refusals += 1,
                    (127, "", ["started"]) if name == "late" => unselected += 1,
                    other => panic!("{other:?} with room for {room}, {name}"),
                }
                assert!(code == 0 || refused(&output).contains("cannot write"));
            }
            assert!(refusals > 3 && served > 3, "{refusals} {served} {unselected}");
            assert!(name == "now" || unselected > 1, "{unselected}");
        }
    }
}

const SERVED_: &[&str] = &SERVED;

/// A session of many responses has a checkpoint that is longer than its journal.
#[test]
fn a_checkpoint_that_may_not_grow_ends_no_call() {
    let responses: Vec<_> =
        (0..600).map(|it| format!("{{args: [r{it}], sequence: [{{stdout: out{it}}}]}}")).collect();
    let place = Place::new(&format!("[{{name: gh, responses: [{}]}}]", responses.join(", ")));
    for call in 0..2 {
        let mut command = place.command("gh", &[&format!("r{call}")]);
        limited(&mut command, 2000);
        let output = told(&command.output().unwrap());
        assert_eq!(output, (0, format!("out{call}"), String::new()));
    }
    assert_eq!(place.types(), SERVED.repeat(2));
    assert_eq!(place.call("gh", &["r0"]).0, 127);
}
