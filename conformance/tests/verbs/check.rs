//! What is wrong with documents, and with cases.

use serde_json::Value;

use super::{PROVEN, Place, case};

#[test]
fn the_recovery_suites_are_sound() {
    let (report, _) = Place::new().run(&["check", "--strict"], 0);
    assert!(report.lines().count() > 10, "{report}");
    assert!(report.lines().all(|line| line.ends_with(": ok")), "{report}");
}

#[test]
fn each_fault_of_a_case_is_named() {
    let idle = "self_test: {good: [{call: s.t}]}";
    let no_fault = r#"no_fault: {expect: {calls: [{tool: s.t, result: success}], files: {r: {equals: "3"}}}}, mcp_mocks: [{name: s, tools: {t: {responses: [{return: 3}]}}}]"#;
    for (documents, exit, strict, wanted) in [
        (vec![case("a", PROVEN)], 0, 0, vec!["0.yaml: ok"]),
        (
            vec![case("a", "graders: []")],
            0,
            1,
            vec!["warning: 0.yaml: task `t`: it has no `self_test`"],
        ),
        (
            vec![case("a", idle)],
            1,
            1,
            vec!["error: 0.yaml: task `t`: `gives-up` does what the good script does"],
        ),
        (
            vec![case("a", PROVEN), case("a", PROVEN)],
            1,
            1,
            vec!["error: 1.yaml: `0.yaml` and `1.yaml` are both called `a`"],
        ),
        (
            vec![case("a", &format!("{PROVEN}, {no_fault}"))],
            0,
            1,
            vec!["warning: 0.yaml: task `t`: it has a twin without the fault, and no fault"],
        ),
        (
            vec![case("a", PROVEN).replace(
                "class: busy",
                "mcp_servers: {s: {command: gone-a}, u: {command: gone-b}}",
            )],
            0,
            1,
            // The mock replaces the first one.
            vec!["warning: 0.yaml: `gone-b`, the live server `u`, was not found here\n"],
        ),
        (
            vec![
                case("a", PROVEN),
                case("b", PROVEN).replace("prompt", "promt"),
                case("c", "nonsense: 1"),
            ],
            1,
            1,
            vec!["did you mean `prompt`?", "0.yaml: ok", "1.yaml: refused", "2.yaml: refused"],
        ),
        // Documents without tasks are no cases.
        (vec!["{schemaVersion: \"2.0\", scenario: n}".to_owned(); 2], 0, 0, vec!["1.yaml: ok"]),
    ] {
        let place = Place::new();
        for (index, document) in documents.iter().enumerate() {
            place.file(&format!("{index}.yaml"), document);
        }
        let files: Vec<String> = (0..documents.len()).map(|it| format!("{it}.yaml")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let (report, _) = place.run(&[&["check"], &*files].concat(), exit);
        for text in wanted {
            assert!(report.contains(text), "{text}\n{report}");
        }
        assert!(!report.contains("gone-a"), "{report}");
        place.run(&[&["check", "--strict"], &*files].concat(), strict);
        let (report, _) = place.run(&[&["check", "--format", "json"], &*files].concat(), exit);
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["valid"], exit == 0, "{report}");
        assert_eq!(report["documents"].as_array().unwrap().len(), documents.len());
    }
}

#[test]
fn what_is_about_cases_stands_beside_the_documents() {
    let place = Place::new();
    place.file("d/a.yaml", &case("a", "graders: []"));
    let (report, _) = place.run(&["check", "d", "--format", "json"], 0);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["cases"].as_array().unwrap().len(), 1);
    let remark = &report["cases"][0];
    assert_eq!((&remark["file"], &remark["task"]), (&"d/a.yaml".into(), &"t".into()));
    assert_eq!(remark["severity"], "warning");
}

#[test]
fn what_cannot_be_opened_is_usage() {
    let place = Place::new();
    std::fs::create_dir(place.path("empty")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.path("broken.yaml")).unwrap();
    for (path, wanted) in [
        ("missing.yaml", "cannot open `missing.yaml`"),
        ("empty", "there is no document (.yaml, .yml) in `empty`"),
        ("broken.yaml", "cannot open `broken.yaml`"),
    ] {
        let (report, complaint) = place.run(&["check", path], 2);
        assert!(complaint.contains(wanted), "{complaint}");
        assert_eq!(report, "");
    }
    // It hides nothing of the others.
    place.file("bad.yaml", &case("b", PROVEN).replace("prompt", "promt"));
    let (report, complaint) = place.run(&["check", "broken.yaml", "bad.yaml"], 2);
    assert!(report.contains("did you mean `prompt`?") && complaint.contains("broken.yaml"));
}
