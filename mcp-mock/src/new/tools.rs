//! A saved `tools/list` result as the tools of a document.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

/// What the protocol calls a field, what a document calls it, and its type.
const FIELDS: [(&str, &str, Kind); 7] = [
    ("title", "title", Kind::Text),
    ("description", "description", Kind::Text),
    ("inputSchema", "input_schema", Kind::Object),
    ("outputSchema", "output_schema", Kind::Object),
    ("annotations", "annotations", Kind::Object),
    ("icons", "icons", Kind::List),
    ("_meta", "_meta", Kind::Object),
];

#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Object,
    List,
}

/// One tool with the fields that a document passes on.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) fields: Map<String, Value>,
}

/// The tools of a file, and what the author should know of it.
#[derive(Debug)]
pub(super) struct ToolList {
    pub(super) tools: Vec<Tool>,
    pub(super) notes: Vec<String>,
}

/// Reads a result, a whole response, or the bare list.
pub(super) fn read(path: &Path) -> Result<ToolList, String> {
    let bytes = fs::read(path).map_err(|error| format!("cannot open the file: {error}"))?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    // The reason names line and column.
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("not JSON: {error}"))?;
    from_value(value)
}

fn from_value(value: Value) -> Result<ToolList, String> {
    let mut notes = Vec::new();
    let list = match value {
        Value::Array(list) => list,
        Value::Object(mut members) => {
            if let Some(error) = members.get("error") {
                return Err(format!("an error response instead of a list of tools: {error}"));
            }
            if let Some(Value::Object(result)) = members.get_mut("result").map(Value::take) {
                members = result;
            }
            if members.get("nextCursor").is_some_and(|cursor| !cursor.is_null()) {
                notes.push("the list has a `nextCursor`: the server has more tools".to_owned());
            }
            match members.remove("tools") {
                Some(Value::Array(list)) => list,
                _ => return Err(SHAPE.to_owned()),
            }
        }
        _ => return Err(SHAPE.to_owned()),
    };
    if list.is_empty() {
        return Err("the list has no tools, and a server needs one".to_owned());
    }
    let mut names = HashSet::new();
    let mut tools = Vec::new();
    for (index, entry) in list.into_iter().enumerate() {
        let tool = tool(entry, &mut notes).map_err(|reason| format!("tools[{index}]: {reason}"))?;
        if !names.insert(tool.name.clone()) {
            return Err(format!("tools[{index}]: a second tool named {:?}", tool.name));
        }
        tools.push(tool);
    }
    Ok(ToolList { tools, notes })
}

const SHAPE: &str = "no list of tools: save a `tools/list` result, {\"tools\": […]}, \
                     the response around it, or the list alone";

fn tool(entry: Value, notes: &mut Vec<String>) -> Result<Tool, String> {
    let Value::Object(mut entry) = entry else {
        return Err("a tool is an object with a `name`".to_owned());
    };
    let name = match entry.remove("name") {
        Some(Value::String(name)) if !name.trim().is_empty() => name,
        Some(Value::String(_)) => return Err("the `name` is blank".to_owned()),
        Some(_) => return Err("the `name` is no string".to_owned()),
        None => return Err("the `name` is missing".to_owned()),
    };
    let mut fields = Map::new();
    for (theirs, ours, kind) in FIELDS {
        let Some(value) = entry.remove(theirs).filter(|value| !value.is_null()) else { continue };
        let (is_right, wanted) = match kind {
            Kind::Text => (value.is_string(), "a string"),
            Kind::Object => (value.is_object(), "an object"),
            Kind::List => (value.is_array(), "a list"),
        };
        if !is_right {
            return Err(format!("the `{theirs}` of {name:?} is not {wanted}"));
        }
        fields.insert(ours.to_owned(), value);
    }
    for (key, _) in entry.iter().filter(|(_, value)| !value.is_null()) {
        notes.push(format!("left out: `{key}` of {name:?}, which a document does not have"));
    }
    Ok(Tool { name, fields })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::from_value;

    fn names(value: Value) -> Result<Vec<String>, String> {
        let list = from_value(value)?;
        Ok(list.tools.into_iter().map(|tool| tool.name).collect())
    }

    #[test]
    fn a_list_is_found_in_each_of_its_wrappings() {
        let list = json!([{"name": "a"}, {"name": "b c"}]);
        for value in [
            list.clone(),
            json!({"tools": list}),
            json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": list, "nextCursor": null}}),
        ] {
            assert_eq!(names(value), Ok(vec!["a".to_owned(), "b c".to_owned()]));
        }
    }

    #[test]
    fn what_is_no_list_says_why() {
        for (value, reason) in [
            (json!(null), "no list of tools"),
            (json!({"tools": {}}), "no list of tools"),
            (json!({"result": 1}), "no list of tools"),
            (json!([]), "has no tools"),
            (json!({"error": {"code": -32601}}), "an error response"),
            (json!(["a"]), "tools[0]: a tool is an object"),
            (json!([{"name": 1}]), "tools[0]: the `name` is no string"),
            (json!([{"name": " "}]), "tools[0]: the `name` is blank"),
            (json!([{}]), "tools[0]: the `name` is missing"),
            (json!([{"name": "a"}, {"name": "a"}]), "tools[1]: a second tool named \"a\""),
            (json!([{"name": "a", "inputSchema": []}]), "`inputSchema` of \"a\" is not an object"),
        ] {
            let error = names(value).expect_err(reason);
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn fields_get_the_names_of_a_document() {
        let value = json!([{"name": "a", "title": null, "icons": [], "annotations": {"readOnlyHint": true},
            "outputSchema": {}, "inputSchema": {"type": "object"}, "execution": {}}]);
        let list = from_value(value).expect("a list");
        let fields = Value::Object(list.tools[0].fields.clone());
        let expected = json!({"input_schema": {"type": "object"}, "output_schema": {},
            "annotations": {"readOnlyHint": true}, "icons": []});
        assert_eq!(fields, expected);
        assert_eq!(list.notes.len(), 1, "{:?}", list.notes);
    }
}
