//! `type: code`: expressions that are true of the evidence. They are evaluated
//! in a process of their own, since one may never end, or take all memory.

use std::ffi::OsStr;
use std::time::Duration;

use fixtures::document::task::Language;
use serde::{Deserialize, Serialize};

use super::{Finding, Place, outside};
use crate::find;

/// How long all expressions of a grader may take.
const PATIENCE: Duration = Duration::from_secs(10);

const PYTHON: &str = include_str!("assert.py");
const JAVASCRIPT: &str = include_str!("assert.js");

/// What became of one expression.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Evaluated {
    pub(super) passed: bool,
    /// What it gave instead of what is true.
    #[serde(default)]
    pub(super) saw: String,
    /// Why it is no expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

pub(super) fn judge(
    language: Language,
    assertions: &[String],
    exhibit: &str,
    place: Place<'_>,
) -> Result<Finding, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let host = |name: &str| {
        let found = find::on_path(OsStr::new(name), &path);
        found.ok_or_else(|| format!("there is no `{name}` on PATH"))
    };
    let (program, leading) = match language {
        Language::Jq => (find::this()?, vec!["jq", "--"]),
        Language::Python => (host("python3")?, vec!["-c", PYTHON]),
        Language::Javascript => (host("node")?, vec!["-e", JAVASCRIPT, "--"]),
    };
    let leading = leading.into_iter().map(str::to_owned);
    let arguments = leading.chain(assertions.iter().cloned()).collect();
    let ran = outside::run(program, arguments, place.folder, exhibit, PATIENCE, place)?;
    let evaluated: Vec<Evaluated> = serde_json::from_str(&ran.stdout).map_err(|_| {
        format!("the expressions were not evaluated: {}", ran.last_line().unwrap_or("no word why"))
    })?;
    if evaluated.len() != assertions.len() {
        return Err("some of the expressions were not evaluated".to_owned());
    }
    let all = || assertions.iter().zip(&evaluated);
    if let Some((text, reason)) = all().find_map(|(text, it)| Some((text, it.error.as_ref()?))) {
        return Err(format!("`{text}` is no expression: {reason}"));
    }
    let failed = all().filter(|(_, it)| !it.passed);
    Ok(Finding::of(failed.map(|(text, it)| (format!("`{text}`"), it.saw.clone()))))
}
