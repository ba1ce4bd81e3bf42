//! Many trials at once.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};

use super::{GH, GOOD, Place, trials};

/// Each agent calls with the name of its own folder, and writes it down.
#[test]
fn trials_side_by_side_do_not_hear_each_other() {
    let place = Place::of(
        r#"{schemaVersion: "2.0", scenario: c, command_mocks: [{name: gh, responses: [{args_prefix: [me], sequence: [{exit_code: 1}, {stdout: ok}]}]}],
        tasks: [{id: t, prompt: p, expect: {limits: [{command: gh, exactly: 2}], files: {r: {absent: false}}}}]}"#
            .replace("files: {r: {absent: false}}", "any_of: [{answer: {contains: [me]}, files: {r: {json: 1}}}, {answer: {contains: [me]}, files: {r: {json: 2}}}]")
            .as_str(),
    );
    let script = "me=$(basename \"$(dirname \"$PWD\")\"); gh me $me; sleep 0.02; gh me $me >/dev/null; echo 1 > r; echo me $me";
    let results = place.run(Some(script), &["--jobs", "8", "--trials", "20"], 0);
    let mut names = BTreeSet::new();
    for record in trials(&results) {
        let said =
            record["answer"].as_str().unwrap().trim().strip_prefix("me ").unwrap().to_owned();
        for invocation in record["command_invocations"].as_array().unwrap() {
            assert_eq!(invocation["args"], json!(["me", said]), "{record}");
        }
        names.insert(said);
    }
    assert_eq!(names.len(), 20);
}

/// The same over servers, of which each agent has its own.
#[test]
fn servers_side_by_side_do_not_hear_each_other() {
    let place = Place::of(
        r#"{schemaVersion: "2.0", scenario: c, mcp_mocks: [{name: s, tools: {t: {responses: [{match_regex: {me: "^0"}, sequence: [{error: busy}, {return: {ok: true}}]}]}}}],
        tasks: [{id: t, prompt: p, expect: {calls: [{tool: s.t, result: error, same: [/me]}, {tool: s.t, result: success, same: [/me]}], answer: {contains: ["me 00", busy, ok]}}}]}"#,
    );
    let client = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exec/client.py");
    let agent = place.agent(&format!(
        "me=$(basename \"$(dirname \"$PWD\")\"); echo me $me\nfor i in 1 2; do python3 {client} \"$1\" s t \"{{\\\"me\\\": \\\"$me\\\"}}\"; done"
    ));
    let agent = format!("{agent} {{mcp_json}}");
    let run = ["run", "c.yaml", "--jobs", "8", "--trials", "20", "--out", "out"];
    place.say(&[&run[..], &["--agent-cmd", &agent]].concat(), 0);
    let mut names = BTreeSet::new();
    for record in trials(&place.results()) {
        let said = record["answer"].as_str().unwrap().lines().next().unwrap();
        let said = said.strip_prefix("me ").unwrap().to_owned();
        let events = record["tool_events"].as_array().unwrap();
        assert_eq!(events.len(), 2, "{record}");
        assert!(events.iter().all(|event| event["args"] == json!({"me": said})), "{record}");
        names.insert(said);
    }
    assert_eq!(names.len(), 20);
    place.is_clean();
}

/// What is the same whenever the run took place.
fn timeless(results: &Value) -> Value {
    let mut results = results.clone();
    for run in results["runs"].as_array_mut().unwrap() {
        run["duration_ms"] = Value::Null;
        run["began_ms"] = Value::Null;
        for invocation in run["command_invocations"].as_array_mut().unwrap() {
            invocation["duration_ms"] = Value::Null;
        }
    }
    results
}

#[test]
fn results_do_not_depend_on_how_many_run_at_once() {
    let place = Place::of(GH);
    let script = GOOD;
    let one = place.run(Some(script), &["--jobs", "1", "--trials", "12"], 0);
    let many = place.run(Some(script), &["--jobs", "8", "--trials", "12"], 0);
    assert_eq!(timeless(&one), timeless(&many));
    let order: Vec<u64> = trials(&many).iter().map(|it| it["trial"].as_u64().unwrap()).collect();
    assert_eq!(order, (1..=12).collect::<Vec<_>>());
}

/// Daemons, double forks and deaf processes belong to the run that they come from.
#[test]
fn what_agents_leave_is_ended_and_attributed() {
    let place = Place::of(GH);
    let script = format!(
        "{GOOD}; n=$(basename \"$(dirname \"$PWD\")\" | cut -c1-4)
        ln -s /bin/sleep \"$TMPDIR/daemon-$n\"; ln -s /bin/sleep \"$TMPDIR/double-$n\"
        setsid \"$TMPDIR/daemon-$n\" 5151 >/dev/null 2>&1 &
        (setsid sh -c \"trap '' TERM; '$TMPDIR/double-$n' 5151\" >/dev/null 2>&1 &)
        sleep 0.2; rm \"$TMPDIR/daemon-$n\" \"$TMPDIR/double-$n\""
    );
    let results = place.run(Some(&script), &["--jobs", "8", "--trials", "8", "--no-twin"], 0);
    for (index, record) in trials(&results).iter().enumerate() {
        let orphans = record["exit"]["orphans"].as_array().unwrap();
        let mut names: Vec<&str> = orphans
            .iter()
            .map(|it| it.as_str().unwrap().split(" (").next().unwrap())
            .filter(|name| name.starts_with('d'))
            .collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [format!("daemon-{index:04}"), format!("double-{index:04}")],
            "{orphans:?}"
        );
    }
    let running = Command::new("pgrep").args(["-f", "sleep 5151|-0.* 5151"]).output().unwrap();
    assert!(running.stdout.is_empty(), "{running:?}");
    place.is_clean();
}

#[test]
fn so_many_of_the_trials_must_pass() {
    // Two of three agents are good: they take turns.
    let place = Place::of(GH);
    let counter = place.path("counter").display().to_string();
    let script =
        format!("echo >> {counter}; n=$(wc -l < {counter}); [ $((n % 3)) = 0 ] || {{ {GOOD}; }}");
    let flaky = |arguments: &[&str], exit| {
        let _ = std::fs::remove_file(place.path("counter"));
        place.run(Some(&script), &[&["--jobs", "1", "--no-twin"], arguments].concat(), exit)
    };
    let results = flaky(&["--require-pass", "2/3"], 0);
    let summary = &results["summary"];
    assert_eq!((&summary["passed"], &summary["failed"]), (&2.into(), &1.into()));
    assert_eq!((&summary["k"], &summary["n"]), (&2.into(), &3.into()));
    let near = |value: &Value, wanted: f64| (value.as_f64().unwrap() - wanted).abs() < 1e-9;
    assert!(
        near(&summary["pass@1"], 2.0 / 3.0) && near(&summary["pass^k"], 1.0 / 3.0),
        "{summary}"
    );
    assert_eq!((&summary["faults_landed"], &summary["faults_recovered"]), (&2.into(), &2.into()));
    flaky(&["--require-pass", "3/3"], 1);
    flaky(&["--trials", "3"], 1);
    flaky(&["--trials", "2"], 0);
    let stopped = flaky(&["--trials", "6", "--fail-fast"], 1);
    assert_eq!(
        (&stopped["summary"]["failed"], &stopped["summary"]["not_run"]),
        (&1.into(), &3.into())
    );
}
