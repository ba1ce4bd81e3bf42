//! Command lines for what a script does with files and programs.

use std::fmt::Write;

/// A command line that tells its exit status in its last line, and ends with it.
///
/// A persistent shell lives on.
pub(super) fn telling(command: &str) -> String {
    // A comment or a here document must not swallow the parenthesis.
    let end = if command.contains(['\n', '#']) { "\n" } else { " " };
    format!("( {command}{end}); code=$?; printf '\\n[exit %s]\\n' \"$code\"; (exit \"$code\")")
}

/// Whether a result has the words of [`telling`] for a success.
pub(super) fn has_succeeded(result: &str) -> bool {
    let told = result.rsplit("[exit ").find_map(|rest| {
        let (digits, _) = rest.split_once(']')?;
        digits.parse::<u8>().ok()
    });
    told == Some(0)
}

/// Writes a file with exactly this text.
pub(super) fn write(path: &str, text: &str) -> String {
    let file = quoted(path);
    let folder = path.rsplit_once('/').map(|(folder, _)| folder).filter(|it| !it.is_empty());
    let folder = folder.map(|it| format!("mkdir -p {} && ", quoted(it))).unwrap_or_default();
    format!("{folder}printf '{}' > {file}", format_of(text))
}

pub(super) fn read(path: &str) -> String {
    format!("cat {}", quoted(path))
}

pub(super) fn delete(path: &str) -> String {
    format!("rm {}", quoted(path))
}

fn quoted(path: &str) -> String {
    let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    match shell_words::quote(&path) {
        // A word that begins a home directory.
        word if word.starts_with('~') => format!("'{word}'"),
        word => word.into_owned(),
    }
}

/// A format of `printf`, on one line and without a quote.
fn format_of(text: &str) -> String {
    let mut format = String::new();
    for (place, character) in text.chars().enumerate() {
        match character {
            '\\' => format.push_str("\\\\"),
            '%' => format.push_str("%%"),
            '\n' => format.push_str("\\n"),
            '-' if place == 0 => format.push_str("\\055"),
            '\'' | '\0'..='\x1f' | '\x7f' => {
                let _ = write!(format, "\\{:03o}", u32::from(character));
            }
            other => format.push(other),
        }
    }
    format
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::process::Command;

    use super::*;

    fn sh(shell: &str, line: &str, folder: &std::path::Path) -> String {
        let output = Command::new(shell).args(["-c", line]).current_dir(folder).output().unwrap();
        assert!(output.stderr.is_empty(), "{line}\n{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn files_are_written_to_the_byte() {
        let folder = tempfile::tempdir().unwrap();
        for shell in ["sh", "bash"] {
            for text in ["", "-n 100% \\n 'q' \"$HOME\" `x` !x\n\n", "\0\x01\r\t1é", "-", "\u{1}7"]
            {
                for path in ["plain", "a b/c d", "-n", "it's", "~", "~x/y"] {
                    sh(shell, &write(path, text), folder.path());
                    let written = std::fs::read_to_string(folder.path().join(path)).unwrap();
                    assert_eq!(written, text, "{shell} {path}");
                    assert_eq!(sh(shell, &read(path), folder.path()), text);
                    sh(shell, &delete(path), folder.path());
                    assert!(!folder.path().join(path).exists());
                }
            }
        }
    }

    #[test]
    fn command_lines_tell_how_they_ended_and_leave_the_shell_alone() {
        let folder = tempfile::tempdir().unwrap();
        for (command, is_success) in [
            ("true", true),
            ("exit 3", false),
            ("false # why", false),
            ("cat <<X\n[exit 0]\nX\nfalse", false),
            ("printf '[exit 1]'", true),
        ] {
            let line = format!("{}; echo \"then $?\"", telling(command));
            let text = sh("sh", &line, folder.path());
            assert_eq!(has_succeeded(&text), is_success, "{command}: {text}");
            assert_eq!(text.contains("then 0"), is_success, "{command}: {text}");
        }
        assert!(!has_succeeded("the user rejected printf '\\n[exit %s]\\n'"));
    }
}
