//! `type: file`: what stands in the workspace at the end.

use fixtures::document::task::ContentPatterns;

use super::{Evidence, Finding};
use crate::grade::Given;

pub(super) fn judge(
    must_exist: &[String],
    must_not_exist: &[String],
    content_patterns: &[ContentPatterns],
    evidence: &Evidence<'_>,
) -> Finding {
    let is_there = |path: &String| evidence.given(path) != Given::Nothing;
    let missing = must_exist.iter().filter(|path| !is_there(path));
    let missing = missing.map(|path| (format!("`{path}`"), "nothing there".to_owned()));
    let extra = must_not_exist.iter().filter(|path| is_there(path));
    let extra = extra.map(|path| (format!("no `{path}`"), "it is there".to_owned()));
    let unlike = content_patterns.iter().filter_map(|patterns| unlike(patterns, evidence));
    Finding::of(missing.chain(extra).chain(unlike))
}

/// The first pattern of a file that does not hold.
fn unlike(patterns: &ContentPatterns, evidence: &Evidence<'_>) -> Option<(String, String)> {
    let ContentPatterns { path, must_match, must_not_match } = patterns;
    let text = match evidence.given(path) {
        Given::File(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Given::Nothing => return Some((format!("a file `{path}`"), "nothing there".to_owned())),
        Given::Other(what) => return Some((format!("a file `{path}`"), what.to_owned())),
    };
    let missing = must_match.iter().find(|it| !it.is_found_in(&text));
    let missing =
        missing.map(|it| (format!("`{}` in `{path}`", it.source()), "it is not found".to_owned()));
    let found = || {
        let found = must_not_match.iter().find(|it| it.is_found_in(&text))?;
        Some((format!("no `{}` in `{path}`", found.source()), "it is found".to_owned()))
    };
    missing.or_else(found)
}
