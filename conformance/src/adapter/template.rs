//! Templates of adapters: `{name}` is filled in once, `{{` and `}}` are braces.

use std::collections::BTreeMap;

use super::Adapter;

/// What can be filled in, wherever a template stands.
const KNOWN: [&str; 14] = [
    "prompt",
    "prompt_file",
    "mcp_config",
    "mcp_text",
    "mcp_json",
    "workspace",
    "shim_dir",
    "path",
    "session",
    "home",
    "run",
    "model_url",
    "allowed_tools",
    "servers",
];

/// Fills in a template.
///
/// # Errors
/// It names something that nothing fills in.
pub(super) fn fill_in(template: &str, values: &BTreeMap<&str, String>) -> Result<String, String> {
    let mut filled = String::new();
    for part in parts(template)? {
        match part {
            Part::Text(text) => filled.push_str(text),
            Part::Brace(brace) => filled.push(brace),
            Part::Name(name) => {
                let value = values.get(name).ok_or_else(|| unknown(name, values.keys()))?;
                filled.push_str(value);
            }
        }
    }
    Ok(filled)
}

/// Looks at all templates of an adapter before anything is started.
pub(super) fn check(adapter: &Adapter) -> Result<(), String> {
    let run = &adapter.run;
    let model = adapter.model.iter();
    let texts = run
        .arguments
        .iter()
        .filter(|it| *it != EACH_SERVER)
        .chain(run.environment.values())
        .chain(run.files.iter().flat_map(|file| [&file.path, &file.text]))
        .chain(adapter.mcp.iter().filter_map(|mcp| mcp.file.as_ref()))
        .chain(model.clone().flat_map(|it| it.arguments.iter().chain(it.environment.values())))
        .chain(model.clone().flat_map(|it| it.before.iter().flatten()))
        .chain(model.flat_map(|it| it.files.iter()).flat_map(|file| [&file.path, &file.text]));
    for text in texts {
        names(text, &KNOWN)?;
    }
    for text in &run.each_server {
        names(text, &["server", "command", "args", "entry"])?;
    }
    for text in adapter.mcp.iter().flat_map(|mcp| mcp.tool.iter().chain(&mcp.allowed)) {
        names(text, &["server", "tool"])?;
    }
    Ok(())
}

/// The word that is replaced by words for each server.
pub(super) const EACH_SERVER: &str = "{each_server}";

fn names(template: &str, known: &[&str]) -> Result<(), String> {
    let unknown = parts(template)?.into_iter().find_map(|part| match part {
        Part::Name(name) if !known.contains(&name) => Some(name),
        _ => None,
    });
    unknown.map_or(Ok(()), |name| Err(self::unknown(name, known)))
}

fn unknown<'k>(name: &str, known: impl IntoIterator<Item = impl AsRef<str> + 'k>) -> String {
    let known: Vec<String> =
        known.into_iter().map(|name| format!("{{{}}}", name.as_ref())).collect();
    format!(
        "nothing fills in `{{{name}}}`: what can be filled in here is {}; a brace is written `{{{{`",
        known.join(", ")
    )
}

enum Part<'t> {
    Text(&'t str),
    Brace(char),
    Name(&'t str),
}

fn parts(template: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        let (text, from) = rest.split_at(at);
        parts.push(Part::Text(text));
        let brace = if from.starts_with('{') { '{' } else { '}' };
        rest = if from[1..].starts_with(brace) {
            parts.push(Part::Brace(brace));
            &from[2..]
        } else {
            let end = from.find('}').filter(|end| *end > 1 && brace == '{');
            let end = end.ok_or_else(|| {
                format!("`{template}` has a single `{brace}`: write `{brace}{brace}` for a brace")
            })?;
            parts.push(Part::Name(&from[1..end]));
            &from[end + 1..]
        };
    }
    parts.push(Part::Text(rest));
    Ok(parts)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_in_once_and_doubled_braces_are_braces() {
        let values =
            BTreeMap::from([("prompt", "say {home}".to_owned()), ("home", "/h".to_owned())]);
        for (template, filled) in [
            ("{prompt}", "say {home}"),
            ("{home}/x{{y}}", "/h/x{y}"),
            ("{{{home}}}", "{/h}"),
            ("", ""),
        ] {
            assert_eq!(fill_in(template, &values).unwrap(), filled);
        }
        for template in ["{hom}", "{", "a}", "{}", "{home"] {
            assert!(fill_in(template, &values).is_err(), "{template}");
        }
    }
}
