//! Records that decide nothing, in the order in which they came to be.
//!
//! A busy lock never blocks the loop: what cannot be appended now waits here,
//! is tried again, and is given up after [`LOCK_PATIENCE`].

use std::time::{Duration, Instant};

use fixtures::engine::Engine;
use fixtures::journal::record::Event;
use fixtures::journal::{LOCK_PATIENCE, Refusal};

const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// What waits for the lock, and when to try it again.
#[derive(Debug)]
pub(super) struct Records {
    waiting: Vec<Event<'static>>,
    /// Since when each of them waits.
    since: Vec<Instant>,
    pause: Duration,
    retry: Option<Instant>,
    /// Since when every try found the lock busy.
    busy: Option<Instant>,
}

impl Records {
    pub(super) fn new() -> Records {
        Records {
            waiting: Vec::new(),
            since: Vec::new(),
            pause: FIRST_PAUSE,
            retry: None,
            busy: None,
        }
    }

    pub(super) fn push(&mut self, event: Event<'static>) {
        self.waiting.push(event);
        self.since.push(Instant::now());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// When the lock is tried again, if it was busy.
    pub(super) fn retry(&self) -> Option<Instant> {
        self.retry
    }

    /// Whether everything is written, and the lock may be tried for something new.
    pub(super) fn lets_pass(&self) -> bool {
        self.waiting.is_empty() && !self.pauses()
    }

    fn pauses(&self) -> bool {
        self.retry.is_some_and(|retry| retry > Instant::now())
    }

    /// That the lock was busy: the next try comes after a pause.
    pub(super) fn was_busy(&mut self) {
        let now = Instant::now();
        self.busy.get_or_insert(now);
        self.retry = Some(now + self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }

    /// Since when a call that came at that time waits for nothing but the lock.
    pub(super) fn busy_since(&self, call: Instant) -> Instant {
        self.busy.map_or_else(Instant::now, |busy| busy.max(call))
    }

    /// That the lock was had.
    pub(super) fn was_free(&mut self) {
        (self.retry, self.busy, self.pause) = (None, None, FIRST_PAUSE);
    }

    /// Appends what waits, if the lock can be had. What people should know, if anything.
    pub(super) fn settle(&mut self, engine: &mut Engine<'_>) -> Option<String> {
        if self.waiting.is_empty() || self.pauses() {
            return None;
        }
        let mut said = None;
        match engine.record(&self.waiting) {
            Ok(()) => {
                self.was_free();
                self.waiting.clear();
            }
            Err(Refusal::Busy) => {
                self.was_busy();
                let now = Instant::now();
                let late = self.since.iter().filter(|since| now - **since >= LOCK_PATIENCE);
                let late = late.count();
                if late > 0 {
                    said = engine.locked_too_long().map(|error| error.to_string());
                    self.waiting.drain(..late);
                    self.since.drain(..late);
                }
                return said;
            }
            // Nobody selects or cancels any more; what else happened is still told.
            Err(Refusal::Closed) => {
                self.waiting.retain(|event| !matches!(event, Event::Cancelled(_)));
                said = match engine.record(&self.waiting) {
                    Err(Refusal::Failed(error)) => Some(error.to_string()),
                    Ok(()) | Err(Refusal::Busy | Refusal::Closed) => None,
                };
                self.waiting.clear();
            }
            Err(Refusal::Failed(error)) => {
                said = Some(error.to_string());
                self.waiting.clear();
            }
        }
        self.since.clear();
        said
    }
}
