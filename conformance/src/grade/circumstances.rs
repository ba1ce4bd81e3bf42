//! What is asked of a call beside its operation, its arguments and its result.

use std::collections::BTreeMap;

use fixtures::document::task::{CallExpectation, Gap, Limit, TextExpectation};
use fixtures::journal::record::ReadText;
use sha2::{Digest, Sha256};

use super::Call;

/// So much of a text is shown.
const SHOWN_CHARS: usize = 200;

/// One thing that is asked, and what the call has of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    /// As in `stdin`.
    pub(super) what: String,
    pub(super) expected: String,
    pub(super) actual: String,
    pub(super) holds: bool,
}

/// What a command read, where it ran, and with which variables.
#[derive(Debug, Clone, Copy)]
pub(super) struct Circumstances<'e> {
    stdin: Option<&'e TextExpectation>,
    cwd: Option<&'e String>,
    environment: &'e BTreeMap<String, String>,
}

impl<'e> From<&'e CallExpectation> for Circumstances<'e> {
    fn from(it: &'e CallExpectation) -> Circumstances<'e> {
        Circumstances {
            stdin: it.stdin.as_ref(),
            cwd: it.cwd.as_ref(),
            environment: &it.environment,
        }
    }
}

impl<'e> From<&'e Limit> for Circumstances<'e> {
    fn from(it: &'e Limit) -> Circumstances<'e> {
        Circumstances {
            stdin: it.stdin.as_ref(),
            cwd: it.cwd.as_ref(),
            environment: &it.environment,
        }
    }
}

impl Circumstances<'_> {
    /// Everything that is asked, set against a call; without one nothing holds.
    pub(super) fn of(self, call: Option<&Call>) -> Vec<Asked> {
        let mut asked = Vec::new();
        if let Some(wanted) = self.stdin {
            let given = call.and_then(|call| call.stdin.as_ref());
            asked.push(Asked {
                what: "stdin".to_owned(),
                expected: told(wanted),
                actual: given.map_or("unread".to_owned(), |it| shown(it.text())),
                holds: given.is_some_and(|given| says(wanted, given)),
            });
        }
        if let Some(wanted) = self.cwd {
            let given = call.and_then(|call| call.cwd.as_ref());
            asked.push(Asked {
                what: "cwd".to_owned(),
                expected: format!("`{wanted}`"),
                actual: given.map_or("unknown".to_owned(), |it| format!("`{it}`")),
                holds: given.is_some_and(|given| plain(given) == plain(wanted)),
            });
        }
        for (name, wanted) in self.environment {
            let given = call.and_then(|call| call.environment.get(name)?.as_ref());
            asked.push(Asked {
                what: format!("environment {name}"),
                expected: shown(wanted),
                actual: given.map_or("not set".to_owned(), |it| shown(it)),
                holds: given == Some(wanted),
            });
        }
        asked
    }
}

/// The time since the call before it of the same operation, if there was one.
pub(super) fn gap(wanted: Gap, took: Option<f64>) -> Asked {
    let bounds = [("at least", wanted.at_least), ("at most", wanted.at_most)];
    let bounds: Vec<String> =
        bounds.iter().filter_map(|(word, bound)| Some(format!("{word} {}", (*bound)?))).collect();
    Asked {
        what: "gap_ms".to_owned(),
        expected: bounds.join(" and "),
        actual: took.map_or("no call before it".to_owned(), |took| took.to_string()),
        holds: took.is_none_or(|took| {
            wanted.at_least.is_none_or(|least| took >= least as f64)
                && wanted.at_most.is_none_or(|most| took <= most as f64)
        }),
    }
}

/// What is asked, in words that follow a call.
pub(super) fn expected(asked: &[Asked]) -> String {
    joined(asked.iter().map(|it| format!("{} {}", it.what, it.expected)))
}

/// What does not hold, in words that follow a call.
pub(super) fn actual(asked: &[Asked]) -> String {
    let violated = asked.iter().filter(|it| !it.holds);
    joined(violated.map(|it| format!("{} {}", it.what, it.actual)))
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { String::new() } else { format!(" with {}", parts.join(", ")) }
}

/// `a/./b/` is `a/b`.
fn plain(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !matches!(*part, "" | ".")).collect()
}

fn says(wanted: &TextExpectation, given: &ReadText) -> bool {
    match (wanted, given) {
        (TextExpectation::Equals(text), ReadText::Whole(given)) => text == given,
        (TextExpectation::Equals(text), ReadText::Head { bytes, sha256, .. }) => {
            text.len() == *bytes && digest(text) == *sha256
        }
        (TextExpectation::Contains(text), given) => given.text().contains(text),
        (TextExpectation::Matches(pattern), given) => pattern.is_found_in(given.text()),
    }
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn told(wanted: &TextExpectation) -> String {
    match wanted {
        TextExpectation::Equals(text) => shown(text),
        TextExpectation::Contains(text) => format!("with {}", shown(text)),
        TextExpectation::Matches(pattern) => format!("that matches `{}`", pattern.source()),
    }
}

fn shown(text: &str) -> String {
    let short: String = text.chars().take(SHOWN_CHARS).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{short:?}{more}")
}
