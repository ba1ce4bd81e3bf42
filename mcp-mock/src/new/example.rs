//! A value that a schema most likely accepts, as a form to fill in.

use serde_json::{Map, Value, json};

/// Values of one example; schemas may refer to themselves.
const MAX_VALUES: usize = 500;

/// Schemas inside one another.
const MAX_DEPTH: usize = 32;

/// A value for `schema`, with all of its properties where there are not too many.
pub(super) fn of(schema: &Value) -> Option<Value> {
    let mut left = MAX_VALUES;
    instance(schema, schema, 0, &mut left)
}

fn instance(schema: &Value, root: &Value, depth: usize, left: &mut usize) -> Option<Value> {
    *left = left.checked_sub(1)?;
    if depth > MAX_DEPTH {
        return None;
    }
    let Value::Object(keywords) = schema else {
        return (schema == &Value::Bool(true)).then_some(Value::Null);
    };
    let first = |key: &str| keywords.get(key).and_then(Value::as_array)?.first().cloned();
    let authored = keywords.get("const").or_else(|| keywords.get("default")).cloned();
    if let Some(value) = authored.or_else(|| first("enum")).or_else(|| first("examples")) {
        return Some(value);
    }
    if let Some(pointer) = keywords.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(pointer.strip_prefix('#')?)?;
        return instance(target, root, depth + 1, left);
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(options) = keywords.get(key).and_then(Value::as_array) {
            return options.iter().find_map(|option| instance(option, root, depth + 1, left));
        }
    }
    match type_of(keywords) {
        "object" => object(keywords, root, depth, left),
        "array" => {
            let Some(count) = keywords.get("minItems").and_then(Value::as_u64) else {
                return Some(json!([]));
            };
            let items = keywords.get("items").unwrap_or(&Value::Null);
            (0..count).map(|_| instance(items, root, depth + 1, left)).collect()
        }
        "string" => Some(text(keywords)),
        "integer" | "number" => Some(number(keywords)),
        "boolean" => Some(Value::Bool(false)),
        _ => Some(Value::Null),
    }
}

/// The first type of the schema, or the one that its keywords speak of.
fn type_of(keywords: &Map<String, Value>) -> &str {
    match keywords.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => names.first().and_then(Value::as_str).unwrap_or("null"),
        _ if keywords.contains_key("properties") || keywords.contains_key("required") => "object",
        _ if keywords.contains_key("items") => "array",
        _ => "null",
    }
}

fn object(
    keywords: &Map<String, Value>,
    root: &Value,
    depth: usize,
    left: &mut usize,
) -> Option<Value> {
    let required: Vec<&str> = match keywords.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let none = Map::new();
    let properties = keywords.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let mut members = Map::new();
    for (name, schema) in properties {
        let is_required = required.contains(&name.as_str());
        // What is optional is shown near the top only, where it helps to fill in.
        if !is_required && depth > 2 {
            continue;
        }
        match instance(schema, root, depth + 1, left) {
            Some(value) => drop(members.insert(name.clone(), value)),
            None if is_required => return None,
            None => {}
        }
    }
    for name in required {
        if !members.contains_key(name) {
            members.insert(name.to_owned(), Value::Null);
        }
    }
    Some(Value::Object(members))
}

fn text(keywords: &Map<String, Value>) -> Value {
    let bound = |key: &str| keywords.get(key).and_then(Value::as_u64);
    let length = |bound: u64| usize::try_from(bound).unwrap_or(usize::MAX).min(MAX_VALUES);
    let least = bound("minLength").map_or(0, length);
    let most = bound("maxLength").map_or(MAX_VALUES, length);
    // Some drafts hold a string to its format.
    let example = match keywords.get("format").and_then(Value::as_str) {
        Some("date-time") => "2026-01-01T00:00:00Z",
        Some("date") => "2026-01-01",
        Some("time") => "00:00:00Z",
        Some("email") => "todo@example.com",
        Some("uri") => "https://example.com/todo",
        Some("uuid") => "00000000-0000-0000-0000-000000000000",
        _ => "TODO",
    };
    let filled = format!("{example:.<least$}");
    Value::String(filled.chars().take(most).collect())
}

fn number(keywords: &Map<String, Value>) -> Value {
    if let Some(least) = keywords.get("minimum") {
        return least.clone();
    }
    match keywords.get("exclusiveMinimum").and_then(Value::as_i64) {
        Some(least) => json!(least.saturating_add(1)),
        None => match keywords.get("maximum") {
            Some(most) if most.as_f64().is_some_and(|most| most < 0.0) => most.clone(),
            _ => json!(0),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::of;

    #[test]
    fn every_part_of_the_schema_is_shown() {
        let schema = json!({
            "type": "object",
            "$defs": {"money": {"type": "object", "required": ["amount"], "properties": {
                "amount": {"type": "number", "minimum": 1.5}}}},
            "properties": {
                "id": {"type": "string"},
                "code": {"type": "string", "minLength": 6, "maxLength": 6},
                "state": {"enum": ["open", "closed"]},
                "total": {"$ref": "#/$defs/money"},
                "lines": {"type": "array", "minItems": 1, "items": {"type": ["integer", "null"]}},
                "note": {"anyOf": [{"type": "null"}, {"type": "string"}]},
            },
            "required": ["id", "extra"],
        });
        let expected = json!({"id": "TODO", "code": "TODO..", "state": "open", "total": {"amount": 1.5},
            "lines": [0], "note": null, "extra": null});
        assert_eq!(of(&schema), Some(expected));
    }

    #[test]
    fn a_schema_that_never_ends_does() {
        let list = json!({"properties": {"next": {"$ref": "#"}, "other": {"$ref": "#"}}});
        assert!(of(&list).is_some());
        assert_eq!(of(&json!({"required": ["a"], "properties": {"a": {"$ref": "#"}}})), None);
        assert_eq!(of(&json!({"$ref": "#"})), None);
        assert_eq!(
            of(&json!({"properties": {"a": {"minItems": 4_000_000_000_u64, "items": {}}}})),
            Some(json!({}))
        );
    }
}
