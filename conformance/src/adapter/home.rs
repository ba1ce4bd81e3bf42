//! A private HOME, so that nothing of the user's is read or written.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use fixtures::session::{SHELL_FILES, Session};

use super::Pass;

/// The folders of the XDG base directory specification, and where they are.
pub(super) const XDG: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
];

/// What shells read below HOME, whichever way they are started.
const START_FILES: [&str; 3] = [".bashrc", ".bash_profile", ".profile"];

/// Makes the HOME of a run, with what the adapter passes on of the user's.
pub(super) fn make(home: &Path, pass: &Pass, session: Option<&Session>) -> Result<(), String> {
    for folder in XDG.iter().map(|(_, folder)| home.join(folder)) {
        folder_made(&folder)?;
    }
    let users = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    for file in &pass.files {
        let (from, to) = (users.join(file), home.join(file));
        if from.is_file() {
            to.parent().map_or(Ok(()), folder_made)?;
            fs::copy(&from, &to)
                .map_err(|error| format!("cannot copy `{}`: {error}", from.display()))?;
        }
    }
    let Some(session) = session else { return Ok(()) };
    // An interactive shell reads none of the variables that name such a file.
    let shims = session.directory().join(SHELL_FILES).join("bash");
    let shims = shell_words::quote(&shims.to_string_lossy()).into_owned();
    let code = format!(
        "# Puts the mocked executables first, and keeps aliases from hiding them.\nunalias -a\n. {shims}\n"
    );
    for name in START_FILES {
        let file = home.join(name);
        fs::write(&file, &code)
            .map_err(|error| format!("cannot write `{}`: {error}", file.display()))?;
    }
    Ok(())
}

/// Makes a folder of this user alone, and those on the way to it.
pub(super) fn folder_made(folder: &Path) -> Result<(), String> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| format!("cannot make `{}`: {error}", folder.display()))
}
