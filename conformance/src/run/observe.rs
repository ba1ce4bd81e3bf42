//! What was seen of a run, for its record.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fixtures::document::task::{
    CallExpectation, CallGroup, Expectation, Grader, Limit, Task, TextExpectation,
};
use fixtures::document::{Json, PathGlob};
use fixtures::journal::fold::Fold;
use fixtures::redact::Redactor;
use serde::Serialize;

use crate::plain;
use crate::results::{Change, ChangeKind, EntryType};
use crate::workspace::{self, Difference, Entry, Snapshot};

/// So much of a file that nobody expects is kept.
const MAX_CONTENT_BYTES: u64 = 1 << 20;

/// So much of a file that the task names is kept, and more of none.
const MAX_NAMED_BYTES: u64 = 16 << 20;

/// So much of what the agent says is kept.
const MAX_ANSWER_BYTES: u64 = 4 << 20;

/// So much of its standard error is looked at for the last line.
const MAX_LINES_BYTES: u64 = 16 << 10;

/// So much of a line of the agent's is kept.
pub(super) const MAX_LINE_CHARS: usize = 500;

/// So much of all such files together is kept.
const MAX_CONTENTS_BYTES: u64 = 8 << 20;

/// Attempts as they stand in results.
pub(super) fn events<T: Serialize>(events: &[T]) -> Vec<Json> {
    let raw = |event| serde_json::value::to_raw_value(event).expect("string keys always serialise");
    let text = |event| serde_json::from_str(raw(event).get()).expect("it was made from JSON");
    events.iter().map(text).collect()
}

/// When each attempt began, in milliseconds since the first one.
pub(super) fn began(fold: &Fold) -> BTreeMap<u64, f64> {
    let first = fold.attempts.iter().map(|it| it.began_us).min().unwrap_or_default();
    let began = fold.attempts.iter().map(|it| (it.sequence, (it.began_us - first) as f64 / 1e3));
    began.collect()
}

/// The mocks that the agent got in touch with.
pub(super) fn contacts(fold: &Fold) -> Vec<String> {
    let called = fold.attempts.iter().map(|it| it.started.mock.to_string());
    let all: BTreeSet<String> = called.chain(fold.opened.iter().cloned()).collect();
    all.into_iter().collect()
}

/// An empty file, for something that the agent will write.
pub(super) fn made(file: &Path) -> Result<File, String> {
    let made = File::options().read(true).write(true).create_new(true).open(file);
    made.map_err(|error| format!("cannot make `{}`: {error}", file.display()))
}

/// What the agent said: all of it, or its end, and how many bytes are missing then.
pub(super) fn answer(file: File) -> io::Result<(String, u64)> {
    let (bytes, missing) = plain::tail(file, MAX_ANSWER_BYTES)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), missing))
}

/// The last line that the agent wrote on its standard error, without secrets.
pub(super) fn last_line(stderr: File, redactor: &Redactor) -> Option<String> {
    let (bytes, _) = plain::tail(stderr, MAX_LINES_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let short: String =
        redactor.text(plain::last_line(&text)?).chars().take(MAX_LINE_CHARS).collect();
    Some(short)
}

/// What is not as before, and what is at the paths that the task names.
pub(super) fn changes(
    place: &Path,
    before: &Snapshot,
    after: &Snapshot,
    named: &BTreeSet<&str>,
    ignored: &[PathGlob],
) -> Vec<Change> {
    let mut kept = 0;
    let mut content = |path: &str, change: &mut Change| {
        let file = place.join(path);
        let size = fs::symlink_metadata(&file).map_or(0, |about| about.len());
        let is_named = named.contains(path);
        let is_too_much = match is_named {
            true => size > MAX_NAMED_BYTES,
            false => size > MAX_CONTENT_BYTES || kept + size > MAX_CONTENTS_BYTES,
        };
        if is_too_much {
            return;
        }
        // What cannot be read has no content.
        let mut bytes = Vec::new();
        let opened = workspace::open(&file).map(|file| file.take(MAX_NAMED_BYTES));
        if opened.and_then(|mut file| file.read_to_end(&mut bytes)).is_err() {
            return;
        }
        kept += if is_named { 0 } else { size };
        match String::from_utf8(bytes) {
            Ok(text) => change.content = Some(text),
            Err(error) => {
                change.content_base64 = Some(BASE64_STANDARD.encode(error.as_bytes()));
            }
        }
    };
    let differences = workspace::differences(before, after);
    let mut changes: Vec<Change> = differences.iter().map(change).collect();
    let known: BTreeSet<&str> = differences.iter().map(|it| &*it.path).collect();
    for path in named.iter().filter(|path| !known.contains(*path)) {
        if let Some(entry) = after.get(*path) {
            changes.push(of_entry(path, ChangeKind::Unchanged, entry));
        }
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    for change in &mut changes {
        if change.kind == ChangeKind::Created {
            change.new_directory = new_directory(&change.path, before);
        }
        change.ignored = change.kind != ChangeKind::Unchanged
            && ignored.iter().any(|it| it.covers(&change.path));
        if change.entry == EntryType::File && change.kind != ChangeKind::Deleted {
            let path = change.path.clone();
            content(&path, change);
        }
    }
    changes
}

/// The outermost directory above a path that was not there before.
fn new_directory(path: &str, before: &Snapshot) -> Option<String> {
    let mut above = path.match_indices('/').map(|(end, _)| &path[..end]);
    above.find(|it| !before.contains_key(*it)).map(str::to_owned)
}

/// A forbidden path that is not as before.
pub(super) fn touched(path: &Path, before: Option<&Snapshot>, after: Option<&Snapshot>) -> Change {
    let kind = match (before, after) {
        (None, _) => ChangeKind::Created,
        (_, None) => ChangeKind::Deleted,
        _ => ChangeKind::Modified,
    };
    let entry = after
        .or(before)
        .and_then(|it| it.get(workspace::ROOT))
        .map_or(EntryType::Directory, entry_type);
    Change {
        path: path.display().to_string(),
        kind,
        entry,
        sha256: None,
        content: None,
        content_base64: None,
        new_directory: None,
        ignored: false,
    }
}

fn change(difference: &Difference) -> Change {
    let Difference { path, before, after } = difference;
    match (before, after) {
        (None, Some(entry)) => of_entry(path, ChangeKind::Created, entry),
        (Some(entry), None) => of_entry(path, ChangeKind::Deleted, entry),
        (_, Some(entry)) => of_entry(path, ChangeKind::Modified, entry),
        (None, None) => of_entry(path, ChangeKind::Unchanged, &Entry::Other),
    }
}

fn of_entry(path: &str, kind: ChangeKind, entry: &Entry) -> Change {
    let sha256 = match entry {
        Entry::File(digest) => Some(digest.clone()),
        _ => None,
    };
    let (path, entry) = (path.to_owned(), entry_type(entry));
    Change {
        path,
        kind,
        entry,
        sha256,
        content: None,
        content_base64: None,
        new_directory: None,
        ignored: false,
    }
}

fn entry_type(entry: &Entry) -> EntryType {
    match entry {
        Entry::File(_) | Entry::Large { .. } | Entry::Sealed { is_directory: false } => {
            EntryType::File
        }
        Entry::Directory | Entry::Sealed { is_directory: true } => EntryType::Directory,
        Entry::Link(_) => EntryType::Link,
        Entry::Other => EntryType::Other,
    }
}

/// The paths of the workspace that a task names.
pub(super) fn named(task: &Task) -> BTreeSet<&str> {
    let twin = task.no_fault.iter().map(|it| &it.expect);
    let expects = twin.chain([&task.expect]).flat_map(|it| it.any_of.iter().chain([it]));
    let files = expects.filter_map(|it| it.files.as_ref()).flat_map(|it| it.keys());
    let graded = task.graders.iter().flat_map(|grader| match grader {
        Grader::File { must_exist, must_not_exist, content_patterns } => must_exist
            .iter()
            .chain(must_not_exist)
            .chain(content_patterns.iter().map(|it| &it.path))
            .collect(),
        Grader::Code { .. } | Grader::Program { .. } => Vec::new(),
    });
    files.chain(graded).map(String::as_str).collect()
}

/// The paths outside of the workspace that must stay as they are.
pub(super) fn forbidden(expect: &Expectation) -> Vec<PathBuf> {
    let paths: BTreeSet<&String> =
        expect.any_of.iter().chain([expect]).flat_map(|it| &it.forbid).collect();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let whole = |path: &String| match (path.strip_prefix("~/"), &home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    };
    paths.into_iter().map(whole).collect()
}

/// The task as results have it: without its scripts, and with what is expected
/// of arguments redacted as the arguments in the journal are.
pub(super) fn admitted(task: &Task, redactor: &Redactor) -> Task {
    let mut task = Task { self_test: None, ..task.clone() };
    redact(&mut task.expect, redactor);
    if let Some(twin) = &mut task.no_fault {
        redact(&mut twin.expect, redactor);
    }
    task
}

fn redact(expect: &mut Expectation, redactor: &Redactor) {
    for group in expect.calls.iter_mut().flatten() {
        let calls = match group {
            CallGroup::One(call) => std::slice::from_mut(call),
            CallGroup::Unordered(group) => &mut group.unordered,
        };
        for CallExpectation { arguments, args, stdin, environment, .. } in calls {
            *arguments = arguments.as_ref().map(|it| redactor.object(it));
            *args = args.as_ref().map(|it| redactor.argv(it));
            redact_circumstances(stdin, environment, redactor);
        }
    }
    for Limit { arguments, args, args_contain, stdin, environment, .. } in &mut expect.limits {
        redact_circumstances(stdin, environment, redactor);
        *arguments = arguments.as_ref().map(|it| redactor.object(it));
        *args = args.as_ref().map(|it| redactor.argv(it));
        for text in args_contain {
            *text = redactor.text(text).into_owned();
        }
    }
    for alternative in &mut expect.any_of {
        redact(alternative, redactor);
    }
}

fn redact_circumstances(
    stdin: &mut Option<TextExpectation>,
    environment: &mut BTreeMap<String, String>,
    redactor: &Redactor,
) {
    if let Some(TextExpectation::Equals(text) | TextExpectation::Contains(text)) = stdin {
        *text = redactor.text(text).into_owned();
    }
    for (name, value) in environment {
        *value = redactor.environment_value(name, value).into_owned();
    }
}
