//! What the program says about itself.

use crate::Place;

const SUBCOMMANDS: [&str; 9] =
    ["install", "env", "status", "verify", "reset", "close", "doctor", "completions", "man"];

#[test]
fn every_subcommand_has_examples_that_are_not_too_wide() {
    let place = Place::usual();
    let help = place.ok(&["--help"]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.map_while(|line| line.split_whitespace().next());
    let listed: Vec<&str> = listed.filter(|name| *name != "help").collect();
    assert_eq!(listed, SUBCOMMANDS);
    for name in SUBCOMMANDS {
        let help = place.ok(&[name, "--help"]);
        let mut examples = help.lines().skip_while(|line| *line != "Examples:").skip(1);
        let first = examples.next().unwrap_or_else(|| panic!("no examples for {name}"));
        assert!(first.contains(&format!("cli-shim {name}")), "{first}");
        for line in help.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn the_version_is_told() {
    let told = Place::usual().ok(&["--version"]);
    assert_eq!(told, format!("cli-shim {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_and_the_manual_page_know_the_subcommands() {
    let place = Place::usual();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.ok(&["completions", shell]);
        for name in SUBCOMMANDS {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
    let page = place.ok(&["man"]);
    assert!(page.contains(".TH cli-shim 1") && page.contains("doctor"), "{page}");
}

#[test]
fn output_that_finds_no_room_is_an_error() {
    let place = Place::usual();
    place.install();
    for args in [["status", "run"].as_slice(), &["man"], &["verify", "run", "--json"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = place.command(args).stdout(full).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(told.contains("No space left"), "{told}");
    }
}

#[test]
fn usage_errors_and_absent_sessions_exit_with_2() {
    let place = Place::usual();
    for args in [
        ["install"].as_slice(),
        &["install", "fixture.yaml"],
        &["install", "absent.yaml", "--dir", "run"],
        &["install", "fixture.yaml", "--dir", "run", "--mode", "0655"],
        &["install", "fixture.yaml", "--dir", "run", "--deadline-ms", "0"],
        &["install", "fixture.yaml", "--dir", "run", "--workspace", "absent"],
        &["install", "fixture.yaml", "--dir", "no/run"],
        &["env"],
        &["env", "absent"],
        &["env", "absent", "--shell", "tcsh"],
        &["status", "absent"],
        &["verify", "absent"],
        &["reset", "absent"],
        &["close", "absent"],
        &["doctor", "absent"],
        &["completions", "tcsh"],
        &["unknown"],
    ] {
        place.refused(args);
    }
    assert_eq!(place.run(&[]).status.code(), Some(2));
    assert_eq!(place.names(""), ["fixture.yaml", "home", "host"]);
}
