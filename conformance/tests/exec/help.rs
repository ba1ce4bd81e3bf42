//! What the program says about itself.

use std::process::{Command, Output};

fn program(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agent-conformance")).args(args).output().unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = program(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}");
    assert!(output.stderr.is_empty(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_subcommand_has_examples_that_are_not_too_wide() {
    for name in ["exec", "model", "completions", "man"] {
        let help = printed(&[name, "--help"]);
        let mut examples = help.lines().skip_while(|line| *line != "Examples:").skip(1);
        let first = examples.next().unwrap_or_else(|| panic!("no examples for {name}"));
        assert!(first.starts_with(&format!("  agent-conformance {name}")), "{first}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
    assert!(printed(&["--help"]).contains("Examples:"));
}

#[test]
fn completions_and_the_manual_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(printed(&["completions", shell]).contains("exec"), "{shell}");
    }
    let page = printed(&["man"]);
    assert!(page.contains(".TH agent-conformance 1") && page.contains("exec"), "{page}");
    assert!(printed(&["--version"]).starts_with("agent-conformance "));
}

#[test]
fn usage_errors_exit_with_2() {
    for args in [&[][..], &["exec"], &["exec", "--"], &["exec", "a", "b", "--", "true"], &["none"]]
    {
        let output = program(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
}
