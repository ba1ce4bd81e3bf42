//! Where a configuration goes, and what to know about the client.

use crate::cli::Client;

/// Advice for people; `server` stands for any of the configured servers.
pub(super) fn about(client: Client, server: &str) -> String {
    let own = match client {
        Client::ClaudeCode => CLAUDE_CODE,
        Client::Codex => CODEX,
        Client::Vscode => VSCODE,
        Client::Generic => GENERIC,
    };
    format!("{}{COMMON}", own.replace("SERVER", server))
}

const COMMON: &str = "  * Without a session (`--session DIR`, `--scope client`) each start begins the sequences anew, and some clients start a server more than once.
  * The paths are those of this machine.";

const CLAUDE_CODE: &str = "\
Where it goes:
  .mcp.json in the root of the project, for everyone who works there; or a file of its own, for one run
One run with this server and no other:
  claude -p PROMPT --mcp-config FILE --strict-mcp-config --allowedTools mcp__SERVER
  add --output-format stream-json --verbose to see the calls
Good to know:
  * A tool is called mcp__SERVER__TOOL; dots, slashes, blanks and what is not ASCII become underscores.
  * Tools may be kept behind a search, so that the model's list does not have them at first.
  * MCP_TIMEOUT (milliseconds) is how long a start may take, MCP_TOOL_TIMEOUT how long a call may.
";

const CODEX: &str = "\
Where it goes:
  ~/.codex/config.toml, or config.toml in $CODEX_HOME; .codex/config.toml in a project that is trusted
One run:
  CODEX_HOME=DIR codex exec --skip-git-repo-check PROMPT < /dev/null
  with the configuration and the login (auth.json) in DIR
  add --json to see the calls, and -s workspace-write to let the shell write
Good to know:
  * required = true: `codex exec` waits for the server and fails without it; else a slow start means no tools, silently.
  * default_tools_approval_mode = \"approve\": where nobody can be asked, a tool without `readOnlyHint: true` is refused.
  * tool_timeout_sec is how long a call may take; raise it above the longest delay_ms.
  * The server sees only a few variables of the environment, so everything is in its arguments.
  * A `-` in the name of a server or tool becomes `_` for the model.
";

const VSCODE: &str = "\
Where it goes:
  .vscode/mcp.json in the workspace, or mcp.json of the user profile (not settings.json; the key is `servers`)
One run:
  there is no flag for one run; use a workspace of its own
Good to know:
  * VS Code asks whether the server is trusted before it starts it for the first time.
  * Comments are allowed in the file.
";

const GENERIC: &str = "\
Where it goes:
  wherever the client reads `mcpServers`:
    Cursor .cursor/mcp.json            Gemini CLI .gemini/settings.json
    Kiro   .kiro/settings/mcp.json     Qwen Code  .qwen/settings.json
    Roo    .roo/mcp.json               Droid      ~/.factory/mcp.json
One run:
  Qwen Code: --mcp-config FILE; Copilot CLI: --additional-mcp-config @FILE
Good to know:
  * Copilot CLI wants \"type\": \"local\" and \"tools\": [\"*\"] in each entry.
  * opencode, Crush, Zed, Goose and Continue have shapes of their own.
  * Many clients ask before each call; look for the flag that approves the tools of SERVER.
";
