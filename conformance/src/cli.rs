//! What can be typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Wire mocked dependencies into an agent, run it, and see what it did with them.
#[derive(Debug, Parser)]
#[command(name = "agent-conformance", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  agent-conformance exec orders.yaml -- my-agent --mcp-config {mcp_json}
  agent-conformance exec --mock 'gh: [{stdout: MERGED}]' -- sh -c 'gh pr merge 7'

Exit status:
  0  nothing to complain about
  1  something that was to be verified does not hold
  2  usage, or documents that are refused
  and what a command says of its own: see `agent-conformance exec --help`";

const EXEC: &str = "\
Examples:
  agent-conformance exec orders.yaml -- my-agent --mcp-config {mcp_json}
  agent-conformance exec orders.yaml --verify --json run.json -- ./agent.sh
  agent-conformance exec --mock 'gh: [{exit_code: 1}, {stdout: MERGED}]' -- ./agent.sh
  agent-conformance exec --mock 'orders.lookup: [{error: busy}, {return: {ok: true}}]' \\
      -- my-agent --mcp-config {mcp_json}

The command is run in a session of its own, which is removed at the end: mocked
executables come first on its PATH, and {mcp_json} in its words is a file
{\"mcpServers\": {NAME: {\"command\", \"args\", \"env\"}}}. Its standard streams are
those of this program. What it leaves running is ended with it.

In --mock a name with a dot is SERVER.TOOL, and any other one an executable;
command:NAME is always an executable. Relative paths of `fixture` start where
FIXTURE is, or in the current directory.

Exit status:
  that of the command; 128+N when signal N ended it
  1    --verify, and the command succeeded with something unlike the document
  2    usage, or documents that are refused
  126  the command cannot be started
  127  the command was not found";

const SELF_TEST: &str = "\
Examples:
  agent-conformance self-test                     the recovery suites, which are built in
  agent-conformance self-test my-cases/           every document below a directory
  agent-conformance self-test case.yaml --jobs 1

Each task has a good script, which must pass, with the fault and without it, and
bad ones, derived and written, each of which must fail for its kind of reason.

Exit status:
  0  every agent was judged as it should be
  1  some agent was not
  2  usage, or documents that are refused
  130, 143  interrupted";

const COMPLETIONS: &str = "\
Examples:
  agent-conformance completions bash > ~/.local/share/bash-completion/completions/agent-conformance
  agent-conformance completions fish > ~/.config/fish/completions/agent-conformance.fish";

const MAN: &str = "\
Examples:
  agent-conformance man > ~/.local/share/man/man1/agent-conformance.1
  agent-conformance man | man -l -";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one command with mocked dependencies, and show what it did with them.
    #[command(after_help = EXEC)]
    Exec(ExecArgs),
    /// Prove the graders: good agents pass, and bad ones fail for their reason.
    #[command(after_help = SELF_TEST)]
    SelfTest(SelfTestArgs),
    /// Start an agent on behalf of the runner, and end what it leaves.
    #[command(hide = true)]
    Supervise,
    /// Do what a script says, as an agent would.
    #[command(hide = true)]
    Scripted {
        /// The actions, as JSON.
        script: PathBuf,
        /// The generated MCP configuration.
        mcp_json: PathBuf,
    },
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
pub(crate) struct SelfTestArgs {
    /// Documents with tasks, or directories of them; the built-in suites when left out.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// How many agents run at once; as many as there are cores when left out.
    #[arg(long, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=256))]
    pub(crate) jobs: Option<usize>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExecArgs {
    /// The fixture document; may be left out.
    pub(crate) fixture: Option<PathBuf>,
    /// A mock in one line, beside those of FIXTURE; may be given several times.
    #[arg(long = "mock", value_name = "NAME: [STEP, …]")]
    pub(crate) mocks: Vec<String>,
    /// Want every step used and every call answered by one, else exit 1.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Write the evidence to a file.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Keep the session at a place that does not exist or is empty.
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Leave the table of the evidence out.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
