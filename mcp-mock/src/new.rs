//! `mcp-mock new`: a commented document to start from.

mod example;
mod tools;

use std::path::Path;
use std::sync::Arc;

use fixtures::document::{self, Json, Options, Schema, Severity, Source, to_yaml};
use serde_json::{Value, json};

use crate::cli::NewArgs;
use crate::exit::Exit;
use tools::Tool;

pub(crate) fn run(args: &NewArgs) -> Exit {
    if !is_server_name(&args.name) {
        return crate::complain(&format!(
            "`{}` cannot name a server: write 1 to 64 ASCII letters, digits, `_` and `-`, \
             beginning with a letter or digit",
            args.name.escape_debug()
        ));
    }
    let text = match &args.tools {
        None => EXAMPLE.replace("NAME", &scalar(&args.name)),
        Some(path) => match tools::read(path) {
            Ok(list) => {
                list.notes.iter().for_each(|note| crate::note(note));
                document_with(&args.name, &list.tools)
            }
            Err(reason) => return crate::complain(&format!("`{}`: {reason}", path.display())),
        },
    };
    let printed = crate::print(text.as_bytes());
    // Tools of a real server may have what a document cannot, such as a schema elsewhere.
    let source = Source::new("the new document".to_owned(), text);
    let (_, mut found) = document::admit(Arc::new(source), Path::new("."), Options::default());
    found.retain(|found| found.severity() != Severity::Note);
    if !found.is_empty() {
        crate::note(&"`mcp-mock check` will have something to say of this document:");
        crate::note(&document::render_human(&found, false).trim_end());
    }
    printed
}

fn is_server_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn scalar(text: &str) -> String {
    to_yaml(&json!(text)).trim_end().to_owned()
}

fn document_with(name: &str, tools: &[Tool]) -> String {
    let mut text = HEAD.replace("NAME", &scalar(name));
    for Tool { name, fields } in tools {
        text += &format!("      {}:\n", scalar(name));
        text += &indented(&Value::Object(fields.clone()), 8);
        text += "        responses:\n";
        text += &match fields.get("output_schema") {
            None => {
                "          # TODO: say what the agent gets, and for which arguments.\n          - return: {}\n".to_owned()
            }
            Some(schema) => structured(schema),
        };
    }
    text
}

/// A success that conforms to the schema. Where none is easily made an error
/// holds its place: clients refuse a result that does not conform.
fn structured(schema: &Value) -> String {
    let reply = example::of(schema).map(|value| {
        let field = if value.is_object() { "return" } else { "structured_content" };
        (json!([{field: value}]), Schema::new(Json::new(schema)).accepts(&value))
    });
    let todo = "          # TODO: say what the agent gets; it must conform to output_schema.\n";
    match reply {
        Some((reply, true)) => format!("{todo}{}", indented(&reply, 10)),
        Some((reply, false)) => {
            let shape = indented(&reply, 0);
            let shape = shape.lines().map(|line| format!("          #   {line}\n"));
            format!("{todo}{}          - error: TODO\n", shape.collect::<String>())
        }
        None => format!("{todo}          - error: TODO\n"),
    }
}

/// The value in block style, each line behind that many spaces.
fn indented(value: &Value, indent: usize) -> String {
    let empty = value.as_object().is_some_and(serde_json::Map::is_empty);
    if empty {
        return String::new();
    }
    to_yaml(value).lines().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

const EXAMPLE: &str = r#"# A scenario for the mocked MCP server NAME.
#
#   mcp-mock check FILE          every fault at once, with line and column
#   mcp-mock serve FILE          what an MCP client starts
#   mcp-mock config FILE --for CLIENT
#
schemaVersion: "2.0"
scenario: NAME                   # what goes wrong, in a word or two
mcp_mocks:
  - name: NAME
    # instructions: What the server tells its clients about itself.
    # unknown_tool: result       # a call of any other tool is an error result, not the protocol's -32602
    # explain: true              # tell the caller what did not match; it coaches the agent
    tools:
      lookup_order:
        description: Look up one order by id.
        input_schema:            # shown to the client; calls are not validated against it
          type: object
          properties:
            id: {type: string}
          required: [id]
        # expect_calls: 3        # how many calls there must have been, no more and no less
        #
        # The first response whose matchers all hold owns the call, and no later
        # one is tried. A call that none owns is an error: nothing is made up.
        responses:
          # match: the whole arguments, by value. `match: {}` is a call without arguments.
          - match: {id: A-100}
            # One step a call, in this order. When the last one was taken, further
            # calls are errors too: they neither start over nor go elsewhere.
            sequence:
              - error: "503 upstream unavailable"
                repeat: 2        # the same step for two calls; `sequence` has 100 steps at most
              - return: {id: A-100, status: shipped}
                delay_ms: 50     # wait before the reply, at most 300000
          # match_regex: a pattern that is searched in one argument; a name such
          # as /items/0/id points into the arguments.
          - match_regex: {id: "^B-"}
            error: permission denied for region B
          # match_schema: a JSON Schema that the whole arguments satisfy.
          - match_schema:
              properties:
                id: {type: string, maxLength: 1}
            text: no such order  # sent as it is; `return` sends JSON, a string with its quotes
          # Without a sequence the same reply is given without end. A response
          # without matchers, as the last one, would own every other call.
"#;

const HEAD: &str = r#"# A scenario for the mocked MCP server NAME.
#
#   mcp-mock check FILE          every fault at once, with line and column
#   mcp-mock serve FILE          what an MCP client starts
#   mcp-mock config FILE --for CLIENT
#
# Each tool has one response, which answers every call. What else there is:
#
#   responses:                               # the first whose matchers all hold owns the call
#     - match: {id: A-100}                   # the whole arguments; {} is a call without arguments
#       sequence:                            # one step a call, then an error: never from the start again
#         - error: "503 upstream unavailable"
#           repeat: 2                        # the same step for two calls
#         - return: {status: shipped}        # as JSON; `text: shipped` is sent as it is
#           delay_ms: 50
#     - match_regex: {id: "^B-"}             # searched in one argument; /items/0/id points into it
#       error: permission denied for region B
#
schemaVersion: "2.0"
scenario: NAME                               # what goes wrong, in a word or two
mcp_mocks:
  - name: NAME
    tools:
"#;

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use fixtures::document::{Document, Options, Source, admit, render_human};
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::{Tool, document_with};

    fn document(tools: &[Tool]) -> Document {
        let text = document_with("s", tools);
        let source = Arc::new(Source::new("new".to_owned(), text.clone()));
        let (document, found) = admit(source, Path::new("."), Options::default());
        document.unwrap_or_else(|| panic!("{text}\n{}", render_human(&found, false)))
    }

    fn fields(text: &str, inside: &Value) -> Map<String, Value> {
        let fields = json!({"title": text, "description": text, "input_schema": {"type": "object", "default": inside},
            "annotations": {text: inside}, "icons": [{"src": "data:,", format!("{text}y"): inside}], "_meta": {text: inside}});
        fields.as_object().cloned().unwrap_or_default()
    }

    fn names() -> impl Strategy<Value = String> {
        "\\PC{0,9}[a-z<~0]\\PC{0,9}|<<|null|[a-z]{1,3}: #"
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_tools_make_a_document_that_is_admitted(
            tools in btree_map(names(), (any::<String>(), vec(any::<String>(), 0..3)), 1..4),
        ) {
            let tools: Vec<Tool> = tools
                .into_iter()
                .map(|(name, (text, texts))| Tool { name, fields: fields(&text, &json!(texts)) })
                .collect();
            let document = document(&tools);
            let served = &document.mcp_mocks[0].tools;
            prop_assert_eq!(served.len(), tools.len());
            for Tool { name, fields } in &tools {
                let tool = &served[name];
                let meta = tool.meta.as_ref().map(|meta| meta.value());
                prop_assert_eq!(tool.description.as_deref(), fields["description"].as_str());
                prop_assert_eq!(&meta, &fields.get("_meta").cloned());
            }
        }
    }
}
