//! The control program: sessions, what is in them, and what reaches them.

mod cli;
mod doctor;
mod environment;
mod image;
mod install;
mod probe;
mod quote;
mod routes;
mod shell_files;

use std::io::{self, IsTerminal, Write};

use clap::{CommandFactory, Parser};
use fixtures::session::verbs;

use cli::{Cli, Command};

/// Done.
const SUCCESS: i32 = 0;
/// Something is not as it should be.
const DIFFERS: i32 = 1;
/// Usage, or a document or session that is refused.
const REFUSED: i32 = 2;

/// Runs the command that was typed, and returns its exit status.
pub(crate) fn run() -> i32 {
    let done = match Cli::parse().command {
        Command::Install(args) => install::run(&args),
        Command::Env(args) => environment::run(&args),
        Command::Status(args) => {
            verbs::status(&args.dir, args.json).and_then(|text| print(text.as_bytes()))
        }
        Command::Verify(args) => {
            verbs::verify(&args.dir, args.all_consumed, args.json).and_then(|(holds, text)| {
                print(text.as_bytes())?;
                Ok(if holds { SUCCESS } else { DIFFERS })
            })
        }
        Command::Reset(args) => {
            let is_styled = is_styled(&io::stderr());
            verbs::reset(&args.dir, args.from.as_deref(), is_styled).map(|()| SUCCESS)
        }
        Command::Close(args) => verbs::close(&args.dir).map(|told| {
            if let Some(told) = told {
                note(&told);
            }
            SUCCESS
        }),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "cli-shim", &mut script);
            print(&script)
        }
        Command::Man => {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
            rendered.map_err(|error| error.to_string()).and_then(|()| print(&page))
        }
    };
    done.unwrap_or_else(|reason| {
        note(&format!("cli-shim: {reason}"));
        REFUSED
    })
}

/// Writes a command's result; a reader that has left is not an error.
fn print(text: &[u8]) -> Result<i32, String> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to stdout: {error}"))
        }
        _ => Ok(SUCCESS),
    }
}

/// Says something on stderr.
fn note(message: &str) {
    // Nothing is left to be told when stderr is gone too.
    let _ = writeln!(io::stderr(), "{message}");
}

/// Whether text for a terminal gets colour (<https://no-color.org>), as clap decides it.
fn is_styled(stream: &impl IsTerminal) -> bool {
    stream.is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
