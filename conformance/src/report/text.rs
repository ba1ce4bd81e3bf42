//! For people: every attempt of every trial, and a line that sums up.

use std::fmt::Write;

use super::event;
use crate::plain;
use crate::results::{Mode, Record, Summary, Verdict, run_name};
use crate::verdict;

/// One run.
pub(crate) fn run(record: &Record, is_styled: bool) -> String {
    let mut text = String::new();
    let (before, after) = match (is_styled, record.verdict) {
        (false, _) => ("", ""),
        (true, Verdict::Pass) => ("\x1b[32m", "\x1b[0m"),
        (true, Verdict::Fail) => ("\x1b[31m", "\x1b[0m"),
        (true, Verdict::Invalid | Verdict::Error) => ("\x1b[33m", "\x1b[0m"),
        (true, Verdict::Skipped) => ("\x1b[2m", "\x1b[0m"),
    };
    let verdict = record.verdict.name();
    let name = run_name(&record.name(), record.trial, record.twin);
    // A string takes any text.
    let _ = writeln!(
        text,
        "{before}{verdict:<7}{after} {} ({:.0} ms)",
        plain::on_one_line(&name),
        record.duration_ms
    );
    let mut line = |what: &str| {
        let _ = writeln!(text, "        {}", plain::on_one_line(what));
    };
    if let Some(reason) = &record.reason {
        line(reason);
    }
    for violation in record.violations.iter().skip(1) {
        line(&verdict::told(violation));
    }
    let modes = &record.dependency_modes;
    let kinds = [("mcp", &modes.mcp), ("commands", &modes.commands)];
    for (kind, names) in kinds.into_iter().filter(|(_, names)| !names.is_empty()) {
        let told = |(name, mode): (&String, &Mode)| format!("{name} {}", mode.name());
        let names: Vec<String> = names.iter().map(told).collect();
        line(&format!("{kind}: {}", names.join(", ")));
    }
    let events = event::lines(record);
    let width = events.iter().map(|(call, _)| call.chars().count()).max().unwrap_or_default();
    for (index, (call, outcome)) in events.iter().enumerate() {
        line(&format!("{}. {call:width$}  {outcome}", index + 1));
    }
    for orphan in &record.exit.orphans {
        line(&format!("left running, and was ended: {orphan}"));
    }
    if let (Verdict::Fail | Verdict::Error, Some(complaint)) = (record.verdict, &record.complaint) {
        line(&format!(
            "the agent's last words on stderr: {}",
            plain::short(complaint, event::MAX_CHARS)
        ));
    }
    text
}

/// The line that sums up.
pub(crate) fn summary(summary: &Summary) -> String {
    let Summary { passed, failed, invalid, error, skipped, not_run, .. } = summary;
    let mut text = format!(
        "{passed} passed, {failed} failed, {invalid} invalid, {error} error, {skipped} skipped"
    );
    if *not_run > 0 {
        let _ = write!(text, ", {not_run} not run");
    }
    if let (Some(one), true) = (summary.pass_at_1, summary.n > 1) {
        let _ = write!(text, "; pass@1 {one:.2}");
        if let Some(all) = summary.pass_hat_k {
            let _ = write!(text, ", pass^{} {all:.2} of {} trials", summary.k, summary.n);
        }
    }
    if summary.faults_landed > 0 {
        let (recovered, landed) = (summary.faults_recovered, summary.faults_landed);
        let _ = write!(text, "; {recovered} of {landed} faults recovered");
    }
    text + "\n"
}
