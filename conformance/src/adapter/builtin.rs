//! The adapters that are built in, in the order in which they are listed.

/// Name and file.
pub(crate) const BUILT_IN: &[(&str, &str)] =
    &[("claude-code", include_str!("../../adapters/claude-code.toml"))];

/// The file of a built-in adapter.
pub(crate) fn text_of(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
