//! What is judged: a record, read.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::{Call, calls_of};
use crate::results::{Change, ChangeKind, EntryType, Record};

/// What is judged.
#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    record: &'a Record,
    /// Every attempt of the agent's, in the order of the journal.
    pub(crate) calls: Vec<Call>,
}

/// What stands at a path of the workspace at the end.
#[derive(Debug, PartialEq)]
pub(crate) enum Given<'a> {
    Nothing,
    File(Cow<'a, [u8]>),
    /// A directory, a link, or a file that was not kept, in words.
    Other(&'static str),
}

impl<'a> Evidence<'a> {
    pub(crate) fn of(record: &'a Record) -> Evidence<'a> {
        // What the agent's client repeated by itself is not the agent's.
        let is_own = |call: &Call| !record.client_repeated.contains(&call.sequence);
        Evidence { record, calls: calls_of(record).into_iter().filter(is_own).collect() }
    }

    pub(crate) fn answer(&self) -> &'a str {
        &self.record.answer
    }

    /// What is not as before.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &'a Change> {
        self.record.changes.iter().filter(|it| it.kind != ChangeKind::Unchanged)
    }

    /// What stands at a path that an expectation names.
    pub(crate) fn given(&self, path: &str) -> Given<'a> {
        let there = |it: &&Change| it.path == path && it.kind != ChangeKind::Deleted;
        let Some(change) = self.record.changes.iter().find(there) else { return Given::Nothing };
        match (change.entry, &change.content, &change.content_base64) {
            (EntryType::Directory, ..) => Given::Other("a directory"),
            (EntryType::Link, ..) => Given::Other("a symbolic link"),
            (EntryType::Other, ..) => Given::Other("neither file nor directory"),
            (EntryType::File, Some(text), _) => Given::File(text.as_bytes().into()),
            (EntryType::File, None, Some(code)) => match BASE64_STANDARD.decode(code) {
                Ok(bytes) => Given::File(bytes.into()),
                Err(_) => Given::Other("a file whose content was damaged"),
            },
            (EntryType::File, None, None) => Given::Other("a file whose content was not kept"),
        }
    }
}
