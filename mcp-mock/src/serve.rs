//! `mcp-mock serve`: from a document or a session to a running server.

use std::io;
use std::path::Path;

use fixtures::document::{Document, Server};
use fixtures::engine::Book;
use fixtures::session::{self, Session, verbs};

use crate::cli::{Scope, ServeArgs};
use crate::exit::Exit;
use crate::{client_scope, stdio};

pub(crate) fn run(args: &ServeArgs) -> Exit {
    match choose(args) {
        Ok(Serving { server, book, _session }) => stdio::run(&server, book),
        Err(message) => crate::complain(&message),
    }
}

/// What is served.
struct Serving {
    server: Server,
    book: Book,
    /// Open while it is served, so that nobody resets it.
    _session: Option<Session>,
}

fn choose(args: &ServeArgs) -> Result<Serving, String> {
    let name = args.server.as_deref();
    let Some(fixture) = &args.fixture else {
        let directory = args.session.as_deref().expect("the command line wants one of the two");
        return in_session(Session::open(directory)?, name);
    };
    if let (Scope::Client, Some(file)) = (args.scope, &args.journal) {
        return Err(format!(
            "`--journal {}` cannot be used with `--scope client`, whose session has a journal of its own: leave one of them out",
            file.display()
        ));
    }
    let document = fixtures::load(fixture, crate::is_styled(&io::stderr()))?;
    let directory = match (&args.session, args.scope) {
        (Some(directory), _) => Some(directory.clone()),
        (None, Scope::Client) => Some(client_scope::directory(&document, verbs::base(fixture))?),
        (None, Scope::Process) => None,
    };
    match directory {
        Some(directory) => in_session(attach(&directory, document, fixture, args)?, name),
        None => in_memory(document, fixture, args),
    }
}

fn attach(
    directory: &Path,
    document: Document,
    fixture: &Path,
    args: &ServeArgs,
) -> Result<Session, String> {
    let making = crate::session::making(document, fixture, None, args.allow_network_fs)?;
    session::make_or_attach(directory, making).map(|(session, _)| session)
}

fn in_session(session: Session, name: Option<&str>) -> Result<Serving, String> {
    let names = session.server_names();
    let name = pick(&names, name).map(|index| names[index].to_owned());
    let name = name.map_err(|reason| format!("{}: {reason}", session.directory().display()))?;
    let (server, book) = (session.server(&name)?, session.book(&name)?);
    Ok(Serving { server, book, _session: Some(session) })
}

fn in_memory(mut document: Document, fixture: &Path, args: &ServeArgs) -> Result<Serving, String> {
    let names: Vec<&str> = document.mcp_mocks.iter().map(|it| it.name.as_str()).collect();
    let index = pick(&names, args.server.as_deref())
        .map_err(|reason| format!("{}: {reason}", fixture.display()))?;
    let server = document.mcp_mocks.swap_remove(index);
    let book = match &args.journal {
        None => Book::Memory,
        Some(path) => Book::record(path, document.redact.as_ref())?,
    };
    Ok(Serving { server, book, _session: None })
}

/// The index of the server of that name, or of the only one.
fn pick(names: &[&str], name: Option<&str>) -> Result<usize, String> {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let quoted = quoted.join(", ");
    match (name, names.len()) {
        (_, 0) => Err("there are no `mcp_mocks`, so there is nothing to serve".to_owned()),
        (None, 1) => Ok(0),
        (None, _) => Err(format!("choose one of the servers {quoted} with `--server NAME`")),
        (Some(name), _) => names
            .iter()
            .position(|known| *known == name)
            .ok_or_else(|| format!("there is no server `{name}`; the servers are {quoted}")),
    }
}
