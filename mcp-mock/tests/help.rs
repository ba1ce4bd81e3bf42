//! What the program says about itself.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

const SUBCOMMANDS: [&str; 12] = [
    "serve",
    "session",
    "status",
    "verify",
    "reset",
    "close",
    "check",
    "new",
    "schema",
    "config",
    "completions",
    "man",
];

fn mcp_mock(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-mock")).args(args).output().unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = mcp_mock(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}");
    assert!(output.stderr.is_empty(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_subcommand_has_examples() {
    let help = printed(&["--help"]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.map_while(|line| line.split_whitespace().next());
    let listed: Vec<&str> = listed.filter(|name| *name != "help").collect();
    assert_eq!(listed, SUBCOMMANDS);
    for name in SUBCOMMANDS {
        let help = printed(&[name, "--help"]);
        let mut examples = help.lines().skip_while(|line| *line != "Examples:").skip(1);
        let first = examples.next().unwrap_or_else(|| panic!("no examples for {name}"));
        assert!(first.starts_with(&format!("  mcp-mock {name}")), "{first}");
    }
}

/// Examples are to be pasted, so they are not wrapped.
#[test]
fn the_help_is_not_too_wide() {
    for name in SUBCOMMANDS {
        for line in printed(&[name, "--help"]).lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn completions_know_the_subcommands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&["completions", shell]);
        for name in SUBCOMMANDS {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
    assert_eq!(mcp_mock(&["completions", "tcsh"]).status.code(), Some(2));
}

#[test]
fn the_manual_page_is_roff() {
    let page = printed(&["man"]);
    assert!(page.contains(".TH mcp-mock 1"), "{page}");
    assert!(page.contains("SUBCOMMANDS") && page.contains("check"), "{page}");
}

#[test]
fn the_schema_is_json() {
    let schema: serde_json::Value = serde_json::from_str(&printed(&["schema"])).unwrap();
    assert_eq!(schema["title"], "Fixture document");
}

#[test]
fn usage_errors_exit_with_2() {
    for args in [
        ["serve"].as_slice(),
        &["check"],
        &["new"],
        &["config", "a.yaml"],
        &["config", "a.yaml", "--for", "emacs"],
        &["completions"],
        &["unknown"],
        &[],
    ] {
        let output = mcp_mock(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
}
