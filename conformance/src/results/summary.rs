//! All runs in a few numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Record, Verdict};
use crate::grade::calls_of;

/// The numbers. Twins are in none of them: they only tell what the runs are worth.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Summary {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) invalid: u64,
    pub(crate) error: u64,
    pub(crate) skipped: u64,
    /// Runs that were selected, and did not take place or were interrupted.
    pub(crate) not_run: u64,
    /// How likely one trial of a task passes, on the average of the tasks.
    #[serde(rename = "pass@1")]
    pub(crate) pass_at_1: Option<f64>,
    /// How likely `k` trials of a task pass, on the average of the tasks.
    #[serde(rename = "pass^k")]
    pub(crate) pass_hat_k: Option<f64>,
    pub(crate) k: u32,
    /// Trials of a task.
    pub(crate) n: u32,
    /// Attempts that got a fault under test.
    pub(crate) faults_landed: u64,
    /// Those of them in runs that passed.
    pub(crate) faults_recovered: u64,
    pub(crate) recovery_rate: Option<f64>,
}

/// Counts runs as they come.
#[derive(Debug)]
pub(crate) struct Tally {
    summary: Summary,
    tasks: BTreeMap<String, Counts>,
}

/// The trials of one task.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
    /// INVALID and ERROR.
    pub(crate) unjudged: u32,
}

impl Tally {
    /// For `n` trials of each task, `k` of which are to pass.
    pub(crate) fn new(k: u32, n: u32, not_run: u64) -> Tally {
        Tally { summary: Summary { k, n, not_run, ..Summary::default() }, tasks: BTreeMap::new() }
    }

    pub(crate) fn count(&mut self, record: &Record) {
        if record.twin {
            return;
        }
        let Summary { passed, failed, invalid, error, skipped, .. } = &mut self.summary;
        let counts = self.tasks.entry(record.name()).or_default();
        match record.verdict {
            Verdict::Pass => (*passed, counts.passed) = (*passed + 1, counts.passed + 1),
            Verdict::Fail => (*failed, counts.failed) = (*failed + 1, counts.failed + 1),
            Verdict::Invalid => (*invalid, counts.unjudged) = (*invalid + 1, counts.unjudged + 1),
            Verdict::Error => (*error, counts.unjudged) = (*error + 1, counts.unjudged + 1),
            Verdict::Skipped => *skipped += 1,
        }
        let landed = calls_of(record).iter().filter(|call| call.is_fault).count() as u64;
        self.summary.faults_landed += landed;
        if record.verdict == Verdict::Pass {
            self.summary.faults_recovered += landed;
        }
    }

    /// The trials of every task.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = Counts> {
        self.tasks.values().copied()
    }

    pub(crate) fn summary(&self) -> Summary {
        let k = self.summary.k;
        let chances = |k: u32| {
            let tasks = self.tasks.values();
            mean(tasks.filter_map(|it| all_of(k, it.passed, it.passed + it.failed)))
        };
        let Summary { faults_landed, faults_recovered, .. } = self.summary;
        let rate = (faults_landed > 0).then(|| faults_recovered as f64 / faults_landed as f64);
        Summary {
            pass_at_1: chances(1),
            pass_hat_k: chances(k),
            recovery_rate: rate,
            ..self.summary.clone()
        }
    }
}

/// How likely `k` of `n` trials, chosen at random, are all among the `passed`.
fn all_of(k: u32, passed: u32, n: u32) -> Option<f64> {
    let chance = |i| f64::from(passed.saturating_sub(i)) / f64::from(n - i);
    (k <= n).then(|| (0..k).map(chance).product())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), it| (sum + it, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::all_of;

    #[test]
    fn k_trials_in_a_row_are_rarer_than_one() {
        for (k, passed, n, expected) in [
            (1, 3, 4, Some(0.75)),
            (2, 3, 4, Some(0.5)),
            (4, 3, 4, Some(0.0)),
            (4, 4, 4, Some(1.0)),
            (1, 0, 4, Some(0.0)),
            (5, 4, 4, None),
        ] {
            assert_eq!(all_of(k, passed, n), expected, "{k} of {passed}/{n}");
        }
    }
}
