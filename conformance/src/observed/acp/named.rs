//! What a call is of: agents name servers and tools each in their own way.

use serde_json::{Map, Value};

/// The kind of calls that run something.
const EXECUTE: &str = "execute";

/// Whether it is known what a call is of. Of a command some tell first where it runs.
pub(super) fn is_known(about: &Map<String, Value>) -> bool {
    let Some(input) = about.get("rawInput") else { return false };
    let is_command = about.get("kind").and_then(Value::as_str) == Some(EXECUTE);
    !is_command || input.get("command").is_some() || input.get("tool").is_some()
}

/// The command line that a call runs, if it runs one.
pub(super) fn command(about: &Map<String, Value>) -> Option<String> {
    if about.get("kind").and_then(Value::as_str) != Some(EXECUTE) {
        return None;
    }
    match about.get("rawInput").and_then(|input| input.get("command")) {
        Some(Value::String(command)) => Some(command.clone()),
        Some(Value::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(match &*words {
                // A shell that is given a script.
                [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => {
                    (*script).to_owned()
                }
                words => shell_words::join(words),
            })
        }
        // Whoever does not tell its input has the command as its title.
        _ if !about.contains_key("rawInput") => {
            Some(text(about, "title")?.trim_matches('`').to_owned())
        }
        _ => None,
    }
}

/// Server, tool and arguments.
pub(super) fn call(
    about: &Map<String, Value>,
    servers: &[String],
) -> (Option<String>, String, Value) {
    let input = about.get("rawInput").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    if let (Some(server), Some(tool)) = (input["server"].as_str(), input["tool"].as_str()) {
        let arguments = input.get("arguments").cloned().unwrap_or_default();
        return (Some(server.to_owned()), tool.to_owned(), arguments);
    }
    let meta = |at: &str| about.get("_meta").and_then(|it| it.pointer(at)).and_then(Value::as_str);
    let (claude, qwen) = (meta("/claudeCode/toolName"), meta("/toolName"));
    let names = [text(about, "name"), claude, qwen, text(about, "title")];
    let mut names = names.into_iter().flatten();
    let split = names.clone().find_map(|name| split(name, servers));
    match split {
        Some((server, tool)) => (Some(server), tool, input),
        None => (None, names.next().unwrap_or_default().to_owned(), input),
    }
}

fn text<'a>(about: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    about.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// The server and the tool that a name or a title means.
fn split(name: &str, servers: &[String]) -> Option<(String, String)> {
    let name = name.strip_prefix("Tool: ").unwrap_or(name);
    let mut servers: Vec<&String> = servers.iter().collect();
    servers.sort_by_key(|server| std::cmp::Reverse(server.len()));
    let known = servers.into_iter().find_map(|server| Some((server.clone(), of(name, server)?)));
    known.or_else(|| {
        let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
        Some((server.to_owned(), tool.to_owned()))
    })
}

/// The tool of this server's that a name means.
fn of(name: &str, server: &str) -> Option<String> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let plain: String = server.chars().map(plain).collect();
    for server in [server, &plain] {
        if let Some((tool, _)) = name.split_once(&format!(" ({server} MCP Server)")) {
            return Some(tool.to_owned());
        }
        let rest = name.strip_prefix("mcp__").or(name.strip_prefix("mcp_")).unwrap_or(name);
        let Some(rest) = rest.strip_prefix(server) else { continue };
        let between = ["__", ": ", "/", ".", "_", "-"];
        let Some(tool) = between.iter().find_map(|it| rest.strip_prefix(it)) else { continue };
        if !tool.is_empty() && !tool.contains(char::is_whitespace) {
            return Some(tool.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_and_tools_are_told_apart() {
        let servers = ["orders".to_owned(), "orders_eu".to_owned(), "my shop".to_owned()];
        for (name, server, tool) in [
            ("mcp__orders__lookup_order", "orders", "lookup_order"),
            ("mcp__orders_eu__lookup", "orders_eu", "lookup"),
            ("mcp_orders_lookup", "orders", "lookup"),
            ("Tool: orders/lookup", "orders", "lookup"),
            ("orders: lookup", "orders", "lookup"),
            ("orders_lookup", "orders", "lookup"),
            ("orders.lookup", "orders", "lookup"),
            ("lookup (orders MCP Server)", "orders", "lookup"),
            ("lookup (orders MCP Server): {\"id\": 7}", "orders", "lookup"),
            ("my_shop_lookup", "my shop", "lookup"),
            ("mcp__unknown__lookup", "unknown", "lookup"),
        ] {
            let expected = Some((server.to_owned(), tool.to_owned()));
            assert_eq!(split(name, &servers), expected, "{name}");
        }
        for name in ["ordersmith", "orders: look for all of them", "Read file", "orders_", ""] {
            assert_eq!(split(name, &servers), None, "{name}");
        }
    }
}
