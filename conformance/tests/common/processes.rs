//! Who runs on behalf of a test.

use std::path::Path;

/// The command lines of the processes that have this directory as their `TMPDIR`.
pub(crate) fn with_tmpdir(folder: &Path) -> Vec<String> {
    let mark = format!("TMPDIR={}", folder.display());
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        if variables.any(|variable| variable == mark.as_bytes()) {
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&line).replace('\0', " "));
        }
    }
    found
}
