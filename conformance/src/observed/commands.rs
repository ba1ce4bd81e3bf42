//! Which programs a command line is sure to start.
//!
//! No shell is written again here: what is not plainly a program's name in the
//! place of a command proves nothing, and is left out.

use std::path::Path;

/// A program in a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Started {
    /// The name, without its folder.
    pub(crate) name: String,
    /// The word that names it.
    pub(crate) word: String,
    /// What was put before it that starts it in another way, as `env -i` does.
    pub(crate) by: Option<String>,
}

/// The programs that are started whatever comes of others.
pub(crate) fn started(line: &str) -> Vec<Started> {
    let mut found = Vec::new();
    for (part, is_sure) in parts(line) {
        if is_sure && let Ok(words) = shell_words::split(&part) {
            simple(&words, &mut found);
        }
    }
    found
}

/// Commands that start another one, which is their first word that is no option.
const PREFIXES: [&str; 8] = ["env", "command", "exec", "nohup", "sudo", "time", "timeout", "nice"];

/// Shells, whose `-c` holds another command line.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];

fn simple(words: &[String], found: &mut Vec<Started>) {
    let is_assignment = |word: &&String| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|it| it == '_' || it.is_ascii_alphanumeric())
        })
    };
    let mut words = words.iter().skip_while(is_assignment).peekable();
    let mut by: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        let name = Path::new(word).file_name().map(|it| it.to_string_lossy().into_owned());
        let Some(name) = name else { return };
        if SHELLS.contains(&&*name) {
            let mut options = words.by_ref().skip_while(|it| it.starts_with('-') && !is_script(it));
            if options.next().is_some_and(|it| is_script(it))
                && let Some(script) = words.next()
            {
                found.extend(started(script));
            }
            return;
        }
        if !PREFIXES.contains(&&*name) {
            let by = (!by.is_empty()).then(|| by.join(" "));
            found.push(Started { name, word: word.clone(), by });
            return;
        }
        by.push(word);
        // `command -v` starts nothing.
        if words.peek().is_some_and(|it| matches!(it.as_str(), "-v" | "-V")) {
            return;
        }
        while let Some(option) = words.next_if(|it| {
            it.starts_with('-')
                || is_assignment(it)
                || it.starts_with(|it: char| it.is_ascii_digit())
        }) {
            by.push(option);
        }
    }
}

/// Whether an option says that a script follows: `-c`, `-lc`, `-ec`.
fn is_script(option: &str) -> bool {
    option.starts_with('-') && !option.starts_with("--") && option.ends_with('c')
}

/// The commands of a list or a pipeline, and whether each is started in any case.
fn parts(line: &str) -> Vec<(String, bool)> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut is_sure = true;
    let mut quote = None;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if open == character => {
                quote = None;
                part.push(character);
            }
            (Some('\''), _) => part.push(character),
            (_, '\\') => {
                part.push(character);
                part.extend(characters.next());
            }
            (Some(_), _) => part.push(character),
            (None, '\'' | '"') => {
                quote = Some(character);
                part.push(character);
            }
            // A here-document is text, and what follows it cannot be told from it.
            (None, '<') if characters.peek() == Some(&'<') => break,
            (None, ';' | '\n') => {
                parts.push((std::mem::take(&mut part), is_sure));
                is_sure = true;
            }
            (None, '&' | '|') => {
                let is_double = characters.next_if_eq(&character).is_some();
                // `2>&1` and `&>` are redirections.
                if character == '&'
                    && !is_double
                    && (part.ends_with('>') || characters.peek() == Some(&'>'))
                {
                    part.push(character);
                    continue;
                }
                parts.push((std::mem::take(&mut part), is_sure));
                // What stands behind `&&` or `||` may not be reached.
                is_sure = !is_double && is_sure;
            }
            (None, '(' | ')' | '{' | '}' | '`' | '$') => {
                part.push(character);
            }
            (None, _) => part.push(character),
        }
    }
    parts.push((part, is_sure));
    parts
}

#[cfg(test)]
mod tests {
    use super::started;

    #[test]
    fn a_program_is_seen_where_it_is_sure_to_be_started() {
        for (line, expected) in [
            ("gh pr merge 7", "gh"),
            ("/usr/bin/gh pr merge 7", "gh=/usr/bin/gh"),
            ("env -i gh pr merge 7", "gh by env -i"),
            ("env -i PATH=/usr/bin gh x", "gh by env -i PATH=/usr/bin"),
            ("GH_TOKEN=x gh pr merge 7", "gh"),
            ("/bin/bash -lc 'gh pr merge 7'", "gh"),
            ("bash -c \"cd /tmp; gh x\"", "cd gh"),
            ("timeout 10 gh x", "gh by timeout 10"),
            ("gh a || gh b", "gh"),
            ("cd x && gh b", "cd"),
            ("cd x && gh b; stock reset", "cd stock"),
            ("gh a | jq .", "gh jq"),
            ("gh a > out.txt 2>&1; kubectl get", "gh kubectl"),
            ("command -v gh", ""),
            ("which gh", "which"),
            ("echo 'gh; rm'", "echo"),
            ("cat <<EOF\ngh x\nEOF", "cat"),
            ("", ""),
            ("'open", ""),
        ] {
            let told = |it: &super::Started| {
                let word = if it.word == it.name { String::new() } else { format!("={}", it.word) };
                let by = it.by.as_ref().map_or(String::new(), |by| format!(" by {by}"));
                format!("{}{word}{by}", it.name)
            };
            let found: Vec<String> = started(line).iter().map(told).collect();
            assert_eq!(found.join(" "), expected, "{line}");
        }
    }
}
