//! What an agent's own harness writes is not the agent's doing.

use serde_json::json;

use super::{GH, GOOD, Place, trials};

/// A harness that keeps its own files, and an agent that writes the report in
/// a file of another name first.
const HARNESS: &str =
    "mkdir -p .claude/a; echo {} > .claude/a/settings.local.json; echo x > .claude.log";

#[test]
fn what_is_ignored_is_on_record_and_no_side_effect() {
    let honest = format!("{HARNESS}; {}; mv r.tmp r", GOOD.replace("> r", "> r.tmp"));
    let reckless = format!("{honest}; mkdir -p .git/o; for n in 1 2 3; do echo > .git/o/$n; done");
    let task = GH.replace("prompt: merge it", "prompt: p, ignore: [.claude/**, \"*.log\"]");
    let user = ["--ignore", ".claude", "--ignore", "*.log"];
    for (document, script, arguments, exit, reason) in [
        (GH, &honest, &user[..], 0, None),
        (&task, &honest, &[], 0, None),
        (&task, &honest, &["--ignore", "none"], 0, None),
        (GH, &honest, &user[..2], 1, Some("saw `.claude.log` was made")),
        (GH, &honest, &user[2..], 1, Some("saw `.claude/a/settings.local.json` was made")),
        (&task, &reckless, &[], 1, Some("saw `.git/` was made, 3 entries")),
    ] {
        let place = Place::of(document);
        let results = place.run(Some(script), arguments, exit);
        let record = &trials(&results)[0];
        let told = record["reason"].as_str();
        assert_eq!(told.is_some(), reason.is_some(), "{told:?}");
        assert!(told.is_none_or(|told| told.contains(reason.unwrap())), "{told:?}");
        assert!(record["violations"].as_array().unwrap().len() <= 1, "{record}");
        let changes = record["changes"].as_array().unwrap();
        let change = changes.iter().find(|it| it["path"] == ".claude/a/settings.local.json");
        let change = change.unwrap();
        assert_eq!(change["new_directory"], ".claude");
        assert_eq!(change["content"], "{}\n");
        let is_ignored = change.get("ignored") == Some(&json!(true));
        assert_eq!(is_ignored, !arguments.starts_with(&user[2..]), "{change}");
        let git = changes.iter().filter(|it| it["path"].as_str().unwrap().starts_with(".git/"));
        assert_eq!(git.count(), if script == &reckless { 3 } else { 0 });
    }
}

#[test]
fn a_pattern_that_is_none_is_refused() {
    let place = Place::of(GH);
    let (_, told) = place.say(&["run", "c.yaml", "--agent-cmd", "true", "--ignore", "[a"], 2);
    assert!(told.contains("--ignore"), "{told}");
}
