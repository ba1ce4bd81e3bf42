//! Files that are given as results, and are none, or worse.

use std::process::Stdio;

use super::{GOOD, Place};

/// `grade` and `report` of what is in a file.
fn read(place: &Place, text: &str) -> Vec<(i32, String)> {
    std::fs::write(place.path("h.json"), text).unwrap();
    let commands: [&[&str]; 3] =
        [&["grade", "h.json"], &["report", "h.json"], &["report", "--format", "json", "h.json"]];
    commands.iter().map(|args| place.run(place.command(args))).collect()
}

fn saved(place: &Place) -> String {
    let (code, text) = place.run(place.agent(GOOD, &["c.yaml", "--out", "out"]));
    assert_eq!(code, 0, "{text}");
    std::fs::read_to_string(place.path("out/results.json")).unwrap()
}

#[test]
fn what_holds_no_results_is_refused() {
    let place = Place::new();
    let good = saved(&place);
    let nested = |depth: usize| format!("{}{}", "[ ".repeat(depth), "]".repeat(depth));
    let args = |value: &str| good.replace(r#""args":["pr"]"#, &format!(r#""args":{value}"#));
    let files = [
        String::new(),
        "\0".repeat(1000),
        "[".repeat(1_000_000),
        format!("{}\"runs\":{}", r#"{"schemaVersion":"1.0","#, "[".repeat(1_000_000)),
        good.replace("1.0", "9.0"),
        good.replace(r#""trial":1"#, r#""trial":1e9"#),
        good.replace(r#""trial":1"#, r#""trial":1,"trial":2"#),
        good.replace(r#""trial":1"#, r#""trial":1,"new":2"#),
        good.replace(r#""duration_ms":"#, r#""duration_ms":NaN,"x":"#),
        good.replace("\"PASS\"", "\"\\u001b[31m\\u009b\\n\""),
        args(&nested(200)),
        args(&nested(200).replace(' ', "")),
        args("[\"\\ud800\"]"),
    ];
    for file in &files {
        for (code, text) in read(&place, file) {
            assert_eq!(code, 2, "{file:.300}: {text}");
            assert!(text.contains("h.json"), "{file:.300}: {text}");
        }
    }
}

/// Anything in the place of any value: an answer, or a refusal.
#[test]
fn every_value_may_be_anything() {
    let place = Place::new();
    let good: serde_json::Value = serde_json::from_str(&saved(&place)).unwrap();
    let values: Vec<serde_json::Value> = [
        r#"null"#,
        r#"-1"#,
        r#"18446744073709551615"#,
        r#""\u001b[31m\u009b\n""#,
        r#"{"$serde_json::private::Numbe": "x"}"#,
        r#"[]"#,
    ]
    .iter()
    .map(|text| serde_json::from_str(text).unwrap())
    .collect();
    let mut paths = Vec::new();
    pointers(&good, String::new(), &mut paths);
    for (index, path) in paths.iter().enumerate() {
        // All of them take long: one value a place, another one in the next round.
        let rounds = super::interrupts::rounds(1).min(values.len());
        for value in values.iter().cycle().skip(index).take(rounds) {
            let mut bad = good.clone();
            *bad.pointer_mut(path).unwrap() = value.clone();
            for (code, text) in read(&place, &bad.to_string()) {
                assert!((0..=4).contains(&code), "{path} {value}: {code} {text}");
            }
        }
    }
}

fn pointers(value: &serde_json::Value, path: String, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(members) => {
            members.iter().for_each(|(key, it)| pointers(it, format!("{path}/{key}"), found));
        }
        serde_json::Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, it)| pointers(it, format!("{path}/{index}"), found));
        }
        _ => {}
    }
    found.push(path);
}

#[test]
fn a_long_group_is_dealt_out_in_time() {
    let place = Place::new();
    let mut results: serde_json::Value = serde_json::from_str(&saved(&place)).unwrap();
    let run = &mut results["runs"][0];
    let calls = &mut run["admitted"]["expect"]["calls"];
    *calls = serde_json::json!([{"unordered": vec![calls[0].clone(); 2000]}]);
    let invocations = run["command_invocations"].as_array_mut().unwrap();
    *invocations = (1..=2000)
        .map(|sequence| {
            let mut it = invocations[0].clone();
            it["sequence"] = sequence.into();
            it
        })
        .collect();
    std::fs::write(place.path("h.json"), results.to_string()).unwrap();
    let (code, text) = place.run(place.command(&["grade", "h.json"]));
    assert_eq!(code, 0, "{text:.300}");
}

#[test]
fn a_reader_that_leaves_does_not_change_the_verdict() {
    let place = Place::new();
    saved(&place);
    for command in ["grade", "report"] {
        let mut command = place.command(&[command, "out/results.json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let (code, text) = place.ended(child);
        assert_eq!(code, 0, "{text}");
    }
}
