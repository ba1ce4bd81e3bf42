//! What a command read, where it ran, and with which variables.

use serde_json::json;

use super::{Place, trials};

const TASK: &str = r#"{schemaVersion: "2.0", scenario: c,
    command_mocks: [{name: gh, responses: [{args: [api], stdout: ok}]}],
    tasks: [{id: t, prompt: p, files: {sub/a: ""}, expect: {answer: {absent: [x]}, calls: [{command: gh, args: [api],
        stdin: {equals: "token=sesame-open-123\n"}, cwd: sub, environment: {LEVEL: "3", API_TOKEN: hunter2-hunter2}, result: success}]}}]}"#;

#[test]
fn what_is_expected_of_a_call_is_on_record_and_redacted() {
    let call = |stdin: &str, level: u32, cwd: &str| {
        format!(
            "cd {cwd} && printf '%s' '{stdin}' | LEVEL={level} API_TOKEN=hunter2-hunter2 gh api >/dev/null"
        )
    };
    let good = "token=sesame-open-123\n";
    for (script, exit, reason) in [
        (call(good, 3, "sub"), 0, ""),
        (call(good, 4, "sub"), 1, "environment LEVEL \"3\""),
        (call(good, 3, "."), 1, "with cwd `.`"),
        (call("", 4, "."), 1, "with stdin \"\", cwd `.`, environment LEVEL \"4\""),
        ("cd sub; gh api > /dev/null".to_owned(), 1, "environment LEVEL not set"),
    ] {
        let place = Place::of(TASK);
        let results = place.run(Some(&script), &[], exit);
        let record = &trials(&results)[0];
        let told = record["reason"].as_str().unwrap_or_default();
        assert!(told.contains(reason) && told.is_empty() == reason.is_empty(), "{script}: {told}");
        let text = record.to_string();
        assert!(!text.contains("hunter2") && !text.contains("sesame"), "{text}");
    }
}

#[test]
fn a_long_input_is_recorded_by_its_head_and_its_digest() {
    let place = Place::of(
        r#"{schemaVersion: "2.0", scenario: c,
        command_mocks: [{name: gh, record_stdin: true, record_environment: [LEVEL], responses: [{stdout: ok}]}],
        tasks: [{id: t, prompt: p, expect: {answer: {absent: [x]}, calls: [{command: gh, result: success}]}}]}"#,
    );
    let results = place.run(Some("head -c 70000 /dev/zero | tr '\\0' a | gh > /dev/null"), &[], 0);
    let call = &trials(&results)[0]["command_invocations"][0];
    assert_eq!(call["stdin"]["bytes"], 70_000);
    assert_eq!(call["stdin"]["head"].as_str().unwrap().len(), 65_536);
    assert_eq!(call["environment"], json!({"LEVEL": null}));
    assert_eq!(call["cwd"], ".");
}
