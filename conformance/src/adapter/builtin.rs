//! The adapters that are built in, in the order in which they are listed.

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../adapters/", $name, ".toml")))),+]
    };
}

/// Name and file.
pub(crate) const BUILT_IN: &[(&str, &str)] = built_in![
    "claude-code",
    "codex",
    "gemini-cli",
    "copilot",
    "opencode",
    "qwen-code",
    "cline",
    "continue",
    "droid",
    "openhands",
    "fast-agent",
    "claude-code-acp",
    "codex-acp",
    "gemini-cli-acp",
    "qwen-code-acp",
    "opencode-acp",
    "goose",
    "crush",
    "cursor-agent",
    "kimi-cli",
    "auggie",
];

/// The file of a built-in adapter.
pub(crate) fn text_of(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
