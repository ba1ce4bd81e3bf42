//! One line a task.

use crate::grade::calls_of;
use crate::plain;
use crate::results::{Record, Verdict};

/// A longer name is cut.
const MAX_NAME_CHARS: usize = 60;

/// The tasks of some results, in their order.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

#[derive(Debug, Default)]
struct Row {
    name: String,
    /// Of each trial.
    verdicts: Vec<Verdict>,
    twin: Option<Verdict>,
    calls: usize,
    faults: usize,
    total_ms: f64,
}

impl Table {
    /// Takes a run into account; the runs of a task come one after the other.
    pub(crate) fn note(&mut self, record: &Record) {
        let name = record.name();
        if self.rows.last().is_none_or(|row| row.name != name) {
            self.rows.push(Row { name, ..Row::default() });
        }
        let Some(row) = self.rows.last_mut() else { return };
        if record.twin {
            row.twin = Some(record.verdict);
            return;
        }
        let calls = calls_of(record);
        row.verdicts.push(record.verdict);
        row.calls += calls.len();
        row.faults += calls.iter().filter(|call| call.is_fault).count();
        row.total_ms += record.duration_ms;
    }

    /// The table; nothing of a single task, of which all was said.
    pub(crate) fn text(&self) -> String {
        if self.rows.len() < 2 {
            return String::new();
        }
        let head = ["task", "verdict", "without fault", "calls", "faults", "ms"].map(str::to_owned);
        let rows: Vec<[String; 6]> =
            [head].into_iter().chain(self.rows.iter().map(Row::cells)).collect();
        format!("\n{}\n", plain::aligned(&rows, [false, false, false, true, true, true]))
    }
}

impl Row {
    fn cells(&self) -> [String; 6] {
        let name = plain::short(&self.name, MAX_NAME_CHARS);
        let trials = self.verdicts.len().max(1);
        let mean_ms = self.total_ms / trials as f64;
        [
            name,
            self.verdict(),
            self.twin.map_or("-", Verdict::name).to_owned(),
            self.calls.to_string(),
            self.faults.to_string(),
            format!("{mean_ms:.0}"),
        ]
    }

    fn verdict(&self) -> String {
        match &*self.verdicts {
            [] => "not run".to_owned(),
            [verdict] => verdict.name().to_owned(),
            verdicts => {
                let passed = verdicts.iter().filter(|it| **it == Verdict::Pass).count();
                format!("{passed} of {} pass", verdicts.len())
            }
        }
    }
}
