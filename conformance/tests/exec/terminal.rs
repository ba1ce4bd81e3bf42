//! On a terminal, which sends signals to more than one, and has colours.

use std::process::Command;

use crate::{GH, Place, Run};

/// What a command prints on a terminal, where something happens once it is ready.
fn on_terminal(place: &Place, action: &str, variables: &[(&str, &str)], args: &[&str]) -> String {
    let mut command = Command::new("python3");
    command
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exec/terminal.py"))
        .arg(action)
        .arg(crate::program())
        .arg("exec")
        .args(args);
    place.settle(&mut command);
    command.env("TERM", "xterm").envs(variables.iter().copied());
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.code, Some(0), "{run:?}");
    run.stdout.replace('\r', "")
}

#[test]
fn what_is_typed_reaches_the_command_once() {
    let place = Place::new();
    let script = "import signal, time
signal.signal(signal.SIGINT, lambda *_: open('ints', 'a').write('int\\n'))
print('ready', flush=True)
time.sleep(1.5)
exit(5)";
    let args = ["-q", "--", "python3", "-c", script];
    let printed = on_terminal(&place, "interrupt", &[], &args);
    assert!(printed.ends_with("exit 5\n"), "{printed}");
    assert_eq!(place.read("ints"), "int\n");
}

/// The shell puts the command into a group of its own, which the terminal does not reach.
#[test]
fn a_group_of_its_own_is_told_too() {
    let place = Place::new();
    let script = "import os, signal, time
os.setpgid(0, 0)
signal.signal(signal.SIGINT, lambda *_: os._exit(6))
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
print('ready', flush=True)
time.sleep(60)";
    let printed = on_terminal(&place, "interrupt", &[], &["-q", "--", "python3", "-c", script]);
    assert!(printed.ends_with("exit 6\n"), "{printed}");
}

#[test]
fn a_terminal_that_goes_away_ends_the_command() {
    let place = Place::new();
    let script = "trap 'echo hup >>hups; exit 4' HUP; echo ready; while :; do sleep 0.05; done";
    let printed = on_terminal(&place, "hangup", &[], &["-q", "--", "sh", "-c", script]);
    assert!(printed.ends_with("exit 4\n"), "{printed}");
    assert_eq!(place.read("hups"), "hup\n");
}

#[test]
fn colour_is_for_terminals() {
    let place = Place::new();
    let args = ["--mock", GH, "--", "gh"];
    let coloured = on_terminal(&place, "nothing", &[], &args);
    assert!(coloured.contains("\x1b[33mexit 1\x1b[0m"), "{coloured:?}");
    for plain in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let printed = on_terminal(&place, "nothing", &[plain], &args);
        assert!(printed.contains("exit 1") && !printed.contains('\x1b'), "{printed:?}");
    }
    assert!(!place.run(&args).stderr.contains('\x1b'));
}
