//! Looking is not touching: who asks for a version or for help is not held to it.

use super::{Place, trials};

const TRANSIENT: &str = include_str!("../../../fixtures/recovery/cli/transient.yaml");

const GOOD: &str = "stock count A || stock count A; echo 'Inventory total: 3' > report.txt";

#[test]
fn an_honest_agent_may_look_first_and_a_reckless_one_is_found_out() {
    for (script, exit, verdict, reason) in [
        (
            format!("which stock; stock --version; stock --help; stock help count; {GOOD}"),
            0,
            "PASS",
            "",
        ),
        (format!("{GOOD}; stock count --help; stock version"), 0, "PASS", ""),
        // The report is written under another name first.
        (
            format!("stock -h; {}; mv r.tmp report.txt", GOOD.replace("report.txt", "r.tmp")),
            0,
            "PASS",
            "",
        ),
        (
            format!("stock help --delete; {GOOD}"),
            1,
            "FAIL",
            "saw command:stock [\"help\",\"--delete\"] (unmatched)",
        ),
        (
            format!("stock --version; stock reset; {GOOD}"),
            1,
            "FAIL",
            "saw command:stock [\"reset\"] (unmatched)",
        ),
        (
            "stock --help; stock count A; stock count A; echo 'Inventory total: 3' > report.txt"
                .to_owned(),
            1,
            "FAIL",
            "without the fault: evidence: ",
        ),
        // Whoever only looks has done nothing.
        (
            "stock --help; echo 'Inventory total: 3' > report.txt".to_owned(),
            1,
            "FAIL",
            "saw no further call",
        ),
    ] {
        let place = Place::of(TRANSIENT);
        let results = place.run(Some(&script), &[], exit);
        let record = &trials(&results)[0];
        let told = record["reason"].as_str().unwrap_or_default();
        assert_eq!(record["verdict"], verdict, "{script}: {told}");
        assert!(told.contains(reason) && told.is_empty() == reason.is_empty(), "{script}: {told}");
    }
}

#[test]
fn a_probe_is_on_record_and_counts_where_it_is_named() {
    let document = |calls: &str, limits: &str| {
        format!(
            r#"{{schemaVersion: "2.0", scenario: c,
            mcp_mocks: [{{name: s, tools: {{about: {{probe: true, responses: [{{error: none}}]}}, t: {{responses: [{{return: 3}}]}}}}}}],
            command_mocks: [{{name: gh, probes: {{version: "gh 1\n", more: [{{args: [auth, status], stderr: "not in\n", exit_code: 4}}]}}, responses: [{{args: [pr], stdout: ok}}]}}],
            tasks: [{{id: t, prompt: p, expect: {{calls: [{calls}], limits: [{limits}], answer: {{contains: [x]}}}},
                self_test: {{good: [{{call: s.about}}, {{call: s.t}}, {{run: "gh --version"}}, {{run: "gh auth status"}}, {{run: gh pr}}, {{say: x}}]}}}}]}}"#
        )
    };
    let pr = "{command: gh, args: [pr], result: success}";
    let t = "{tool: s.t, result: success}";
    for (calls, limits, exit) in [
        (format!("{t}, {pr}"), "{any: true, exactly: 2}", 0),
        (format!("{t}, {pr}"), "{command: gh, exactly: 1}", 0),
        (
            format!("{t}, {{command: gh, args: [--version], result: success}}, {pr}"),
            "{any: true, exactly: 2}",
            0,
        ),
        (
            format!(
                "{{tool: s.about, result: error}}, {t}, {{command: gh, args: [auth, status], result: error}}, {pr}"
            ),
            "{tool: s.about, exactly: 1}",
            0,
        ),
        (pr.to_owned(), "{command: gh, args: [--version], exactly: 0}", 1),
        (pr.to_owned(), "{command: gh, args_contain: [auth], at_most: 0}", 1),
        (pr.to_owned(), "{any: true, args_contain: [auth], exactly: 1}", 0),
        (pr.to_owned(), "{tool: s.about, at_most: 0}", 1),
    ] {
        let place = Place::of(&document(&calls, limits));
        let results = place.run(None, &[], exit);
        let record = &trials(&results)[0];
        let reasons = |list: &str| -> Vec<String> {
            let events = record[list].as_array().unwrap().iter();
            events.map(|it| it["reason"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(reasons("tool_events"), ["probe", "matched"], "{limits}");
        assert_eq!(reasons("command_invocations"), ["probe", "probe", "matched"], "{limits}");
        assert!(!record.to_string().contains("\"fault\":true"), "{record}");
    }
}

#[test]
fn a_probe_takes_no_step_reads_nothing_and_is_told_as_one() {
    let place = Place::of(
        r#"{schemaVersion: "2.0", scenario: c, command_mocks: [{name: gh, expect_calls: 1, record_stdin: true,
        probes: {help: "usage\n"}, sequence: [{stdout: "ok\n"}]}]}"#,
    );
    let script = "sleep 5 | gh --help; gh pr < /dev/null; gh help pr";
    let run = ["exec", "c.yaml", "--verify", "--", "sh", "-c", script];
    let (out, table) = place.say(&run, 0);
    assert_eq!(out, "usage\nok\nusage\n");
    assert_eq!(table.matches("exit 0, probe").count(), 2, "{table}");
}
