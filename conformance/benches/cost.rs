//! What a case costs beside its agent's own actions, and what the runner holds
//! in memory: `cargo bench -p agent-conformance`.
//!
//! The agent's own time is taken in the same runs: it is what the supervisor
//! saw between the agent's start and its end.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and ends at the first surprise"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const TRIALS: usize = 100;
const FEW: usize = 100;
const MANY: usize = 1_000;

/// How often the memory of a runner is looked at.
const LOOK: Duration = Duration::from_millis(2);

fn main() {
    let program = built();
    println!("| | wall time, ms a case | of it the agent, ms | above the agent, ms |");
    println!("|---|---|---|---|");
    for case in ["mcp-transient", "mcp-permission", "cli-transient", "cli-permission"] {
        let run = Run::of(&program, case, TRIALS);
        let (wall, agent) = (run.wall_ms / TRIALS as f64, run.agent_ms / TRIALS as f64);
        println!("| {case} | {wall:.1} | {agent:.1} | {:.1} |", wall - agent);
    }
    let mut command = Command::new(&program);
    let start = Instant::now();
    let mut child = command.arg("self-test").stdout(Stdio::null()).spawn().unwrap();
    let peak = peak_mib(&mut child);
    println!();
    println!(
        "self-test over the built-in suites: {:.1} s, {peak:.1} MiB",
        start.elapsed().as_secs_f64()
    );
    let [few, many] = [FEW, MANY].map(|trials| Run::of(&program, "cli-permission", trials));
    println!(
        "peak memory of the runner: {:.1} MiB with {FEW} runs, {:.1} MiB with {MANY}",
        few.peak_mib, many.peak_mib
    );
}

/// Many trials of one case, one after the other.
struct Run {
    wall_ms: f64,
    /// Of all agents together.
    agent_ms: f64,
    peak_mib: f64,
}

impl Run {
    fn of(program: &Path, case: &str, trials: usize) -> Run {
        let out = tempfile::tempdir().unwrap();
        let mut command = Command::new(program);
        command.args(["run", "--agent", "scripted", "--no-twin", "--jobs", "1", "--only", case]);
        command.args(["--trials", &trials.to_string(), "--out"]).arg(out.path());
        let start = Instant::now();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let peak_mib = peak_mib(&mut child);
        let wall_ms = start.elapsed().as_secs_f64() * 1000.0;
        let text = fs::read_to_string(out.path().join("results.json")).unwrap();
        let results: serde_json::Value = serde_json::from_str(&text).unwrap();
        let runs = results["runs"].as_array().unwrap();
        assert_eq!(results["summary"]["passed"].as_u64(), Some(trials as u64));
        let agent_ms = runs.iter().map(|run| run["duration_ms"].as_f64().unwrap()).sum();
        Run { wall_ms, agent_ms, peak_mib }
    }
}

/// Waits for a program that succeeds; the most memory that it held.
fn peak_mib(child: &mut Child) -> f64 {
    let mut peak = 0.0_f64;
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        if let Some(line) = status.lines().find(|line| line.starts_with("VmHWM:")) {
            let kib: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
            peak = peak.max(kib / 1024.0);
        }
        match child.try_wait().unwrap() {
            Some(status) => {
                assert!(status.success(), "{status}");
                return peak;
            }
            None => std::thread::sleep(LOOK),
        }
    }
}

/// The programs as `cargo build --release` makes them, side by side.
fn built() -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--release", "-p", "mcp-mock", "-p", "cli-shim"]);
    let status = build.current_dir(env!("CARGO_MANIFEST_DIR")).status();
    assert!(status.unwrap().success(), "cannot build the other programs");
    PathBuf::from(env!("CARGO_BIN_EXE_agent-conformance"))
}
