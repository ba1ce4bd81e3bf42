//! How far it is: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressStyle};

use super::Planned;
use crate::plain;
use crate::results::Verdict;

#[derive(Debug)]
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    ended: AtomicUsize,
    all: usize,
}

impl Progress {
    pub(super) fn new(all: usize) -> Progress {
        let bar = ProgressBar::new(all as u64);
        // Some terminals can draw none.
        let bar = (std::io::stderr().is_terminal() && !bar.is_hidden()).then(|| {
            if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}") {
                bar.set_style(style);
            }
            bar.tick();
            bar
        });
        Progress { bar, ended: AtomicUsize::new(0), all }
    }

    pub(super) fn ended(&self, run: Planned<'_>, verdict: Option<Verdict>) {
        let ended = self.ended.fetch_add(1, Ordering::SeqCst) + 1;
        let verdict = verdict.map_or("lost", Verdict::name);
        let what = format!("{verdict} {}", plain::on_one_line(&run.name()));
        match &self.bar {
            Some(bar) => {
                bar.set_message(what);
                bar.inc(1);
            }
            None => crate::note(&format!("[{ended}/{}] {what}", self.all)),
        }
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
