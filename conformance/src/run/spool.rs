//! Records on disk, until all of them are there: memory holds one at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};

use crate::results::{Record, Verdict};
use crate::verdict::{self, TwinSays};

/// A file without a name, which no agent finds, and which goes with this program.
#[derive(Debug)]
pub(super) struct Spool {
    file: File,
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    /// Where each record begins, and how long it is.
    records: BTreeMap<usize, (u64, usize)>,
    end: u64,
    /// Tasks at which the agent fails without the fault, too.
    failed_twins: BTreeSet<String>,
}

impl Spool {
    pub(super) fn new() -> Result<Spool, String> {
        let file = tempfile::tempfile()
            .map_err(|error| format!("cannot make a temporary file: {error}"))?;
        Ok(Spool { file, places: Mutex::default() })
    }

    /// Keeps a record, and tells whether a trial has failed by it, or by its
    /// twin; a twin alone has not failed anything.
    pub(super) fn keep(&self, index: usize, record: &Record) -> Result<bool, String> {
        let text = serde_json::to_string(record).expect("string keys always serialise");
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        self.file
            .write_all_at(text.as_bytes(), places.end)
            .map_err(|error| format!("cannot keep what came of a run: {error}"))?;
        let place = (places.end, text.len());
        places.records.insert(index, place);
        places.end += text.len() as u64;
        if record.twin {
            if TwinSays::of(record).is_failure() {
                places.failed_twins.insert(record.name());
            }
            return Ok(false);
        }
        Ok(record.verdict == Verdict::Fail || places.failed_twins.contains(&record.name()))
    }

    fn read(&self, index: usize) -> Result<Record, String> {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |(begin, length)| {
            let mut text = vec![0; length];
            self.file.read_exact_at(&mut text, begin)?;
            Ok(serde_json::from_slice(&text)?)
        };
        let lost = || io::ErrorKind::NotFound.into();
        let record: io::Result<_> =
            places.records.get(&index).copied().ok_or_else(lost).and_then(read);
        record.map_err(|error| format!("cannot read what came of a run: {error}"))
    }

    /// The records in their order, each set against its twin, which comes before it.
    pub(super) fn settled(
        &self,
        indexes: impl Iterator<Item = usize>,
    ) -> impl Iterator<Item = Result<Record, String>> {
        let mut settling = Settling::default();
        indexes.map(move |index| Ok(settling.settled(self.read(index)?)))
    }
}

/// Sets trials against the twin that came before them.
#[derive(Debug, Default)]
pub(crate) struct Settling {
    twin: Option<(String, TwinSays)>,
}

impl Settling {
    pub(crate) fn settled(&mut self, mut record: Record) -> Record {
        let name = record.name();
        if record.twin {
            self.twin = Some((name, TwinSays::of(&record)));
        } else if let Some((_, says)) = self.twin.as_ref().filter(|(of, _)| *of == name) {
            verdict::settle(&mut record, says);
        }
        record
    }
}
