//! What can be typed.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use fixtures::session::verbs;

/// A stand-in for command-line programs that plays finite, authored sequences of outcomes.
#[derive(Debug, Parser)]
#[command(name = "cli-shim", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  cli-shim install deploy.yaml --dir run1    make a session, with a shim per executable
  eval \"$(cli-shim env run1)\"                put its shims first on PATH, and keep them first
  cli-shim doctor run1 --require 'bash -lc'  prove that commands reach the shims
  cli-shim status run1                       what was called, and what it got
  cli-shim verify run1                       do the calls fit `expect_calls`?

Called as SESSION/bin/NAME it is the mocked command NAME, and reads no option of its own.

Exit status:
  0  done
  1  `verify` found a difference, or a route that `doctor` requires misses a shim
  2  usage, or a document or session that is refused or cannot be opened";

const INSTALL: &str = "\
Examples:
  cli-shim install deploy.yaml --dir run1
  cli-shim install deploy.yaml --dir run1 --only gh kubectl
  cli-shim install deploy.yaml --dir run1 --call-timeout-ms 5000 --deadline-ms 600000
  cli-shim install deploy.yaml --dir run1 --mode 0755 --owner 1001
  eval \"$(cli-shim install deploy.yaml --dir run1)\"

Prints the line that puts the shims first on PATH. Every shim is executed once,
without a record; where one cannot be, nothing is made. Made from the same
document and --only before, a session is left as it is.";

const ENV: &str = "\
Examples:
  eval \"$(cli-shim env run1)\"                  sh, bash, zsh
  cli-shim env run1 --shell fish | source
  cli-shim env run1 --json                       {\"PATH\": …}, for programs

Puts the shims first on PATH, and keeps them first in shells that are started
later, login shells included: through BASH_ENV, ENV, ZDOTDIR, XDG_DATA_DIRS (fish)
and an `sh` on PATH that survives a profile, with files in DIR/shell. Your own
start-up files are read as ever. A login shell that is started as /bin/sh, by its
path, reads $HOME/.profile alone: ask `doctor`.";

const STATUS: &str = "\
Examples:
  cli-shim status run1                           a table, and what was unmatched
  cli-shim status run1 --json                    every attempt, for programs";

const VERIFY: &str = "\
Examples:
  cli-shim verify run1                           do the calls fit `expect_calls`?
  cli-shim verify run1 --all-consumed            and was every step used?

Exit status:
  0  everything is as expected
  1  something differs; each name is printed with what was expected and seen
  2  usage, or a session that cannot be read";

const RESET: &str = "\
Examples:
  cli-shim reset run1                            the same plans, from their first steps
  cli-shim reset run1 --from deploy-v2.yaml      other plans

Refused while a server has the session open.";

const CLOSE: &str = "\
Examples:
  cli-shim close run1                            nothing is served any more; status still works";

const DOCTOR: &str = "\
Examples:
  cli-shim doctor run1
  cli-shim doctor run1 --require exec --require 'bash -lc'
  cli-shim doctor run1 --shell-command 'docker exec box bash -lc' --require shell-command
  cli-shim doctor run1 --shell-command '/bin/sh -lc'
  cli-shim doctor run1 --shell-command 'ssh box {} </dev/null' --json

Calls every mocked name through each route, with one argument that makes a shim
record `canary.reached`, and a host program complain at most. A route reaches the
shim when that record stands in the journal.

Routes:
  exec, sh -c, bash -c, bash -lc, sh -lc, zsh -lc, fish -lc, env -i, command -p,
  python subprocess, node spawn, absolute path (of the host's program),
  shell-command, shell-command 2, …

CMD is run by `sh -c`, with the canary's command line, quoted as one word, in the
place of {}, or at its end.

Exit status:
  0  every required route reaches the shim, for every name
  1  one does not
  2  usage, or a session that is refused";

const COMPLETIONS: &str = "\
Examples:
  cli-shim completions bash > ~/.local/share/bash-completion/completions/cli-shim
  cli-shim completions fish > ~/.config/fish/completions/cli-shim.fish";

const MAN: &str = "\
Examples:
  cli-shim man > ~/.local/share/man/man1/cli-shim.1
  cli-shim man | man -l -";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a session, and print the line that puts its shims on PATH.
    #[command(after_help = INSTALL)]
    Install(InstallArgs),
    /// Print shell code that puts the shims first on PATH, and keeps them first.
    #[command(after_help = ENV)]
    Env(EnvArgs),
    /// Show what was called in a session, and what was unmatched.
    #[command(after_help = STATUS)]
    Status(StatusArgs),
    /// Compare a session with what its document expects.
    #[command(after_help = VERIFY)]
    Verify(VerifyArgs),
    /// Start a session anew, and keep its journal as `journal.N.jsonl`.
    #[command(after_help = RESET)]
    Reset(ResetArgs),
    /// Close a session: from here on every call is refused.
    #[command(after_help = CLOSE)]
    Close(CloseArgs),
    /// Show which ways of starting a command reach the shims.
    #[command(after_help = DOCTOR)]
    Doctor(DoctorArgs),
    /// Print a completion script for a shell.
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff).
    #[command(after_help = MAN)]
    Man,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// The fixture document.
    pub(crate) fixture: PathBuf,
    /// Where to make the session; must not exist, or be empty.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Where `workdir` matchers begin; the current directory when left out.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// The executables to mock; all of the document when left out.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// How long one call may take, in milliseconds.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) call_timeout_ms: Option<u64>,
    /// When every call ends, in milliseconds from now.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) deadline_ms: Option<u64>,
    /// The permissions of the directory, in octal; files get the same without execution.
    #[arg(long, value_name = "MODE", default_value = "0700", value_parser = verbs::mode)]
    pub(crate) mode: u32,
    /// The numeric user id that gets the session, when agents run under another one.
    #[arg(long, value_name = "UID")]
    pub(crate) owner: Option<u32>,
    /// Force each record to the disk, against power loss; a kill loses nothing anyway.
    #[arg(long)]
    pub(crate) durable: bool,
    /// Accept a network filesystem, whose locks may not hold.
    #[arg(long)]
    pub(crate) allow_network_fs: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EnvArgs {
    /// The session.
    pub(crate) dir: PathBuf,
    /// The shell that reads the code; the one that SHELL names when left out.
    #[arg(long, value_name = "SHELL")]
    pub(crate) shell: Option<Shell>,
    /// Print the variables as a JSON object, for a program that starts others.
    #[arg(long, conflicts_with = "shell")]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// Any POSIX shell
    Sh,
    /// GNU Bash
    Bash,
    /// Z shell
    Zsh,
    /// fish
    Fish,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// The session.
    pub(crate) dir: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// The session.
    pub(crate) dir: PathBuf,
    /// Want every step of every sequence used, too.
    #[arg(long)]
    pub(crate) all_consumed: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ResetArgs {
    /// The session.
    pub(crate) dir: PathBuf,
    /// A document to take new plans from; the old plans when left out.
    #[arg(long, value_name = "FIXTURE")]
    pub(crate) from: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CloseArgs {
    /// The session.
    pub(crate) dir: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// The session.
    pub(crate) dir: PathBuf,
    /// A route that has to reach the shim, for every name.
    #[arg(long, value_name = "ROUTE")]
    pub(crate) require: Vec<String>,
    /// The command line through which the agent starts commands.
    #[arg(long, value_name = "CMD")]
    pub(crate) shell_command: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
