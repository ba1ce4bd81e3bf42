//! Which agents are tried on which task, and what each of them proves.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fixtures::document::task::{Action, Expectation, Task, Violates};
use fixtures::document::{Document, without_faults};
use fixtures::redact::Redactor;

use super::derived;
use super::{Verdict, named};
use crate::case::Case;
use crate::grade::{self, Evidence};
use crate::run::play::{self, Run};

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
    is_twin: bool,
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
                match scripts.except.contains_key(bad.name) {
                    true => {}
                    false if bad.actions == scripts.good => missing.push(format!(
                        "{}/{}: `{}` does what the good script does: say why under `self_test.except`",
                        case.name, task.id, bad.name
                    )),
                    false => {
                        trials.push(trial(
                            bad.name,
                            Wanted::Fail(bad.violates),
                            &bad.actions,
                            false,
                        ));
                    }
                }
            }
            for bad in &scripts.bad {
                trials.push(trial(&bad.name, Wanted::Fail(bad.violates), &bad.actions, false));
            }
        }
    }
    if missing.is_empty() { Ok(trials) } else { Err(missing.join("\n")) }
}

impl Trial<'_> {
    pub(super) fn task(&self) -> String {
        format!("{}/{}", self.case.name, self.task.id)
    }

    /// Plays the trial in a folder of its own, and judges it. `runs` is told
    /// when a supervisor has started, and when it has ended.
    pub(super) fn verdict(&self, folder: &Path, runs: impl Fn(i32, bool)) -> Verdict {
        let judged = fs::create_dir(folder)
            .map_err(|error| format!("cannot make `{}`: {error}", folder.display()))
            .and_then(|()| self.judge(folder, runs));
        // What cannot be removed now goes with the folder around it.
        let _ = fs::remove_dir_all(folder);
        judged.unwrap_or_else(Verdict::Error)
    }

    fn judge(&self, folder: &Path, runs: impl Fn(i32, bool)) -> Result<Verdict, String> {
        let twin;
        let (document, expect): (&Document, &Expectation) =
            match (&self.task.no_fault, self.is_twin) {
                (Some(no_fault), true) => {
                    twin = without_faults(&self.case.document);
                    (&twin, &no_fault.expect)
                }
                _ => (&self.case.document, &self.task.expect),
            };
        let task = document.tasks.iter().find(|task| task.id == self.task.id);
        let run = Run {
            document,
            base: &self.case.base,
            task: task.unwrap_or(self.task),
            expect,
            script: &self.script,
            timeout: TIMEOUT,
        };
        let seen = play::play(&run, folder, runs)?;
        if let Some(reason) = seen.outcome.not_started {
            return Ok(Verdict::Error(reason));
        }
        if seen.outcome.timed_out {
            return Ok(Verdict::Error(format!("the script took more than {TIMEOUT:?}")));
        }
        let calls = grade::calls_of(&seen.fold);
        let key = seen.redaction_key.as_bytes();
        let redactor = Redactor::new(key, document.redact.as_ref(), []);
        let evidence = Evidence {
            calls: &calls,
            changes: &seen.changes,
            touched: &seen.touched,
            answer: &seen.answer,
            workspace: &seen.workspace,
            redactor: &redactor,
        };
        let violations = grade::grade(expect, &evidence);
        Ok(match violations.into_iter().next() {
            Some(first) => Verdict::Fail(
                first.kind,
                format!("{}: expected {}, saw {}", first.expectation, first.expected, first.actual),
            ),
            None if !seen.outcome.is_success() => {
                Verdict::Error(format!("the script failed: {}", seen.complaint))
            }
            None if !self.is_twin && !calls.iter().any(|call| call.is_fault) => {
                Verdict::Invalid("no call met the fault".to_owned())
            }
            None => Verdict::Pass,
        })
    }
}
