//! Many runs at once, and an end to all of them when somebody asks for it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::exec::leftovers::{self, Before};
use crate::exec::signals::{Received, Signals};
use crate::supervise::{self, Order, Outcome};

/// How often the end of the work is looked for.
const LOOK: Duration = Duration::from_millis(5);

/// What became of the work.
#[derive(Debug)]
pub(crate) struct Done<T> {
    /// What came of each run; none where it did not take place, or was interrupted.
    pub(crate) results: Vec<Option<T>>,
    /// The signal that interrupted it.
    pub(crate) interrupted: Option<Signal>,
}

/// Has `jobs` runs of `count` at a time, as many as there are cores when left
/// out, or as many as can be had; the crew starts the agent of each. No further
/// run begins once `goes_on` said no of one that has ended.
///
/// # Errors
/// Signals cannot be looked at, or nobody can work.
pub(crate) fn work<T: Send>(
    count: usize,
    jobs: Option<usize>,
    signals: &Signals,
    run: impl Fn(usize, &Crew) -> T + Sync,
    goes_on: impl Fn(usize, &T) -> bool + Sync,
) -> Result<Done<T>, String> {
    let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into));
    let crew = Crew {
        next: AtomicUsize::new(0),
        is_stopped: AtomicBool::new(false),
        supervisors: Mutex::new(BTreeSet::new()),
        before: leftovers::adopt(),
    };
    let results: Mutex<Vec<Option<T>>> = Mutex::new((0..count).map(|_| None).collect());
    let worker = || {
        while let Some(index) = crew.take(count) {
            let result = run(index, &crew);
            if crew.is_stopped.load(Ordering::SeqCst) {
                return;
            }
            if !goes_on(index, &result) {
                crew.next.store(count, Ordering::SeqCst);
            }
            results.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(result);
        }
    };
    let interrupted = std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for _ in 0..jobs.min(count) {
            match std::thread::Builder::new().spawn_scoped(scope, worker) {
                Ok(worker) => workers.push(worker),
                // Fewer have the same work.
                Err(_) if !workers.is_empty() => break,
                Err(error) => return Err(format!("cannot start a thread: {error}")),
            }
        }
        let mut interrupted = None;
        while workers.iter().any(|worker| !worker.is_finished()) {
            let received = signals.wait(Some(Instant::now() + LOOK));
            if let Ok(Some(Received::Ending { signal, .. })) = received {
                interrupted = Some(signal);
                crew.stop();
            }
            if received.is_err() {
                crew.stop();
                return received.map(|_| None);
            }
        }
        Ok(interrupted)
    })?;
    crew.end_strays();
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Done { results, interrupted })
}

/// What is shared by those who work.
pub(crate) struct Crew {
    next: AtomicUsize,
    is_stopped: AtomicBool,
    /// The supervisors that run.
    supervisors: Mutex<BTreeSet<i32>>,
    /// Whoever was there before.
    before: Before,
}

impl Crew {
    /// Has a supervisor run an agent.
    ///
    /// # Errors
    /// The supervisor does not start, or was killed, by its agent perhaps.
    pub(crate) fn supervised(&self, order: &Order) -> Result<Outcome, String> {
        let supervisor = {
            // Nobody takes one for a stray that is not known yet.
            let mut supervisors = self.supervisors();
            let supervisor = supervise::start()?;
            supervisors.insert(supervisor.id().cast_signed());
            supervisor
        };
        let pid = supervisor.id().cast_signed();
        if self.is_stopped.load(Ordering::SeqCst) {
            end(pid);
        }
        let outcome = supervise::finish(supervisor, order);
        self.supervisors().remove(&pid);
        if outcome.is_err() {
            self.end_strays();
        }
        outcome
    }

    /// Ends what a supervisor that was killed could not end: it has come here.
    fn end_strays(&self) {
        leftovers::end_strays(&self.before, &self.supervisors());
    }

    fn supervisors(&self) -> MutexGuard<'_, BTreeSet<i32>> {
        self.supervisors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, count: usize) -> Option<usize> {
        let index = self.next.fetch_add(1, Ordering::SeqCst);
        (index < count && !self.is_stopped.load(Ordering::SeqCst)).then_some(index)
    }

    /// Has no run begin any more, and ends those that have begun.
    fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.supervisors().iter().for_each(|pid| end(*pid));
    }
}

fn end(supervisor: i32) {
    // It may have ended this very moment.
    let _ = kill(Pid::from_raw(supervisor), Signal::SIGTERM);
}
