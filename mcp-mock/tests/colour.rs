//! Colour: on a terminal only, and not where it is unwanted.
#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::pty::openpty;

/// What the program prints on a terminal.
fn on_terminal(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let terminal = openpty(None, None).unwrap();
    let stdout = terminal.slave.try_clone().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-mock"))
        .args(arguments)
        .current_dir(folder)
        // Within CI clap colours a dumb terminal too.
        .env_remove("CI")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR")
        .env_remove("CLICOLOR_FORCE")
        .env("TERM", "xterm")
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(terminal.slave)
        .spawn()
        .unwrap();
    let mut printed = Vec::new();
    // Reading fails, as terminals do it, once no program has it open.
    let _ = File::from(terminal.master).read_to_end(&mut printed);
    child.wait().unwrap();
    String::from_utf8(printed).unwrap()
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.yaml"), "a: 1\n").unwrap();
    for arguments in [
        ["--help"].as_slice(),
        &["serve", "--help"],
        &["bogus"],
        &["check", "bad.yaml"],
        &["serve", "bad.yaml"],
        &["config", "bad.yaml", "--for", "codex"],
    ] {
        for (environment, is_coloured) in [
            ([].as_slice(), true),
            (&[("NO_COLOR", "")], true),
            (&[("NO_COLOR", "1")], false),
            (&[("TERM", "dumb")], false),
        ] {
            let printed = on_terminal(folder.path(), arguments, environment);
            assert!(!printed.is_empty());
            let place = format!("{arguments:?} {environment:?}\n{printed}");
            assert_eq!(printed.contains('\u{1b}'), is_coloured, "{place}");
        }
        let output = Command::new(env!("CARGO_BIN_EXE_mcp-mock"))
            .args(arguments)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(!output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b), "{arguments:?}");
    }
}
