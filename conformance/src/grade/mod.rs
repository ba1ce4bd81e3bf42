//! Grading: the evidence against what is expected, evidence first.

mod calls;
mod evidence;
pub(crate) mod graders;
mod limits;
mod outcome;

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

/// Changes that no expectation names.
fn side_effects(expects: &[&Expectation], evidence: &Evidence<'_>, place: &str) -> Vec<Violation> {
    let names = |path: &str| {
        expects.iter().filter_map(|it| it.files.as_ref()).any(|files| files.contains_key(path))
    };
    let unexpected = |change: &&Change| !names(&change.path);
    evidence
        .changes()
        .filter(unexpected)
        .map(|change| {
            let what = match change.kind {
                ChangeKind::Created => "was made",
                ChangeKind::Deleted => "was deleted",
                ChangeKind::Modified | ChangeKind::Unchanged => "was changed",
            };
            let rule = if change.path.starts_with('/') { "forbid" } else { "files" };
            let (place, actual) = (format!("{place}.{rule}"), format!("`{}` {what}", change.path));
            Violation::new(Violates::SideEffect, place, "no other change", actual)
        })
        .collect()
}

#[cfg(test)]
mod tests;
