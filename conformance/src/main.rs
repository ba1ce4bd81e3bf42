//! `agent-conformance`: mocks wired into an agent, and what it did with them.

mod acp;
mod adapter;
mod agents;
mod case;
mod check;
mod cli;
mod contact;
mod exec;
mod exit;
mod find;
mod grade;
mod list;
mod model;
mod observed;
mod plain;
mod regrade;
mod report;
mod results;
mod run;
mod scripted;
mod self_test;
mod supervise;
mod verdict;
mod wire;
mod wiring;
mod workspace;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use cli::{Cli, Command};
use exit::Exit;

fn main() -> ExitCode {
    let exit = match Cli::parse().command {
        Command::Exec(args) => exec::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Agents(args) => agents::run(&args),
        Command::Check(args) => check::run(&args),
        Command::List(args) => list::run(&args),
        Command::Wire(args) => wire::run(&args),
        Command::Grade(args) => regrade::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Schema => print(results::SCHEMA.as_bytes()),
        Command::SelfTest(args) => self_test::run(&args),
        Command::Model(args) => model::run(&args),
        Command::Jq { assertions } => grade::graders::jq::run(&assertions),
        Command::Supervise => supervise::run(),
        Command::Acp { order } => acp::run(&order),
        Command::Scripted { script, mcp_json } => scripted::run(&script, &mcp_json),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "agent-conformance", &mut script);
            print(&script)
        }
        Command::Man => {
            let mut page = Vec::new();
            match clap_mangen::Man::new(Cli::command()).render(&mut page) {
                Ok(()) => print(&page),
                Err(error) => complain(&error),
            }
        }
    };
    exit.into()
}

/// Writes a command's result; a reader that has left is not an error.
fn print(text: &[u8]) -> Exit {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        Ok(()) => Exit::Success,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
        Err(error) => complain(&format!("cannot write to stdout: {error}")),
    }
}

/// Says on stderr why a command was refused.
fn complain(message: &dyn std::fmt::Display) -> Exit {
    note(&format!("agent-conformance: {message}"));
    Exit::Refused
}

/// Says something on stderr that changes nothing about the result.
fn note(message: &dyn std::fmt::Display) {
    // Nothing is left to be told when stderr is gone too.
    let _ = writeln!(io::stderr(), "{message}");
}

/// Whether text on stderr gets colour, as clap decides it.
fn is_styled() -> bool {
    io::stderr().is_terminal() && may_style()
}

/// Whether text on a terminal gets colour (<https://no-color.org>).
fn may_style() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
