//! Streams that real agents wrote, and what is understood of them.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use super::{Dialect, Ended, Seen};
use crate::adapter::{Adapter, Door};

/// A call that fails and then succeeds, a command, a refusal, a server that does not start.
#[test]
fn the_streams_of_real_agents_are_understood() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/events");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "jsonl"));
    files.sort();
    assert!(files.len() > 20, "the streams are gone");
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let adapter = Adapter::find(name.split('.').next().unwrap()).unwrap();
        let dialect = match adapter.door {
            Door::Acp => Dialect::Acp,
            Door::Native => adapter.events.unwrap(),
        };
        let stream = std::fs::read_to_string(&file).unwrap();
        let servers = ["mock".to_owned(), "orders".to_owned(), "inventory".to_owned()];
        let seen = super::read(dialect, &stream, adapter.shell.as_ref(), &servers);
        let told: String = seen.iter().map(told).collect();
        let text = format!("{told}the answer: {}\n", super::answer(&seen));
        insta::assert_snapshot!(name, text);
    }
}

fn told(seen: &Seen) -> String {
    match seen {
        Seen::Call { id, server, tool, arguments } => {
            let server = server.as_ref().map_or(String::new(), |it| format!("{it} "));
            format!("call {id}: {server}{tool} {arguments}\n")
        }
        Seen::Command { id, command } => format!("command {id}: {command}\n"),
        Seen::Ended { id, how: Ended::Done } => format!("done {id}\n"),
        Seen::Ended { id, how: Ended::Failed(words) } => format!("failed {id}: {words}\n"),
        Seen::Ended { id, how: Ended::Refused(words) } => format!("refused {id}: {words}\n"),
        Seen::Said(words) => format!("said: {words}\n"),
        Seen::Answer(words) => format!("answer: {words}\n"),
        Seen::Server { name, connected, detail } => {
            format!(
                "server {name}: {} ({detail})\n",
                if *connected { "there" } else { "not there" }
            )
        }
        Seen::Problem(words) => format!("problem: {words}\n"),
    }
}
