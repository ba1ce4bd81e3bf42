//! `type: program`: exit status 0 passes.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use super::outside::{self, Ran};
use super::{Finding, Place};
use crate::exec::command;

/// How long a program may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// So much of what it says is shown.
const SHOWN_CHARS: usize = 500;

pub(super) fn judge(words: &[String], exhibit: &str, place: Place<'_>) -> Result<Finding, String> {
    let (name, arguments) = words.split_first().ok_or("it names no program")?;
    let base = std::path::absolute(Path::new(".").join(place.base))
        .map_err(|error| format!("cannot tell where the document is: {error}"))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name_in_base = base.join(name);
    let name = if name.contains('/') { name_in_base.as_os_str() } else { OsStr::new(name) };
    let program = command::find(name, &path).map_err(|not_run| not_run.reason)?;
    let ran = outside::run(program, arguments.to_vec(), &base, exhibit, PATIENCE, place)?;
    let expected = format!("exit status 0 of `{}`", shell_words::join(words));
    Ok(Finding::of((ran.code != 0).then(|| (expected, told(&ran)))))
}

fn told(ran: &Ran) -> String {
    let said = ran.last_line().unwrap_or("it said nothing");
    let said: String = said.chars().take(SHOWN_CHARS).collect();
    format!("{}: {said}", ran.code)
}
