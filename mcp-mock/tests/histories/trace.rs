//! Killing a process between two of its system calls.

use std::time::{Duration, Instant};

use nix::sys::ptrace;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// A process that sleeps for so long has nothing to do any more.
const IDLE: Duration = Duration::from_millis(20);

/// Lets the process go on for that many stops, each before or after a system
/// call, and leaves it stopped; false if it has nothing to do before that.
///
/// The caller kills it, which a stopped process does not survive.
pub(crate) fn stop_after(pid: u32, stops: u64, begin: impl FnOnce()) -> Result<bool, nix::Error> {
    let pid = Pid::from_raw(pid.try_into().unwrap());
    ptrace::seize(pid, ptrace::Options::PTRACE_O_TRACESYSGOOD)?;
    ptrace::interrupt(pid)?;
    waitpid(pid, Some(WaitPidFlag::__WALL))?;
    begin();
    for _ in 0..stops {
        ptrace::syscall(pid, None)?;
        let start = Instant::now();
        loop {
            match waitpid(pid, Some(WaitPidFlag::__WALL | WaitPidFlag::WNOHANG))? {
                WaitStatus::StillAlive if start.elapsed() > IDLE => return Ok(false),
                WaitStatus::StillAlive if start.elapsed() > Duration::from_micros(50) => {
                    std::thread::sleep(Duration::from_micros(100));
                }
                WaitStatus::StillAlive => std::hint::spin_loop(),
                _ => break,
            }
        }
    }
    Ok(true)
}
