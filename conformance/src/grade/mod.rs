//! Grading: the evidence against what is expected, evidence first.

mod calls;
mod circumstances;
mod evidence;
pub(crate) mod graders;
mod limits;
mod outcome;

use std::collections::{BTreeMap, BTreeSet};

use fixtures::document::task::{Expectation, Violates};

pub(crate) use calls::{Call, has_arguments, of as calls_of, required};
pub(crate) use evidence::{Evidence, Given};

use crate::results::{Change, ChangeKind, Violation};

/// What is violated: evidence first, then side effects, then outcomes; `place`
/// is where the expectation stands in its task.
pub(crate) fn grade(expect: &Expectation, evidence: &Evidence<'_>, place: &str) -> Vec<Violation> {
    let mut found = own(expect, evidence, place);
    let alternatives = expect.any_of.iter().enumerate();
    let alternatives = alternatives.map(|(index, alternative)| {
        let place = format!("{place}.any_of[{index}]");
        let mut found = own(alternative, evidence, &place);
        found.extend(side_effects(&[expect, alternative], evidence, &place));
        found
    });
    match alternatives.min_by_key(Vec::len) {
        Some(nearest) => found.extend(nearest),
        None => found.extend(side_effects(&[expect], evidence, place)),
    }
    found.sort_by_key(|violation| violation.kind);
    found
}

/// What an expectation says itself, without its alternatives.
fn own(expect: &Expectation, evidence: &Evidence<'_>, place: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    if let Some(groups) = &expect.calls {
        calls::check(groups, evidence, &format!("{place}.calls"), &mut found);
    }
    for (index, limit) in expect.limits.iter().enumerate() {
        limits::check(limit, evidence, &format!("{place}.limits[{index}]"), &mut found);
    }
    outcome::check(expect, evidence, place, &mut found);
    found
}

/// Changes that no expectation names: one violation for all that came with a new directory.
fn side_effects(expects: &[&Expectation], evidence: &Evidence<'_>, place: &str) -> Vec<Violation> {
    let names = |path: &str| {
        expects.iter().filter_map(|it| it.files.as_ref()).any(|files| files.contains_key(path))
    };
    let unexpected: Vec<&Change> =
        evidence.changes().filter(|it| !it.ignored && !names(&it.path)).collect();
    let mut made: BTreeMap<&str, usize> = BTreeMap::new();
    for directory in unexpected.iter().filter_map(|it| it.new_directory.as_deref()) {
        *made.entry(directory).or_default() += 1;
    }
    let (mut found, mut told) = (Vec::new(), BTreeSet::new());
    for change in unexpected {
        let directory = change.new_directory.as_deref().map(|it| (it, made[it]));
        let actual = match directory {
            Some((directory, 2..)) if !told.insert(directory) => continue,
            Some((directory, count @ 2..)) => format!("`{directory}/` was made, {count} entries"),
            _ => what_became_of(change),
        };
        let rule = if change.path.starts_with('/') { "forbid" } else { "files" };
        let place = format!("{place}.{rule}");
        found.push(Violation::new(Violates::SideEffect, place, "no other change", actual));
    }
    found
}

fn what_became_of(change: &Change) -> String {
    let what = match change.kind {
        ChangeKind::Created => "was made",
        ChangeKind::Deleted => "was deleted",
        ChangeKind::Modified | ChangeKind::Unchanged => "was changed",
    };
    format!("`{}` {what}", change.path)
}

#[cfg(test)]
mod tests;
