//! `agent-conformance self-test`: the graders are proven by agents that are
//! known. The good ones pass, and each bad one fails, for its reason.

mod derived;
mod plan;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fixtures::document::task::Violates;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::case;
use crate::cli::SelfTestArgs;
use crate::exec::signals::{Received, Signals};
use crate::exit::Exit;
use plan::{Trial, Wanted};

/// How often the end of the work is looked for.
const LOOK: Duration = Duration::from_millis(5);

pub(crate) fn run(args: &SelfTestArgs) -> Exit {
    match prove(args) {
        Ok(exit) => exit,
        Err(reason) => crate::complain(&reason),
    }
}

/// What became of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Pass,
    /// For the first of these.
    Fail(Violates, String),
    /// The fault was never met, so that nothing is proven.
    Invalid(String),
    /// The run itself failed.
    Error(String),
}

impl Verdict {
    fn is(&self, wanted: Wanted) -> bool {
        match (wanted, self) {
            (Wanted::Pass, Verdict::Pass) => true,
            (Wanted::Fail(wanted), Verdict::Fail(kind, _)) => *kind == wanted,
            _ => false,
        }
    }

    fn told(&self) -> String {
        match self {
            Verdict::Pass => "PASS".to_owned(),
            Verdict::Fail(kind, reason) => format!("FAIL ({}): {reason}", named(*kind)),
            Verdict::Invalid(reason) => format!("INVALID: {reason}"),
            Verdict::Error(reason) => format!("ERROR: {reason}"),
        }
    }
}

fn named(kind: Violates) -> &'static str {
    match kind {
        Violates::Evidence => "evidence",
        Violates::SideEffect => "side_effect",
        Violates::Outcome => "outcome",
    }
}

fn prove(args: &SelfTestArgs) -> Result<Exit, String> {
    let signals = Signals::hold()?;
    let cases = case::load(&args.paths, crate::is_styled())?;
    let trials = plan::of(&cases)?;
    let folder = tempfile::Builder::new().prefix("agent-conformance-").tempdir();
    let folder = folder.map_err(|error| format!("cannot make a temporary directory: {error}"))?;
    let work = Work {
        next: AtomicUsize::new(0),
        is_stopped: AtomicBool::new(false),
        supervisors: Mutex::new(BTreeSet::new()),
        verdicts: Mutex::new(vec![None; trials.len()]),
    };
    let start = Instant::now();
    let jobs =
        args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into));
    let stopped = std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..jobs).map(|_| scope.spawn(|| work.off(&trials, folder.path()))).collect();
        let mut stopped = None;
        while workers.iter().any(|worker| !worker.is_finished()) {
            if let Some(Received::Ending { signal, .. }) =
                signals.wait(Some(Instant::now() + LOOK))?
            {
                stopped = Some(signal);
                work.stop();
            }
        }
        Ok::<_, String>(stopped)
    })?;
    let verdicts = work.verdicts.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (text, failures) = report(&trials, &verdicts, start.elapsed());
    let printed = crate::print(text.as_bytes());
    Ok(match (stopped, failures) {
        // Fits: signals are few.
        (Some(signal), _) => Exit::Command(128 + signal as u8),
        (None, 0) => printed,
        (None, _) => Exit::Failed,
    })
}

/// What is shared by those who work.
struct Work {
    next: AtomicUsize,
    is_stopped: AtomicBool,
    /// The supervisors that run.
    supervisors: Mutex<BTreeSet<i32>>,
    verdicts: Mutex<Vec<Option<Verdict>>>,
}

impl Work {
    fn off(&self, trials: &[Trial<'_>], folder: &std::path::Path) {
        while !self.is_stopped.load(Ordering::SeqCst) {
            let index = self.next.fetch_add(1, Ordering::SeqCst);
            let Some(trial) = trials.get(index) else { return };
            let verdict = trial.verdict(&folder.join(index.to_string()), |pid, is_running| {
                let mut supervisors =
                    self.supervisors.lock().unwrap_or_else(PoisonError::into_inner);
                if is_running {
                    supervisors.insert(pid)
                } else {
                    supervisors.remove(&pid)
                };
                if self.is_stopped.load(Ordering::SeqCst) {
                    end(pid);
                }
            });
            if !self.is_stopped.load(Ordering::SeqCst) {
                let mut verdicts = self.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
                verdicts[index] = Some(verdict);
            }
        }
    }

    /// Has no trial begin any more, and ends those that run.
    fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        let supervisors = self.supervisors.lock().unwrap_or_else(PoisonError::into_inner);
        supervisors.iter().for_each(|pid| end(*pid));
    }
}

fn end(supervisor: i32) {
    // It may have ended this very moment.
    let _ = kill(Pid::from_raw(supervisor), Signal::SIGTERM);
}

/// One line a task, one more for each agent that was not judged as it should be.
fn report(trials: &[Trial<'_>], verdicts: &[Option<Verdict>], took: Duration) -> (String, usize) {
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
                    "  {}: wanted {}, got {}",
                    trial.agent,
                    trial.wanted.told(),
                    verdict.told()
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
