//! Descriptors as they may come: closed, non-blocking, slow, and too many.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::launch::pipe;
use crate::{End, Place, SERVED, end, rest, skipped, told};

/// Has a command start with these descriptors closed.
#[expect(unsafe_code, reason = "what a child does before it becomes the program has no safe way")]
fn without(command: &mut Command, closed: Vec<i32>) {
    // SAFETY: system calls that are async-signal-safe, on memory of the closure.
    unsafe {
        command.pre_exec(move || {
            for fd in &closed {
                libc::close(*fd);
            }
            Ok(())
        });
    }
}

#[test]
fn whatever_is_closed_nothing_else_takes_its_place() {
    let place = Place::new(
        r#"[{name: gh, on_unmatched: host, responses: [{args: [a], stdout: out, stderr: err, exit_code: 3}]},
            {name: in, responses: [{stdin: "", stdout: out, stderr: err, exit_code: 3}]}]"#,
    );
    place.program("host/gh", "#!/bin/sh\nexec ls /proc/self/fd 2>/dev/null >\"$SEEN\"\n");
    let seen = place.path("seen");
    assert!(Command::new(place.path("host/gh")).env("SEEN", &seen).status().unwrap().success());
    let direct = std::fs::read_to_string(&seen).unwrap();
    for combination in 0..8 {
        let closed: Vec<i32> = (0..3).filter(|fd| combination >> fd & 1 == 1).collect();
        let before = place.records().len();
        for (name, args) in [("gh", &["a"][..]), ("in", &[])] {
            let mut command = place.command(name, args);
            without(&mut command, closed.clone());
            let output = command.output().unwrap();
            assert_eq!(output.status.code(), Some(3), "{closed:?}");
            let wanted = [(1, "out"), (2, "err")].map(|(fd, text)| {
                if closed.contains(&fd) { Vec::new() } else { text.as_bytes().to_vec() }
            });
            assert_eq!([output.stdout, output.stderr], wanted, "{closed:?}");
        }
        assert_eq!(crate::types(&place.records()[before..]), SERVED.repeat(2));
        let path = std::env::var("PATH").unwrap();
        let mut command = place.command("gh", &["b"]);
        command.env("SEEN", &seen).env("PATH", format!("host:{path}"));
        without(&mut command, closed.clone());
        assert_eq!(command.output().unwrap().status.code(), Some(0), "{closed:?}");
        assert_eq!(std::fs::read_to_string(&seen).unwrap(), direct, "{closed:?}");
    }
}

/// Otherwise the journal could get the number of standard output.
#[test]
fn what_cannot_be_opened_in_its_place_ends_the_call() {
    let place = Place::new("[{name: gh, responses: [{stdout: out}]}]");
    let script = "mount -t tmpfs none /dev && { \"$0\" >&-; echo $? >&2; \"$0\" <&-; echo $?; \"$0\"; echo $?; }";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script]).arg(place.shim("gh"));
    let output = command.stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => {
            let (_, stdout, stderr) = told(&output);
            assert_eq!(stdout, "127\nout0\n", "{stderr}");
            let lines: Vec<_> = stderr.lines().collect();
            assert!(lines[0].contains("/dev/null"), "{stderr}");
            assert_eq!(lines[1], "127");
            assert_eq!(lines.len(), 3, "{stderr}");
            assert_eq!(place.types(), SERVED);
        }
        Ok(output) => skipped(&String::from_utf8_lossy(&output.stderr)),
        Err(error) => skipped(&format!("cannot start unshare: {error}")),
    }
}

fn is_nonblocking(fd: impl AsFd) -> bool {
    fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

fn set_nonblocking(fd: BorrowedFd<'_>, is: bool) {
    let others = fcntl_getfl(fd).unwrap() - OFlags::NONBLOCK;
    fcntl_setfl(fd, if is { others | OFlags::NONBLOCK } else { others }).unwrap();
}

#[test]
fn o_nonblock_is_neither_trusted_nor_changed() {
    let bytes: Vec<u8> = (0..=255).cycle().take(1_000_000).collect();
    let place = Place::empty();
    std::fs::write(place.path("big"), &bytes).unwrap();
    let mocks = "[{name: gh, responses: [{stdin: \"hello\", fixture: big}]}]";
    place.make("run", mocks, |_| {});
    for is_nonblocking_there in [true, false] {
        let (their_in, mut our_in) = pipe();
        let (mut our_out, their_out) = pipe();
        let kept = (their_in.try_clone().unwrap(), their_out.try_clone().unwrap());
        set_nonblocking(their_in.as_fd(), is_nonblocking_there);
        set_nonblocking(their_out.as_fd(), is_nonblocking_there);
        let mut command = place.command("gh", &[]);
        let mut child = command.stdin(their_in).stdout(their_out).spawn().unwrap();
        drop(command);
        for piece in [b"hel".as_slice(), b"lo"] {
            std::thread::sleep(Duration::from_millis(50));
            our_in.write_all(piece).unwrap();
        }
        drop(our_in);
        let mut seen = vec![0; bytes.len()];
        for piece in seen.chunks_mut(100_000) {
            std::thread::sleep(Duration::from_millis(5));
            our_out.read_exact(piece).unwrap();
        }
        assert_eq!(end(&mut child), End::Exit(0));
        assert!(seen == bytes);
        assert_eq!(is_nonblocking(&kept.0), is_nonblocking_there);
        assert_eq!(is_nonblocking(&kept.1), is_nonblocking_there);
        drop(kept);
        assert!(rest(our_out).is_empty());
    }
    assert_eq!(place.types(), SERVED.repeat(2));
}

#[test]
fn a_hundred_mebibytes_reach_a_slow_reader_byte_for_byte() {
    const LENGTH: usize = 100 * 1024 * 1024;
    let block: Vec<u8> = (0..1024 * 1024 + 7_u32).map(|it| (it ^ it >> 8) as u8).collect();
    let bytes: Vec<u8> = block.iter().copied().cycle().take(LENGTH).collect();
    let place = Place::empty();
    std::fs::write(place.path("big"), &bytes).unwrap();
    place.make(
        "run",
        "[{name: gh, responses: [{fixture: big, stderr: end, exit_code: 5}]}]",
        |_| {},
    );
    let mut command = place.command("gh", &[]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (mut at, mut piece) = (0, vec![0; 300_000]);
    loop {
        let length = stdout.read(&mut piece).unwrap();
        if length == 0 {
            break;
        }
        assert!(piece[..length] == bytes[at..at + length], "at {at}");
        at += length;
        if at % 50 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    assert_eq!(at, LENGTH);
    assert_eq!(end(&mut child), End::Exit(5));
    assert_eq!(rest(child.stderr.unwrap()), b"end");
    assert_eq!(place.types(), SERVED);
}

#[test]
fn an_output_that_nobody_reads_ends_the_call_like_any_program_or_silently() {
    let place = Place::new(
        "[{name: gh, responses: [{args: [a], stdout: out, stderr: err, exit_code: 3}, {stderr: err, exit_code: 4}]}]",
    );
    for (args, code) in [(&["a"][..], 3), (&["b"], 4)] {
        for is_ignored in [false, true] {
            let before = place.records().len();
            let (reader, writer) = pipe();
            drop(reader);
            let mut command = place.command("gh", args);
            command.stdout(writer.try_clone().unwrap()).stderr(writer);
            if is_ignored {
                crate::launch::ignoring(&mut command, libc::SIGPIPE);
            }
            let wanted = if is_ignored { End::Exit(code) } else { End::Signal(libc::SIGPIPE) };
            assert_eq!(end(&mut command.spawn().unwrap()), wanted);
            let records = place.records();
            assert_eq!(crate::types(&records[before..]), ["started", "selected"]);
            assert_eq!(records[before + 1]["exit_code"], code);
        }
    }
    // A device that takes nothing: the code stands, and the delivery is unknown.
    let before = place.records().len();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = place.command("gh", &["a"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(crate::types(&place.records()[before..]), ["started", "selected"]);
}

#[test]
fn nothing_of_the_shim_leaks_into_the_program_of_the_host() {
    let place = Place::new(crate::host::MOCKS);
    place.program("host/gh", "#!/bin/sh\nexec ls /proc/self/fd\n");
    let path = format!("host:{}", std::env::var("PATH").unwrap());
    let output = place.command("gh", &[]).env("PATH", &path).output().unwrap();
    // This process may have been given some that it hands on, too.
    let direct = Command::new(place.path("host/gh")).stdin(Stdio::null()).output().unwrap();
    assert_eq!(told(&output), told(&direct));
    // What the caller hands on is handed on.
    let with = |program| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$0\" 7</dev/null"]).arg(program).current_dir(place.root());
        told(&shell.env("PATH", &path).output().unwrap())
    };
    let (direct, through) = (with(place.path("host/gh")), with(place.shim("gh")));
    assert_eq!(direct, through);
    assert!(through.1.contains("\n7\n"), "{through:?}");
}
