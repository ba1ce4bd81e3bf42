//! Files and answer: what came of it.

use fixtures::document::path_segment;
use fixtures::document::task::{Expectation, FileExpectation, Violates};
use fixtures::matching::equal;

use super::{Evidence, Given};
use crate::results::Violation;

/// So much of a file is shown.
const SHOWN_CHARS: usize = 200;

pub(super) fn check(
    expect: &Expectation,
    evidence: &Evidence<'_>,
    place: &str,
    found: &mut Vec<Violation>,
) {
    for (path, wanted) in expect.files.iter().flatten() {
        let given = evidence.given(path);
        if !holds(wanted, &given) {
            let actual = match given {
                Given::Nothing => "no such file".to_owned(),
                Given::File(bytes) => shown(&String::from_utf8_lossy(&bytes)),
                Given::Other(what) => what.to_owned(),
            };
            let place = format!("{place}.files{}", path_segment(path));
            found.push(Violation::new(Violates::Outcome, place, told(wanted), actual));
        }
    }
    let Some(answer) = &expect.answer else { return };
    for text in answer.contains.iter().filter(|text| !evidence.answer().contains(*text)) {
        let (place, expected) = (format!("{place}.answer.contains"), format!("`{text}`"));
        found.push(Violation::new(Violates::Outcome, place, expected, shown(evidence.answer())));
    }
    for text in answer.absent.iter().filter(|text| evidence.answer().contains(*text)) {
        let (place, expected) = (format!("{place}.answer.absent"), format!("no `{text}`"));
        found.push(Violation::new(Violates::Outcome, place, expected, shown(evidence.answer())));
    }
}

fn holds(wanted: &FileExpectation, given: &Given<'_>) -> bool {
    let bytes = match given {
        Given::File(bytes) => Some(&**bytes),
        Given::Nothing | Given::Other(_) => None,
    };
    let is_text = |text: &str| {
        bytes.is_some_and(|bytes| {
            bytes.strip_suffix(b"\n").unwrap_or(bytes)
                == text.strip_suffix('\n').unwrap_or(text).as_bytes()
        })
    };
    match wanted {
        FileExpectation::Equals(text) => is_text(text),
        FileExpectation::OneOf(texts) => texts.iter().any(|text| is_text(text)),
        FileExpectation::Json(value) => bytes
            .and_then(|bytes| str::from_utf8(bytes).ok())
            .and_then(|given| fixtures::json::parse(given).ok())
            .is_some_and(|given| equal(&value.value(), &given)),
        FileExpectation::Absent(_) => *given == Given::Nothing,
    }
}

fn told(wanted: &FileExpectation) -> String {
    match wanted {
        FileExpectation::Equals(text) => shown(text),
        FileExpectation::OneOf(texts) => {
            let texts: Vec<String> = texts.iter().map(|text| shown(text)).collect();
            format!("one of {}", texts.join(", "))
        }
        FileExpectation::Json(value) => format!("the JSON value {}", shown(value.text())),
        FileExpectation::Absent(_) => "no such file".to_owned(),
    }
}

fn shown(text: &str) -> String {
    let short: String = text.chars().take(SHOWN_CHARS).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{short:?}{more}")
}
