//! What is seen of a run on a terminal.

use std::process::Command;

use super::{GH, GOOD, Place, program};

/// A run on a terminal, with its standard streams sent where `streams` says.
fn on_terminal(place: &Place, variable: (&str, &str), streams: &str) -> String {
    let agent = place.agent(GOOD);
    let line =
        format!("'{}' run c.yaml --agent-cmd '{agent} {{prompt}}' {streams}", program().display());
    let mut command = Command::new("python3");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exec/terminal.py"));
    command.args(["nothing", "sh", "-c", &line]).current_dir(place.path(""));
    command.env("TMPDIR", place.path("tmp")).env("TERM", "xterm").env_remove("NO_COLOR");
    let output = command.env(variable.0, variable.1).output().unwrap();
    assert!(output.stdout.ends_with(b"exit 0\n"), "{output:?}");
    place.is_clean();
    String::from_utf8(output.stdout).unwrap().replace('\r', "")
}

#[test]
fn colour_is_for_terminals() {
    let place = Place::of(GH);
    for (variable, streams, is_coloured) in [
        (("LANG", "C"), "2>/dev/null", true),
        (("NO_COLOR", ""), "2>/dev/null", true),
        (("NO_COLOR", "1"), "2>/dev/null", false),
        (("TERM", "dumb"), "2>/dev/null", false),
        (("LANG", "C"), "--report text=r >/dev/null 2>&1; cat r", false),
        (("LANG", "C"), "2>/dev/null | cat", false),
    ] {
        let text = on_terminal(&place, variable, streams);
        assert_eq!(text.contains("\x1b[32mPASS   \x1b[0m gh/t ("), is_coloured, "{text:?}");
        assert!(is_coloured || !text.contains('\x1b'), "{variable:?}: {text:?}");
    }
}

/// A bar where it can be drawn, which is gone at the end, and has no colours of its own.
#[test]
fn a_bar_shows_how_far_it_is() {
    let place = Place::of(GH);
    for (variable, streams, has_bar) in [
        (("LANG", "C"), ">/dev/null", true),
        (("NO_COLOR", "1"), ">/dev/null", true),
        (("TERM", "dumb"), ">/dev/null", false),
        (("LANG", "C"), ">/dev/null 2>lines; cat lines", false),
    ] {
        let text = on_terminal(&place, variable, streams);
        assert_eq!(text.contains('█') && text.contains("2/2 PASS gh/t"), has_bar, "{text:?}");
        assert_eq!(text.contains('\x1b'), has_bar, "{text:?}");
        assert!(!text.contains("\x1b[3"), "{text:?}");
        assert!(has_bar || text.contains("[2/2] PASS gh/t"), "{variable:?}: {text:?}");
    }
}
