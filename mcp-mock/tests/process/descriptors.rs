//! Descriptors as they may come: non-blocking, closed, files, directories.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use crate::{Fixture, INITIALIZE, assert_exit, call, lines, spawn};

fn set_nonblocking(fd: impl AsFd) {
    fcntl(&fd, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
}

fn is_nonblocking(fd: impl AsFd) -> bool {
    OFlag::from_bits_retain(fcntl(&fd, FcntlArg::F_GETFL).unwrap()).contains(OFlag::O_NONBLOCK)
}

fn conversation(calls: usize) -> String {
    std::iter::once(format!("{INITIALIZE}\n"))
        .chain((1..=calls).map(|id| call(id, "big")))
        .collect()
}

#[test]
fn an_inherited_o_nonblock_is_neither_trusted_nor_changed() {
    let fixture = Fixture::usual(20_000);
    let (child_in, mut our_in) = std::io::pipe().unwrap();
    let (our_out, child_out) = std::io::pipe().unwrap();
    let (kept_in, kept_out) = (child_in.try_clone().unwrap(), child_out.try_clone().unwrap());
    set_nonblocking(&child_in);
    set_nonblocking(&child_out);
    let mut command = fixture.command();
    let mut child = spawn(command.stdin(child_in).stdout(child_out));
    drop(command);
    let writer = std::thread::spawn(move || {
        for piece in conversation(200).as_bytes().chunks(1000) {
            our_in.write_all(piece).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    });
    assert!(is_nonblocking(&kept_in) && is_nonblocking(&kept_out));
    let reader = std::thread::spawn(move || lines(our_out));
    writer.join().unwrap();
    assert_exit(&mut child, 0);
    assert!(is_nonblocking(&kept_in) && is_nonblocking(&kept_out));
    drop((kept_in, kept_out));
    assert_eq!(reader.join().unwrap().len(), 201);
}

#[test]
fn blocking_descriptors_stay_blocking() {
    let fixture = Fixture::usual(20_000);
    let (child_in, mut our_in) = std::io::pipe().unwrap();
    let (our_out, child_out) = std::io::pipe().unwrap();
    let (kept_in, kept_out) = (child_in.try_clone().unwrap(), child_out.try_clone().unwrap());
    let mut command = fixture.command();
    let mut child = spawn(command.stdin(child_in).stdout(child_out));
    drop(command);
    let reader = std::thread::spawn(move || lines(our_out));
    our_in.write_all(conversation(100).as_bytes()).unwrap();
    drop(our_in);
    assert_exit(&mut child, 0);
    assert!(!is_nonblocking(&kept_in) && !is_nonblocking(&kept_out));
    drop((kept_in, kept_out));
    assert_eq!(reader.join().unwrap().len(), 101);
}

#[test]
fn one_socket_for_both_ways_will_do() {
    let fixture = Fixture::usual(100_000);
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = fixture.command();
    let mut child = spawn(
        command.stdin(OwnedFd::from(theirs.try_clone().unwrap())).stdout(OwnedFd::from(theirs)),
    );
    drop(command);
    (&ours).write_all(conversation(30).as_bytes()).unwrap();
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(lines(&ours).len(), 31);
    assert_exit(&mut child, 0);
}

#[test]
fn stdin_may_be_a_file_or_nothing() {
    let fixture = Fixture::usual(1000);
    let path = fixture.folder.path().join("in");
    std::fs::write(&path, conversation(500)).unwrap();
    let mut child =
        spawn(fixture.command().stdin(File::open(&path).unwrap()).stdout(Stdio::piped()));
    assert_eq!(lines(child.stdout.take().unwrap()).len(), 501);
    assert_exit(&mut child, 0);

    let mut child = spawn(fixture.command().stdin(Stdio::null()).stdout(Stdio::piped()));
    assert!(lines(child.stdout.take().unwrap()).is_empty());
    assert_exit(&mut child, 0);
}

#[test]
fn a_directory_as_stdin_is_an_error_that_is_named() {
    let fixture = Fixture::usual(1);
    let directory = File::open(fixture.folder.path()).unwrap();
    let output = fixture.command().stdin(directory).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cannot read stdin"), "{said}");
}

/// Serves with a redirection of the shell.
fn redirected(fixture: &Fixture, redirection: &str) -> Command {
    let script = format!("exec \"$0\" serve \"$1\" {redirection}");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_mcp-mock")]).arg(fixture.path());
    command
}

#[test]
fn closed_descriptors_are_opened_on_dev_null() {
    let fixture = Fixture::usual(1);
    let input = fixture.folder.path().join("in");
    std::fs::write(&input, conversation(3)).unwrap();
    for (redirection, answers) in [
        ("<&-", 0),
        (">&-", 0),
        ("2>&-", 4),
        ("<&- >&-", 0),
        ("<&- 2>&-", 0),
        (">&- 2>&-", 0),
        ("<&- >&- 2>&-", 0),
    ] {
        let mut command = redirected(&fixture, redirection);
        let output = command.stdin(File::open(&input).unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{redirection}");
        assert_eq!(
            output.stdout.iter().filter(|byte| **byte == b'\n').count(),
            answers,
            "{redirection}"
        );
    }
}

#[test]
fn stdout_may_be_a_file_and_a_full_device_is_gone() {
    let fixture = Fixture::usual(300_000);
    let input = fixture.folder.path().join("in");
    std::fs::write(&input, conversation(20)).unwrap();
    let output = fixture.folder.path().join("out");
    let mut child = spawn(
        fixture.command().stdin(File::open(&input).unwrap()).stdout(File::create(&output).unwrap()),
    );
    assert_exit(&mut child, 0);
    assert_eq!(lines(File::open(&output).unwrap()).len(), 21);

    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut child = spawn(fixture.command().stdin(File::open(&input).unwrap()).stdout(full));
    assert_exit(&mut child, 1);
}

#[test]
fn a_client_that_resets_stdin_has_ended_it() {
    let fixture = Fixture::usual(1);
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = fixture.command();
    let mut child = spawn(command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()));
    drop(command);
    (&ours).write_all(conversation(1).as_bytes()).unwrap();
    drop(ours);
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said.lines().count(), 2);
    assert_exit(&mut child, 0);
}
