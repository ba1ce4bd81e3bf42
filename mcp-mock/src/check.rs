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
        Format::Human => document::render_files(&files, crate::is_styled(&io::stdout())),
    };
    let printed = crate::print(report.as_bytes());
    let is_refused = files.iter().any(Checked::is_refused);
    let is_noisy = files.iter().any(Checked::is_noisy);
    match printed {
        Exit::Success if is_unopened => Exit::Refused,
        Exit::Success if is_refused || (args.strict && is_noisy) => Exit::Stopped,
        printed => printed,
    }
}
