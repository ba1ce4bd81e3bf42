//! The commands around a session: make, look, compare, start anew, close.

use std::io;
use std::path::{Path, PathBuf};

use fixtures::document::Document;
use fixtures::journal::record::SessionEnd;
use fixtures::session::status::Status;
use fixtures::session::{self, Making, Session};
use serde_json::json;

use crate::cli::{CloseArgs, ResetArgs, SessionArgs, StatusArgs, VerifyArgs};
use crate::exit::Exit;

/// The permissions of a session that nobody asked to share.
pub(crate) const PRIVATE: u32 = 0o700;

pub(crate) fn make(args: &SessionArgs) -> Exit {
    let made = fixtures::load(&args.fixture, crate::is_styled(&io::stderr()));
    let made = made.and_then(|document| {
        let making = Making {
            mode: args.mode,
            owner: args.owner,
            is_durable: args.durable,
            ..making(document, &args.fixture, args.workspace.as_deref(), args.allow_network_fs)?
        };
        session::make_or_attach(&args.dir, making)
    });
    match made {
        Ok(session) if args.json => {
            let about = json!({
                "session": session.directory().to_string_lossy(),
                "servers": session.server_names(),
                "executables": session.executable_names(),
            });
            crate::print(format!("{about}\n").as_bytes())
        }
        Ok(session) => {
            let place = session.directory().display();
            let printed = crate::print(format!("{place}\n").as_bytes());
            crate::note(&format!(
                "Serve it:      mcp-mock serve --session '{place}'\nConfigure it:  mcp-mock config --session '{place}' --for CLIENT\nLook at it:    mcp-mock status '{place}'"
            ));
            printed
        }
        Err(reason) => crate::complain(&reason),
    }
}

/// What a session is made from, private and with the usual guarantees.
pub(crate) fn making<'a>(
    document: Document,
    fixture: &'a Path,
    workspace: Option<&Path>,
    allows_network_fs: bool,
) -> Result<Making<'a>, String> {
    let workspace = match workspace {
        Some(workspace) => workspace.to_owned(),
        None => PathBuf::from("."),
    };
    let workspace = workspace
        .canonicalize()
        .map_err(|error| format!("cannot resolve `{}`: {error}", workspace.display()))?;
    let base = base(fixture);
    Ok(Making {
        document,
        base,
        workspace,
        deadline: None,
        call_timeout: None,
        shim: None,
        mode: PRIVATE,
        owner: None,
        is_durable: false,
        allows_network_fs,
    })
}

/// What the files that a document names are relative to.
pub(crate) fn base(fixture: &Path) -> &Path {
    fixture.parent().unwrap_or(Path::new(""))
}

pub(crate) fn status(args: &StatusArgs) -> Exit {
    match look(&args.dir) {
        Ok(status) if args.json => crate::print(format!("{}\n", status.to_json()).as_bytes()),
        Ok(status) => crate::print(status.to_string().as_bytes()),
        Err(reason) => crate::complain(&reason),
    }
}

pub(crate) fn verify(args: &VerifyArgs) -> Exit {
    let status = match look(&args.dir) {
        Ok(status) => status,
        Err(reason) => return crate::complain(&reason),
    };
    let differences = status.differences(args.all_consumed);
    let text = if args.json {
        format!("{}\n", json!({"ok": differences.is_empty(), "differences": differences}))
    } else {
        differences.iter().map(|difference| format!("{difference}\n")).collect()
    };
    match crate::print(text.as_bytes()) {
        Exit::Success if !differences.is_empty() => Exit::Stopped,
        exit => exit,
    }
}

fn look(directory: &Path) -> Result<Status, String> {
    Status::of(&Session::open(directory)?)
}

pub(crate) fn reset(args: &ResetArgs) -> Exit {
    let from = args.from.as_deref().map(|fixture| {
        let document = fixtures::load(fixture, crate::is_styled(&io::stderr()))?;
        Ok::<_, String>((document, base(fixture)))
    });
    let reset = from.transpose().and_then(|from| session::reset(&args.dir, from));
    match reset {
        Ok(_) => Exit::Success,
        Err(reason) => crate::complain(&reason),
    }
}

pub(crate) fn close(args: &CloseArgs) -> Exit {
    let closed = Session::open(&args.dir).and_then(|session| session.close(SessionEnd::Close));
    match closed {
        Ok(true) => Exit::Success,
        Ok(false) => {
            crate::note(&format!("`{}` was closed already", args.dir.display()));
            Exit::Success
        }
        Err(reason) => crate::complain(&reason),
    }
}
