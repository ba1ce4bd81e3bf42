//! Mocked commands as processes: what they emit, how they end, and what the
//! journal says about it, which is read here without the product's own reader.
#![allow(clippy::unwrap_used, missing_docs)]

mod closed;
mod descriptors;
mod ending;
mod host;
mod launch;
mod matching;
mod matrix;
mod parallel;
mod path;
mod signals;
mod table;
mod traced;
mod unwritable;

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use fixtures::session::{Deadline, Making, Session};
use serde_json::{Value, json};

/// Long enough for a busy machine, short enough to fail.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with a session `run` in it, which is gone with the value.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// With a session of these mocked executables, in flow style.
    fn new(mocks: &str) -> Place {
        Place::with(mocks, |_| {})
    }

    /// The same with something else in the making.
    fn with(mocks: &str, change: impl FnOnce(&mut Making<'_>)) -> Place {
        let place = Place::empty();
        place.make("run", mocks, change);
        place
    }

    /// Beside the program, so that shims can be links to it.
    fn empty() -> Place {
        Place { folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() }
    }

    fn make(&self, name: &str, mocks: &str, change: impl FnOnce(&mut Making<'_>)) {
        let text = format!("{{schemaVersion: \"2.0\", scenario: s, command_mocks: {mocks}}}");
        let document = self.path(&format!("{name}.yaml"));
        std::fs::write(&document, text).unwrap();
        let mut making = Making {
            document: fixtures::load(&document, false).unwrap(),
            base: self.folder.path(),
            workspace: self.root(),
            deadline: None,
            call_timeout: None,
            shim: Some(env!("CARGO_BIN_EXE_cli-shim").into()),
            mode: 0o700,
            owner: None,
            is_durable: false,
            allows_network_fs: true,
        };
        change(&mut making);
        drop(fixtures::session::make(&self.path(name), making).unwrap());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder without links on the way.
    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn shim(&self, name: &str) -> PathBuf {
        self.path("run/bin").join(name)
    }

    /// A call of a mocked command, from within the folder, without an input.
    fn command(&self, name: &str, args: &[&str]) -> Command {
        let mut command = Command::new(self.shim(name));
        command.args(args).current_dir(self.root()).stdin(Stdio::null());
        command
    }

    /// What such a call gets: its exit status and both of its outputs.
    fn call(&self, name: &str, args: &[&str]) -> (i32, String, String) {
        told(&self.command(name, args).output().unwrap())
    }

    /// A program, written by somebody else: no descriptor of it is open here
    /// while other threads fork.
    fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut writer = Command::new("sh");
        writer.args(["-c", "cat >\"$0\" && chmod 755 \"$0\""]).arg(&path).stdin(Stdio::piped());
        let mut writer = writer.spawn().unwrap();
        writer.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(writer.wait().unwrap().success());
        path
    }

    fn journal(&self) -> PathBuf {
        self.path("run/journal.jsonl")
    }

    /// The journal, locked by this process as if it were writing.
    fn lock(&self) -> Lock {
        let file = std::fs::File::open(self.journal()).unwrap();
        file.lock().unwrap();
        Lock { file }
    }

    fn records(&self) -> Vec<Value> {
        records(&self.journal())
    }

    /// The records of one type.
    fn of_type(&self, kind: &str) -> Vec<Value> {
        let mut records = self.records();
        records.retain(|record| record["type"] == kind);
        records
    }

    /// The types of all records, in order.
    fn types(&self) -> Vec<String> {
        types(&self.records())
    }

    /// Waits for a record of that type.
    fn wait_for(&self, kind: &str) {
        wait_until(|| !self.of_type(kind).is_empty());
    }

    fn close(&self) {
        let session = Session::open(&self.path("run")).unwrap();
        assert!(session.close(fixtures::journal::record::SessionEnd::Close).unwrap());
    }
}

/// Let go with the value, also where a child has the descriptor still.
struct Lock {
    file: std::fs::File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.file.unlock().unwrap();
    }
}

/// The complete lines of a journal: `v` is 1, and `seq` is 1, 2, 3 … without gaps.
fn records(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let end = text.rfind('\n').map_or(0, |end| end + 1);
    let lines = text[..end].lines().map(|line| serde_json::from_str(line).unwrap());
    let records: Vec<Value> = lines.collect();
    for (record, seq) in records.iter().zip(1..) {
        assert_eq!((&record["v"], &record["seq"]), (&json!(1), &json!(seq)), "{record}");
    }
    records
}

/// The types of records without what stands before the dot, but for `host.`.
fn types(records: &[Value]) -> Vec<String> {
    let kinds = records.iter().map(|record| record["type"].as_str().unwrap());
    kinds.map(|kind| kind.trim_start_matches("attempt.").to_owned()).collect()
}

/// A call that was answered: started, selected and delivered.
const SERVED: [&str; 3] = ["started", "selected", "delivered"];

/// The exit status, where there is one, and both outputs, which are text.
fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let code = output.status.code();
    (code.unwrap_or_else(|| panic!("{}: {stderr}", output.status)), stdout, stderr)
}

/// Asserts that nothing was served, and returns the one line that says why.
fn refused(output: &Output) -> String {
    let (code, stdout, stderr) = told(output);
    assert_eq!((code, &*stdout), (127, ""), "{stderr}");
    assert!(stderr.ends_with('\n') && stderr.lines().count() == 1, "{stderr:?}");
    stderr
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Exit(i32),
    Signal(i32),
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> End {
        status.code().map_or_else(|| End::Signal(status.signal().unwrap()), End::Exit)
    }
}

/// Waits for the end, and fails instead of waiting for ever.
fn end(child: &mut Child) -> End {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.into();
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the process did not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "it never came to be");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Sends a signal, to a process that may have ended.
fn signal(pid: u32, signal: i32) {
    let pid = nix::unistd::Pid::from_raw(pid.cast_signed());
    let sent = nix::sys::signal::kill(pid, nix::sys::signal::Signal::try_from(signal).unwrap());
    assert!(matches!(sent, Ok(()) | Err(nix::errno::Errno::ESRCH)), "{sent:?}");
}

/// A field of `/proc/PID/status`; none once the process is gone.
fn status_field(pid: u32, field: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    Some(line.trim_start_matches(':').trim().to_owned())
}

/// Whether a process runs; one that nobody waited for does not.
fn is_alive(pid: u32) -> bool {
    status_field(pid, "State").is_some_and(|state| !state.starts_with('Z'))
}

fn rest(mut reader: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    bytes
}

/// An instant of CLOCK_MONOTONIC as the session keeps it.
fn deadline_in(time: Duration) -> Deadline {
    let clock = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let now = Duration::new(clock.tv_sec.cast_unsigned(), clock.tv_nsec as u32);
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let mono_ms = (now + time).as_millis().try_into().unwrap();
    Deadline { mono_ms, boot_id: boot_id.trim().to_owned() }
}

/// Says that a test could not be run here, and why.
#[allow(
    clippy::print_stderr,
    reason = "a test that did nothing should not look like one that passed"
)]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

/// A number of the environment, for longer runs.
fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}
