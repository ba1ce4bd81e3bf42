//! What can be typed.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

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

Exit status:
  0  end of input, or nothing to complain about
  1  serving was stopped (overflow, duplicate id, oversize line, stdout gone,
     stdin error), or `check` refused a document
  2  usage, or a document that serving refuses or that cannot be opened";

const SERVE: &str = "\
Examples:
  mcp-mock serve orders.yaml                     the only server of the document
  mcp-mock serve shop.yaml --server orders       one of several

stdout carries JSON-RPC and nothing else. A client starts this command itself;
`mcp-mock config` prints what it has to be told.";

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
    /// The fixture document.
    pub(crate) fixture: PathBuf,
    /// The server to serve; may be left out when there is exactly one.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
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
    /// The fixture document.
    pub(crate) fixture: PathBuf,
    /// The client to configure.
    #[arg(long = "for", value_name = "CLIENT")]
    pub(crate) client: Client,
    /// The server to configure; all servers of the document when left out.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Code
    ClaudeCode,
    /// Codex CLI
    Codex,
    /// VS Code
    Vscode,
    /// Any client that reads `mcpServers`
    Generic,
}
