//! `mcp-mock`: the mocked server, and the commands around its document.

mod call;
mod check;
mod cli;
mod client_scope;
mod config;
mod exit;
mod new;
mod protocol;
mod schema;
mod serve;
mod session;
mod stdio;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use cli::{Cli, Command};
use exit::Exit;

fn main() -> ExitCode {
    let exit = match Cli::parse().command {
        Command::Serve(args) => serve::run(&args),
        Command::Session(args) => session::make(&args),
        Command::Status(args) => session::status(&args),
        Command::Verify(args) => session::verify(&args),
        Command::Reset(args) => session::reset(&args),
        Command::Close(args) => session::close(&args),
        Command::Check(args) => check::run(&args),
        Command::New(args) => new::run(&args),
        Command::Schema => schema::run(),
        Command::Config(args) => config::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "mcp-mock", &mut script);
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
    // Nothing is left to be told when stderr is gone too.
    let _ = writeln!(io::stderr(), "mcp-mock: {message}");
    Exit::Refused
}

/// Says something on stderr that changes nothing about the result on stdout.
fn note(message: &dyn std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Whether text for a terminal gets colour (<https://no-color.org>), as clap decides it.
fn is_styled(stream: &impl IsTerminal) -> bool {
    stream.is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
