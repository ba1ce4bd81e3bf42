//! Calling a shim with a canary, and looking at what comes back.

use std::io::{self, Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use fixtures::session::Session;
use fixtures::session::canary::Planted;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, geteuid, kill_process_group};

/// How long a program may take that is called with a canary.
const PATIENCE: Duration = Duration::from_secs(20);

/// Executes every shim of a session once, as the user that the session
/// belongs to, without a record.
///
/// # Errors
/// One of them is missing, cannot be executed, or is not served.
pub(super) fn try_all(session: &Session, directory: &Path) -> Result<(), String> {
    let owner = directory.metadata().map(|about| about.uid());
    let owner = owner.ok().filter(|owner| *owner != geteuid().as_raw());
    for name in session.executable_names() {
        let shim = directory.join("bin").join(name);
        let planted = Planted::new(directory, None)?;
        let mut command = Command::new(&shim);
        command.arg(&planted.argument).current_dir("/");
        if let Some(owner) = owner {
            command.uid(owner);
        }
        let ran = Ran::of(&mut command);
        let reason = match &ran.end {
            End::Ended(status) if status.success() && ran.stdout.trim_end() == planted.answer => {
                continue;
            }
            End::Ended(status) => match ran.complaint() {
                "" => format!("it answers nothing, and ends with {status}"),
                complaint => complaint.to_owned(),
            },
            End::Late => format!("no answer within {} s", PATIENCE.as_secs()),
            End::NotStarted(error) if error.kind() == io::ErrorKind::NotFound => {
                format!("{error}; make a session elsewhere with `cli-shim install`")
            }
            End::NotStarted(error) => format!(
                "{error}; choose a directory where programs may be executed{}",
                owner.map_or(String::new(), |owner| format!(", by user {owner} as well"))
            ),
        };
        return Err(format!("the shim `{}` cannot be used: {reason}", shim.display()));
    }
    Ok(())
}

/// A program that was run.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) end: End,
}

/// How that went.
#[derive(Debug)]
pub(super) enum End {
    /// It could not be started.
    NotStarted(io::Error),
    /// It took too long and was killed.
    Late,
    /// It ended.
    Ended(ExitStatus),
}

impl Ran {
    /// Runs a program without input, for at most [`PATIENCE`].
    pub(super) fn of(command: &mut Command) -> Ran {
        Ran::try_of(command).unwrap_or_else(|error| Ran {
            stdout: String::new(),
            stderr: String::new(),
            end: End::NotStarted(error),
        })
    }

    fn try_of(command: &mut Command) -> io::Result<Ran> {
        // Files, not pipes: what a shell leaves running keeps those open.
        let output = || memfd_create("canary", MemfdFlags::CLOEXEC);
        let (stdout, stderr) = (output()?, output()?);
        command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
        let child = command.process_group(0).spawn()?;
        let end = wait(child)?;
        let read = |file: std::os::fd::OwnedFd| {
            let (mut file, mut bytes) = (std::fs::File::from(file), Vec::new());
            file.rewind()?;
            file.read_to_end(&mut bytes)?;
            Ok::<_, io::Error>(String::from_utf8_lossy(&bytes).into_owned())
        };
        Ok(Ran { stdout: read(stdout)?, stderr: read(stderr)?, end })
    }

    /// The last line on its standard error.
    pub(super) fn complaint(&self) -> &str {
        self.stderr.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
    }
}

fn wait(mut child: Child) -> io::Result<End> {
    let end = Instant::now() + PATIENCE;
    for pause in fixtures::journal::back_off() {
        if let Some(status) = child.try_wait()? {
            return Ok(End::Ended(status));
        }
        if Instant::now() >= end {
            break;
        }
        std::thread::sleep(pause);
    }
    // It may have ended this very moment.
    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    child.wait()?;
    Ok(End::Late)
}
