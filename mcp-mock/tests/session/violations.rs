//! What the client did wrong, and what must never be written down.

use std::path::Path;

use serde_json::{Value, json};

use crate::{Place, Server};

/// The codes and details of the violations.
fn violations(place: &Place) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let records = place.of_type("protocol.violation");
    records.iter().map(|record| (text(&record["code"]), text(&record["detail"]))).collect()
}

#[test]
fn a_line_that_is_no_json_is_a_violation_and_nothing_more() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    server.send_line("garbage");
    server.send_line("{\"jsonrpc\":\"2.0\"} {}");
    server.send_line("");
    assert!(server.is_alive());
    server.end();
    let codes: Vec<String> = violations(&place).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["not_json", "not_json"]);
    assert_eq!(place.of_type("program.closed")[0]["cause"], "eof");
}

#[test]
fn a_message_that_is_none_is_a_violation() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    for line in ["[]", "1", r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#] {
        server.send_line(line);
        assert_eq!(server.receive()["error"]["code"], -32600);
    }
    server.send_line(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}"#);
    assert_eq!(server.receive()["error"]["code"], -32602);
    server.end();
    let codes: Vec<String> = violations(&place).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["invalid_request", "invalid_request", "invalid_request", "invalid_params"]);
    assert!(place.of_type("attempt.started").is_empty());
}

#[test]
fn a_duplicate_id_stops_the_server_and_is_told() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    server.next_id = 5;
    server.begin("slow");
    server.begin("seq");
    server.next_id = 5;
    server.begin("seq");
    assert_eq!(server.exit().code(), Some(1));
    let [(code, detail)] = violations(&place).try_into().unwrap();
    assert!(code == "duplicate_id" && detail.contains('5'), "{code}: {detail}");
    let closed = place.of_type("program.closed");
    assert_eq!((closed.len(), &closed[0]["cause"]), (1, &json!("violation")));
    // The running call has its end, and the queued one took nothing.
    assert_eq!(place.of_type("attempt.cancelled").len(), 1);
    assert!(place.of_type("attempt.selected").is_empty());
    let mut next = place.attach();
    assert_eq!([next.text("slow"), next.text("seq")], ["second", "one"]);
}

#[test]
fn the_65th_pending_call_stops_the_server_and_is_told() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    server.begin("slow");
    for _ in 0..64 {
        server.begin("seq");
    }
    assert_eq!(server.exit().code(), Some(1));
    let [(code, _)] = violations(&place).try_into().unwrap();
    assert_eq!(code, "overflow");
    assert_eq!(place.of_type("program.closed")[0]["cause"], "violation");
    assert_eq!(place.of_type("attempt.started").len(), 1);
    assert_eq!(place.attach().text("seq"), "one");
}

#[test]
fn an_oversize_line_stops_the_server_and_is_told() {
    let place = Place::usual();
    place.make();
    let mut server = place.attach();
    let line = "x".repeat(17 * 1024 * 1024);
    let _ = std::io::Write::write_all(server.stdin.as_mut().unwrap(), line.as_bytes());
    assert_eq!(server.exit().code(), Some(1));
    assert_eq!(violations(&place)[0].0, "oversize_line");
}

#[test]
fn the_first_20_violations_are_told_then_a_count() {
    let place = Place::usual();
    place.make();
    for (sent, told) in [(20, 20), (21, 21), (500, 21)] {
        let mut server = place.attach();
        for number in 0..sent {
            server.send_line(&format!("garbage {number}"));
        }
        server.end();
        let all = violations(&place);
        let (last, first) = all.split_last().unwrap();
        assert_eq!(all.len(), told);
        assert!(first.iter().all(|(code, _)| code == "not_json"));
        if sent > 20 {
            assert!(last.1.contains(&format!("{} more", sent - 20)), "{last:?}");
        }
        // A restart counts anew.
        place.ok(&["reset", "run"]);
    }
}

/// Every file below a directory that has the text.
fn files_with(text: &str, directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(text, &path));
        } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(text) {
            found.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    found
}

#[test]
fn secrets_are_written_nowhere() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let from_environment = "correct horse battery";
    let place = Place::with_tools(
        "{of: {responses: [{match: {a: 1}, text: x}]}, nap: {responses: [{text: x, delay_ms: 50}]}}",
    );
    place.make();
    let mut command = place.command(&["serve", "--session", "run"]);
    let mut server = Server::start(command.env("SHOP_PASSWORD", from_environment));
    server.send(&json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": token, "version": "1", "apiKey": "client-hunter2"}}}));
    server.receive();
    for tool in ["of", "nap", "nothing"] {
        server.call_with(
            tool,
            &json!({
            "password": "hunter2-a", "url": "https://me:hunter2-b@example.com/?token=hunter2-c",
            "deep": [{"authorization": "Bearer hunter2-d"}], "note": token,
            "said": format!("it is {from_environment}, is it not")}),
        );
    }
    // A withdrawn call, a violation and the cause of a stop.
    server.begin("nap");
    let id = format!("id-{token}");
    for _ in 0..2 {
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "of", "arguments": {"api_key": "hunter2-e"}}}));
    }
    assert_eq!(server.exit().code(), Some(1));
    assert_eq!(violations(&place)[0].0, "duplicate_id");
    assert_eq!(files_with("hunter2", &place.path("run")), [""; 0]);
    assert_eq!(files_with(&token, &place.path("run")), [""; 0]);
    assert_eq!(files_with(from_environment, &place.path("run")), [""; 0]);
    let started = place.of_type("attempt.started");
    assert!(started[0]["arguments"]["password"].as_str().unwrap().starts_with("[REDACTED:"));
    // Equal secrets stay comparable, over restarts too.
    assert_eq!(started[0]["arguments"], started[1]["arguments"]);
    for text in [place.ok(&["status", "run", "--json"]), place.ok(&["status", "run"])] {
        assert!(!text.contains("hunter2") && !text.contains(&token), "{text}");
    }
}

/// The plan has to have them; the record does not.
#[test]
fn secrets_of_a_result_are_sent_and_not_recorded() {
    let place = Place::with_tools(
        "{plain: {responses: [{return: {password: hunter2-a, id: 7}}]},
          late: {responses: [{return: {access_token: hunter2-b}, delay_ms: 20}]},
          failed: {responses: [{error: 'login failed: password=hunter2-c'}]}}",
    );
    place.make();
    let mut server = place.attach();
    for tool in ["plain", "late", "failed"] {
        assert!(server.call(tool).to_string().contains("hunter2"), "{tool}");
    }
    server.end();
    assert_eq!(files_with("hunter2", &place.path("run")), ["s.json"]);
    let selected = place.of_type("attempt.selected");
    assert!(selected[0].to_string().contains("\\\"id\\\":7"), "{}", selected[0]);
    assert!(!place.ok(&["status", "run", "--json"]).contains("hunter2"));
}

#[test]
fn secrets_do_not_reach_a_journal_file_either() {
    let place = Place::usual();
    let mut server = place.serve(&["fixture.yaml", "--journal", "calls"]);
    server.call_with("seq", &json!({"client_secret": "hunter2"}));
    server.end();
    let text = std::fs::read_to_string(place.path("calls")).unwrap();
    assert!(text.contains("client_secret") && !text.contains("hunter2"), "{text}");
}
