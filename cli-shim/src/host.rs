//! Pass-through: the real program, when nothing matches and the document allows it.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use fixtures::engine::command::Command;
use fixtures::journal::record::Event;
use nix::sys::signal::{SigHandler, Signal, signal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::process::{Pid, PidfdFlags, getpid, getppid, pidfd_open, pidfd_send_signal};

use crate::respond::{CANCELLED, End, LATE, record_after, with_lock};
use crate::signals::{self, Entry, Watch};

/// How long a program that was asked to end may take.
const GRACE: Duration = Duration::from_secs(5);

/// How long the record of the end waits for the lock.
const RECORD_PATIENCE: Duration = Duration::from_secs(1);

/// Runs the real program in this one's stead.
pub(crate) fn run(
    command: &mut Command<'_>,
    name: &str,
    bin: &Path,
    arguments: &[OsString],
    entry: &Entry,
    watch: &Watch,
    deadline: Option<Instant>,
) -> Result<u8, End> {
    let bin = identity(bin).ok_or_else(|| "the session has no `bin` any more".to_owned())?;
    let path = std::env::var_os("PATH");
    let program = path.as_ref().and_then(|path| find(name, path, bin)).ok_or_else(|| {
        format!("nothing matches this call, and there is no `{name}` elsewhere on PATH")
    })?;
    let path = path.unwrap_or_default();
    let told = program.to_string_lossy();
    with_lock(watch, deadline, command, |command| command.record_host(&told))?;
    let left = std::env::split_paths(&path).filter(|it| identity(it) != Some(bin));
    // What was an entry has no separator in it.
    set_path(&std::env::join_paths(left).unwrap_or_default());
    let mut child = std::process::Command::new(&program);
    child.args(arguments);
    if let Some(name) = std::env::args_os().next() {
        child.arg0(name);
    }
    inherit(&mut child, entry)?;
    let child =
        child.spawn().map_err(|error| format!("cannot start `{}`: {error}", program.display()))?;
    let (status, interrupted) = wait(child, watch, deadline)?;
    let event = Event::HostFinished { exit_code: status.code(), signal: status.signal() };
    record_after(command, &event, RECORD_PATIENCE);
    Ok(interrupted.unwrap_or_else(|| exit_code(status)))
}

/// Device and inode; two directories are the same by these, whatever their names.
pub(crate) type Identity = (u64, u64);

pub(crate) fn identity(directory: &Path) -> Option<Identity> {
    folder(directory).metadata().map(|about| (about.dev(), about.ino())).ok()
}

/// An entry of PATH; an empty one is the working directory (POSIX).
fn folder(entry: &Path) -> &Path {
    if entry == Path::new("") { Path::new(".") } else { entry }
}

/// The first file on PATH that this user may execute, and that does not lie in
/// the session's own `bin`.
pub(crate) fn find(name: &str, path: &OsStr, bin: Identity) -> Option<PathBuf> {
    std::env::split_paths(path).map(|entry| folder(&entry).join(name)).find(|candidate| {
        let is_program = candidate.metadata().is_ok_and(|about| about.is_file())
            && accessat(CWD, candidate, Access::EXEC_OK, AtFlags::EACCESS).is_ok();
        let lies_in = candidate.canonicalize().ok().and_then(|it| identity(it.parent()?));
        is_program && lies_in.is_some_and(|it| it != bin)
    })
}

/// Changes PATH for the child, which inherits this program's own environment:
/// one that is put together anew is sorted, and without what is no variable.
#[expect(unsafe_code, reason = "with more than one thread it would not be sound")]
fn set_path(path: &OsStr) {
    if std::env::var_os("PATH").is_some_and(|before| before != path) {
        // SAFETY: the process has one thread.
        unsafe { std::env::set_var("PATH", path) };
    }
}

/// Gives the child the signals of entry, and has it die with this program.
#[expect(unsafe_code, reason = "what a child does before it becomes the program has no safe way")]
fn inherit(child: &mut std::process::Command, entry: &Entry) -> Result<(), nix::Error> {
    let mask = entry.mask();
    let ignores_pipe = signals::is_ignored(Signal::SIGPIPE);
    let ignores_child = signals::is_ignored(Signal::SIGCHLD);
    if ignores_child {
        // Where it is ignored nobody can wait for a child.
        // SAFETY: no handler is there, before or after.
        unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl)? };
    }
    let parent = getpid();
    // SAFETY: the closure makes system calls that are async-signal-safe, and
    // touches no memory but its own; the process has one thread.
    unsafe {
        child.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
            // Had the parent died before that, nothing would tell.
            if getppid() != Some(parent) {
                return Err(std::io::Error::other("the parent is gone"));
            }
            if ignores_pipe {
                signal(Signal::SIGPIPE, SigHandler::SigIgn)?;
            }
            if ignores_child {
                signal(Signal::SIGCHLD, SigHandler::SigIgn)?;
            }
            mask.thread_set_mask()?;
            Ok(())
        });
    }
    Ok(())
}

/// Waits for the child; the exit status to end with, if a signal or the deadline came first.
fn wait(
    mut child: Child,
    watch: &Watch,
    deadline: Option<Instant>,
) -> Result<(ExitStatus, Option<u8>), String> {
    let failed = |error: std::io::Error| format!("cannot wait for the program: {error}");
    let pid = Pid::from_child(&child);
    let process = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| failed(error.into()))?;
    let mut interrupted = None;
    let mut end = deadline;
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let timeout = left.map(|left| Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        });
        let signals = watch.descriptor();
        let mut fds = [
            PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN),
        ];
        // Interrupted or not: what is ready is looked at below.
        let _ = poll(&mut fds, timeout.as_ref());
        if let Some(status) = child.try_wait().map_err(failed)? {
            // Asked to end as well, and quicker than this one.
            let is_asked = interrupted.is_none() && watch.take().is_some();
            return Ok((status, interrupted.or(is_asked.then_some(CANCELLED))));
        }
        let is_late = end.is_some_and(|end| end <= Instant::now());
        match interrupted {
            // Had its grace: now it is killed. It may have ended this very moment.
            Some(_) if is_late => {
                let _ = pidfd_send_signal(&process, rustix::process::Signal::KILL);
                end = None;
            }
            None if is_late => {
                let _ = pidfd_send_signal(&process, rustix::process::Signal::TERM);
                (interrupted, end) = (Some(LATE), Some(Instant::now() + GRACE));
            }
            _ => {
                let Some((signal, is_terminal)) = watch.take() else { continue };
                if interrupted.is_some() {
                    continue;
                }
                // What the terminal sends, the child got as well.
                if !is_terminal
                    && let Some(signal) = rustix::process::Signal::from_named_raw(signal)
                {
                    let _ = pidfd_send_signal(&process, signal);
                }
                (interrupted, end) = (Some(CANCELLED), Some(Instant::now() + GRACE));
            }
        }
    }
}

fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    // Both fit: a wait status has eight bits of either.
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}
