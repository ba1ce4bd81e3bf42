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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve one mocked server over stdio.
    Serve(ServeArgs),
    /// Check documents and report every fault at once.
    Check(CheckArgs),
    /// Print a commented document to start from.
    New(NewArgs),
    /// Print the JSON Schema of the fixture document.
    Schema,
    /// Print paste-ready configuration for an MCP client.
    Config(ConfigArgs),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff).
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
