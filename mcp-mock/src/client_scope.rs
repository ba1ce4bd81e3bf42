//! `--scope client`: a session for as long as the process that started this one.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use fixtures::document::Document;
use rustix::process::{getppid, getuid};

/// The session of this client and this plan: its place is made of the client's
/// process and start time, and of the plan.
pub(crate) fn directory(document: &Document, base: &Path) -> Result<PathBuf, String> {
    let parent = getppid().map_or(0, |pid| pid.as_raw_pid());
    let start = start_time(parent)
        .ok_or_else(|| format!("cannot tell when the client, process {parent}, was started"))?;
    let plan = fixtures::session::fingerprint(document, base)?;
    Ok(runtime_directory()?.join(format!("client-{parent}-{start}-{}", &plan[..16])))
}

/// A directory of this user alone, which the system empties.
fn runtime_directory() -> Result<PathBuf, String> {
    let given = std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty());
    let path = match given {
        Some(path) => PathBuf::from(path).join("mcp-mock"),
        None => std::env::temp_dir().join(format!("mcp-mock-{}", getuid().as_raw())),
    };
    let failed = |error| format!("cannot make `{}`: {error}", path.display());
    match DirBuilder::new().mode(0o700).create(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(failed(error));
        }
        _ => {}
    }
    let about = path.symlink_metadata().map_err(failed)?;
    if !about.is_dir() || about.uid() != getuid().as_raw() || about.mode() & 0o022 != 0 {
        return Err(format!(
            "`{}` is not a directory of this user alone: remove it",
            path.display()
        ));
    }
    Ok(path)
}

/// When a process was started, in ticks since boot: with it, a process id is not reused.
#[cfg(target_os = "linux")]
fn start_time(pid: i32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // proc(5): the name stands in parentheses and may hold anything; field 22 is the start.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(19).map(str::to_owned)
}

#[cfg(not(target_os = "linux"))]
fn start_time(pid: i32) -> Option<String> {
    let ps = std::process::Command::new("ps").args(["-o", "lstart=", "-p"]).arg(pid.to_string());
    let started = String::from_utf8(ps.output().ok()?.stdout).ok()?;
    Some(started.split_ascii_whitespace().collect::<Vec<_>>().join("-")).filter(|it| !it.is_empty())
}
