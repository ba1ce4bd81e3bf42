//! `cli-shim install`: a session whose shims are known to work.

use std::io;
use std::path::Path;
use std::time::Duration;

use fixtures::document::Document;
use fixtures::session::{self, Deadline, Making, Origin, Session, verbs};
use serde_json::json;

use super::cli::InstallArgs;
use super::{probe, quote};

pub(super) fn run(args: &InstallArgs) -> Result<i32, String> {
    let (session, place) = install(args)?;
    let bin = format!("{place}/bin");
    if args.json {
        let about = json!({
            "session": place,
            "bin": bin,
            "servers": session.server_names(),
            "executables": session.executable_names(),
        });
        return super::print(format!("{about}\n").as_bytes());
    }
    let line = format!("export PATH={}:\"$PATH\"\n", quote::sh(&bin));
    let printed = super::print(line.as_bytes())?;
    let place = quote::sh(&place);
    super::note(&format!(
        "Keep it first:  eval \"$(cli-shim env {place})\"\nProve it:       cli-shim doctor {place}\nLook at it:     cli-shim status {place}"
    ));
    Ok(printed)
}

fn install(args: &InstallArgs) -> Result<(Session, String), String> {
    let mut document = fixtures::load(&args.fixture, super::is_styled(&io::stderr()))?;
    choose(&mut document, &args.only)
        .map_err(|reason| format!("{}: {reason}", args.fixture.display()))?;
    let program = std::env::current_exe()
        .map_err(|error| format!("cannot tell where this program is: {error}"))?;
    let making = Making {
        document,
        base: verbs::base(&args.fixture),
        workspace: verbs::workspace(args.workspace.as_deref())?,
        deadline: args.deadline_ms.map(deadline).transpose()?,
        call_timeout: args.call_timeout_ms.map(Duration::from_millis),
        shim: Some(program),
        mode: args.mode,
        owner: args.owner,
        is_durable: args.durable,
        allows_network_fs: args.allow_network_fs,
    };
    let (session, origin) = session::make_or_attach(&args.dir, making)?;
    let checked = check(&session);
    match checked {
        Ok(place) => Ok((session, place)),
        Err(reason) if origin == Origin::Found => Err(reason),
        Err(reason) => match std::fs::remove_dir_all(session.directory()) {
            Ok(()) => Err(reason),
            Err(error) => Err(format!("{reason}; and it cannot be removed again: {error}")),
        },
    }
}

/// Leaves only the executables that were asked for.
fn choose(document: &mut Document, only: &[String]) -> Result<(), String> {
    let mocks = &mut document.command_mocks;
    if mocks.is_empty() {
        return Err("there are no `command_mocks`, so there is nothing to install".to_owned());
    }
    if let Some(unknown) = only.iter().find(|name| mocks.iter().all(|mock| mock.name != **name)) {
        let known: Vec<String> = mocks.iter().map(|mock| format!("`{}`", mock.name)).collect();
        return Err(format!(
            "there is no executable `{unknown}`; the executables are {}",
            known.join(", ")
        ));
    }
    mocks.retain(|mock| only.is_empty() || only.contains(&mock.name));
    Ok(())
}

/// That many milliseconds from now, as other processes of this boot understand it.
fn deadline(from_now: u64) -> Result<Deadline, String> {
    Deadline::after(Duration::from_millis(from_now)).ok_or_else(|| {
        "this system does not tell one boot from another, so that no deadline can be kept: leave out `--deadline-ms`"
            .to_owned()
    })
}

/// Where the session is, if calls will reach it and be served.
fn check(session: &Session) -> Result<String, String> {
    let place = place(session)?;
    if session.fold()?.is_closed {
        return Err(format!(
            "the session at `{place}` is closed: choose another directory, or `reset` it"
        ));
    }
    probe::try_all(session, Path::new(&place))?;
    Ok(place)
}

/// A session that mocks executables, and where it is.
pub(super) fn open(directory: &Path) -> Result<(Session, String), String> {
    let session = Session::open(directory)?;
    if session.executable_names().is_empty() {
        return Err(format!(
            "the session at `{}` mocks no executable, so that nothing of it belongs on PATH: make one from a document with `command_mocks`",
            directory.display()
        ));
    }
    let place = place(&session)?;
    Ok((session, place))
}

/// The directory of a session, as it can stand on PATH.
fn place(session: &Session) -> Result<String, String> {
    let shown = session.directory().display();
    let found = session
        .directory()
        .canonicalize()
        .map_err(|error| format!("cannot resolve `{shown}`: {error}"))?;
    let place = found.into_os_string().into_string().map_err(|_| {
        format!("`{shown}` is not UTF-8, so that no shell code can name it: choose another name")
    })?;
    if place.contains([':', '\n']) {
        return Err(format!(
            "{place:?} has a colon, which ends a directory on PATH, or a line break: choose another name"
        ));
    }
    Ok(place)
}
