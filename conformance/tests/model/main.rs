//! The scripted model, asked as agents ask.
//!
//! Each file of `talks/` is a script and what a client and the model then say.
//! `answer` holds what has to be in the answer; `events` is all of a stream.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../common/mod.rs"]
mod common;
mod judging;
mod refusals;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A running server.
pub struct Model {
    process: Child,
    address: String,
}

impl Model {
    pub fn start(script: &Value, options: &[String]) -> Model {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        write!(file, "{script}").unwrap();
        let mut command = Command::new(common::program());
        command.args(["model", "--script"]).arg(file.path()).args(options);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("http://").expect("a URL").to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{address}");
        Model { process, address }
    }

    /// The status, the content type and the body of an answer.
    pub fn ask(&self, request: &str, body: &[u8]) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = format!(
            "{request} HTTP/1.1\r\nHost: model\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refuses a long body need not read all of it.
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let kind = head.lines().find_map(|line| line.strip_prefix("content-type: "));
        (status, kind.unwrap_or_default().to_owned(), body.to_owned())
    }

    pub fn json(&self, request: &str, body: &Value) -> Value {
        let (status, _, text) = self.ask(request, body.to_string().as_bytes());
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).unwrap()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Talk {
    #[serde(default)]
    options: Vec<String>,
    script: Value,
    talk: Vec<Exchange>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    ask: String,
    #[serde(default)]
    with: Value,
    #[serde(default = "ok")]
    status: u16,
    answer: Option<Value>,
    events: Option<Vec<Value>>,
}

fn ok() -> u16 {
    200
}

#[test]
fn every_talk_goes_as_it_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model/talks");
    let mut talks = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let talk: Talk =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let model = Model::start(&talk.script, &talk.options);
        for (place, exchange) in talk.talk.iter().enumerate() {
            // A request that is repeated is answered as before.
            for _ in 0..2 {
                hear(&model, exchange, &format!("{} {place}", path.display()));
            }
        }
        talks += 1;
    }
    assert!(talks >= 10, "{talks}");
}

fn hear(model: &Model, exchange: &Exchange, place: &str) {
    let (status, kind, text) = model.ask(&exchange.ask, exchange.with.to_string().as_bytes());
    assert_eq!(status, exchange.status, "{place}: {text}");
    if let Some(wanted) = &exchange.events {
        assert_eq!(kind, "text/event-stream", "{place}");
        let events: Vec<Value> = text.split_terminator("\n\n").map(event).collect();
        assert_eq!(&events, wanted, "{place}: {}", json!(events));
        return;
    }
    assert_eq!(kind, "application/json", "{place}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    let wanted = exchange.answer.as_ref().unwrap();
    assert!(holds(&answer, wanted), "{place}: {answer}\nis not {wanted}");
}

/// The data of an event, whose name is its type.
fn event(text: &str) -> Value {
    let (name, data) = match text.split_once('\n') {
        Some((name, data)) => (name.strip_prefix("event: "), data),
        None => (None, text),
    };
    let data = data.strip_prefix("data: ").unwrap();
    let event = serde_json::from_str(data).unwrap_or_else(|_| json!(data));
    assert_eq!(name, event["type"].as_str(), "{text}");
    event
}

fn holds(answer: &Value, wanted: &Value) -> bool {
    match (answer, wanted) {
        (Value::Object(answer), Value::Object(wanted)) => {
            let holds =
                |(key, wanted)| holds(answer.get::<str>(key).unwrap_or(&Value::Null), wanted);
            Map::iter(wanted).all(|(key, value)| holds((key, value)))
        }
        (Value::Array(answer), Value::Array(wanted)) => {
            answer.len() == wanted.len()
                && answer.iter().zip(wanted).all(|(answer, wanted)| holds(answer, wanted))
        }
        _ => answer == wanted,
    }
}
