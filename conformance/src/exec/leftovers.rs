//! What the command leaves running. It ends with the session: once that is
//! gone, a search on its PATH would reach the real programs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, getpgrp, getpid, kill_process, set_child_subreaper, waitpid,
};

use super::command::reap;
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

/// Who was there before the command.
#[derive(Debug)]
pub(crate) struct Before(BTreeSet<i32>);

/// Has orphans of the command come to this process.
pub(crate) fn adopt() -> Before {
    // Where that cannot be, the children of the command are out of reach.
    let _ = set_child_subreaper(Some(getpid()));
    Before(descendants().into_keys().collect())
}

/// Ends what the command has left behind: waits, asks, kills. Returns what did
/// not end by itself.
pub(crate) fn end(before: &Before, signals: &Signals) -> Result<Vec<String>, String> {
    let mut named = BTreeMap::new();
    for (signal, patience) in
        [(None, PATIENCE), (Some(Signal::TERM), GRACE), (Some(Signal::KILL), LAST)]
    {
        let mut asked = BTreeSet::new();
        let end = Instant::now() + patience;
        loop {
            reap(None);
            let mut left = descendants();
            left.retain(|pid, _| !before.0.contains(pid));
            if left.is_empty() {
                return Ok(named.into_values().collect());
            }
            if let Some(signal) = signal {
                let fresh = left.iter().filter(|(pid, _)| asked.insert(**pid));
                fresh.for_each(|(pid, _)| send(*pid, signal));
                named.extend(left.into_iter().map(|(pid, name)| (pid, format!("{name} ({pid})"))));
            }
            let now = Instant::now();
            let received = signals.wait(Some(end.min(now + LOOK)))?;
            // Whoever asks twice does not want to wait.
            let is_urged = matches!(received, Some(Received::Ending { .. }));
            if now >= end || is_urged {
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
    let mut killed = BTreeSet::new();
    while Instant::now() < end {
        let mut left = BTreeMap::new();
        collect(&mut left, |pid| {
            !before.0.contains(&pid) && !known.contains(&pid) && !is_of_own_group(pid)
        });
        killed.retain(|pid| !is_reaped(*pid));
        if left.is_empty() && killed.is_empty() {
            return;
        }
        for pid in left.into_keys() {
            send(pid, Signal::KILL);
            killed.insert(pid);
        }
        std::thread::sleep(SHORT_LOOK);
    }
}

fn is_of_own_group(pid: i32) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| getpgid(Some(pid)) == Ok(getpgrp()))
}

/// Whether a killed process is no child, or not any more.
fn is_reaped(pid: i32) -> bool {
    let Some(pid) = Pid::from_raw(pid) else { return true };
    !matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None))
}

fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended this very moment; a stopped one must go on to end.
        let _ = kill_process(pid, signal);
        let _ = kill_process(pid, Signal::CONT);
    }
}

/// The running processes below this one, and their names.
fn descendants() -> BTreeMap<i32, String> {
    let mut found = BTreeMap::new();
    collect(&mut found, |_| true);
    found
}

/// Those of them that are the wanted children, or below one.
fn collect(found: &mut BTreeMap<i32, String>, is_wanted: impl Fn(i32) -> bool) {
    let mut children: BTreeMap<i32, Vec<(i32, String)>> = BTreeMap::new();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = entries.filter(|it| it.file_name().as_encoded_bytes()[0].is_ascii_digit());
    for process in stats.filter_map(|it| std::fs::read_to_string(it.path().join("stat")).ok()) {
        if let Some((pid, name, parent)) = running(&process) {
            children.entry(parent).or_default().push((pid, name.to_owned()));
        }
    }
    let this = getpid().as_raw_nonzero().get();
    let mut open = vec![this];
    while let Some(parent) = open.pop() {
        let below = children.remove(&parent).into_iter().flatten();
        for (pid, name) in below.filter(|(pid, _)| parent != this || is_wanted(*pid)) {
            open.push(pid);
            found.insert(pid, name);
        }
    }
}

/// Reads `PID (NAME) STATE PARENT …`; none for what has ended already.
fn running(stat: &str) -> Option<(i32, &str, i32)> {
    let (pid, rest) = stat.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let mut rest = rest.split(' ');
    let is_running = rest.next().is_some_and(|state| !matches!(state, "Z" | "X"));
    Some((pid.parse().ok()?, name, rest.next()?.parse().ok()?)).filter(|_| is_running)
}

#[cfg(test)]
mod tests {
    use super::running;

    #[test]
    fn a_name_may_have_anything_in_it() {
        assert_eq!(running("7 (a) R 1 (b)) S 3 7 7"), Some((7, "a) R 1 (b)", 3)));
        assert_eq!(running("7 (a) Z 3 7 7"), None);
        assert_eq!(running(""), None);
    }
}
