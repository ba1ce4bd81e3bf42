//! `mcp-mock config`: what to paste into a client, and where.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use fixtures::client::{Client, Server};
use fixtures::session::Session;

use crate::cli::ConfigArgs;
use crate::exit::Exit;

pub(crate) fn run(args: &ConfigArgs) -> Exit {
    let client = args.client.0.client();
    let written =
        servers(args, &client).and_then(|servers| Ok((client.configuration(&servers)?, servers)));
    match written {
        Ok((text, servers)) => {
            let printed = crate::print(text.as_bytes());
            let repeats = repeats(args, &client);
            crate::note(&format!("{}{repeats}\n{PATHS}", client.advice(&servers[0].name)));
            printed
        }
        Err(reason) => crate::complain(&reason),
    }
}

const PATHS: &str = "  * The paths are those of this machine.";

/// How far the sequences go on when the client starts a server again.
fn repeats(args: &ConfigArgs, client: &Client) -> &'static str {
    match (&args.session, client.restarts) {
        (None, true) => {
            "  * --scope client: the sequences go on from one start to the next for as long as the client runs."
        }
        (Some(_), true) => {
            "  * The session keeps the sequences from one start to the next, and after the client, too."
        }
        (_, false) => {
            "  * Without a session (`--session DIR`, `--scope client`) each start begins the sequences anew, and some clients start a server more than once."
        }
    }
}

/// How each of the servers is started.
fn servers(args: &ConfigArgs, client: &Client) -> Result<Vec<Server>, String> {
    let (names, place): (Vec<String>, _) = match (&args.fixture, &args.session) {
        (Some(fixture), _) => {
            let document = fixtures::load(fixture, crate::is_styled(&io::stderr()))?;
            (document.mcp_mocks.into_iter().map(|server| server.name).collect(), fixture)
        }
        (None, Some(directory)) => {
            let session = Session::open(directory)?;
            (session.server_names().into_iter().map(str::to_owned).collect(), directory)
        }
        (None, None) => unreachable!("the command line wants one of the two"),
    };
    let place = place.display();
    if names.is_empty() {
        return Err(format!("`{place}` has no server to configure: add one under `mcp_mocks`"));
    }
    let chosen = match &args.server {
        None => names,
        Some(name) if names.contains(name) => vec![name.clone()],
        Some(name) => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let names = names.join(", ");
            return Err(format!("`{place}` has no server `{name}`; its servers are {names}"));
        }
    };
    let program = std::env::current_exe()
        .map_err(|error| format!("cannot tell where this program is: {error}"))?;
    let program = utf8(&program)?;
    let mut serve = vec!["serve".to_owned()];
    if let Some(fixture) = &args.fixture {
        let fixture = fixture
            .canonicalize()
            .map_err(|error| format!("cannot resolve `{}`: {error}", fixture.display()))?;
        serve.push(utf8(&fixture)?.to_owned());
    }
    if let Some(directory) = &args.session {
        // A session that is made at the first start is not there yet.
        let directory = std::path::absolute(directory)
            .map_err(|error| format!("cannot resolve `{}`: {error}", directory.display()))?;
        serve.extend(["--session".to_owned(), utf8(&directory)?.to_owned()]);
    }
    if args.session.is_none() && client.restarts {
        serve.extend(["--scope", "client"].map(str::to_owned));
    }
    let servers = chosen.into_iter().map(|name| {
        let server = ["--server".to_owned(), name.clone()];
        Server {
            name,
            command: program.to_owned(),
            args: serve.iter().cloned().chain(server).collect(),
            env: BTreeMap::new(),
        }
    });
    Ok(servers.collect())
}

fn utf8(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| {
        format!(
            "the path `{}` is not UTF-8, so that no configuration can name it: rename or move it",
            path.display()
        )
    })
}
