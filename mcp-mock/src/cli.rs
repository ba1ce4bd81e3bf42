//! What can be typed.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Parser, Subcommand, ValueEnum};
use fixtures::client::{KNOWN, Known};
use fixtures::session::verbs;

/// A fail-closed MCP mock server that plays finite, authored sequences of responses.
#[derive(Debug, Parser)]
#[command(name = "mcp-mock", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  mcp-mock new orders > orders.yaml          a commented document to start from
  mcp-mock check orders.yaml                 every fault at once, with line and column
  mcp-mock serve orders.yaml                 serve it over stdio
  mcp-mock config orders.yaml --for codex    configuration to paste into a client
  mcp-mock session orders.yaml --dir run1    sequences that go on over restarts
  mcp-mock status run1                       what was called, and what it got

Exit status:
  0  end of input, or nothing to complain about
  1  serving was stopped (overflow, duplicate id, oversize line, stdout gone,
     stdin error), `check` refused a document, or `verify` found a difference
  2  usage, or a document or session that is refused or cannot be opened";

const SERVE: &str = "\
Examples:
  mcp-mock serve orders.yaml                     the only server of the document
  mcp-mock serve shop.yaml --server orders       one of several
  mcp-mock serve orders.yaml --session run1      go on over restarts, with a record
  mcp-mock serve --session run1                  the same, from the session alone
  mcp-mock serve orders.yaml --scope client      go on while the same client lives
  mcp-mock serve orders.yaml --journal calls.jsonl   a record, and steps for one process

stdout carries JSON-RPC and nothing else. A client starts this command itself;
`mcp-mock config` prints what it has to be told.";

const SESSION: &str = "\
Examples:
  mcp-mock session orders.yaml --dir run1
  mcp-mock config --session run1 --for claude-code > mcp.json
  mcp-mock status run1

The directory holds everything: the document is not read again. Made from the
same document before, a session is left as it is.";

const STATUS: &str = "\
Examples:
  mcp-mock status run1                           a table, and what was unmatched
  mcp-mock status run1 --json                    every attempt, for programs";

const VERIFY: &str = "\
Examples:
  mcp-mock verify run1                           do the calls fit `expect_calls`?
  mcp-mock verify run1 --all-consumed            and was every step used?

Exit status:
  0  everything is as expected
  1  something differs; each name is printed with what was expected and seen
  2  usage, or a session that cannot be read";

const RESET: &str = "\
Examples:
  mcp-mock reset run1                            the same plans, from their first steps
  mcp-mock reset run1 --from orders-v2.yaml      other plans

Refused while a server has the session open.";

const CLOSE: &str = "\
Examples:
  mcp-mock close run1                            nothing is served any more; status still works";

const CHECK: &str = "\
Examples:
  mcp-mock check orders.yaml                     faults and warnings, with source excerpts
  mcp-mock check --strict fixtures/*.yaml        for CI: warnings fail too
  mcp-mock check --format json orders.yaml       for programs
  mcp-mock check --compat waza orders.yaml       what waza would not read

Exit status:
  0  no document is refused
  1  a document is refused, or with --strict anything was said
  2  usage, or a file that cannot be opened";

const NEW: &str = "\
Examples:
  mcp-mock new orders > orders.yaml              an example that explains itself
  mcp-mock new orders --tools list.json          the tools of a real server, to fill in

FILE is a `tools/list` result, the JSON-RPC response around it, or the list alone.";

const SCHEMA: &str = "\
Examples:
  mcp-mock schema > fixture.schema.json

An editor takes it from the first line of a document:
  # yaml-language-server: $schema=fixture.schema.json";

const CONFIG: &str = "\
Examples:
  mcp-mock config orders.yaml --for claude-code > mcp.json
  mcp-mock config orders.yaml --for codex >> ~/.codex/config.toml
  mcp-mock config shop.yaml --for vscode --server orders > .vscode/mcp.json
  mcp-mock config --session run1 --for generic   a session that was made before
  mcp-mock config orders.yaml --for langchain > mocked.py
  mcp-mock config orders.yaml --for generic      any client that reads `mcpServers`";

const COMPLETIONS: &str = "\
Examples:
  mcp-mock completions bash > ~/.local/share/bash-completion/completions/mcp-mock
  mcp-mock completions fish > ~/.config/fish/completions/mcp-mock.fish";

const MAN: &str = "\
Examples:
  mcp-mock man > ~/.local/share/man/man1/mcp-mock.1
  mcp-mock man | man -l -";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve one mocked server over stdio.
    #[command(after_help = SERVE)]
    Serve(ServeArgs),
    /// Make a session: sequences that go on over restarts, and the record of all calls.
    #[command(after_help = SESSION)]
    Session(SessionArgs),
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
    /// Check documents and report every fault at once.
    #[command(after_help = CHECK)]
    Check(CheckArgs),
    /// Print a commented document to start from.
    #[command(after_help = NEW)]
    New(NewArgs),
    /// Print the JSON Schema of the fixture document.
    #[command(after_help = SCHEMA)]
    Schema,
    /// Print paste-ready configuration for an MCP client.
    ///
    /// On stderr: where it goes, the client's own flags for one run, and what to know about it.
    #[command(after_help = CONFIG)]
    Config(ConfigArgs),
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
pub(crate) struct ServeArgs {
    /// The fixture document; may be left out when the session exists.
    #[arg(required_unless_present = "session")]
    pub(crate) fixture: Option<PathBuf>,
    /// The server to serve; may be left out when there is exactly one.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// The session whose journal counts the steps; made from FIXTURE where it is absent.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["scope", "journal"])]
    pub(crate) session: Option<PathBuf>,
    /// How long sequences go on.
    #[arg(long, value_name = "SCOPE", default_value = "process", requires = "fixture")]
    pub(crate) scope: Scope,
    /// A file to append a record of the calls to, while the steps are counted in memory.
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Accept a session on a network filesystem, whose locks may not hold.
    #[arg(long)]
    pub(crate) allow_network_fs: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// As long as this process: each start begins anew
    Process,
    /// As long as the process that started this one: its restarts go on
    Client,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SessionArgs {
    /// The fixture document.
    pub(crate) fixture: PathBuf,
    /// Where to make the session; must not exist, or be empty.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Where `workdir` matchers begin; the current directory when left out.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
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
pub(crate) struct CheckArgs {
    /// The fixture documents.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Fail on anything that is printed, warnings included.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Name each field that goes beyond what the given tool reads.
    #[arg(long, value_name = "TOOL")]
    pub(crate) compat: Option<Compat>,
    /// How to print the report.
    #[arg(long, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Compat {
    /// microsoft/waza
    Waza,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Source excerpts for people.
    Human,
    /// One JSON object.
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NewArgs {
    /// The name of the mocked server.
    pub(crate) name: String,
    /// A saved `tools/list` result whose tools the document gets.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// The fixture document; may be left out when the session exists.
    #[arg(required_unless_present = "session")]
    pub(crate) fixture: Option<PathBuf>,
    /// The client to configure.
    #[arg(long = "for", value_name = "CLIENT")]
    pub(crate) client: Client,
    /// The server to configure; all servers of the document when left out.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// The session to serve; made from FIXTURE at the first start where it is absent.
    #[arg(long, value_name = "DIR")]
    pub(crate) session: Option<PathBuf>,
}

/// A client that is known, by its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client(pub(crate) &'static Known);

impl ValueEnum for Client {
    fn value_variants<'a>() -> &'a [Client] {
        static ALL: LazyLock<Vec<Client>> = LazyLock::new(|| KNOWN.iter().map(Client).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.title))
    }
}
