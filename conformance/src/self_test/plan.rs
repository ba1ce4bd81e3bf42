//! Which agents are tried on which task, and what each of them proves.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fixtures::document::task::{Action, SelfTest, Task, Violates};

use super::{Judged, derived};
use crate::case::Case;
use crate::results::{Record, Verdict};
use crate::run::agent::Agent;
use crate::run::crew::Crew;
use crate::run::play::{self, Run};
use crate::verdict::{self, TwinSays, named};
use crate::workspace;

/// A script that does not end is no proof of anything.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What must become of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Pass,
    /// For this kind of reason before all others.
    Fail(Violates),
}

impl Wanted {
    pub(super) fn told(self) -> String {
        match self {
            Wanted::Pass => "PASS".to_owned(),
            Wanted::Fail(kind) => format!("FAIL ({})", named(kind)),
        }
    }
}

/// One agent on one task.
#[derive(Debug)]
pub(super) struct Trial<'c> {
    case: &'c Case,
    task: &'c Task,
    pub(super) agent: String,
    pub(super) wanted: Wanted,
    script: Vec<Action>,
    /// Whether the fault is taken out.
    pub(super) is_twin: bool,
}

/// All trials of the cases.
///
/// # Errors
/// A derived agent does what the good one does, and no exception says why.
pub(super) fn of(cases: &[Case]) -> Result<Vec<Trial<'_>>, String> {
    let mut trials = Vec::new();
    let mut missing = Vec::new();
    for case in cases {
        for task in &case.document.tasks {
            let Some(scripts) = &task.self_test else {
                missing.push(format!("{}/{}: there is no `self_test`", case.name, task.id));
                continue;
            };
            let gaps = gaps(scripts).into_iter();
            missing.extend(gaps.map(|gap| format!("{}/{}: {gap}", case.name, task.id)));
            let trial = |agent: &str, wanted, script: &[Action], is_twin| Trial {
                case,
                task,
                agent: agent.to_owned(),
                wanted,
                script: script.to_vec(),
                is_twin,
            };
            trials.push(trial("good", Wanted::Pass, &scripts.good, false));
            if task.no_fault.is_some() {
                trials.push(trial("good, without the fault", Wanted::Pass, &scripts.good, true));
            }
            for bad in derived::from(&scripts.good) {
                if !scripts.except.contains_key(bad.name) {
                    let wanted = Wanted::Fail(bad.violates);
                    trials.push(trial(bad.name, wanted, &bad.actions, false));
                }
            }
            for bad in &scripts.bad {
                trials.push(trial(&bad.name, Wanted::Fail(bad.violates), &bad.actions, false));
            }
        }
    }
    if missing.is_empty() { Ok(trials) } else { Err(missing.join("\n")) }
}

/// How many bad agents are tried, derived and written.
pub(crate) fn bad_agents(scripts: &SelfTest) -> usize {
    let derived = derived::from(&scripts.good);
    let derived = derived.iter().filter(|bad| !scripts.except.contains_key(bad.name));
    derived.count() + scripts.bad.len()
}

/// Derived agents that are no other than the good one, and no exception says why.
pub(crate) fn gaps(scripts: &SelfTest) -> Vec<String> {
    let same = derived::from(&scripts.good)
        .into_iter()
        .filter(|bad| bad.actions == scripts.good && !scripts.except.contains_key(bad.name));
    let told = |bad: derived::Derived| {
        format!("`{}` does what the good script does: say why under `self_test.except`", bad.name)
    };
    same.map(told).collect()
}

impl Trial<'_> {
    pub(super) fn task(&self) -> String {
        format!("{}/{}", self.case.name, self.task.id)
    }

    /// Plays the trial in a folder of its own, and judges it.
    pub(super) fn played(&self, folder: &Path, crew: &Crew) -> Judged {
        let mut record = self.record(self.is_twin, folder, crew);
        let is_found_out = record.verdict == Verdict::Fail || self.is_twin;
        if self.agent == derived::TWICE && self.task.no_fault.is_some() && !is_found_out {
            let twin = self.record(true, folder, crew);
            verdict::settle(&mut record, &TwinSays::of(&twin));
        }
        Judged {
            verdict: record.verdict,
            kind: record.violations.first().map(|it| it.kind),
            reason: record.reason,
        }
    }

    /// One run, in a folder that is empty before and after.
    fn record(&self, twin: bool, folder: &Path, crew: &Crew) -> Record {
        // Where it cannot be made, nothing can be made in it, and that is told.
        let _ = fs::create_dir(folder);
        let run = Run {
            case: self.case,
            task: self.task,
            trial: 1,
            twin,
            agent: Agent::Scripted(&self.script),
            timeout: TIMEOUT,
            ignored: Vec::new(),
        };
        let record = play::play(&run, folder, crew);
        // What cannot be removed now goes with the folder around it.
        let _ = workspace::remove(folder);
        record
    }
}
