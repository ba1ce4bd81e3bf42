//! Cases: documents with tasks, from files, or those that are compiled in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixtures::document::{self, Document, Options, Source};

use crate::results::Position;

/// A document with tasks.
#[derive(Debug)]
pub(crate) struct Case {
    /// Its scenario.
    pub(crate) name: String,
    /// The document's path, as it was given.
    pub(crate) file: String,
    pub(crate) document: Document,
    /// Where the files that it names are.
    pub(crate) base: PathBuf,
    /// Where the parts of its tasks stand.
    positions: BTreeMap<String, document::Position>,
}

impl Case {
    fn new(source: &Arc<Source>, document: Document, base: PathBuf) -> Case {
        Case {
            name: document.scenario.clone(),
            file: source.name.clone(),
            positions: document::positions(source, is_expectation),
            document,
            base,
        }
    }

    /// Where the parts of a task stand, by their path below it.
    pub(crate) fn positions(&self, task: &str) -> BTreeMap<String, Position> {
        let index = self.document.tasks.iter().position(|it| it.id == task).unwrap_or_default();
        let prefix = format!("tasks[{index}].");
        let below = self.positions.iter().filter_map(|(path, at)| {
            let position = Position { line: at.line, column: at.column };
            Some((path.strip_prefix(&prefix)?.to_owned(), position))
        });
        below.collect()
    }
}

/// Whether a path leads to what a violation may name, such as
/// `tasks[0].no_fault.expect.any_of[1].files["a"]`.
fn is_expectation(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("tasks") else { return false };
    let Some((_, part)) = rest.split_once("].") else { return true };
    let part = part.strip_prefix("no_fault").unwrap_or(part).trim_start_matches('.');
    let Some(part) = part.strip_prefix("expect") else {
        return part.is_empty() || part == "graders" || part.starts_with("graders[");
    };
    let part = match part.strip_prefix(".any_of[").and_then(|it| it.split_once(']')) {
        Some((_, part)) => part,
        None => part,
    };
    // A list or mapping, and what stands in it.
    part.bytes().filter(|byte| matches!(byte, b'.' | b'[')).count() <= 2 || part.contains("[\"")
}

macro_rules! suite {
    ($name:literal) => {
        (
            concat!("recovery/", $name, ".yaml"),
            include_str!(concat!("../../fixtures/recovery/", $name, ".yaml")),
        )
    };
}

/// The recovery suites, which are compiled in.
const SUITES: [(&str, &str); 16] = [
    suite!("mcp/transient"),
    suite!("mcp/permanent"),
    suite!("mcp/permission"),
    suite!("mcp/timeout"),
    suite!("mcp/malformed"),
    suite!("mcp/unmatched"),
    suite!("mcp/cancellation"),
    suite!("mcp/exhaustion"),
    suite!("cli/transient"),
    suite!("cli/permanent"),
    suite!("cli/permission"),
    suite!("cli/timeout"),
    suite!("cli/malformed"),
    suite!("cli/unmatched"),
    suite!("cli/cancellation"),
    suite!("cli/exhaustion"),
];

/// The cases at these paths, or the suites where there are none.
///
/// # Errors
/// Every fault of every document, so that nothing starts before all are sound.
pub(crate) fn load(paths: &[PathBuf], is_styled: bool) -> Result<Vec<Case>, String> {
    if paths.is_empty() {
        return suites().map(built_in).collect();
    }
    let files = files(paths)?;
    let mut cases = Vec::new();
    let mut refused = Vec::new();
    for file in files {
        match fixtures::load_with_source(&file, is_styled) {
            Ok((document, _)) if document.tasks.is_empty() => {
                refused.push(format!("`{}` has no tasks", file.display()));
            }
            Ok((document, source)) => {
                let base = file.parent().unwrap_or(Path::new("")).to_owned();
                cases.push(Case::new(&source, document, base));
            }
            Err(reason) => refused.push(reason),
        }
    }
    refused.extend(namesakes(&cases));
    if refused.is_empty() { Ok(cases) } else { Err(refused.join("\n\n")) }
}

/// Cases that results could not tell apart.
fn namesakes(cases: &[Case]) -> Vec<String> {
    let mut known = BTreeMap::new();
    let again = cases.iter().filter_map(|case| namesake(&mut known, &case.name, &case.file));
    again.collect()
}

/// Whether another file has the name already.
pub(crate) fn namesake<'c>(
    known: &mut BTreeMap<&'c str, &'c str>,
    name: &'c str,
    file: &'c str,
) -> Option<String> {
    let first = known.insert(name, file)?;
    Some(format!(
        "`{first}` and `{file}` are both called `{name}`: give one of them another `scenario`"
    ))
}

/// The built-in suites, by name and text.
pub(crate) fn suites() -> impl Iterator<Item = Arc<Source>> {
    SUITES.iter().map(|(name, text)| Arc::new(Source::new((*name).to_owned(), (*text).to_owned())))
}

/// The documents at these paths.
///
/// # Errors
/// A directory cannot be read.
pub(crate) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in paths {
        files_of(path, &mut files)?;
    }
    Ok(files)
}

fn built_in(source: Arc<Source>) -> Result<Case, String> {
    let (document, diagnostics) =
        document::admit(Arc::clone(&source), Path::new("."), Options::default());
    let document = document
        .ok_or_else(|| document::render_human(&diagnostics, false).trim_end().to_owned())?;
    Ok(Case::new(&source, document, PathBuf::from(".")))
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
