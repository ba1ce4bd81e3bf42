//! Many runs at once, and an end to all of them when somebody asks for it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::exec::signals::{Received, Signals};

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

/// Has `jobs` runs of `count` at a time. Each is told whom to tell of its
/// supervisor: when it has started, and when it has ended. No further run
/// begins once `goes_on` said no of one that has ended.
///
/// # Errors
/// Signals cannot be looked at.
pub(crate) fn work<T: Send>(
    count: usize,
    jobs: usize,
    signals: &Signals,
    run: impl Fn(usize, &dyn Fn(i32, bool)) -> T + Sync,
    goes_on: impl Fn(usize, &T) -> bool + Sync,
) -> Result<Done<T>, String> {
    let crew = Crew {
        next: AtomicUsize::new(0),
        is_stopped: AtomicBool::new(false),
        supervisors: Mutex::new(BTreeSet::new()),
    };
    let results: Mutex<Vec<Option<T>>> = Mutex::new((0..count).map(|_| None).collect());
    let worker = || {
        while let Some(index) = crew.take(count) {
            let result = run(index, &|pid, is_running| crew.note(pid, is_running));
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
        let workers: Vec<_> = (0..jobs.min(count)).map(|_| scope.spawn(worker)).collect();
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
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Done { results, interrupted })
}

/// What is shared by those who work.
struct Crew {
    next: AtomicUsize,
    is_stopped: AtomicBool,
    /// The supervisors that run.
    supervisors: Mutex<BTreeSet<i32>>,
}

impl Crew {
    fn take(&self, count: usize) -> Option<usize> {
        let index = self.next.fetch_add(1, Ordering::SeqCst);
        (index < count && !self.is_stopped.load(Ordering::SeqCst)).then_some(index)
    }

    fn note(&self, pid: i32, is_running: bool) {
        let mut supervisors = self.supervisors.lock().unwrap_or_else(PoisonError::into_inner);
        if is_running {
            supervisors.insert(pid);
        } else {
            supervisors.remove(&pid);
        }
        if is_running && self.is_stopped.load(Ordering::SeqCst) {
            end(pid);
        }
    }

    /// Has no run begin any more, and ends those that have begun.
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
