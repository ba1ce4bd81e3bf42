//! `mcp-mock serve`: from a document to a running server.

use std::io;

use fixtures::document::{Document, Server};

use crate::cli::ServeArgs;
use crate::exit::Exit;
use crate::stdio;

pub(crate) fn run(args: &ServeArgs) -> Exit {
    let server = match choose(args) {
        Ok(server) => server,
        Err(message) => return crate::complain(&message),
    };
    stdio::run(&server)
}

fn choose(args: &ServeArgs) -> Result<Server, String> {
    let document = fixtures::load(&args.fixture, crate::is_styled(&io::stderr()))?;
    pick(document, args.server.as_deref())
        .map_err(|reason| format!("{}: {reason}", args.fixture.display()))
}

/// The server of that name, or the only one.
fn pick(document: Document, name: Option<&str>) -> Result<Server, String> {
    let names: Vec<String> =
        document.mcp_mocks.iter().map(|server| format!("`{}`", server.name)).collect();
    let mut servers = document.mcp_mocks.into_iter();
    match (name, names.len()) {
        (_, 0) => Err("the document has no `mcp_mocks`, so there is nothing to serve".to_owned()),
        (None, 1) => Ok(servers.next().expect("one server was counted")),
        (None, _) => {
            Err(format!("choose one of the servers {} with `--server NAME`", names.join(", ")))
        }
        (Some(name), _) => servers.find(|server| server.name == name).ok_or_else(|| {
            format!("there is no server `{name}`; the servers are {}", names.join(", "))
        }),
    }
}
