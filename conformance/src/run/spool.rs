//! Records on disk, until all of them are there: memory holds one at a time.

use std::fs;
use std::path::{Path, PathBuf};

use crate::results::Record;
use crate::verdict::{self, TwinSays};

#[derive(Debug)]
pub(super) struct Spool(PathBuf);

impl Spool {
    pub(super) fn new(folder: &Path) -> Result<Spool, String> {
        let place = folder.join("records");
        fs::create_dir(&place)
            .map_err(|error| format!("cannot make `{}`: {error}", place.display()))?;
        Ok(Spool(place))
    }

    pub(super) fn keep(&self, index: usize, record: &Record) -> Result<(), String> {
        let text = serde_json::to_string(record).expect("string keys always serialise");
        let file = self.file(index);
        fs::write(&file, text)
            .map_err(|error| format!("cannot write `{}`: {error}", file.display()))
    }

    fn file(&self, index: usize) -> PathBuf {
        self.0.join(format!("{index}.json"))
    }

    fn read(&self, index: usize) -> Result<Record, String> {
        let file = self.file(index);
        let failed =
            |error: &dyn std::fmt::Display| format!("cannot read `{}`: {error}", file.display());
        let text = fs::read_to_string(&file).map_err(|error| failed(&error))?;
        serde_json::from_str(&text).map_err(|error| failed(&error))
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
