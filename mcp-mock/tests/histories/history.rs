//! Random histories of calls, cancellations, kills and restarts.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::chance::Chance;
use crate::check::{Steps, check};
use crate::client::{Client, Told};
use crate::{trace, wanted};

const TOOLS: [&str; 4] = ["many", "slow", "few", "plain"];

fn document() -> String {
    let steps = |many: usize, delay: u32| {
        (0..many).map(|step| json!({"return": step, "delay_ms": delay})).collect::<Vec<_>>()
    };
    let tools = json!({
        "many": {"sequence": steps(100, 0)},
        "slow": {"sequence": steps(100, 2)},
        "few": {"sequence": steps(3, 0)},
        "plain": {"responses": [{"return": "plain"}]},
    });
    let server = json!({"name": "s", "tools": tools});
    json!({"schemaVersion": "2.0", "scenario": "s", "mcp_mocks": [server]}).to_string()
}

fn steps() -> Steps {
    BTreeMap::from([("many", Some(100)), ("slow", Some(100)), ("few", Some(3)), ("plain", None)])
}

/// What happened in all histories, for the figures.
#[derive(Debug, Default)]
struct Tally {
    attempts: AtomicU64,
    kills: AtomicU64,
    kills_in_calls: AtomicU64,
    untraceable: AtomicU64,
}

#[test]
fn no_history_serves_a_step_twice_or_skips_one() {
    let histories = wanted("HISTORIES", 400);
    let seed = wanted("SEED", std::process::id().into());
    let folder = tempfile::tempdir().unwrap();
    let fixture = folder.path().join("fixture.json");
    std::fs::write(&fixture, document()).unwrap();
    let (next, tally) = (AtomicU64::new(0), Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let history = next.fetch_add(1, Ordering::Relaxed);
                    if history >= histories {
                        break;
                    }
                    let seed = seed.wrapping_add(history);
                    let session = folder.path().join(format!("session-{history}"));
                    let played =
                        std::panic::catch_unwind(|| play(&fixture, &session, seed, &tally));
                    if let Err(cause) = played {
                        eprintln!("the history of SEED={seed} HISTORIES=1 does not hold");
                        std::panic::resume_unwind(cause);
                    }
                    std::fs::remove_dir_all(&session).unwrap();
                }
            });
        }
    });
    let Tally { attempts, kills, kills_in_calls, untraceable } = tally;
    eprintln!(
        "{histories} histories: {attempts:?} attempts, {kills:?} kills, {kills_in_calls:?} of them between two system calls of a call"
    );
    if untraceable.into_inner() > 0 {
        eprintln!(
            "skipped: kills between system calls: this machine does not let processes be traced"
        );
    }
}

fn play(fixture: &Path, session: &Path, seed: u64, tally: &Tally) {
    let mut chance = Chance::new(seed);
    let made = Command::new(env!("CARGO_BIN_EXE_mcp-mock"))
        .args(["session", "--dir"])
        .args([session, fixture])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(made.unwrap().success());
    let programs = 2 + chance.below(7);
    let mut clients: Vec<Client> = (0..programs).map(|_| Client::start(session)).collect();
    let mut told: Vec<Told> = Vec::new();
    let mut is_closed = false;
    for id in 1..=10 + chance.below(40) {
        let place = usize::try_from(chance.below(programs)).unwrap();
        let client = &mut clients[place];
        match chance.below(20) {
            0..12 => client.call(id, tool(&mut chance), &json!({})),
            12..15 => {
                if let Some(call) = client.last_call() {
                    client.withdraw(call);
                }
            }
            15 => client.ping(),
            16 => {
                tally.kills.fetch_add(1, Ordering::Relaxed);
                told.push(std::mem::replace(client, Client::start(session)).kill());
            }
            17 => {
                tally.kills.fetch_add(1, Ordering::Relaxed);
                kill_in_call(client, id, &mut chance, tally);
                told.push(std::mem::replace(client, Client::start(session)).kill());
            }
            18 => told.push(std::mem::replace(client, Client::start(session)).end()),
            _ if chance.one_in(20) && !is_closed => {
                is_closed = true;
                close(session);
            }
            _ => std::thread::sleep(Duration::from_micros(chance.below(3000))),
        }
    }
    told.extend(clients.into_iter().map(Client::end));
    let attempts = check(session, &told, &steps(), is_closed);
    tally.attempts.fetch_add(attempts as u64, Ordering::Relaxed);
}

fn tool(chance: &mut Chance) -> &'static str {
    TOOLS[usize::try_from(chance.below(4)).unwrap()]
}

/// Has the server make a call, and stops it between two of its system calls.
fn kill_in_call(client: &mut Client, id: u64, chance: &mut Chance, tally: &Tally) {
    client.ping();
    let (pid, stops) = (client.pid(), chance.below(70));
    let tool = tool(chance);
    match trace::stop_after(pid, stops, || client.call(id, tool, &json!({}))) {
        Ok(true) => tally.kills_in_calls.fetch_add(1, Ordering::Relaxed),
        Ok(false) => 0,
        Err(_) => tally.untraceable.fetch_add(1, Ordering::Relaxed),
    };
}

fn close(session: &Path) {
    let closed = Command::new(env!("CARGO_BIN_EXE_mcp-mock")).arg("close").arg(session).status();
    assert!(closed.unwrap().success());
}
