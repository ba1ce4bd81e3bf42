//! `mcp-mock check`: every fault of every file at once.

use std::io;

use fixtures::document::{self, Checked, Options};

use crate::cli::{CheckArgs, Format};
use crate::exit::Exit;

pub(crate) fn run(args: &CheckArgs) -> Exit {
    let options = Options { compat_waza: args.compat.is_some(), is_serving: false };
    let mut files = Vec::new();
    let mut is_unopened = false;
    for path in &args.files {
        match document::check_file(path, options) {
            Ok(checked) => files.push(checked),
            Err(error) => {
                crate::complain(&format!("cannot open `{}`: {error}", path.display()));
                is_unopened = true;
            }
        }
    }
    let report = match args.format {
        Format::Json => format!("{}\n", document::render_json(&files, !is_unopened)),
        Format::Human => human(&files),
    };
    let printed = crate::print(report.as_bytes());
    let is_refused = files.iter().any(Checked::is_refused);
    let is_noisy = files.iter().any(|file| !file.diagnostics.is_empty());
    match printed {
        Exit::Success if is_unopened => Exit::Refused,
        Exit::Success if is_refused || (args.strict && is_noisy) => Exit::Stopped,
        printed => printed,
    }
}

fn human(files: &[Checked]) -> String {
    let is_styled = crate::is_styled(&io::stdout());
    let mut text = String::new();
    for file in files {
        text += &document::render_human(&file.diagnostics, is_styled);
        let verdict = if file.is_refused() { "refused" } else { "ok" };
        text += &format!("{}: {verdict}", file.path);
        text += &match file.diagnostics.len() {
            0 => "\n".to_owned(),
            1 => ", 1 finding\n".to_owned(),
            findings => format!(", {findings} findings\n"),
        };
    }
    text
}
