//! How a pass-through ends when it is asked to.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::host::{command, place};
use crate::launch::on_terminal;
use crate::{End, end, rest, signal};

/// Starts a call, and waits for the first line of the program.
fn ready(command: &mut Command) -> (std::process::Child, impl Read + use<>) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut line = [0; 6];
    stdout.read_exact(&mut line).unwrap();
    assert_eq!(&line, b"ready\n");
    (child, stdout)
}

#[test]
fn a_program_that_does_not_end_when_asked_is_killed_after_its_grace() {
    let place =
        place("#!/bin/sh\ntrap 'echo asked' TERM\necho ready\nwhile :; do sleep 0.1; done\n");
    let (mut child, stdout) = ready(&mut command(&place, &[]));
    let start = Instant::now();
    signal(child.id(), libc::SIGTERM);
    std::thread::sleep(Duration::from_millis(500));
    signal(child.id(), libc::SIGTERM);
    assert_eq!(end(&mut child), End::Exit(130));
    assert!(start.elapsed() >= Duration::from_secs(5));
    assert!(start.elapsed() < Duration::from_secs(30));
    // Forwarded once, and nothing said.
    assert_eq!(rest(stdout), b"asked\n");
    assert_eq!(rest(child.stderr.unwrap()), b"");
    assert_eq!(place.of_type("host.finished")[0]["signal"], 9);
}

#[test]
fn whatever_the_program_makes_of_the_signal_the_call_was_cancelled() {
    let place = place("#!/bin/sh\ntrap 'exit 0' TERM\necho ready\nwhile :; do sleep 0.01; done\n");
    let (mut child, _stdout) = ready(&mut command(&place, &[]));
    signal(child.id(), libc::SIGTERM);
    assert_eq!(end(&mut child), End::Exit(130));
    assert_eq!(place.of_type("host.finished")[0]["exit_code"], 0);
}

#[test]
fn ctrl_c_reaches_the_program_once() {
    let script = "#!/bin/sh\ntrap 'echo int' INT\necho ready\nsleep 5\nsleep 0.5\nexit 5\n";
    let place = place(script);
    let mut command = command(&place, &[]);
    let mut terminal = on_terminal(&mut command);
    let (mut child, stdout) = ready(&mut command);
    // `sleep` has to be there, since the shell waits for it.
    std::thread::sleep(Duration::from_millis(200));
    terminal.write_all(b"\x03").unwrap();
    assert_eq!(end(&mut child), End::Exit(130));
    assert_eq!(rest(stdout), b"int\n");
    assert_eq!(place.of_type("host.finished")[0]["exit_code"], 5);
}

/// The program may be gone before the shim looks.
#[test]
fn ctrl_c_counts_also_when_the_program_ends_at_once() {
    let script = "#!/bin/sh\ntrap 'exit 0' INT\necho ready\nwhile :; do sleep 0.2; done\n";
    let place = place(script);
    for _ in 0..5 {
        let mut command = command(&place, &[]);
        let mut terminal = on_terminal(&mut command);
        let (mut child, _stdout) = ready(&mut command);
        signal(child.id(), libc::SIGSTOP);
        terminal.write_all(b"\x03").unwrap();
        std::thread::sleep(Duration::from_millis(50));
        signal(child.id(), libc::SIGCONT);
        assert_eq!(end(&mut child), End::Exit(130));
    }
}
