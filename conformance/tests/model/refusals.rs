//! What the server and its command refuse.

use std::process::Command;

use serde_json::{Value, json};

use crate::{Model, common};

#[test]
fn requests_that_are_none_are_refused_and_the_next_one_is_answered() {
    let model = Model::start(&json!([{"say": "3"}]), &[]);
    let long = vec![b' '; (16 << 20) + 1];
    let short = &long[..1 << 20];
    for (request, body, status, words) in [
        ("POST /v1/messages", &b"{"[..], 400, "is no JSON"),
        ("POST /v1/messages", b"{}", 400, "no list `messages`"),
        ("POST /v1/messages", b"[]", 400, "no list `messages`"),
        ("POST /v1/responses", b"{}", 400, "no `input`"),
        ("POST /v1/chat/completions", br#"{"messages": 3}"#, 400, "no list `messages`"),
        ("POST /v1beta/models/x:generateContent", b"{}", 400, "no list `contents`"),
        ("POST /v1/messages", short, 400, "is no JSON"),
        ("POST /v1/messages", &long, 413, "longer than 16 MiB"),
        ("POST /v1beta/models/x:embedContent", b"{}", 404, "no POST /v1beta/models/x:embedContent"),
        ("POST /v1/embeddings", b"{}", 404, "served are"),
        ("GET /v1/messages", b"", 404, "served are"),
        ("GET /", b"", 404, "served are"),
    ] {
        let (is, kind, text) = model.ask(request, body);
        assert_eq!(is, status, "{request}: {text}");
        assert_eq!(kind, "application/json", "{request}");
        let error: Value = serde_json::from_str(&text).unwrap();
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{request}: {message}");
    }
    let answer = model.json("POST /v1/messages", &json!({"messages": []}));
    assert_eq!(answer["content"][0]["text"], "3");
}

#[test]
fn scripts_and_options_that_cannot_be_served_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (script, option, words) in [
        ("{}", [].as_slice(), "is no script, a JSON list of actions"),
        (r#"[{"shout": "x"}]"#, &[], "an action has one of call, run,"),
        (
            r#"[{"say": "x"}, {"call": "s.t", "cancel_after_ms": 5}]"#,
            &[],
            "action 1 withdraws its call of s.t after a time, which is not a model's to do",
        ),
        (r#"[{"call": "t"}]"#, &[], "action 0: `t` is not SERVER.TOOL"),
        ("[]", &["--tool-format", "x"], "`x` does not name the tool: write {tool} into it"),
        ("[]", &["--shell", "Bash"], "`Bash` is not TOOL:ARGUMENT, as in Bash:command"),
        ("[]", &["--shell-arguments", "[]"], "write a JSON object"),
        ("[]", &["--port", "65536"], "65536"),
    ] {
        let file = folder.path().join("script.json");
        std::fs::write(&file, script).unwrap();
        let mut command = Command::new(common::program());
        let output = command.args(["model", "--script"]).arg(file).args(option).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{script} {option:?}: {stderr}");
        assert!(stderr.contains(words) && output.stdout.is_empty(), "{script}: {stderr}");
    }
}
