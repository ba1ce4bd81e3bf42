//! The commands around a session: make, look, compare, start anew, close.

use std::io;
use std::path::Path;

use fixtures::document::Document;
use fixtures::session::{self, Making, verbs};
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
        Ok((session, _)) if args.json => {
            let about = json!({
                "session": session.directory().to_string_lossy(),
                "servers": session.server_names(),
                "executables": session.executable_names(),
            });
            crate::print(format!("{about}\n").as_bytes())
        }
        Ok((session, _)) => {
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
    let workspace = verbs::workspace(workspace)?;
    let base = verbs::base(fixture);
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

pub(crate) fn status(args: &StatusArgs) -> Exit {
    match verbs::status(&args.dir, args.json) {
        Ok(text) => crate::print(text.as_bytes()),
        Err(reason) => crate::complain(&reason),
    }
}

pub(crate) fn verify(args: &VerifyArgs) -> Exit {
    match verbs::verify(&args.dir, args.all_consumed, args.json) {
        Ok((is_as_expected, text)) => match crate::print(text.as_bytes()) {
            Exit::Success if !is_as_expected => Exit::Stopped,
            exit => exit,
        },
        Err(reason) => crate::complain(&reason),
    }
}

pub(crate) fn reset(args: &ResetArgs) -> Exit {
    match verbs::reset(&args.dir, args.from.as_deref(), crate::is_styled(&io::stderr())) {
        Ok(()) => Exit::Success,
        Err(reason) => crate::complain(&reason),
    }
}

pub(crate) fn close(args: &CloseArgs) -> Exit {
    match verbs::close(&args.dir) {
        Ok(told) => {
            if let Some(told) = told {
                crate::note(&told);
            }
            Exit::Success
        }
        Err(reason) => crate::complain(&reason),
    }
}
