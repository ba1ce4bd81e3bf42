//! Cases that prove nothing, though nothing is wrong with what the agent did.

use super::{GH, GOOD, Place, trials};

/// What was selected for a required call, and the fault that was meant for it.
#[test]
fn a_fault_that_never_landed_is_never_a_pass() {
    let twice = "sequence: [{return: 1}, {error: x}]";
    let other = ", u: {sequence: [{error: busy}, {return: 2}]}";
    let u = "{tool: s.u, result: error}, {tool: s.u, result: success}";
    for (tools, calls, good, exit, verdict, reason) in [
        (twice, "", "{call: s.t}", 3, "INVALID", "no call met a fault"),
        (
            &format!("{twice}}}{}", other.trim_end_matches('}')),
            u,
            "{call: s.t}, {call: s.u, until: success}",
            3,
            "INVALID",
            "the response to s.t {} (success) holds a fault, which no call met",
        ),
        // It fails for another reason, and that comes first.
        (twice, "{tool: s.t, result: success}", "{call: s.t}", 1, "FAIL", "evidence: expect.calls"),
        ("responses: [{return: 1}]", "", "{call: s.t}", 0, "PASS", ""),
        ("responses: [{return: 1, fault: true}]", "", "{call: s.t}", 0, "PASS", ""),
        ("responses: [{return: 1}, {error: x}]", "", "{call: s.t}", 3, "INVALID", "no call met"),
        ("sequence: [{return: 1}, {error: x, fault: false}]", "", "{call: s.t}", 0, "PASS", ""),
    ] {
        let place = Place::of(&format!(
            r#"{{schemaVersion: "2.0", scenario: c, mcp_mocks: [{{name: s, tools: {{t: {{{tools}}}}}}}],
            tasks: [{{id: t, prompt: p, expect: {{calls: [{{tool: s.t, result: success}}, {calls}], answer: {{absent: [x]}}}},
                self_test: {{good: [{good}]}}}}]}}"#
        ));
        let record = &trials(&place.run(None, &[], exit))[0];
        let told = record["reason"].as_str().unwrap_or_default();
        assert_eq!(record["verdict"], verdict, "{tools}: {told}");
        assert!(told.starts_with(reason) && told.is_empty() == reason.is_empty(), "{told}");
        place.is_clean();
    }
}

/// Agents that do something else in the twin, which comes first.
#[test]
fn a_twin_tells_only_after_it_made_contact() {
    for (in_twin, otherwise, exit, twin, verdict) in [
        (GOOD, GOOD, 0, "PASS", "PASS"),
        ("gh pr", GOOD, 3, "FAIL", "INVALID"),
        // What it calls without a fault is its own doing.
        ("gh other; echo done > r", GOOD, 1, "FAIL", "FAIL"),
        // The agent was not there, and says nothing about the case.
        ("true", GOOD, 0, "FAIL", "PASS"),
        ("kill -9 $$", GOOD, 0, "ERROR", "PASS"),
        ("gh pr", "gh pr", 1, "FAIL", "FAIL"),
        ("gh pr", "kill -9 $$", 3, "FAIL", "ERROR"),
    ] {
        let place = Place::of(GH);
        let script = format!("case $PWD in */0000-*) {in_twin};; *) {otherwise};; esac");
        let results = place.run(Some(&script), &["--trials", "2"], exit);
        let verdicts: Vec<_> = results["runs"].as_array().unwrap().iter().collect();
        assert_eq!(verdicts.len(), 3);
        assert_eq!((&verdicts[0]["verdict"], &verdicts[0]["twin"]), (&twin.into(), &true.into()));
        for record in &verdicts[1..] {
            assert_eq!(record["verdict"], verdict, "{in_twin}: {record}");
            let told = record["reason"].as_str().unwrap_or_default().contains("without the fault");
            assert_eq!(told, twin == "FAIL" && verdict != "PASS" && verdict != "ERROR", "{record}");
        }
        place.is_clean();
    }
}

/// Several verdicts in one run: a failure first, then what could not be judged.
#[test]
fn the_worst_verdict_gives_the_exit_status() {
    let place = Place::new();
    std::fs::create_dir(place.path("template")).unwrap();
    let pipe = place.path("template/pipe");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let good = "self_test: {good: [{run: gh pr, until: success}]}";
    let twin = "no_fault: {expect: {calls: [{command: gh, args: [pr], result: success}], answer: {contains: [x]}}}";
    for (name, more) in [
        ("passed", good.to_owned()),
        ("failed", "self_test: {good: [{run: gh pr}]}".to_owned()),
        // It cannot be copied.
        ("error", format!("workspace: template, {good}")),
        ("invalid", format!("{twin}, {good}")),
        ("skipped", String::new()),
    ] {
        place.file(
            &format!("{name}.yaml"),
            &format!(
                r#"{{schemaVersion: "2.0", scenario: {name}, command_mocks: [{{name: gh, responses: [{{args: [pr], sequence: [{{exit_code: 1}}, {{stdout: x}}]}}]}}],
                tasks: [{{id: t, prompt: p, expect: {{calls: [{{command: gh, args: [pr], result: error}}, {{command: gh, args: [pr], result: success}}], answer: {{absent: [x]}}}}, {more}}}]}}"#
            ),
        );
    }
    for (names, exit) in [
        (vec!["passed"], 0),
        (vec!["failed"], 1),
        (vec!["error"], 3),
        (vec!["invalid"], 3),
        (vec!["skipped"], 4),
        (vec!["passed", "skipped"], 0),
        (vec!["passed", "invalid"], 3),
        (vec!["passed", "error", "skipped"], 3),
        (vec!["error", "invalid"], 3),
        (vec!["passed", "error", "failed"], 1),
        (vec!["passed", "error", "failed", "invalid", "skipped"], 1),
    ] {
        let files: Vec<String> = names.iter().map(|name| format!("{name}.yaml")).collect();
        let mut run = vec!["run", "--agent", "scripted", "--out", "out", "--clean"];
        run.extend(files.iter().map(String::as_str));
        place.say(&run, exit);
        place.say(&["grade", "out/results.json"], exit);
        let results = place.results();
        assert_eq!(trials(&results).len(), names.len());
        for (name, record) in names.iter().zip(trials(&results)) {
            let verdict = match *name {
                "passed" => "PASS".to_owned(),
                "failed" => "FAIL".to_owned(),
                other => other.to_uppercase(),
            };
            assert_eq!(record["verdict"], verdict, "{record}");
            assert_eq!(results["summary"][name], 1, "{name}");
        }
        place.is_clean();
    }
}
