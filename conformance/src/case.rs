//! Cases: documents with tasks, from files, or those that are compiled in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixtures::document::{self, Document, Options, Source};

/// A document with tasks.
#[derive(Debug)]
pub(crate) struct Case {
    /// Its scenario.
    pub(crate) name: String,
    pub(crate) document: Document,
    /// Where the files that it names are.
    pub(crate) base: PathBuf,
}

/// The recovery suites, which are compiled in.
const SUITES: [(&str, &str); 11] = [
    ("recovery/mcp/transient.yaml", include_str!("../../fixtures/recovery/mcp/transient.yaml")),
    ("recovery/mcp/permanent.yaml", include_str!("../../fixtures/recovery/mcp/permanent.yaml")),
    ("recovery/mcp/permission.yaml", include_str!("../../fixtures/recovery/mcp/permission.yaml")),
    ("recovery/mcp/timeout.yaml", include_str!("../../fixtures/recovery/mcp/timeout.yaml")),
    ("recovery/mcp/malformed.yaml", include_str!("../../fixtures/recovery/mcp/malformed.yaml")),
    ("recovery/mcp/unmatched.yaml", include_str!("../../fixtures/recovery/mcp/unmatched.yaml")),
    (
        "recovery/mcp/cancellation.yaml",
        include_str!("../../fixtures/recovery/mcp/cancellation.yaml"),
    ),
    ("recovery/mcp/exhaustion.yaml", include_str!("../../fixtures/recovery/mcp/exhaustion.yaml")),
    ("recovery/cli/transient.yaml", include_str!("../../fixtures/recovery/cli/transient.yaml")),
    ("recovery/cli/permanent.yaml", include_str!("../../fixtures/recovery/cli/permanent.yaml")),
    ("recovery/cli/permission.yaml", include_str!("../../fixtures/recovery/cli/permission.yaml")),
];

/// The cases at these paths, or the suites where there are none.
///
/// # Errors
/// Every fault of every document, so that nothing starts before all are sound.
pub(crate) fn load(paths: &[PathBuf], is_styled: bool) -> Result<Vec<Case>, String> {
    if paths.is_empty() {
        return SUITES.iter().map(|(name, text)| built_in(name, text)).collect();
    }
    let mut files = Vec::new();
    for path in paths {
        files_of(path, &mut files)?;
    }
    let mut cases = Vec::new();
    let mut refused = Vec::new();
    for file in files {
        match fixtures::load(&file, is_styled) {
            Ok(document) if document.tasks.is_empty() => {
                refused.push(format!("`{}` has no tasks", file.display()));
            }
            Ok(document) => {
                let base = file.parent().unwrap_or(Path::new("")).to_owned();
                cases.push(Case { name: document.scenario.clone(), document, base });
            }
            Err(reason) => refused.push(reason),
        }
    }
    if refused.is_empty() { Ok(cases) } else { Err(refused.join("\n\n")) }
}

fn built_in(name: &str, text: &str) -> Result<Case, String> {
    let source = Arc::new(Source::new(name.to_owned(), text.to_owned()));
    let (document, diagnostics) = document::admit(source, Path::new("."), Options::default());
    let document = document
        .ok_or_else(|| document::render_human(&diagnostics, false).trim_end().to_owned())?;
    Ok(Case { name: document.scenario.clone(), document, base: PathBuf::from(".") })
}

/// The files that a path means; of a directory, the documents below it.
fn files_of(path: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    if !path.is_dir() {
        found.push(path.to_owned());
        return Ok(());
    }
    let failed = |error| format!("cannot read `{}`: {error}", path.display());
    let entries = std::fs::read_dir(path).map_err(failed)?;
    let mut entries: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    entries.sort();
    for entry in entries {
        let is_document =
            entry.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        if is_document || entry.is_dir() {
            files_of(&entry, found)?;
        }
    }
    Ok(())
}
