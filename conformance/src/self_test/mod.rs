//! `agent-conformance self-test`: the graders are proven by agents that are
//! known. The good ones pass, and each bad one fails, for its reason.

mod derived;
pub(crate) mod plan;

use std::fmt::Write;
use std::time::{Duration, Instant};

use fixtures::document::task::Violates;

use crate::case;
use crate::cli::SelfTestArgs;
use crate::exec::signals::Signals;
use crate::exit::Exit;
use crate::plain;
use crate::results::Verdict;
use crate::run::crew::{self, Crew};
use crate::workspace;
use plan::{Trial, Wanted};

pub(crate) fn run(args: &SelfTestArgs) -> Exit {
    match prove(args) {
        Ok(exit) => exit,
        Err(reason) => crate::complain(&reason),
    }
}

/// A good script does in the twin what it does with the fault.
const CASE_AT_FAULT: &str =
    "; the case is at fault, not an agent: its own good script does not hold to `no_fault.expect`";

/// What became of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Judged {
    verdict: Verdict,
    /// Of the first violation.
    kind: Option<Violates>,
    reason: Option<String>,
}

impl Judged {
    fn is(&self, wanted: Wanted) -> bool {
        match wanted {
            Wanted::Pass => self.verdict == Verdict::Pass,
            Wanted::Fail(kind) => self.verdict == Verdict::Fail && self.kind == Some(kind),
        }
    }

    fn told(&self) -> String {
        let verdict = self.verdict.name();
        self.reason.as_ref().map_or(verdict.to_owned(), |reason| format!("{verdict} ({reason})"))
    }
}

fn prove(args: &SelfTestArgs) -> Result<Exit, String> {
    let signals = Signals::hold()?;
    let cases = case::load(&args.paths, crate::is_styled())?;
    let trials = plan::of(&cases)?;
    if trials.is_empty() {
        crate::note(&"agent-conformance: nothing was selected: there is no case at these paths");
        return Ok(Exit::Empty);
    }
    let folder = workspace::temporary()?;
    let start = Instant::now();
    let play = |index: usize, crew: &Crew| {
        trials[index].played(&folder.path().join(index.to_string()), crew)
    };
    let done = crew::work(trials.len(), args.jobs, &signals, play, |_, _| true)?;
    let (text, wrong) = report(&trials, &done.results, start.elapsed());
    let printed = crate::print(text.as_bytes());
    Ok(match (done.interrupted, wrong) {
        (Some(signal), _) => Exit::interrupted(signal),
        (None, 0) => printed,
        (None, _) => Exit::Failed,
    })
}

/// One line a task, one more for each agent that was not judged as it should be.
fn report(trials: &[Trial<'_>], verdicts: &[Option<Judged>], took: Duration) -> (String, usize) {
    let mut text = String::new();
    let (mut right, mut wrong, mut skipped) = (0, 0, 0);
    let mut task = None;
    for (trial, verdict) in trials.iter().zip(verdicts) {
        if task != Some(trial.task()) {
            task = Some(trial.task());
            let same = trials.iter().zip(verdicts).filter(|(it, _)| it.task() == trial.task());
            let (all, good) = same.fold((0, 0), |(all, good), (it, verdict)| {
                let is_right = verdict.as_ref().is_some_and(|verdict| verdict.is(it.wanted));
                (all + 1, good + usize::from(is_right))
            });
            writeln!(text, "{}: {good} of {all} agents judged as they should be", trial.task())
                .expect("a string grows");
        }
        match verdict {
            None => skipped += 1,
            Some(verdict) if verdict.is(trial.wanted) => right += 1,
            Some(verdict) => {
                wrong += 1;
                writeln!(
                    text,
                    "  {}: wanted {}, got {}{}",
                    trial.agent,
                    trial.wanted.told(),
                    plain::on_one_line(&verdict.told()),
                    if trial.is_twin { CASE_AT_FAULT } else { "" }
                )
                .expect("a string grows");
            }
        }
    }
    let skipped = if skipped > 0 { format!(", {skipped} not run") } else { String::new() };
    writeln!(text, "{right} right, {wrong} wrong{skipped} in {:.1} s", took.as_secs_f64())
        .expect("a string grows");
    (text, wrong)
}
