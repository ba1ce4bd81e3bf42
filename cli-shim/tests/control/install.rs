//! `install`: a session whose shims work, or none.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::{DOCUMENT, Place, printed, refusal, skipped};

const INSTALL: [&str; 4] = ["install", "fixture.yaml", "--dir", "run"];

#[test]
fn the_line_that_is_printed_puts_the_shims_first() {
    let place = Place::usual();
    let output = place.run(&INSTALL);
    let line = printed(&output);
    assert_eq!(line, format!("export PATH={}/bin:\"$PATH\"\n", place.text_path("run")));
    let hints = String::from_utf8(output.stderr).unwrap();
    for name in ["env", "doctor", "status"] {
        assert!(hints.contains(&format!("cli-shim {name} {}", place.text_path("run"))), "{hints}");
    }
    assert!(place.records().is_empty());
    assert_eq!(place.names("run/bin"), ["lone", "twin"]);
    assert!(!place.names("run").iter().any(|name| name.starts_with("canary")));
    let mut shell = place.start("sh");
    let told = shell.args(["-c", &format!("{line}lone; echo; twin go")]).output().unwrap();
    assert_eq!(printed(&told), "one\nmocked");
    let seen = place.status();
    assert_eq!(seen["command_invocations"].as_array().unwrap().len(), 2);
}

#[test]
fn json_names_what_was_made() {
    let place = Place::usual();
    let about = place.json(&["install", "fixture.yaml", "--dir", "run", "--json"]);
    assert_eq!(
        about,
        json!({
            "session": place.text_path("run"),
            "bin": place.text_path("run/bin"),
            "servers": [],
            "executables": ["lone", "twin"],
        })
    );
}

#[test]
fn the_same_again_changes_nothing() {
    let place = Place::usual();
    let first = place.ok(&INSTALL);
    place.call("lone", &[]);
    let state = |name: &str| std::fs::read(place.path("run").join(name)).unwrap();
    let before = (state("session.json"), state("journal.jsonl"));
    assert_eq!(place.ok(&INSTALL), first);
    assert_eq!((state("session.json"), state("journal.jsonl")), before);
    assert_eq!(place.call("lone", &[]).status.code(), Some(3));
}

#[test]
fn another_document_other_names_or_a_closed_session_are_refused() {
    let place = Place::usual();
    place.install();
    place.write("other.yaml", &DOCUMENT.replace("mocked", "other"));
    let told = place.refused(&["install", "other.yaml", "--dir", "run"]);
    assert!(told.contains("something else") && told.contains("reset"), "{told}");
    let told = place.refused(&["install", "fixture.yaml", "--dir", "run", "--only", "lone"]);
    assert!(told.contains("something else"), "{told}");
    place.ok(&["close", "run"]);
    let told = place.refused(&INSTALL);
    assert!(told.contains("closed") && told.contains("reset"), "{told}");
    assert_eq!(place.names("run/bin"), ["lone", "twin"]);
    place.ok(&["reset", "run"]);
    place.ok(&INSTALL);
    assert_eq!(place.call("lone", &[]).stdout, b"one");
}

#[test]
fn only_the_names_that_are_asked_for_get_a_shim() {
    let place = Place::usual();
    let args = ["install", "fixture.yaml", "--dir", "run", "--only", "twin"];
    let line = place.ok(&args);
    assert_eq!(place.ok(&args), line);
    assert_eq!(place.names("run/bin"), ["twin"]);
    let told =
        place.refused(&["install", "fixture.yaml", "--dir", "b", "--only", "twin", "git", "lone"]);
    assert!(told.contains("no executable `git`; the executables are `lone`, `twin`"), "{told}");
    place.write("none.yaml", "{schemaVersion: \"2.0\", scenario: s}");
    let told = place.refused(&["install", "none.yaml", "--dir", "b"]);
    assert!(told.contains("nothing to install"), "{told}");
    assert!(!place.path("b").exists());
}

#[test]
fn makers_that_race_share_one_session() {
    for _ in 0..4 {
        let place = Place::usual();
        let start = |_| {
            let mut command = place.command(&INSTALL);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let makers: Vec<_> = (0..8).map(start).collect();
        let lines = makers.into_iter().map(|maker| printed(&maker.wait_with_output().unwrap()));
        let mut lines: Vec<String> = lines.collect();
        lines.dedup();
        assert_eq!(lines.len(), 1);
        assert_eq!(place.names(""), ["fixture.yaml", "home", "host", "run"]);
        assert!(!place.names("run").iter().any(|name| name.starts_with("canary")));
        assert!(place.records().is_empty());
    }
}

#[test]
fn directories_that_no_path_can_name_are_refused() {
    let place = Place::usual();
    let told = place.refused(&["install", "fixture.yaml", "--dir", "a:b"]);
    assert!(told.contains("colon"), "{told}");
    place.refused(&["install", "fixture.yaml", "--dir", "a\nb"]);
    let mut command = place.command(&["install", "fixture.yaml", "--dir"]);
    let odd = std::os::unix::ffi::OsStrExt::from_bytes(b"a\xff");
    let told = refusal(&command.arg::<&std::ffi::OsStr>(odd).output().unwrap());
    assert!(told.contains("UTF-8"), "{told}");
    symlink("a:b", place.path("link")).unwrap();
    std::fs::create_dir(place.path("a:b")).unwrap();
    place.refused(&["install", "fixture.yaml", "--dir", "link"]);
    assert_eq!(place.names(""), ["fixture.yaml", "home", "host", "link"]);
}

#[test]
fn the_deadline_and_the_timeout_are_kept() {
    let place = Place::usual();
    place.ok(&[&INSTALL[..], &["--call-timeout-ms", "5000", "--deadline-ms", "60000"]].concat());
    let text = std::fs::read_to_string(place.path("run/session.json")).unwrap();
    let about: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(about["call_timeout_ms"], 5000);
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert_eq!(about["deadline"]["boot_id"], boot.trim());
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
    let uptime: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
    let left = about["deadline"]["mono_ms"].as_f64().unwrap() - uptime * 1000.0;
    assert!((0.0..=61_000.0).contains(&left), "{left}");

    place.ok(&["install", "fixture.yaml", "--dir", "late", "--deadline-ms", "1"]);
    std::thread::sleep(std::time::Duration::from_millis(5));
    let late = place.start(place.path("late/bin/lone")).output().unwrap();
    assert_eq!((late.status.code(), late.stdout.len()), (Some(124), 0));
}

#[test]
fn a_session_without_shims_is_refused_and_left_alone() {
    let place = Place::usual();
    place.install();
    std::fs::remove_file(place.path("run/bin/twin")).unwrap();
    let told = place.refused(&INSTALL);
    assert!(told.contains("run/bin/twin") && told.contains("cannot be used"), "{told}");
    assert!(place.path("run/session.json").exists());
}

/// A program that was linked has the inode of the control program.
#[test]
fn shims_are_links_or_on_another_filesystem_copies() {
    let place = Place::usual();
    place.install();
    let inode = |path: &std::path::Path| path.metadata().unwrap().ino();
    assert_eq!(inode(&place.path("run/bin/lone")), inode(&place.path("run/bin/twin")));

    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else {
        return skipped("there is no /dev/shm to be another filesystem");
    };
    let directory = elsewhere.path().join("run");
    let output = place.run(&["install", "fixture.yaml", "--dir", directory.to_str().unwrap()]);
    if output.status.code() == Some(2) {
        assert!(!directory.exists());
        return skipped("programs cannot be executed in /dev/shm");
    }
    printed(&output);
    let shim = directory.join("bin/twin");
    assert_ne!(inode(&shim), inode(&place.path("run/bin/twin")));
    assert_eq!(shim.metadata().unwrap().mode() & 0o777, 0o755);
    assert_eq!(std::fs::read_dir(directory.join("bin")).unwrap().count(), 2);
    assert_eq!(place.start(&shim).arg("go").output().unwrap().stdout, b"mocked");
}

#[test]
fn where_nothing_may_be_executed_no_session_is_made() {
    let place = Place::usual();
    std::fs::create_dir(place.path("mnt")).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "noexec", "none"])
        .arg(place.path("mnt"))
        .output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        return skipped("no filesystem can be mounted here");
    }
    let output = place.run(&["install", "fixture.yaml", "--dir", "mnt/run"]);
    let left = place.names("mnt");
    Command::new("umount").arg(place.path("mnt")).status().unwrap();
    let told = refusal(&output);
    assert!(told.contains("ermission denied") && told.contains("executed"), "{told}");
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_user_of_a_session_must_be_able_to_execute_it() {
    let place = Place::usual();
    let args = [&INSTALL[..], &["--owner", "65534"]].concat();
    if !rustix::process::geteuid().is_root() {
        place.refused(&args);
        return;
    }
    if Command::new("true").uid(65534).output().is_err() {
        return skipped("no program can be started as another user");
    }
    std::fs::set_permissions(place.path(""), PermissionsExt::from_mode(0o700)).unwrap();
    let told = place.refused(&args);
    assert!(told.contains("user 65534"), "{told}");
    assert!(!place.path("run").exists());
    std::fs::set_permissions(place.path(""), PermissionsExt::from_mode(0o755)).unwrap();
    let output = place.run(&args);
    if output.status.code() == Some(2) {
        assert!(!place.path("run").exists());
        return skipped("the program lies where another user cannot execute it");
    }
    printed(&output);
    assert!(place.names("run").iter().all(|name| {
        let about = place.path("run").join(name).metadata().unwrap();
        about.uid() == 65534
    }));
    let mut shim = place.start(place.path("run/bin/lone"));
    assert_eq!(shim.uid(65534).output().unwrap().stdout, b"one");
}
