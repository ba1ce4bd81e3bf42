//! What a call of a mocked command costs, beside a static C program that locks
//! and appends three lines, and beside stubs as people write them, interleaved
//! on one core in one run: `cargo bench -p cli-shim`.
//!
//! The machine may be noisy, so ratios count, not times: of the medians, and of
//! the 10th percentiles, which other work on the machine hardly reaches.
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

/// Starts of each program that the claim is about.
const ROUNDS: usize = 1500;
/// Starts of each stub: a hundred tell orders of magnitude apart.
const STUB_ROUNDS: usize = 100;
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
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
    let built = Command::new("cc")
        .args(["-O2", "-static", "-o"])
        .args([&place.join("linked"), &peers.join("floor.c")])
        .status();
    assert!(built.unwrap().success(), "cc cannot build the floor: install gcc and libc6-dev");
    let floor = installed(&place.join("linked"), &place.join("floor"));
    let shim = installed(&shim, &place.join("cli-shim"));
    let stub = |name: &str| vec![installed(&peers.join(name), &place.join(name))];
    let fresh = session(&shim, place, "fresh", false);
    let old = session(&shim, place, "old", false);
    make_old(&old);
    let heavy = session(&shim, place, "heavy", true);

    let floor = ("static C, three locked appends", vec![floor, place.join("floor.jsonl")]);
    let shim = ("cli-shim", vec![program(&fresh)]);
    let claims = [
        floor.clone(),
        shim.clone(),
        ("cli-shim after 100,000 attempts", vec![program(&old)]),
        ("cli-shim, 100 MiB not emitted", vec![program(&heavy)]),
    ];
    // Apart, since whoever runs after a large program finds the caches cold.
    let stubs = [
        floor,
        shim,
        ("sh stub, no lock, no sequence", stub("stub.sh")),
        ("bash stub that counts calls", stub("counting.sh")),
        ("Python stub with a lock", stub("stub.py")),
    ];
    print_table("one after another", &claims, &measure(&claims, ROUNDS));
    println!();
    print_table("among large programs", &stubs, &measure(&stubs, STUB_ROUNDS));
    if !cfg!(target_os = "linux") {
        println!("\nThe shim is dynamic here, which takes longer to start.");
    }
}

/// A program, by what the table calls it, and its command.
type Contestant = (&'static str, Vec<PathBuf>);

/// The times of each one, shortest first.
fn measure(contestants: &[Contestant], rounds: usize) -> Vec<Vec<Duration>> {
    let mut samples = vec![Vec::with_capacity(rounds); contestants.len()];
    let mut order: Vec<usize> = (0..contestants.len()).collect();
    let mut random = 1;
    for _ in 0..rounds {
        // Neighbours and places differ from round to round, and none is anybody's own.
        for left in (1..order.len()).rev() {
            order.swap(left, next(&mut random) as usize % (left + 1));
        }
        for &contestant in &order {
            samples[contestant].push(call(&contestants[contestant].1));
        }
    }
    samples.iter_mut().for_each(|samples| samples.sort());
    samples
}

/// SplitMix64, so that each run has the same orders.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Prints a table, in Markdown; the floor is the first one.
fn print_table(title: &str, contestants: &[Contestant], samples: &[Vec<Duration>]) {
    let at = |part: usize, samples: &[Duration]| samples[samples.len() / part].as_secs_f64() * 1e3;
    println!("| {title} | median, ms | × floor | 10th percentile, ms | × floor |");
    println!("|---|---|---|---|---|");
    for ((name, _), samples_of) in contestants.iter().zip(samples) {
        print!("| {name}");
        for part in [2, 10] {
            let took = at(part, samples_of);
            print!(" | {took:.3} | {:.2}", took / at(part, &samples[0]));
        }
        println!(" |");
    }
}

/// A copy of the program, as one gets onto a machine. The kernel maps it in
/// larger pieces than a file that a linker has just written here and there.
fn installed(program: &Path, place: &Path) -> PathBuf {
    fs::copy(program, place).unwrap();
    fs::set_permissions(place, fs::Permissions::from_mode(0o755)).unwrap();
    place.to_owned()
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
