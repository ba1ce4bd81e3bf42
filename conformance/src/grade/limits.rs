//! `limits`: how often something may be in the record.

use fixtures::document::task::{Limit, Violates};
use serde_json::Value;

use super::Evidence;
use super::calls::{Call, are_arguments, arguments_told, named};
use super::circumstances::{self, Circumstances};
use crate::results::Violation;

pub(super) fn check(
    limit: &Limit,
    evidence: &Evidence<'_>,
    place: &str,
    found: &mut Vec<Violation>,
) {
    let counted = evidence.calls.iter().filter(|call| counts(limit, call)).count() as u64;
    let expected = match limit {
        Limit { exactly: Some(exactly), .. } if counted != *exactly => format!("exactly {exactly}"),
        Limit { at_least: Some(least), .. } if counted < *least => format!("at least {least}"),
        Limit { at_most: Some(most), .. } if counted > *most => format!("at most {most}"),
        _ => return,
    };
    let result = limit.result.map_or(String::new(), |result| format!(" ({})", named(result)));
    let what = match limit.any {
        Some(true) => "any operation".to_owned(),
        _ => limit.operation(),
    };
    let arguments = arguments_told(limit.arguments.as_ref(), limit.args.as_ref());
    let texts = limit.args_contain.iter().map(|text| format!(" that contain `{text}`"));
    let texts = texts.collect::<Vec<_>>().join(" and");
    let circumstances = circumstances::expected(&Circumstances::from(limit).of(None));
    let expected = format!("{expected} calls of {what}{arguments}{texts}{result}{circumstances}");
    found.push(Violation::new(Violates::Evidence, place, expected, counted.to_string()));
}

fn counts(limit: &Limit, call: &Call) -> bool {
    let is_named = limit.any == Some(true) || limit.operation() == call.operation;
    let contains = limit.args_contain.iter().all(|text| holds(&call.arguments, text));
    // A call that only looks is counted where its tool or its arguments are named.
    let names_probes =
        limit.tool.is_some() || limit.args.is_some() || !limit.args_contain.is_empty();
    is_named
        && (names_probes || !call.is_probe)
        && are_arguments(limit.arguments.as_ref(), limit.args.as_ref(), call)
        && contains
        && limit.result.is_none_or(|result| result == call.outcome)
        && Circumstances::from(limit).of(Some(call)).iter().all(|it| it.holds)
}

/// Whether a text occurs in some string, number or key of a value.
fn holds(value: &Value, text: &str) -> bool {
    match value {
        Value::String(value) => value.contains(text),
        Value::Number(value) => value.as_str().contains(text),
        Value::Array(items) => items.iter().any(|item| holds(item, text)),
        Value::Object(members) => {
            members.iter().any(|(key, value)| key.contains(text) || holds(value, text))
        }
        Value::Null | Value::Bool(_) => false,
    }
}
