//! Who runs below this process, as /proc tells it.

use std::collections::{BTreeMap, BTreeSet};

use rustix::process::{Pid, getpid, test_kill_process_group};

/// Processes below this one, at about the same time.
#[derive(Debug, Default)]
pub(super) struct Below {
    /// Those that run, and their names.
    pub(super) running: BTreeMap<i32, String>,
    pids: BTreeSet<i32>,
    /// The groups of all of them, ended ones too, to which nobody else belongs:
    /// whoever is quick enough not to be seen is in one of them.
    groups: BTreeSet<i32>,
}

/// What /proc tells of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Process<'s> {
    name: &'s str,
    is_running: bool,
    parent: i32,
    group: i32,
}

impl Below {
    /// The wanted children, and everything below them.
    pub(super) fn look(is_wanted: impl Fn(i32) -> bool) -> Below {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let stats = entries.filter(|it| it.file_name().as_encoded_bytes()[0].is_ascii_digit());
        let stats = stats.filter_map(|it| std::fs::read_to_string(it.path().join("stat")).ok());
        let stats: Vec<String> = stats.collect();
        let all: BTreeMap<i32, Process<'_>> = stats.iter().filter_map(|it| process(it)).collect();
        let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for (pid, process) in &all {
            children.entry(process.parent).or_default().push(*pid);
        }
        let this = getpid().as_raw_nonzero().get();
        let mut found = BTreeSet::new();
        let mut open = vec![this];
        while let Some(parent) = open.pop() {
            let below = children.remove(&parent).into_iter().flatten();
            for pid in below.filter(|pid| parent != this || is_wanted(*pid)) {
                open.push(pid);
                found.insert(pid);
            }
        }
        // One whose parent is gone meanwhile may be anybody's.
        let is_known = |it: &Process<'_>| it.parent == 0 || all.contains_key(&it.parent);
        let others = all.iter().filter(|(pid, it)| !found.contains(*pid) && is_known(it));
        let foreign: BTreeSet<i32> = others.map(|(_, it)| it.group).collect();
        let mut below = Below::default();
        for (pid, process) in all.iter().filter(|(pid, _)| found.contains(*pid)) {
            if process.is_running {
                below.running.insert(*pid, process.name.to_owned());
            }
            if !foreign.contains(&process.group) {
                below.groups.insert(process.group);
            }
        }
        below.pids = found;
        below
    }

    /// All of them, ended ones too.
    pub(super) fn pids(&self) -> impl Iterator<Item = i32> {
        self.pids.iter().copied()
    }

    /// The groups that still have somebody in them.
    pub(super) fn groups(&self) -> impl Iterator<Item = Pid> {
        // 0 and 1 would mean others.
        let groups = self.groups.iter().filter(|group| **group > 1);
        let groups = groups.filter_map(|group| Pid::from_raw(*group));
        groups.filter(|group| test_kill_process_group(*group).is_ok())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty() && self.groups().next().is_none()
    }
}

/// Reads `PID (NAME) STATE PARENT GROUP …`
fn process(stat: &str) -> Option<(i32, Process<'_>)> {
    let (pid, rest) = stat.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let mut rest = rest.split(' ');
    let is_running = !matches!(rest.next()?, "Z" | "X");
    let (parent, group) = (rest.next()?.parse().ok()?, rest.next()?.parse().ok()?);
    Some((pid.parse().ok()?, Process { name, is_running, parent, group }))
}

#[cfg(test)]
mod tests {
    use super::{Process, process};

    #[test]
    fn a_name_may_have_anything_in_it() {
        let named = |name, is_running| Process { name, is_running, parent: 3, group: 5 };
        assert_eq!(process("7 (a) R 1 (b)) S 3 5 7"), Some((7, named("a) R 1 (b)", true))));
        assert_eq!(process("7 (a) Z 3 5 7"), Some((7, named("a", false))));
        assert_eq!(process(""), None);
    }
}
