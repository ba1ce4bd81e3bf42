//! A look at a mock before anybody depends on it: it starts, and it is found.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use fixtures::document::task::LiveServer;
use fixtures::session::Session;
use fixtures::session::canary::Planted;

use crate::plain;

/// How a canary is on its way.
const ROUTE: &str = "runner: sh -c";

/// How long a copied program may be open for writing.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often it is tried.
const LOOK: Duration = Duration::from_millis(1);

/// Starts a mocked server as a client would, and says nothing to it.
pub(super) fn server(name: &str, server: &LiveServer) -> Result<(), String> {
    let output = Command::new(&server.command).args(&server.args).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("the mock of `{name}` does not start: {}", complaint(&output))),
        Err(error) => Err(format!("the mock of `{name}` does not start: {error}")),
    }
}

/// Waits until a shim that was copied can be started: a program that another
/// run was starting meanwhile has the copy open for writing until it runs itself.
fn settle(session: &Session, name: &str) -> Result<(), String> {
    let shim = session.directory().join("bin").join(name);
    if fs::metadata(&shim).is_ok_and(|about| about.nlink() > 1) {
        return Ok(());
    }
    let end = Instant::now() + PATIENCE;
    loop {
        let planted = Planted::new(session.directory(), None)?;
        let output = Command::new(&shim).arg(&planted.argument).stdin(Stdio::null()).output();
        let is_busy = |error: std::io::Error| error.kind() == ErrorKind::ExecutableFileBusy;
        // What else is wrong is told by the way through the shell.
        if !output.err().is_some_and(is_busy) || Instant::now() > end {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
}

/// Has a shell find a shim, as an agent's would.
pub(super) fn shim(session: &Session, name: &str, path: &OsStr) -> Result<(), String> {
    settle(session, name)?;
    let planted = Planted::new(session.directory(), Some(ROUTE))?;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "exec \"$0\" \"$1\"", name, &planted.argument]).env("PATH", path);
    let output = shell.current_dir(session.workspace()).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.stdout.trim_ascii_end() == planted.answer.as_bytes() => Ok(()),
        Ok(output) => {
            Err(format!("a canary did not reach the shim of `{name}`: {}", complaint(&output)))
        }
        Err(error) => Err(format!("a canary did not reach the shim of `{name}`: {error}")),
    }
}

/// The last line that a program wrote on its standard error, or how it ended.
fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    plain::last_line(&text)
        .map_or_else(|| format!("it ended with {}", output.status), str::to_owned)
}
