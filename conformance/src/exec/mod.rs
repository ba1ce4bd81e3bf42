//! `agent-conformance exec`: one command, in a session of its own.

pub(crate) mod command;
mod evidence;
pub(crate) mod leftovers;
mod mocks;
mod processes;
pub(crate) mod signals;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use fixtures::journal::record::SessionEnd;
use fixtures::session::Session;
use fixtures::session::status::Status;

use crate::cli::ExecArgs;
use crate::exit::Exit;
use crate::{wiring, workspace};
use command::{Ended, NotRun};
use mocks::Mocks;
use signals::Signals;

pub(crate) fn run(args: &ExecArgs) -> Exit {
    match exec(args) {
        Ok(exit) => exit,
        Err(NotRun { exit, reason }) => {
            crate::complain(&reason);
            exit
        }
    }
}

impl From<String> for NotRun {
    fn from(reason: String) -> NotRun {
        NotRun { exit: Exit::Refused, reason }
    }
}

fn exec(args: &ExecArgs) -> Result<Exit, NotRun> {
    // From here on nothing but SIGKILL keeps the folder from being removed.
    let signals = Signals::hold()?;
    let mocks = mocks::read(args.fixture.as_deref(), &args.mocks, crate::is_styled())?;
    if let Some(file) = &args.json {
        refuse_homeless(file)?;
    }
    wiring::can_be_played(&mocks.document)?;
    let folder = workspace::temporary()?;
    let kept = args.keep.as_deref();
    let place = kept.map_or_else(|| folder.path().join("session"), Path::to_owned);
    let exit = make(&place, mocks).map_err(NotRun::from).and_then(|session| {
        let exit = in_session(args, &session, folder.path(), &signals);
        if exit.is_err() && kept.is_some() {
            // Nothing was run: the place is as good as before.
            let _ = std::fs::remove_dir_all(&place);
        }
        exit
    });
    let place = folder.path().to_owned();
    if let Err(error) = folder.close() {
        crate::note(&format!("cannot remove `{}`: {error}", place.display()));
    }
    exit
}

fn in_session(
    args: &ExecArgs,
    session: &Session,
    folder: &Path,
    signals: &Signals,
) -> Result<Exit, NotRun> {
    // The command may change its directory, and TMPDIR be relative.
    let mcp_json = std::path::absolute(folder.join("mcp.json"))
        .map_err(|error| format!("cannot tell where `{}` is: {error}", folder.display()))?;
    let servers = wiring::servers(BTreeMap::new(), session)?;
    wiring::write_mcp_json(&mcp_json, &servers)?;
    wiring::can_be_started(session)?;
    let path = wiring::path(session)?;
    let values = [("mcp_json", mcp_json.as_os_str())];
    let words = args.command.iter().map(|word| wiring::fill_in(word, &values));
    let words: Vec<OsString> = words.collect();
    let program = command::find(&words[0], &path)?;

    let before = leftovers::adopt();
    let started = command::start(&program, &words, &path, signals)?;
    let ended = command::wait(started, signals)?;
    // Whoever still serves, or calls, adds nothing from here on.
    let closed = session.close(SessionEnd::Runner);
    let left = leftovers::end(&before, signals)?;
    if !left.is_empty() && !args.quiet {
        crate::note(&format!("ended what the command left running: {}", left.join(", ")));
    }
    Ok(match closed.and_then(|_| show(args, session, ended)) {
        Ok(holds) if ended == Ended::Exited(0) && args.verify && !holds => Exit::Failed,
        Ok(_) => ended.exit(),
        Err(reason) => {
            let refused = crate::complain(&reason);
            if ended == Ended::Exited(0) { refused } else { ended.exit() }
        }
    })
}

fn make(place: &Path, mocks: Mocks) -> Result<Session, String> {
    let workspace = std::env::current_dir()
        .map_err(|error| format!("cannot tell the current directory: {error}"))?;
    wiring::make(mocks.document, &mocks.base, &workspace, None, place)
}

/// Shows and writes the evidence; whether everything is as the document wants it.
fn show(args: &ExecArgs, session: &Session, ended: Ended) -> Result<bool, String> {
    let status = Status::of(session)?;
    if !args.quiet {
        let table = evidence::table(&status, !args.verify, crate::is_styled());
        crate::note(&table.trim_end());
    }
    let complaints = evidence::complaints(&status);
    if args.verify && !complaints.is_empty() {
        crate::complain(&format!("not as it should be:\n  {}", complaints.join("\n  ")));
    }
    if let Some(file) = &args.json {
        let text = evidence::json(&status, &args.command, ended, &session.redactor());
        std::fs::write(file, text)
            .map_err(|error| format!("cannot write `{}`: {error}", file.display()))?;
    }
    Ok(complaints.is_empty())
}

/// A place that cannot be written to is better known before the command runs.
fn refuse_homeless(file: &Path) -> Result<(), String> {
    let folder = file.parent().filter(|folder| *folder != Path::new(""));
    if file.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
        return Err(format!(
            "cannot write `{}`: there is no such place for a file",
            file.display()
        ));
    }
    Ok(())
}
