//! Whether an agent is here, and which version.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Adapter;
use crate::find;

/// How long a program may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often its end is looked for.
const LOOK: Duration = Duration::from_millis(10);

/// An agent that is here.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) program: PathBuf,
    pub(crate) version: Option<String>,
}

/// Looks for the agent's program on PATH, and asks for its version.
pub(crate) fn detect(adapter: &Adapter) -> Option<Found> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = find::on_path(OsStr::new(&adapter.detect.program), &path)?;
    let program = std::path::absolute(program).ok()?;
    let version = (!adapter.detect.version.is_empty()).then(|| version(adapter, &program));
    Some(Found { version: version.flatten(), program })
}

fn version(adapter: &Adapter, program: &std::path::Path) -> Option<String> {
    // What it writes on the way, as some do on every start, is not the user's.
    let home = tempfile::tempdir().ok()?;
    let said = home.path().join("version.txt");
    let output = std::fs::File::create(&said).ok()?;
    let mut process = Command::new(program)
        .args(&adapter.detect.version)
        .envs([("HOME", home.path()), ("XDG_CONFIG_HOME", home.path())])
        .current_dir(home.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .stdout(output)
        .spawn()
        .ok()?;
    let end = Instant::now() + PATIENCE;
    while process.try_wait().ok()?.is_none() {
        if Instant::now() > end {
            // It may have ended this very moment.
            let _ = process.kill();
            let _ = process.wait();
            break;
        }
        std::thread::sleep(LOOK);
    }
    number(&String::from_utf8_lossy(&std::fs::read(&said).ok()?))
}

/// The first thing like 1.2.3 in a text.
fn number(text: &str) -> Option<String> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '+');
    let words = text.split(|it: char| !is_part(it));
    let words = words.map(|it| it.strip_prefix('v').unwrap_or(it).trim_end_matches(['.', '-']));
    let is_version = |word: &&str| {
        word.starts_with(|it: char| it.is_ascii_digit()) && word.matches('.').count() >= 1
    };
    words.into_iter().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn a_version_is_found_in_what_programs_say() {
        for (said, version) in [
            ("2.1.332 (Claude Code)\n", Some("2.1.332")),
            ("codex-cli 0.171.0", Some("0.171.0")),
            ("GitHub Copilot CLI 1.0.102.\nCommit: ab12", Some("1.0.102")),
            ("v1.2.3-beta.1", Some("1.2.3-beta.1")),
            ("usage: x", None),
            ("", None),
        ] {
            assert_eq!(number(said).as_deref(), version);
        }
    }
}
