//! Every verdict has cases that produce it.

use serde_json::json;

use super::{GH, GOOD, Place, trials};

#[test]
fn each_agent_gets_its_verdict_and_the_run_its_exit_status() {
    let kill = "kill -9 $$";
    let unfair = GH.replace(
        "sequence: [{stderr: \"502\\n\", exit_code: 1}, {stdout: \"MERGED\\n\"}]",
        "sequence: [{stdout: x}, {exit_code: 1}]",
    );
    let unfair = unfair.replace("{command: gh, args: [pr], result: error}, ", "");
    let odd_twin = GH.replacen(
        "result: success}], files: {r: {equals: done}}}}}]}",
        "result: success}], files: {r: {equals: other}}}}}]}",
        1,
    );
    let no_task_call = GH.replace("args: [pr], result: error", "args: [no], result: error");
    for (document, script, arguments, exit, verdict, reason) in [
        (GH, Some(GOOD), vec![], 0, "PASS", ""),
        (
            GH,
            Some("true"),
            vec![],
            1,
            "FAIL",
            "evidence: expect.calls[0] (c.yaml:4:26): expected command:gh [\"pr\"] (error), saw no further call",
        ),
        (GH, Some("gh pr; echo done > r"), vec![], 1, "FAIL", "evidence: expect.calls[1]"),
        (
            GH,
            Some("gh pr || gh pr; gh pr; echo done > r"),
            vec![],
            1,
            "FAIL",
            "evidence: expect.calls",
        ),
        (
            GH,
            Some("gh pr || gh pr; echo done > r; touch x"),
            vec![],
            1,
            "FAIL",
            "side_effect: expect.files (c.yaml:4:113): expected no other change, saw `x` was made",
        ),
        (
            GH,
            Some("gh pr || gh pr; echo none > r"),
            vec![],
            1,
            "FAIL",
            "outcome: expect.files.r (c.yaml:4:121): expected \"done\", saw \"none\\n\"",
        ),
        (
            GH,
            Some("gh pr || gh pr; echo done > r; sleep 60"),
            vec!["--timeout", "1"],
            1,
            "FAIL",
            "outcome: timeout",
        ),
        // The right report without the calls.
        (GH, Some("echo done > r"), vec![], 1, "FAIL", "evidence: expect.calls[0]"),
        // A required call met a response with a fault, and not the fault.
        (&unfair, Some(GOOD), vec!["--no-twin"], 3, "INVALID", "no call met a fault"),
        // A twin that comes out otherwise proves nothing.
        (
            &odd_twin,
            Some(GOOD),
            vec![],
            3,
            "INVALID",
            "the twin without the fault fails: outcome: no_fault.expect.files.r",
        ),
        (&odd_twin, Some(GOOD), vec!["--no-twin"], 0, "PASS", ""),
        (&odd_twin, Some("gh pr"), vec![], 1, "FAIL", "; also without the fault: outcome: "),
        // What looks like a retry is none where there is no fault.
        (
            GH,
            Some("gh pr; gh pr; echo done > r"),
            vec![],
            1,
            "FAIL",
            "without the fault: evidence: no_fault.expect.calls (c.yaml:",
        ),
        (
            GH,
            Some("gh pr; gh pr; echo done > r"),
            vec!["--fail-fast", "--trials", "9", "--jobs", "1"],
            1,
            "FAIL",
            "without the fault: evidence: no_fault.expect.calls (c.yaml:",
        ),
        (&no_task_call, Some(GOOD), vec![], 1, "FAIL", "evidence"),
        // No run at all.
        (
            GH,
            Some(kill),
            vec!["--clean"],
            3,
            "ERROR",
            "the agent was ended by signal 9, and had not got in touch with any mock",
        ),
        (
            GH,
            Some("sleep 60"),
            vec!["--clean", "--timeout", "0.5"],
            3,
            "ERROR",
            "the agent took too long",
        ),
        (GH, None, vec![], 4, "SKIPPED", "the task has no `self_test.good`"),
    ] {
        let place = Place::of(document);
        let results = place.run(script, &arguments, exit);
        let record = &trials(&results)[0];
        let told = record["reason"].as_str().unwrap_or_default();
        assert_eq!(record["verdict"], verdict, "{script:?}: {told}");
        assert!(told.contains(reason) && told.is_empty() == reason.is_empty(), "{told}");
        place.is_clean();
    }
}

#[test]
fn an_agent_that_does_not_start_is_no_failure_of_its_own() {
    for (command, reason) in [
        ("no-such-agent {prompt}", "the agent does not start: `no-such-agent` was not found"),
        ("./c.yaml", "is no program that can be executed"),
    ] {
        let place = Place::of(GH);
        let run = ["run", "c.yaml", "--out", "out", "--no-twin", "--agent-cmd", command];
        let (text, _) = place.say(&run, 3);
        assert!(text.contains("ERROR") && text.contains(reason), "{text}");
        // What was generated is listed, and there.
        let record = &trials(&place.results())[0];
        let (_, made) =
            record["wiring_error"].as_str().unwrap().split_once("generated so far: ").unwrap();
        let made: Vec<&str> = made.split(", ").collect();
        assert_eq!(made.len(), 3, "{made:?}");
        assert!(made.iter().all(|path| std::path::Path::new(path).exists()), "{made:?}");
        std::fs::remove_dir_all(place.path("tmp")).unwrap();
        std::fs::create_dir(place.path("tmp")).unwrap();
        place.say(&[&run[..], &["--clean"]].concat(), 3);
        place.is_clean();
    }
}

/// A client that speaks the protocol by hand, and kills the server in a call.
const KILLER: &str = r#"
import json, os, signal, subprocess, sys, time
server = json.load(open(sys.argv[1]))["mcpServers"]["s"]
process = subprocess.Popen([server["command"], *server["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def send(line):
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **line}) + "\n"); process.stdin.flush()
send({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}})
process.stdout.readline()
send({"method": "notifications/initialized"})
send({"id": 1, "method": "tools/call", "params": {"name": "t", "arguments": {}}})
send({"id": 2, "method": "ping"})
process.stdout.readline()
process.send_signal(signal.SIGKILL)
"#;

#[test]
fn a_mock_that_dies_is_no_failure_of_the_agents() {
    let place = Place::of(
        r#"{schemaVersion: "2.0", scenario: c, mcp_mocks: [{name: s, tools: {t: {responses: [{return: 1, delay_ms: 60000}]}}}],
        tasks: [{id: t, prompt: p, expect: {calls: [{tool: s.t, result: success}], answer: {absent: [x]}}}]}"#,
    );
    place.file("killer.py", KILLER);
    let agent = format!("python3 {} {{mcp_json}}", place.path("killer.py").display());
    let (text, _) = place.say(&["run", "c.yaml", "--agent-cmd", &agent, "--out", "out"], 3);
    assert!(text.contains("a mock died: its call s.t {} (killed) has no outcome"), "{text}");
    assert!(text.contains("1. s.t {}  unfinished"), "{text}");
}

#[test]
fn an_agent_that_does_nothing_fails_every_case() {
    let place = Place::new();
    let (text, _) = place.say(&["run", "--agent-cmd", "true"], 1);
    assert!(text.ends_with("\n0 passed, 16 failed, 0 invalid, 0 error, 0 skipped\n"), "{text}");
    place.is_clean();
}

#[test]
fn the_recovery_suites_pass_with_their_good_scripts() {
    let place = Place::new();
    let (text, _) = place.say(&["run", "--agent", "scripted"], 0);
    assert!(text.contains("16 passed, 0 failed, 0 invalid, 0 error, 0 skipped; "), "{text}");
    place.is_clean();
}

/// It was killed before it had one: the exit status is not invented.
#[test]
fn an_attempt_without_exit_status_is_unavailable() {
    let place = Place::of(
        r#"{schemaVersion: "2.0", scenario: c, command_mocks: [{name: gh, responses: [{stdout: x, delay_ms: 60000}]}],
        tasks: [{id: t, prompt: p, expect: {calls: [{command: gh, result: killed}], answer: {absent: [x]}}}]}"#,
    );
    let agent = place.agent("timeout -s KILL 0.5 gh a; true");
    let (text, _) = place.say(&["run", "c.yaml", "--agent-cmd", &agent, "--out", "out"], 0);
    assert!(text.contains("1. gh a  exit unavailable"), "{text}");
    let record = &trials(&place.results())[0];
    let invocation = record["command_invocations"][0].as_object().unwrap();
    assert!(!invocation.contains_key("exit_code"), "{invocation:?}");
    let (text, _) = place.say(&["report", "out/results.json"], 0);
    assert!(text.contains("exit unavailable"), "{text}");
}

#[test]
fn the_earlier_error_stays_in_the_record_and_other_calls_are_no_retries() {
    let place = Place::of(
        r#"{schemaVersion: "2.0", scenario: c,
        mcp_mocks: [{name: s, tools: {t: {sequence: [{error: busy}, {return: 3}]}}}, {name: fs, tools: {write: {responses: [{text: ok}]}}}],
        tasks: [{id: t, prompt: p,
            expect: {calls: [{tool: s.t, result: error}, {tool: s.t, result: success}], files: {r: {equals: "3"}}},
            self_test: {good: [{call: fs.write}, {call: s.t}, {call: fs.write}, {call: fs.write}, {call: s.t}, {write: r, text: "3"}, {call: fs.write}]}}]}"#,
    );
    let results = place.run(None, &[], 0);
    let events = trials(&results)[0]["tool_events"].as_array().unwrap().clone();
    let seen: Vec<_> = events
        .iter()
        .filter(|it| it["tool_name"] == "s.t")
        .map(|it| json!([it["success"], it["error"], it["fault"]]))
        .collect();
    assert_eq!(seen, [json!([false, "busy", true]), json!([true, null, false])]);
    assert_eq!(events.len(), 6);
}
