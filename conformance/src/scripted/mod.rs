//! The scripted agent: a process like any other agent, that does what it is told.
//!
//! It gets the same generated MCP configuration and the same PATH, speaks MCP
//! through a real client, and runs commands through a real shell. What it says
//! on standard output is its answer.

mod servers;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::exit::Exit;
use fixtures::document::task::{Action, CallAction, RunAction, SayAction, Until, WriteAction};
use servers::Servers;

/// How often something is repeated `until: success`, where no bound is given.
const MOST_TRIES: u32 = 100;

/// Plays the script in the current directory.
pub(crate) fn run(script: &Path, mcp_config: &Path) -> Exit {
    match play(script, mcp_config) {
        Ok(()) => Exit::Success,
        Err(reason) => {
            crate::note(&format!("scripted agent: {reason}"));
            Exit::Failed
        }
    }
}

fn play(script: &Path, mcp_config: &Path) -> Result<(), String> {
    let text = fs::read_to_string(script)
        .map_err(|error| format!("cannot read `{}`: {error}", script.display()))?;
    let actions: Vec<Action> = serde_json::from_str(&text)
        .map_err(|error| format!("`{}` is no script: {error}", script.display()))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(async {
        let mut servers = Servers::configured(mcp_config)?;
        for action in &actions {
            act(action, &mut servers).await?;
        }
        servers.leave().await;
        Ok(())
    })
}

/// Does one thing. An agent goes on when a call, a command or a file fails it.
async fn act(action: &Action, servers: &mut Servers) -> Result<(), String> {
    match action {
        Action::Call(call) => return make(call, servers).await,
        Action::Run(command) => return shell(command),
        Action::Write(WriteAction { write, text }) => {
            let path = Path::new(write);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(|error| format!("{write}: {error}"))?;
            }
            fs::write(path, text).map_err(|error| format!("cannot write `{write}`: {error}"))?;
        }
        Action::Read(action) => {
            // Whether it is there is nothing that the record would tell.
            let _ = fs::read(&action.read);
        }
        Action::Delete(action) => fs::remove_file(&action.delete)
            .map_err(|error| format!("cannot delete `{}`: {error}", action.delete))?,
        Action::Sleep(action) => {
            tokio::time::sleep(Duration::from_millis(action.sleep_ms)).await;
        }
        Action::Say(SayAction { say }) => {
            writeln!(io::stdout(), "{say}").map_err(|error| format!("cannot speak: {error}"))?;
        }
    }
    Ok(())
}

/// How often something is done at most.
pub(crate) fn tries(until: Option<Until>, at_most: Option<u32>) -> u32 {
    match until {
        Some(Until::Success) => at_most.unwrap_or(MOST_TRIES),
        None => at_most.unwrap_or(1),
    }
}

async fn make(action: &CallAction, servers: &mut Servers) -> Result<(), String> {
    let CallAction { call, arguments, until, at_most, cancel_after_ms } = action;
    let (server, tool) =
        call.split_once('.').ok_or_else(|| format!("`{call}` is not SERVER.TOOL"))?;
    let patience = cancel_after_ms.map(Duration::from_millis);
    for _ in 0..tries(*until, *at_most) {
        let is_success = servers.call(server, tool, arguments.clone(), patience).await?;
        if is_success && until.is_some() {
            break;
        }
    }
    Ok(())
}

fn shell(action: &RunAction) -> Result<(), String> {
    let RunAction { run, until, at_most } = action;
    for _ in 0..tries(*until, *at_most) {
        // What a command prints is not what the agent says.
        let output = Command::new("/bin/sh").args(["-c", run]).output();
        let output = output.map_err(|error| format!("cannot start a shell: {error}"))?;
        if output.status.success() && until.is_some() {
            break;
        }
    }
    Ok(())
}
