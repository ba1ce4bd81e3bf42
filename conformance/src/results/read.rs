//! Results that were saved.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::plain::on_one_line;

use super::{Event, Record, Summary, VERSION};

/// All of `results.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Results {
    #[serde(rename = "schemaVersion")]
    #[allow(dead_code, reason = "it was looked at before")]
    version: String,
    pub(crate) runs: Vec<Record>,
    pub(crate) summary: Summary,
}

/// Reads the results in a file.
///
/// # Errors
/// The file cannot be read, is of another version, or is no results file.
pub(crate) fn read(file: &Path) -> Result<Results, String> {
    let shown = file.display();
    let text =
        fs::read_to_string(file).map_err(|error| format!("cannot read `{shown}`: {error}"))?;
    let refused = |fault: &dyn Display| {
        format!(
            "`{shown}` holds no results: {}; give a `results.json` that `agent-conformance run --out` wrote",
            // It tells what stands there.
            on_one_line(&fault.to_string())
        )
    };
    #[derive(Deserialize)]
    struct Version {
        #[serde(rename = "schemaVersion")]
        version: String,
    }
    let Version { version } = serde_json::from_str(&text).map_err(|it| refused(&it))?;
    if version != VERSION {
        return Err(format!(
            "`{shown}` is of version {version:?}, this program knows \"{VERSION}\": use the program that wrote it"
        ));
    }
    let results: Results = serde_json::from_str(&text).map_err(|it| refused(&it))?;
    match fault(&results) {
        Some(fault) => Err(refused(&fault)),
        None => Ok(results),
    }
}

/// What nobody could judge, or judge otherwise than it was meant.
fn fault(results: &Results) -> Option<String> {
    let Summary { k, n, .. } = results.summary;
    if k < 1 || k > n {
        return Some(format!("`summary` wants {k} of {n} trials"));
    }
    results.runs.iter().enumerate().find_map(|(index, record)| {
        if record.trial < 1 {
            return Some(format!("`runs[{index}].trial` is 0"));
        }
        let (place, why) = Event::unreadable(record)?;
        Some(format!("`runs[{index}].{place}` is no attempt: {why}"))
    })
}
