//! What the command leaves running. It ends with the session: once that is
//! gone, a search on its PATH would reach the real programs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, getpgrp, getpid, kill_process, kill_process_group,
    set_child_subreaper, waitpid,
};

use super::command::reap;
use super::processes::Below;
use super::signals::{Received, Signals};

/// How long a server may take to see that its client is gone.
const PATIENCE: Duration = Duration::from_millis(200);

/// How long a process that was asked to end may take.
const GRACE: Duration = Duration::from_secs(6);

/// How long a process that was killed may take, which is the kernel's business.
const LAST: Duration = Duration::from_secs(2);

/// How often processes are looked at that are not this one's children.
const LOOK: Duration = Duration::from_millis(20);

/// The same of those that were killed.
const SHORT_LOOK: Duration = Duration::from_millis(2);

/// So many are named.
const MOST_NAMES: usize = 100;

/// Who was there before the command.
#[derive(Debug)]
pub(crate) struct Before(BTreeSet<i32>);

/// Has orphans of the command come to this process.
pub(crate) fn adopt() -> Before {
    // Where that cannot be, the children of the command are out of reach.
    let _ = set_child_subreaper(Some(getpid()));
    Before(Below::look(|_| true).running.into_keys().collect())
}

/// Ends what the command has left behind: waits, asks, kills. Returns what did
/// not end by itself.
pub(crate) fn end(before: &Before, signals: &Signals) -> Result<Vec<String>, String> {
    let mut named = BTreeMap::new();
    for (signal, patience) in
        [(None, PATIENCE), (Some(Signal::TERM), GRACE), (Some(Signal::KILL), LAST)]
    {
        let is_last = signal == Some(Signal::KILL);
        let mut asked = BTreeSet::new();
        let end = Instant::now() + patience;
        loop {
            let left = Below::look(|pid| !before.0.contains(&pid));
            reap(None);
            if left.is_empty() {
                return Ok(named.into_values().collect());
            }
            if let Some(signal) = signal {
                let fresh = left.running.keys().filter(|pid| asked.insert(**pid));
                fresh.for_each(|pid| send(*pid, signal));
                if is_last {
                    kill_groups(&left);
                }
                for (pid, name) in left.running {
                    if named.len() < MOST_NAMES {
                        named.insert(pid, format!("{name} ({pid})"));
                    }
                }
            }
            let now = Instant::now();
            let received = signals.wait(Some(end.min(now + LOOK)))?;
            // Whoever asks twice does not want to wait.
            let is_urged = matches!(received, Some(Received::Ending { .. }));
            if now >= end || (is_urged && !is_last) {
                break;
            }
        }
    }
    Ok(named.into_values().collect())
}

/// Kills children that came to this process from others: they are neither of
/// its own group nor among the known ones. What is below the known stays.
pub(crate) fn end_strays(before: &Before, known: &BTreeSet<i32>) {
    let end = Instant::now() + LAST;
    let is_stray = |pid| !before.0.contains(&pid) && !known.contains(&pid) && !is_of_own_group(pid);
    loop {
        let left = Below::look(is_stray);
        for pid in left.running.keys() {
            send(*pid, Signal::KILL);
        }
        kill_groups(&left);
        // Those that ended go as they come; others in this process wait for theirs.
        let ended: Vec<Pid> = left.pids().filter_map(Pid::from_raw).collect();
        for pid in ended {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
        if left.is_empty() || Instant::now() > end {
            return;
        }
        std::thread::sleep(SHORT_LOOK);
    }
}

fn is_of_own_group(pid: i32) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| getpgid(Some(pid)) == Ok(getpgrp()))
}

fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended this very moment; a stopped one must go on to end.
        let _ = kill_process(pid, signal);
        let _ = kill_process(pid, Signal::CONT);
    }
}

/// Kills those that one look after the other may miss, since they are others by then.
fn kill_groups(left: &Below) {
    for group in left.groups() {
        let _ = kill_process_group(group, Signal::KILL);
    }
}
