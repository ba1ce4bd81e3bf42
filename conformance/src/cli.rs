//! What can be typed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use fixtures::document::PathGlob;
use globset::GlobMatcher;

use crate::run::select::{self, Fraction};

/// How often a task may be run.
pub(crate) const MOST_TRIALS: u32 = 10_000;

/// Wire mocked dependencies into an agent, run it, and see what it did with them.
#[derive(Debug, Parser)]
#[command(name = "agent-conformance", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  agent-conformance run --agent-cmd 'my-agent --mcp-config {mcp_json} {prompt}'
  agent-conformance run my-cases/ --agent scripted --out results
  agent-conformance self-test
  agent-conformance exec --mock 'gh: [{stdout: MERGED}]' -- sh -c 'gh pr merge 7'

Exit status:
  0  nothing to complain about
  1  something that was to be verified does not hold
  2  usage, or documents that are refused
  and what a command says of its own: see its `--help`";

const RUN: &str = "\
Examples:
  agent-conformance run --agent scripted            the recovery suites, which are built in
  agent-conformance run --agent claude-code         an agent that `agents` lists
  agent-conformance run my-cases/ --agent-cmd 'my-agent --mcp-config {mcp_json} {prompt}'
  agent-conformance run --only 'cli-*' --agent-cmd './agent.sh {prompt_file}' --trials 5 --out results
  agent-conformance run case.yaml --agent-cmd './agent.sh {prompt}' --require-pass 4/5 --fail-fast
  agent-conformance run --agent-acp 'gemini --acp'    over the Agent Client Protocol

Each task is run in a workspace and a session of its own. The agent's standard
output is its answer. Mocked executables come first on its PATH; {mcp_json} is
a file {\"mcpServers\": {NAME: {\"command\", \"args\", \"env\"}}}.

The command line of an agent is split into words as a POSIX shell quotes them,
without a shell, and then filled in, word by word:
  {prompt}       what the agent is asked       {workspace}  where it starts
  {prompt_file}  a file with that              {shim_dir}   the mocked executables
  {mcp_json}     its MCP servers               {session}    the session
  {home}         an empty directory of its own

With --agent-acp the prompt and the MCP servers go over the Agent Client
Protocol, every permission that is asked for is given once, and the answer is
what the agent says after its last tool call.

Verdicts: PASS; FAIL, the agent did not do what is expected; INVALID, the case
proves nothing; ERROR, the run was none; SKIPPED, the agent cannot be asked this.

Exit status:
  0  all passed; with --require-pass K/N at least K trials of each task
  1  at least one FAIL
  2  usage, or documents that are refused
  3  at least one ERROR or INVALID, and no FAIL
  4  nothing was selected, or everything was skipped
  130, 143  interrupted; what was graded is written";

const GRADE: &str = "\
Examples:
  agent-conformance grade results/results.json > again.json
  agent-conformance grade results/results.json --allow-programs

Judges the evidence again, offline, and prints results as `run --out` writes
them, each file after the other. Graders that start programs (program, python,
javascript) are carried over, and marked, unless programs are allowed.

Exit status: as that of `agent-conformance run`, and 3 where some runs did not
take place and none failed; 2 for files that hold no results";

const REPORT: &str = "\
Examples:
  agent-conformance report results/results.json
  agent-conformance report results/results.json --format json | jq .summary";

const CHECK: &str = "\
Examples:
  agent-conformance check my-cases/
  agent-conformance check case.yaml --strict
  agent-conformance check case.yaml --format json | jq '.valid'

Admits every document, with all faults at once, and then looks for what only
cases can get wrong: two of one name, graders that nothing proves, a derived bad
agent that does what the good one does, a live server that is not here.

Exit status:
  0  nothing is refused
  1  something is; with --strict, anything is printed but a last line a file
  2  usage, or a file that cannot be opened";

const AGENTS: &str = "\
Examples:
  agent-conformance agents                        who is here, in which version
  agent-conformance agents claude-code > mine.toml
  agent-conformance agents mine.toml              check an adapter of your own
  agent-conformance run --agent ./mine.toml

An adapter is a TOML file: how an agent is found, started, told of its MCP
servers, kept to the mocked executables, and understood. Copy one, and change it.

Exit status: 0, or 2 for usage and adapters that are refused";

const LIST: &str = "\
Examples:
  agent-conformance list                     the recovery suites, which are built in
  agent-conformance list my-cases/ --json | jq -r '.[].task'

Exit status: 0, or 2 for usage and documents that are refused";

const WIRE: &str = "\
Examples:
  agent-conformance wire orders.yaml --for claude-code --out wired
  agent-conformance wire tools.yaml --for generic --out wired && . wired/env.sh

Makes DIR with a session (DIR/session), the configuration of the client, a
neutral one (DIR/mcp.json) and shell code that puts mocked executables first on
PATH (DIR/env.sh), as far as there is something to mock. See the evidence with
`mcp-mock status DIR/session`, and end it with `mcp-mock close DIR/session`.

Exit status:
  0  all of it was made
  2  usage, documents that are refused, or something that could not be made";

const SCHEMA: &str = "\
Examples:
  agent-conformance schema > results.schema.json";

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
  4  nothing was selected
  130, 143  interrupted";

const MODEL: &str = "\
Examples:
  agent-conformance model --script script.json
  agent-conformance model --script script.json --shell run_shell_command:command \\
      --tool-format 'mcp_{server}_{tool}'

  ANTHROPIC_BASE_URL=http://127.0.0.1:PORT ANTHROPIC_API_KEY=placeholder my-agent ...

A model provider on loopback that has a real agent do what a script says, which is
a JSON list of the actions that `self_test` has: call, run, write, read, delete,
sleep_ms, say. Its URL is the first line on stdout; stderr tells of each request.

It speaks Anthropic messages, OpenAI responses and chat completions, and Gemini
generateContent, in streams and not, and keeps no state: what comes next is read
off the conversation. `until: success` of a call is judged by the journal of
--session where that is given, else by what the agent makes of the result.

Exit status: 2 for usage, and scripts that are refused; else it serves until it
is ended";

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
    /// Run an agent on cases, and judge what it did by the record.
    #[command(after_help = RUN)]
    Run(RunArgs),
    /// List the agents that can be run by name, or print the adapter of one.
    #[command(after_help = AGENTS)]
    Agents(AgentsArgs),
    /// Check documents and cases, and report every fault at once.
    #[command(after_help = CHECK)]
    Check(CheckArgs),
    /// List cases: their class, their kinds, what they cover.
    #[command(after_help = LIST)]
    List(ListArgs),
    /// Make a session and the configuration for somebody else's harness.
    #[command(after_help = WIRE)]
    Wire(WireArgs),
    /// Judge saved results again.
    #[command(after_help = GRADE)]
    Grade(GradeArgs),
    /// Show saved results.
    #[command(after_help = REPORT)]
    Report(ReportArgs),
    /// Print the JSON Schema of `results.json`.
    #[command(after_help = SCHEMA)]
    Schema,
    /// Prove the graders: good agents pass, and bad ones fail for their reason.
    #[command(after_help = SELF_TEST)]
    SelfTest(SelfTestArgs),
    /// Serve a scripted model, which has a real agent do what a script says.
    #[command(after_help = MODEL)]
    Model(ModelArgs),
    /// Evaluate the expressions of a grader on behalf of the runner.
    #[command(hide = true)]
    Jq {
        /// The expressions.
        assertions: Vec<String>,
    },
    /// Start an agent on behalf of the runner, and end what it leaves.
    #[command(hide = true)]
    Supervise,
    /// Speak the Agent Client Protocol to an agent on behalf of the runner.
    #[command(hide = true)]
    Acp {
        /// What to have which agent do, as JSON.
        order: PathBuf,
    },
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
#[command(group = clap::ArgGroup::new("who").required(true).args(["agent", "agent_cmd", "agent_acp"]))]
pub(crate) struct RunArgs {
    /// Documents with tasks, or directories of them; the built-in suites when left out.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The agent: a name that `agent-conformance agents` lists, an adapter file, or
    /// `scripted`, which plays the good script of each case.
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub(crate) agent: Option<String>,
    /// An argument for that agent, beside those of its adapter; may be given several times.
    #[arg(long = "agent-arg", value_name = "A", requires = "agent", allow_hyphen_values = true)]
    pub(crate) agent_args: Vec<String>,
    /// Have a scripted model, served on loopback, play the good script of each case
    /// through the agent: no credentials are needed.
    #[arg(long, requires = "agent")]
    pub(crate) scripted_model: bool,
    /// The command line of an agent, with placeholders.
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) agent_cmd: Option<String>,
    /// The command line of an agent that speaks the Agent Client Protocol.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) agent_acp: Option<String>,
    /// The login that such an agent is asked for first, as it names it.
    #[arg(long, value_name = "METHOD", requires = "agent_acp")]
    pub(crate) acp_login: Option<String>,
    /// The session mode that such an agent is put in; its own when left out.
    #[arg(long, value_name = "MODE", requires = "agent_acp")]
    pub(crate) acp_mode: Option<String>,
    /// How often each task is run.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_TRIALS)))]
    pub(crate) trials: Option<u32>,
    /// How many of so many trials must pass, for each task.
    #[arg(long, value_name = "K/N")]
    pub(crate) require_pass: Option<Fraction>,
    /// How many agents run at once; as many as there are cores when left out.
    #[arg(long, value_name = "J", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=256))]
    pub(crate) jobs: Option<usize>,
    /// How long an agent may take, in seconds.
    #[arg(long, value_name = "S", default_value = "600", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Only tasks whose case or CASE/TASK matches; may be given several times.
    #[arg(long, value_name = "GLOB", value_parser = select::pattern)]
    pub(crate) only: Vec<GlobMatcher>,
    /// Only one of so many parts of the tasks.
    #[arg(long, value_name = "K/N")]
    pub(crate) shard: Option<Fraction>,
    /// Begin no further run after the first FAIL.
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Leave out the twins, which show that a case can be passed without its fault.
    #[arg(long)]
    pub(crate) no_twin: bool,
    /// Changes at these paths of the workspace are no side effects; may be given several times.
    #[arg(long, value_name = "GLOB", value_parser = PathGlob::parse)]
    pub(crate) ignore: Vec<PathGlob>,
    /// Write DIR/results.json.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write a report: text or json, to stdout or to a file; may be given several times.
    #[arg(long = "report", value_name = "FORMAT[=FILE]")]
    pub(crate) reports: Vec<Report>,
    /// Keep workspaces and sessions below DIR/sessions.
    #[arg(long, requires = "out")]
    pub(crate) keep_sessions: bool,
    /// Remove what was generated for a run that could not be set up.
    #[arg(long)]
    pub(crate) clean: bool,
}

/// A time in seconds, more than none and no more than a week.
fn seconds(text: &str) -> Result<Duration, String> {
    const WEEK: f64 = 7.0 * 86_400.0;
    let seconds = text.parse::<f64>().ok().filter(|it| *it > 0.0 && *it <= WEEK);
    let seconds = seconds.ok_or("write seconds, as in 90 or 0.5, up to a week")?;
    Ok(Duration::from_secs_f64(seconds))
}

/// What results are written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// As `results.json`.
    Json,
}

/// A report, and the file it goes to, else stdout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) format: Format,
    pub(crate) file: Option<PathBuf>,
}

impl std::str::FromStr for Report {
    type Err = String;

    fn from_str(text: &str) -> Result<Report, String> {
        let (format, file) = match text.split_once('=') {
            Some((format, file)) => (format, Some(PathBuf::from(file))),
            None => (text, None),
        };
        if file.as_ref().is_some_and(|file| file.as_os_str().is_empty()) {
            return Err(format!("name a file, as in {format}=results.{format}"));
        }
        let format = <Format as clap::ValueEnum>::from_str(format, false)
            .map_err(|_| "write text, json, text=FILE or json=FILE".to_owned())?;
        Ok(Report { format, file })
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct AgentsArgs {
    /// The agent whose adapter is printed; or a file, which is checked.
    #[arg(value_name = "NAME|FILE.toml")]
    pub(crate) name: Option<String>,
    /// Print JSON.
    #[arg(long, conflicts_with = "name")]
    pub(crate) json: bool,
    /// Print the table of the documentation, without looking for the agents.
    #[arg(long, conflicts_with_all = ["name", "json"])]
    pub(crate) markdown: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Documents, or directories of them; the built-in suites when left out.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Fail on anything that is found, warnings included.
    #[arg(long)]
    pub(crate) strict: bool,
    /// How to print the report.
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: CheckFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CheckFormat {
    /// Source excerpts for people.
    Human,
    /// One JSON object.
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Documents with tasks, or directories of them; the built-in suites when left out.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WireArgs {
    /// The fixture document.
    pub(crate) fixture: PathBuf,
    /// The client: one of those that `mcp-mock config --help` lists.
    #[arg(long = "for", value_name = "CLIENT")]
    pub(crate) client: String,
    /// A directory that does not exist or is empty.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The task whose own mocks replace the document's.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// Remove what was made when something could not be.
    #[arg(long)]
    pub(crate) clean: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GradeArgs {
    /// Results that `run --out` or `--report json` wrote.
    #[arg(value_name = "RESULTS", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Start the programs of graders again.
    #[arg(long)]
    pub(crate) allow_programs: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Results that `run --out` or `--report json` wrote.
    #[arg(value_name = "RESULTS", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// What they are shown as.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
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
pub(crate) struct ModelArgs {
    /// The actions: a JSON list.
    #[arg(long, value_name = "FILE")]
    pub(crate) script: PathBuf,
    /// The port on 127.0.0.1; a free one when left out.
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
    pub(crate) port: u16,
    /// How the agent names the tools of MCP servers.
    #[arg(long, value_name = "TEMPLATE", default_value = "mcp__{server}__{tool}")]
    pub(crate) tool_format: String,
    /// The agent's tool for command lines, and its argument; ARGUMENT[] is a list of words.
    #[arg(long, value_name = "TOOL:ARGUMENT", default_value = "Bash:command")]
    pub(crate) shell: String,
    /// Other arguments that this tool requires: a JSON object.
    #[arg(long, value_name = "JSON")]
    pub(crate) shell_arguments: Option<crate::model::Arguments>,
    /// Arguments that the agent's schemas ask of each call, and that it keeps: a JSON object.
    #[arg(long, value_name = "JSON")]
    pub(crate) tool_arguments: Option<crate::model::Arguments>,
    /// The session whose journal tells which calls succeeded.
    #[arg(long, value_name = "DIR")]
    pub(crate) session: Option<PathBuf>,
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
