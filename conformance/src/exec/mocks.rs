//! The document that is played: that of the file, and the mocks of the command line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixtures::document::{Document, Source, add_mocks, render_human};

/// What is mocked, and where its relative paths start.
#[derive(Debug)]
pub(crate) struct Mocks {
    pub(crate) document: Document,
    pub(crate) base: PathBuf,
}

/// Reads and admits everything.
///
/// # Errors
/// Every fault, with its place in the text that was given.
pub(crate) fn read(
    fixture: Option<&Path>,
    mocks: &[String],
    is_styled: bool,
) -> Result<Mocks, String> {
    let document = match fixture {
        Some(fixture) => fixtures::load(fixture, is_styled)?,
        None => nothing(),
    };
    let base = fixture.and_then(Path::parent).unwrap_or(Path::new("")).to_owned();
    let folder = if base == Path::new("") { Path::new(".") } else { &base };
    let sources = mocks.iter().enumerate().map(|(index, text)| {
        let name = match mocks.len() {
            1 => "--mock".to_owned(),
            _ => format!("--mock {}", index + 1),
        };
        Arc::new(Source::new(name, text.clone()))
    });
    let sources: Vec<Arc<Source>> = sources.collect();
    let document = add_mocks(document, &sources, folder).map_err(|diagnostics| {
        let faults = render_human(&diagnostics, is_styled);
        format!("`--mock` is refused\n\n{}", faults.trim_end())
    })?;
    Ok(Mocks { document, base })
}

fn nothing() -> Document {
    Document {
        schema_version: "2.0".to_owned(),
        scenario: "exec".to_owned(),
        description: None,
        class: None,
        covers: Vec::new(),
        mcp_servers: BTreeMap::new(),
        mcp_mocks: Vec::new(),
        command_mocks: Vec::new(),
        redact: None,
        tasks: Vec::new(),
    }
}
