//! The adapters that are built in, in the order in which they are listed.

/// Name and file.
pub(crate) const BUILT_IN: &[(&str, &str)] = &[
    ("claude-code", include_str!("../../adapters/claude-code.toml")),
    ("codex", include_str!("../../adapters/codex.toml")),
    ("gemini-cli", include_str!("../../adapters/gemini-cli.toml")),
    ("copilot", include_str!("../../adapters/copilot.toml")),
    ("opencode", include_str!("../../adapters/opencode.toml")),
    ("qwen-code", include_str!("../../adapters/qwen-code.toml")),
    ("cline", include_str!("../../adapters/cline.toml")),
    ("continue", include_str!("../../adapters/continue.toml")),
    ("droid", include_str!("../../adapters/droid.toml")),
    ("openhands", include_str!("../../adapters/openhands.toml")),
    ("fast-agent", include_str!("../../adapters/fast-agent.toml")),
    ("claude-code-acp", include_str!("../../adapters/claude-code-acp.toml")),
    ("codex-acp", include_str!("../../adapters/codex-acp.toml")),
    ("gemini-cli-acp", include_str!("../../adapters/gemini-cli-acp.toml")),
    ("qwen-code-acp", include_str!("../../adapters/qwen-code-acp.toml")),
    ("opencode-acp", include_str!("../../adapters/opencode-acp.toml")),
    ("goose", include_str!("../../adapters/goose.toml")),
    ("crush", include_str!("../../adapters/crush.toml")),
    ("cursor-agent", include_str!("../../adapters/cursor-agent.toml")),
    ("kimi-cli", include_str!("../../adapters/kimi-cli.toml")),
    ("auggie", include_str!("../../adapters/auggie.toml")),
];

/// The file of a built-in adapter.
pub(crate) fn text_of(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
