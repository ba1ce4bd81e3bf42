//! Text as one word of a shell.

/// For sh, bash and zsh.
pub(super) fn sh(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// For fish.
pub(super) fn fish(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"))
}

/// The value of BASH_ENV or ENV, which shells expand as within double quotes.
pub(super) fn expanded(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '$' | '`') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn is_plain(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@%".contains(c);
    !text.is_empty() && text.chars().all(is_plain)
}
