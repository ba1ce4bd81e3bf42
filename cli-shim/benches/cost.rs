//! What a call of a mocked command costs, beside a static C program that locks
//! and appends three lines, and beside stubs as people write them, interleaved
//! in one run: `cargo bench -p cli-shim`.
//!
//! The machine may be noisy, so ratios count, not times.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and ends at the first surprise"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fixtures::engine::command;
use fixtures::matching::command::Invocation;
use fixtures::session::{Making, Session};

const ROUNDS: usize = 500;
const ATTEMPTS: usize = 100_000;
const PAYLOAD_BYTES: usize = 100 * 1024 * 1024;

fn main() {
    // On several cores a start would measure where the scheduler puts it.
    let mut cores = rustix::thread::CpuSet::new();
    cores.set(rustix::thread::sched_getcpu());
    let shim = shipped();
    rustix::thread::sched_setaffinity(None, &cores).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let floor = place.join("floor");
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
    let built = Command::new("cc")
        .args(["-O2", "-static", "-o"])
        .args([&floor, &peers.join("floor.c")])
        .status();
    assert!(built.unwrap().success(), "cc cannot build the floor: install gcc and libc6-dev");
    for stub in ["stub.sh", "counting.sh", "stub.py"] {
        fs::copy(peers.join(stub), place.join(stub)).unwrap();
        fs::set_permissions(place.join(stub), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let fresh = session(&shim, place, "fresh", false);
    let old = session(&shim, place, "old", false);
    make_old(&old);
    let heavy = session(&shim, place, "heavy", true);

    let contestants = [
        ("static C, three locked appends", vec![floor, place.join("floor.jsonl")]),
        ("cli-shim", vec![program(&fresh)]),
        ("cli-shim after 100,000 attempts", vec![program(&old)]),
        ("cli-shim, 100 MiB not emitted", vec![program(&heavy)]),
        ("sh stub, no lock, no sequence", vec![place.join("stub.sh")]),
        ("bash stub that counts calls", vec![place.join("counting.sh")]),
        ("Python stub with a lock", vec![place.join("stub.py")]),
    ];
    let mut samples = contestants.clone().map(|_| Vec::with_capacity(ROUNDS));
    for round in 0..ROUNDS {
        // Whoever runs after a large program finds the caches cold: each stride gives
        // other neighbours, as the number of contestants is a prime.
        let stride = 1 + round % (contestants.len() - 1);
        for place in (0..contestants.len()).map(|place| place * stride % contestants.len()) {
            samples[place].push(call(&contestants[place].1));
        }
    }
    let medians = samples.map(|mut samples| median(&mut samples));
    println!("{:<36}{:>10}{:>12}", "", "ms", "× floor");
    for ((name, _), took) in contestants.iter().zip(medians) {
        let ratio = took.as_secs_f64() / medians[0].as_secs_f64();
        println!("{name:<36}{:>10.3}{ratio:>12.2}", took.as_secs_f64() * 1e3);
    }
}

/// The time from a start to its end.
fn call(command: &[PathBuf]) -> Duration {
    let mut call = Command::new(&command[0]);
    call.args(&command[1..]).args(["pr", "list"]).stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let status = call.status().unwrap();
    let took = start.elapsed();
    assert!(status.success(), "{command:?}: {status}");
    took
}

fn median(samples: &mut [Duration]) -> Duration {
    samples.sort();
    samples[samples.len() / 2]
}

fn program(session: &Session) -> PathBuf {
    session.directory().join("bin/gh")
}

fn session(shim: &Path, place: &Path, name: &str, is_heavy: bool) -> Session {
    let mut responses = r#"{args: [pr, list], stdout: "MERGED\n"}"#.to_owned();
    if is_heavy {
        fs::write(place.join("payload"), vec![b'x'; PAYLOAD_BYTES]).unwrap();
        responses += ", {args: [pr, diff], fixture: payload}";
    }
    let document = place.join(format!("{name}.yaml"));
    let mocks = format!("[{{name: gh, responses: [{responses}]}}]");
    let text = format!("{{schemaVersion: \"2.0\", scenario: {name}, command_mocks: {mocks}}}");
    fs::write(&document, text).unwrap();
    let making = Making {
        document: fixtures::load(&document, false).unwrap(),
        base: place,
        workspace: place.to_owned(),
        deadline: None,
        call_timeout: None,
        shim: Some(shim.to_owned()),
        mode: 0o700,
        owner: None,
        is_durable: false,
        allows_network_fs: false,
    };
    fixtures::session::make(&place.join(name), making).unwrap()
}

/// Makes the attempts of many calls, in this process.
fn make_old(session: &Session) {
    let executable = session.executable("gh").unwrap();
    let arguments = ["pr".into(), "list".into()];
    let invocation = Invocation {
        arguments: &arguments,
        variable: |_| None,
        workdir: Path::new("/"),
        workspace: Path::new("/"),
        stdin: None,
    };
    let mut command =
        command::Command::new(&executable, &invocation, session.command_book("gh").unwrap());
    for _ in 0..ATTEMPTS {
        let (_, attempt, _) = command.begin().unwrap().commit().unwrap();
        command.record_after(&command::delivered(attempt)).unwrap();
    }
}

/// Builds the program as it is shipped: static and at a fixed address, where that can be had.
fn shipped() -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["rustc", "--quiet", "--release", "--package", "cli-shim", "--bin", "cli-shim"]);
    if cfg!(target_os = "linux") {
        build.args(["--", "-C", "target-feature=+crt-static", "-C", "relocation-model=static"]);
    }
    let status = build.current_dir(env!("CARGO_MANIFEST_DIR")).status();
    assert!(status.unwrap().success(), "cannot build cli-shim");
    PathBuf::from(env!("CARGO_BIN_EXE_cli-shim"))
}
