//! Many calls from eight processes that are killed now and then.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::{Value, json};

use crate::chance::Chance;
use crate::client::{Client, Told};
use crate::wanted;

const PROCESSES: u64 = 8;
const STEPS: u64 = 100;
/// Calls that are sent before their replies are read.
const BATCH: u64 = 40;

#[test]
fn eight_processes_share_every_step_of_many_sequences() {
    let calls = wanted("CALLS", 10_000);
    let tools = calls.div_ceil(STEPS * 100).max(1);
    let folder = tempfile::tempdir().unwrap();
    let fixture = folder.path().join("fixture.json");
    std::fs::write(&fixture, document(tools)).unwrap();
    let session = folder.path().join("session");
    let made = Command::new(env!("CARGO_BIN_EXE_mcp-mock"))
        .args(["session", "--dir"])
        .args([&session, &fixture])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(made.unwrap().success());
    let (next, start) = (AtomicU64::new(0), Instant::now());
    let told: Vec<Told> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..PROCESSES)
            .map(|place| {
                let (next, session) = (&next, &session);
                scope.spawn(move || work(session, next, calls, tools, place))
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    let seconds = start.elapsed().as_secs_f64();
    let kills = told.iter().filter(|told| told.is_killed).count();
    let served = check(&session, &told);
    eprintln!(
        "{calls} calls from {PROCESSES} processes, {kills} kills: {served} steps, {seconds:.1} s"
    );
}

/// `tools` tools of a hundred responses of a hundred steps.
fn document(tools: u64) -> String {
    let responses: Vec<Value> = (0..100)
        .map(|n| json!({"match": {"n": n}, "sequence": [{"return": n, "repeat": STEPS}]}))
        .collect();
    let tools: BTreeMap<String, Value> =
        (0..tools).map(|tool| (format!("t{tool}"), json!({"responses": responses}))).collect();
    let server = json!({"name": "s", "tools": tools});
    json!({"schemaVersion": "2.0", "scenario": "s", "mcp_mocks": [server]}).to_string()
}

fn work(session: &Path, next: &AtomicU64, calls: u64, tools: u64, place: u64) -> Vec<Told> {
    let mut chance = Chance::new(place);
    let mut told = Vec::new();
    let mut client = Client::start(session);
    let mut sent = 0;
    loop {
        let first = next.fetch_add(BATCH, Ordering::Relaxed);
        if first >= calls {
            told.push(client.end());
            return told;
        }
        for id in first..first + BATCH {
            let tool = format!("t{}", id / 100 % tools);
            client.call(id, &tool, &json!({"n": id % 100}));
            sent += 1;
        }
        if chance.one_in(100) {
            told.push(client.kill());
            (client, sent) = (Client::start(session), 0);
        } else {
            client.replies(sent);
        }
    }
}

/// Every step once, in order, and every reply in the record; the number of steps.
fn check(session: &Path, told: &[Told]) -> u64 {
    let text = std::fs::read_to_string(session.join("journal.jsonl")).unwrap();
    let mut used: BTreeMap<(String, u64), u64> = BTreeMap::new();
    let mut started: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let mut selected = BTreeMap::new();
    let mut replies: BTreeMap<(u64, u64), &Value> = BTreeMap::new();
    for Told { pid, replies: seen, .. } in told {
        replies.extend(seen.iter().map(|(id, reply)| ((u64::from(*pid), *id), reply)));
    }
    for (line, wanted) in
        text.split_inclusive('\n').filter(|line| line.ends_with('\n')).zip(1_u64..)
    {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["seq"], wanted);
        let number = |key: &str| record[key].as_u64().unwrap();
        match record["type"].as_str().unwrap() {
            "attempt.started" => {
                let tool = record["operation"].as_str().unwrap().to_owned();
                let used = used.entry((tool, number("response"))).or_default();
                if record["reason"] == "matched" {
                    assert_eq!(number("step"), *used, "{line}");
                    *used += 1;
                } else {
                    assert_eq!((&record["reason"], *used), (&json!("exhausted"), STEPS), "{line}");
                }
                started.insert(wanted, (number("pid"), number("request_id")));
            }
            "attempt.selected" => {
                let request = started[&number("attempt")];
                if let Some(reply) = replies.get(&request) {
                    assert_eq!(**reply, record["result"]);
                }
                assert!(selected.insert(request, false).is_none(), "{line}");
            }
            "attempt.delivered" => {
                let request = started[&number("attempt")];
                assert_eq!(selected.insert(request, true), Some(false), "{line}");
                assert!(replies.contains_key(&request), "{line}");
            }
            _ => {}
        }
    }
    for request in replies.keys() {
        assert!(selected.contains_key(request), "a reply without a record: {request:?}");
    }
    used.values().sum()
}
