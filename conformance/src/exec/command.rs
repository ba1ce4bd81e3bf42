//! The command: found, started, passed what asks it to end, waited for.

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::{SigSet, Signal};
use rustix::process::{Pid, WaitOptions, getpgid, getpgrp, getpid, getsid, kill_process};

use super::signals::{Received, Signals};
use crate::exit::Exit;
use crate::find;

/// What runs a script that does not say what runs it.
const SHELL: &str = "/bin/sh";

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Exited(i32),
    Signalled(i32),
}

impl Ended {
    /// The exit status that says the same, as shells have it.
    pub(crate) fn exit(self) -> Exit {
        let (Ended::Exited(code) | Ended::Signalled(code)) = self;
        let code = if let Ended::Signalled(_) = self { 128 + code } else { code };
        // Both fit: a wait status has eight bits of either.
        Exit::Command(u8::try_from(code).unwrap_or(u8::MAX))
    }
}

/// Why the command does not run.
#[derive(Debug)]
pub(crate) struct NotRun {
    pub(crate) exit: Exit,
    pub(crate) reason: String,
}

/// Finds the command on the PATH that it will have.
pub(crate) fn find(name: &OsStr, path: &OsStr) -> Result<PathBuf, NotRun> {
    if let Some(found) = find::on_path(name, path) {
        return Ok(found);
    }
    let name_shown = name.display();
    Err(match find::candidates(name, path).find(|it| it.exists()) {
        Some(file) => NotRun {
            exit: Exit::NotStarted,
            reason: format!("`{}` is no program that can be executed", file.display()),
        },
        None => NotRun { exit: Exit::NotFound, reason: format!("`{name_shown}` was not found") },
    })
}

/// Starts the command with this program's streams, directory and environment,
/// but for PATH, and with the signals as they were at entry.
pub(crate) fn start(
    program: &Path,
    words: &[OsString],
    path: &OsStr,
    signals: &Signals,
) -> Result<Pid, NotRun> {
    let failed = |error: Errno| NotRun {
        exit: Exit::NotStarted,
        reason: format!("cannot start `{}`: {}", program.display(), error.desc()),
    };
    let environment = std::env::vars_os().filter(|(name, _)| name != "PATH");
    let environment = environment.chain([("PATH".into(), path.to_owned())]);
    let environment =
        environment.map(|(name, value)| text([name.as_bytes(), b"=", value.as_bytes()].concat()));
    let environment: Vec<CString> = environment.collect::<Result<_, _>>().map_err(failed)?;
    let arguments = words.iter().map(|word| text(word.as_bytes().to_vec()));
    let arguments: Vec<CString> = arguments.collect::<Result<_, _>>().map_err(failed)?;
    let attributes = attributes(&signals.entry, PosixSpawnFlags::empty()).map_err(failed)?;
    let streams = PosixSpawnFileActions::init().map_err(failed)?;
    spawn(program, &streams, &attributes, arguments, &environment).map_err(failed)
}

/// Starts a program, and a script that does not say what runs it as shells do.
pub(crate) fn spawn(
    program: &Path,
    streams: &PosixSpawnFileActions,
    attributes: &PosixSpawnAttr,
    mut arguments: Vec<CString>,
    environment: &[CString],
) -> Result<Pid, Errno> {
    let mut pid = posix_spawn(program, streams, attributes, &arguments, environment);
    if pid == Err(Errno::ENOEXEC) {
        arguments.splice(..1, [text(SHELL.into())?, text(program.as_os_str().as_bytes().into())?]);
        pid = posix_spawn(SHELL, streams, attributes, &arguments, environment);
    }
    Pid::from_raw(pid?.as_raw()).ok_or(Errno::ESRCH)
}

fn text(bytes: Vec<u8>) -> Result<CString, Errno> {
    CString::new(bytes).map_err(|_| Errno::EINVAL)
}

/// These signals held back, and SIGPIPE as usual: Rust's start-up has it
/// ignored, which is none of the command's business.
pub(crate) fn attributes(mask: &SigSet, more: PosixSpawnFlags) -> Result<PosixSpawnAttr, Errno> {
    let mut attributes = PosixSpawnAttr::init()?;
    let flags = PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF;
    attributes.set_flags(flags | more)?;
    attributes.set_sigmask(mask)?;
    attributes.set_sigdefault(&[Signal::SIGPIPE].into_iter().collect())?;
    Ok(attributes)
}

/// Waits until the command has ended, and passes on what asks it to.
pub(crate) fn wait(command: Pid, signals: &Signals) -> Result<Ended, String> {
    loop {
        match signals.wait(None)? {
            Some(Received::Ending { signal, is_terminal }) => {
                if !(is_terminal && has_it_already(signal, command)) {
                    // It may have ended this very moment.
                    let _ = kill_process(command, named(signal));
                }
            }
            Some(Received::Child) | None => {
                if let Some(ended) = reap(Some(command)) {
                    return Ok(ended);
                }
            }
        }
    }
}

/// Whether the terminal, too, sends the signal to the command: to the whole
/// foreground group, but a hang-up to the leader of the session alone.
fn has_it_already(signal: Signal, command: Pid) -> bool {
    let is_lonely = signal == Signal::SIGHUP && getsid(None) == Ok(getpid());
    !is_lonely && getpgid(Some(command)) == Ok(getpgrp())
}

fn named(signal: Signal) -> rustix::process::Signal {
    rustix::process::Signal::from_named_raw(signal as i32).unwrap_or(rustix::process::Signal::TERM)
}

/// Reaps every child that has ended; how the command did, if it is among them.
pub(crate) fn reap(command: Option<Pid>) -> Option<Ended> {
    let mut ended = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if Some(pid) == command {
            let code = status.exit_status().map(Ended::Exited);
            ended = code.or(status.terminating_signal().map(Ended::Signalled));
        }
    }
    ended
}
