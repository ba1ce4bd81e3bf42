//! What a call costs, beside a bare read–parse–reply loop and rmcp's hello
//! server, interleaved in one run: `cargo bench -p mcp-mock`.
//!
//! The machine may be noisy, so ratios count, not times.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and ends at the first surprise"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const STARTS: usize = 60;
const BLOCKS: usize = 40;
const CALLS_PER_BLOCK: usize = 500;
const PIPELINED: usize = 40_000;
const PIPELINED_ROUNDS: usize = 5;
const MANY_CALLS: usize = 1_000_000;
const MANY_LINES: usize = 1_000_000;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn main() {
    // On two cores a call would measure where the scheduler puts the two ends.
    stay_on_one_core();
    let folder = tempfile::tempdir().unwrap();
    let small = document(folder.path(), "small", 1, 1);
    let large = document(folder.path(), "large", 1000, 10);
    let program = text(&shipped("--bin", "mcp-mock"));
    let mock = |path: &Path| vec![program.clone(), "serve".to_owned(), text(path)];
    let contestants = [
        ("mcp-mock", mock(&small)),
        ("bare loop", vec![text(&shipped("--example", "bare_loop"))]),
        ("rmcp hello", vec![text(&shipped("--example", "rmcp_hello"))]),
    ];

    println!("{:<44}{:>14}{:>14}{:>14}", "", contestants[0].0, contestants[1].0, contestants[2].0);
    let starts = interleaved(&contestants, STARTS, |command| {
        let start = Instant::now();
        let mut server = Server::start(command);
        let took = start.elapsed();
        server.stop();
        took
    });
    row("start to `initialize` result, ms", &starts.map(|took| took.as_secs_f64() * 1e3), 2);

    let mut servers = contestants.clone().map(|(_, command)| Server::start(&command));
    let mut medians = [(); 3].map(|()| Vec::new());
    for _ in 0..BLOCKS {
        for (server, samples) in servers.iter_mut().zip(&mut medians) {
            samples.push(server.sequential(CALLS_PER_BLOCK));
        }
    }
    let medians = medians.map(|mut samples| median(&mut samples));
    row("one sequential call, µs", &medians.map(|took| took.as_secs_f64() * 1e6), 1);

    let mut rates = [(); 3].map(|()| Vec::new());
    for _ in 0..PIPELINED_ROUNDS {
        for (server, samples) in servers.iter_mut().zip(&mut rates) {
            samples.push(server.pipelined(PIPELINED));
        }
    }
    let rates = rates.map(|mut samples| PIPELINED as f64 / median(&mut samples).as_secs_f64());
    row("pipelined calls a second", &rates, 0);
    let memory = servers.each_ref().map(Server::peak_mib);
    row("peak memory, one small tool, MiB", &memory, 1);
    servers.into_iter().for_each(|mut server| server.stop());

    let mut server = Server::start(&mock(&large));
    server.sequential(CALLS_PER_BLOCK);
    println!("{:<44}{:>14.1}", "peak memory, 1000 tools × 10 responses, MiB", server.peak_mib());
    server.stop();
    growth(&mock(&small), &mock(&large));
    let in_session = |name: &str| {
        let mut command = mock(&small);
        command.extend(["--session".to_owned(), text(&folder.path().join(name))]);
        command
    };
    journal(&mock(&small), &in_session("fresh"), &in_session("old"));
}

/// What the journal adds to a call and to a start, and whether it grows with its lines.
fn journal(without: &[String], fresh: &[String], old: &[String]) {
    let mut server = Server::start(old);
    // A call is three lines: started, selected, delivered.
    for _ in 0..MANY_LINES / (3 * PIPELINED) {
        server.pipelined(PIPELINED);
    }
    server.stop();
    let contestants = [("without", without), ("fresh", fresh), ("old", old)]
        .map(|(name, command)| (name, command.to_vec()));
    let [_, few, many] = interleaved(&contestants, STARTS, |command| {
        let start = Instant::now();
        let mut server = Server::start(command);
        let took = start.elapsed();
        server.stop();
        took
    })
    .map(|took| took.as_secs_f64());
    println!("{:<44}{:>14.2}", "start in a session, ms", few * 1e3);
    println!("{:<44}{:>14.2}", "start after 1,000,000 lines / at first", many / few);
    let mut servers = contestants.map(|(_, command)| Server::start(&command));
    let mut samples = [(); 3].map(|()| Vec::new());
    for _ in 0..BLOCKS {
        for (server, samples) in servers.iter_mut().zip(&mut samples) {
            samples.push(server.sequential(CALLS_PER_BLOCK));
        }
    }
    let samples = samples.map(|mut samples| median(&mut samples).as_secs_f64());
    let [plain, few, many] = samples;
    println!("{:<44}{:>14.1}", "one sequential call without journal, µs", plain * 1e6);
    println!("{:<44}{:>14.1}", "one sequential call in a session, µs", few * 1e6);
    println!("{:<44}{:>14.2}", "call after 1,000,000 lines / at first", many / few);
    servers.into_iter().for_each(|mut server| server.stop());
}

/// Whether a call grows dearer with tools or with calls before it.
fn growth(small: &[String], large: &[String]) {
    let mut pair = [Server::start(small), Server::start(large)];
    let mut samples = [Vec::new(), Vec::new()];
    for _ in 0..BLOCKS {
        for (server, samples) in pair.iter_mut().zip(&mut samples) {
            samples.push(server.sequential(CALLS_PER_BLOCK));
        }
    }
    let [few, many] = samples.map(|mut samples| median(&mut samples).as_secs_f64());
    println!("{:<44}{:>14.2}", "call with 1000 tools / with one", many / few);

    let [mut old, mut large] = pair;
    large.stop();
    for _ in 0..MANY_CALLS / CALLS_PER_BLOCK {
        old.sequential(CALLS_PER_BLOCK);
    }
    let mut fresh = Server::start(small);
    let mut samples = [Vec::new(), Vec::new()];
    for _ in 0..BLOCKS {
        samples[0].push(old.sequential(CALLS_PER_BLOCK));
        samples[1].push(fresh.sequential(CALLS_PER_BLOCK));
    }
    let [after, before] = samples.map(|mut samples| median(&mut samples).as_secs_f64());
    println!("{:<44}{:>14.2}", "call after 1,000,000 calls / at first", after / before);
    old.stop();
    fresh.stop();
}

fn row(name: &str, values: &[f64; 3], digits: usize) {
    let [mock, bare, rmcp] = values;
    println!(
        "{name:<44}{mock:>14.digits$}{bare:>14.digits$}{rmcp:>14.digits$}   {:.2} × bare",
        mock / bare
    );
}

fn interleaved(
    contestants: &[(&str, Vec<String>); 3],
    rounds: usize,
    measure: impl Fn(&[String]) -> Duration,
) -> [Duration; 3] {
    let mut samples = [(); 3].map(|()| Vec::new());
    for _ in 0..rounds {
        for ((_, command), samples) in contestants.iter().zip(&mut samples) {
            samples.push(measure(command));
        }
    }
    samples.map(|mut samples| median(&mut samples))
}

/// Keeps this process and the servers that it starts on the core it runs on.
fn stay_on_one_core() {
    let mut cores = rustix::thread::CpuSet::new();
    cores.set(rustix::thread::sched_getcpu());
    rustix::thread::sched_setaffinity(None, &cores).unwrap();
}

fn median(samples: &mut [Duration]) -> Duration {
    samples.sort();
    samples[samples.len() / 2]
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Builds a program as it is shipped: static and at a fixed address, where that can be had.
fn shipped(kind: &str, name: &str) -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["rustc", "--quiet", "--release", "--package", "mcp-mock", kind, name]);
    if cfg!(target_os = "linux") {
        build.args(["--", "-C", "target-feature=+crt-static", "-C", "relocation-model=static"]);
    }
    let status = build.current_dir(env!("CARGO_MANIFEST_DIR")).status();
    assert!(status.unwrap().success(), "cannot build {name}");
    let folder = Path::new(env!("CARGO_BIN_EXE_mcp-mock")).parent().unwrap();
    if kind == "--example" { folder.join("examples").join(name) } else { folder.join(name) }
}

fn document(folder: &Path, name: &str, tools: usize, responses: usize) -> PathBuf {
    let mut text = format!(
        "schemaVersion: \"2.0\"\nscenario: {name}\nmcp_mocks:\n  - name: bench\n    tools:\n"
    );
    for tool in 0..tools {
        text += &format!(
            "      tool_{tool}:\n        description: Tool number {tool}\n        responses:\n"
        );
        for response in 0..responses {
            let id =
                if responses == 1 { "A-100".to_owned() } else { format!("A-{}", 100 + response) };
            text += &format!("          - {{match: {{id: {id}}}, return: {{ok: true}}}}\n");
        }
    }
    let path = folder.join(format!("{name}.yaml"));
    fs::write(&path, text).unwrap();
    path
}

struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    line: String,
    id: usize,
}

impl Server {
    /// Starts a server and waits for its `initialize` result.
    fn start(command: &[String]) -> Server {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::with_capacity(1 << 16, child.stdout.take().unwrap());
        let mut server = Server { child, stdin, stdout, line: String::new(), id: 0 };
        server.write(&format!("{INITIALIZE}\n{INITIALIZED}\n"));
        server.read();
        server
    }

    fn write(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn read(&mut self) {
        self.line.clear();
        self.stdout.read_line(&mut self.line).unwrap();
        assert!(self.line.contains("\"result\""), "{}", self.line);
    }

    fn call(&mut self) -> String {
        self.id += 1;
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/call\",\"params\":{{\"name\":\"tool_0\",\"arguments\":{{\"id\":\"A-100\"}}}}}}\n",
            self.id
        )
    }

    /// The median time of a call, one after the other.
    fn sequential(&mut self, calls: usize) -> Duration {
        let mut samples = Vec::with_capacity(calls);
        for _ in 0..calls {
            let call = self.call();
            let start = Instant::now();
            self.write(&call);
            self.read();
            samples.push(start.elapsed());
        }
        median(&mut samples)
    }

    /// The time of many calls that are written without waiting.
    fn pipelined(&mut self, calls: usize) -> Duration {
        let text: String = (0..calls).map(|_| self.call()).collect();
        let mut stdin = self.stdin.take().unwrap();
        let start = Instant::now();
        let writer = std::thread::spawn(move || {
            stdin.write_all(text.as_bytes()).unwrap();
            stdin
        });
        for _ in 0..calls {
            self.read();
        }
        let took = start.elapsed();
        self.stdin = Some(writer.join().unwrap());
        took
    }

    fn peak_mib(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }

    fn stop(&mut self) {
        drop(self.stdin.take());
        self.child.wait().unwrap();
    }
}
