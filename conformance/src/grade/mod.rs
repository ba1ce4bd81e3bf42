//! Grading: the evidence against what is expected, evidence first.

mod calls;
mod limits;
mod outcome;

use std::path::Path;

use fixtures::document::task::{Expectation, Violates};
use fixtures::redact::Redactor;

pub(crate) use calls::{Call, of as calls_of};

use crate::workspace::Difference;

/// What is judged.
#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    /// Every attempt, in the order of the journal.
    pub(crate) calls: &'a [Call],
    /// What is not as before in the workspace.
    pub(crate) changes: &'a [Difference],
    /// Forbidden paths that are not as before.
    pub(crate) touched: &'a [String],
    /// The agent's final words.
    pub(crate) answer: &'a str,
    /// The workspace as it is at the end.
    pub(crate) workspace: &'a Path,
    /// What makes the marks that stand in the evidence.
    pub(crate) redactor: &'a Redactor,
}

/// Something that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) kind: Violates,
    /// Where the expectation stands, as in `expect.calls[1]`.
    pub(crate) expectation: String,
    pub(crate) expected: String,
    pub(crate) actual: String,
}

impl Violation {
    fn new(
        kind: Violates,
        expectation: impl Into<String>,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) -> Violation {
        Violation {
            kind,
            expectation: expectation.into(),
            expected: expected.into(),
            actual: actual.into(),
        }
    }
}

/// What is violated: evidence first, then side effects, then outcomes.
pub(crate) fn grade(expect: &Expectation, evidence: &Evidence<'_>) -> Vec<Violation> {
    let mut found = own(expect, evidence, "expect");
    let alternatives = expect.any_of.iter().enumerate();
    let alternatives = alternatives.map(|(index, alternative)| {
        let place = format!("expect.any_of[{index}]");
        let mut found = own(alternative, evidence, &place);
        found.extend(side_effects(&[expect, alternative], evidence));
        found
    });
    match alternatives.min_by_key(Vec::len) {
        Some(nearest) => found.extend(nearest),
        None => found.extend(side_effects(&[expect], evidence)),
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
fn side_effects(expects: &[&Expectation], evidence: &Evidence<'_>) -> Vec<Violation> {
    let names = |path: &str| {
        expects.iter().filter_map(|it| it.files.as_ref()).any(|files| files.contains_key(path))
    };
    let changes = evidence.changes.iter().filter(|change| !names(&change.path)).map(|change| {
        let what = match (&change.before, &change.after) {
            (None, _) => "was made",
            (_, None) => "was deleted",
            _ => "was changed",
        };
        format!("`{}` {what}", change.path)
    });
    let touched = evidence.touched.iter().map(|path| format!("`{path}` is not as before"));
    let effect =
        |actual| Violation::new(Violates::SideEffect, "expect.files", "no other change", actual);
    changes.chain(touched).map(effect).collect()
}

#[cfg(test)]
mod tests;
