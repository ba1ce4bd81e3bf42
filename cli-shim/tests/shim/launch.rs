//! The ways in which programs are started, and what each makes of signals.

use std::fs::File;
use std::io::{PipeReader, PipeWriter, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{SigHandler, SigSet, Signal};

use crate::{End, Place, end, signal, wait_until};

/// Who starts the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Launcher {
    Direct,
    /// A job in the background of a shell that is not interactive: INT is ignored.
    Background,
    /// HUP is ignored.
    Nohup,
    Python,
    Node,
    /// INT, TERM and HUP are blocked.
    Blocked,
    /// On a terminal of its own, in its foreground.
    Terminal,
}

pub(crate) const LAUNCHERS: [Launcher; 7] = [
    Launcher::Direct,
    Launcher::Background,
    Launcher::Nohup,
    Launcher::Python,
    Launcher::Node,
    Launcher::Blocked,
    Launcher::Terminal,
];

const SHELL: &str = r#""$@" & echo $! >"$PID_FILE"; wait $!; echo $? >"$END_FILE""#;

const PYTHON: &str = r#"
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:])
open(os.environ["PID_FILE"], "w").write(f"{child.pid}\n")
code = child.wait()
open(os.environ["END_FILE"], "w").write(f"{code}\n")
"#;

const NODE: &str = r#"
const { writeFileSync } = require("fs"), { constants } = require("os");
const child = require("child_process").spawn(process.argv[1], process.argv.slice(2), { stdio: "inherit" });
writeFileSync(process.env.PID_FILE, `${child.pid}\n`);
child.on("exit", (code, signal) =>
  writeFileSync(process.env.END_FILE, `${signal ? -constants.signals[signal] : code}\n`));
"#;

/// A command that runs, its pid, and how to learn its end.
pub(crate) struct Running {
    launcher: Launcher,
    child: Child,
    pub(crate) pid: u32,
    end_file: Option<PathBuf>,
    terminal: Option<File>,
}

impl Launcher {
    /// Whether a command that this starts takes no notice of a signal.
    pub(crate) fn is_deaf_to(self, number: i32) -> bool {
        match self {
            Launcher::Background => number == libc::SIGINT,
            Launcher::Nohup => number == libc::SIGHUP,
            Launcher::Blocked => [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].contains(&number),
            _ => false,
        }
    }

    /// Why this way cannot be tried here.
    pub(crate) fn is_missing(self) -> Option<&'static str> {
        let program = match self {
            Launcher::Python => python(),
            Launcher::Node => "node",
            Launcher::Nohup => "nohup",
            _ => return None,
        };
        let found = Command::new(program).arg("--version").output();
        found.map_or(true, |output| !output.status.success()).then_some(program)
    }

    /// Starts the mocked command with its output into a pipe.
    pub(crate) fn start(self, place: &Place, args: &[&str], stdout: PipeWriter) -> Running {
        let shim = place.shim("gh");
        let mut command = match self {
            Launcher::Direct | Launcher::Blocked | Launcher::Terminal => Command::new(&shim),
            Launcher::Background => with(Command::new("sh"), &["-c", SHELL, "sh"], &shim),
            Launcher::Nohup => with(Command::new("nohup"), &[], &shim),
            Launcher::Python => with(Command::new(python()), &["-ISc", PYTHON], &shim),
            Launcher::Node => with(Command::new("node"), &["-e", NODE], &shim),
        };
        let (pid_file, end_file) = (place.path("pid"), place.path("end"));
        let is_told = matches!(self, Launcher::Background | Launcher::Python | Launcher::Node);
        command.args(args).current_dir(place.root()).stdin(Stdio::null());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(place.path("host")).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).unwrap());
        command.env("PID_FILE", &pid_file).env("END_FILE", &end_file);
        command.stdout(stdout).stderr(Stdio::null());
        let mut terminal = None;
        match self {
            Launcher::Blocked => {
                blocked(&mut command, &[libc::SIGINT, libc::SIGTERM, libc::SIGHUP])
            }
            Launcher::Terminal => terminal = Some(on_terminal(&mut command)),
            _ => {}
        }
        let child = command.spawn().unwrap();
        let mut pid = child.id();
        if is_told {
            wait_until(|| number_in(&pid_file).is_some());
            pid = number_in(&pid_file).unwrap().try_into().unwrap();
        }
        Running { launcher: self, child, pid, end_file: is_told.then_some(end_file), terminal }
    }
}

impl Running {
    /// Sends a signal; INT comes from the terminal where there is one.
    pub(crate) fn signal(&mut self, number: i32) {
        match &mut self.terminal {
            Some(terminal) if number == libc::SIGINT => terminal.write_all(b"\x03").unwrap(),
            _ => signal(self.pid, number),
        }
    }

    /// Waits for the end of the command.
    pub(crate) fn end(&mut self) -> End {
        let launched = end(&mut self.child);
        let Some(end_file) = &self.end_file else { return launched };
        let told = number_in(end_file).unwrap();
        if told < 0 { End::Signal(-told) } else { End::Exit(told) }
    }

    /// An end as this launcher tells it: shells have one number for two things.
    pub(crate) fn as_told(&self, wanted: End) -> End {
        match wanted {
            End::Signal(number) if self.launcher == Launcher::Background => End::Exit(128 + number),
            wanted => wanted,
        }
    }
}

/// The number of a line that is complete.
fn number_in(path: &Path) -> Option<i32> {
    std::fs::read_to_string(path).ok()?.strip_suffix('\n')?.parse().ok()
}

fn with(mut command: Command, args: &[&str], program: &Path) -> Command {
    command.args(args).arg(program);
    command
}

/// The interpreter itself, where a manager of versions stands before it.
pub(crate) fn python() -> &'static str {
    let usual = "/usr/bin/python3";
    if Path::new(usual).exists() { usual } else { "python3" }
}

/// Has a command start with signals blocked.
#[expect(unsafe_code, reason = "what a child does before it becomes the program has no safe way")]
pub(crate) fn blocked(command: &mut Command, signals: &[i32]) {
    let set: SigSet = signals.iter().map(|it| Signal::try_from(*it).unwrap()).collect();
    // SAFETY: a system call that is async-signal-safe, on the closure's own memory.
    unsafe { command.pre_exec(move || Ok(set.thread_block()?)) };
}

/// Has a command start with a signal ignored.
#[expect(unsafe_code, reason = "what a child does before it becomes the program has no safe way")]
pub(crate) fn ignoring(command: &mut Command, number: i32) {
    let signal = Signal::try_from(number).unwrap();
    // SAFETY: a system call that is async-signal-safe, and no handler.
    unsafe {
        command.pre_exec(move || {
            nix::sys::signal::signal(signal, SigHandler::SigIgn)?;
            Ok(())
        });
    }
}

/// A new terminal: the side of the one who types, and the other.
#[expect(unsafe_code, reason = "`openpty` has no safe wrapper here")]
pub(crate) fn terminal() -> (File, OwnedFd) {
    let (mut ours, mut theirs) = (-1, -1);
    let null = std::ptr::null_mut();
    // SAFETY: two places to write to, no name, and what is usual for the rest.
    let opened =
        unsafe { libc::openpty(&raw mut ours, &raw mut theirs, null, null.cast(), null.cast()) };
    assert_eq!(opened, 0);
    // SAFETY: both were opened just now, and belong to nobody else.
    let (ours, theirs) = unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
    for fd in [ours.as_raw_fd(), theirs.as_raw_fd()] {
        // SAFETY: both are open.
        unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    (ours, theirs)
}

/// Has a command start as the leader of a session on a new terminal, which is its input.
#[expect(unsafe_code, reason = "what a child does before it becomes the program has no safe way")]
pub(crate) fn on_terminal(command: &mut Command) -> File {
    let (ours, theirs) = terminal();
    command.stdin(theirs);
    // SAFETY: two system calls that are async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            if libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
        });
    }
    ours
}

/// A pipe.
pub(crate) fn pipe() -> (PipeReader, PipeWriter) {
    std::io::pipe().unwrap()
}
