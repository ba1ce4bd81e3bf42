//! The runner's side: a supervisor is started, looked after and waited for.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};

use super::{Order, Outcome};
use crate::find;

/// How much longer than its agent a supervisor may take to end what that left.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a supervisor is told to go on, which its agent may have stopped.
const LOOK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Starts a supervisor, which is not waited for yet.
pub(crate) fn start() -> Result<Child, String> {
    Command::new(find::this()?)
        .arg("supervise")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("cannot start a supervisor: {error}"))
}

/// Gives a supervisor its order, and waits for what became of the agent.
pub(crate) fn finish(mut child: Child, order: &Order) -> Result<Outcome, String> {
    let text = serde_json::to_string(order).expect("string keys always serialise");
    let mut stdin = child.stdin.take().expect("its input is a pipe");
    let written = stdin.write_all(text.as_bytes());
    drop(stdin);
    watch(&child, Duration::from_millis(order.timeout_ms));
    let output = child
        .wait_with_output()
        .map_err(|error| format!("cannot wait for the supervisor: {error}"))?;
    written.map_err(|error| format!("cannot give the supervisor its order: {error}"))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("the supervisor ended with {}, and no outcome", output.status))
}

/// Looks after a supervisor until it says something or ends: one that was
/// stopped goes on, and one that takes far too long is killed.
fn watch(child: &Child, timeout: Duration) {
    let Some(pid) = Pid::from_raw(child.id().cast_signed()) else { return };
    let Some(stdout) = &child.stdout else { return };
    let end = Instant::now().checked_add(timeout + PATIENCE);
    let mut fds = [PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::IN)];
    while !poll(&mut fds, Some(&LOOK)).is_ok_and(|ready| ready > 0) {
        let _ = kill_process(pid, Signal::CONT);
        if end.is_some_and(|end| Instant::now() > end) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}
