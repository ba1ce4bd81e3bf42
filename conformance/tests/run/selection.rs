//! Which tasks are run.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{GH, GOOD, Place};

fn names(results: &Value) -> Vec<String> {
    let runs = results["runs"].as_array().unwrap().iter();
    let name = |run: &Value| {
        format!("{}/{}", run["case"].as_str().unwrap(), run["task"].as_str().unwrap())
    };
    runs.filter(|run| run["twin"] == false).map(name).collect()
}

#[test]
fn tasks_are_chosen_by_name() {
    let place = Place::new();
    for (only, wanted) in [
        (vec!["--only", "cli-transient"], vec!["cli-transient/transient"]),
        (vec!["--only", "*/transient"], vec!["mcp-transient/transient", "cli-transient/transient"]),
        (
            vec!["--only", "mcp-timeout", "--only", "cli-p*"],
            vec!["mcp-timeout/timeout", "cli-permanent/permanent", "cli-permission/permission"],
        ),
    ] {
        let run = [&["run", "--agent", "scripted", "--out", "out", "--no-twin"], &*only].concat();
        place.say(&run, 0);
        assert_eq!(names(&place.results()), wanted);
    }
    let (text, complaint) = place.say(&["run", "--agent", "scripted", "--only", "nothing"], 4);
    assert!(complaint.contains("nothing was selected") && text.is_empty(), "{complaint}");
}

#[test]
fn shards_together_are_everything_once() {
    let place = Place::new();
    let mut all = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let run = ["run", "--agent", "scripted", "--out", "out", "--no-twin", "--shard", shard];
        place.say(&run, 0);
        let part = names(&place.results());
        assert!(part.len() >= 5, "{part:?}");
        all.extend(part);
    }
    assert_eq!(all.len(), 16);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 16);
}

#[test]
fn reports_go_where_they_are_wanted() {
    let place = Place::of(GH);
    let agent = place.agent(GOOD);
    let run = ["run", "c.yaml", "--agent-cmd", &agent, "--out", "out", "--keep-sessions"];
    let (text, _) =
        place.say(&[&run[..], &["--report", "text=a.txt", "--report", "json=b.json"]].concat(), 0);
    assert_eq!(text, std::fs::read_to_string(place.path("a.txt")).unwrap());
    let saved = std::fs::read(place.path("out/results.json")).unwrap();
    assert_eq!(saved, std::fs::read(place.path("b.json")).unwrap());
    let sessions: Vec<_> = std::fs::read_dir(place.path("out/sessions")).unwrap().collect();
    assert_eq!(sessions.len(), 2);
    for program in ["cli-shim", "mcp-mock"] {
        let session = place.path("out/sessions/0001-gh-t/session");
        let mut status = std::process::Command::new(super::program().with_file_name(program));
        let status = status.arg("status").arg(session).output().unwrap();
        assert!(String::from_utf8_lossy(&status.stdout).contains("2 of 2"), "{status:?}");
    }
    // They are not written over.
    place.say(&run, 2);
    place.is_clean();
}

#[test]
fn what_contradicts_itself_is_usage() {
    let place = Place::of(GH);
    for arguments in [
        vec!["--trials", "2", "--require-pass", "1/3"],
        vec!["--require-pass", "4/3"],
        vec!["--require-pass", "1/10001"],
        vec!["--require-pass", "1/4294967295"],
        vec!["--trials", "10001"],
        vec!["--shard", "0/3"],
        vec!["--jobs", "0"],
        vec!["--timeout", "0"],
        vec!["--timeout", "never"],
        vec!["--report", "xml"],
        vec!["--report", "json="],
        vec!["--keep-sessions"],
        vec!["--only", "[a"],
    ] {
        place.say(&[&["run", "c.yaml", "--agent", "scripted"], &*arguments].concat(), 2);
    }
    place.file("d.yaml", GH);
    let (_, complaint) = place.say(&["run", "c.yaml", "d.yaml", "--agent", "scripted"], 2);
    assert!(complaint.contains("are both called `gh`"), "{complaint}");
}

/// Two that go to one place would leave neither.
#[test]
fn reports_are_not_written_over_each_other() {
    let place = Place::of(GH);
    let agent = place.agent(GOOD);
    place.file("old.txt", "old");
    std::os::unix::fs::symlink("old.txt", place.path("link.txt")).unwrap();
    for (reports, exit) in [
        (vec!["json=a.txt", "text=a.txt"], 2),
        (vec!["json=a.txt", "text=./a.txt"], 2),
        (vec!["json=old.txt", "text=link.txt"], 2),
        (vec!["json=old.txt", "json=old.txt"], 2),
        (vec!["text=out/results.json"], 2),
        (vec!["json", "text"], 2),
        (vec!["text", "text"], 2),
        (vec!["json=/dev/null", "text=/dev/null"], 0),
        (vec!["json=a.txt", "text=b.txt", "text"], 0),
    ] {
        let mut run = vec!["run", "c.yaml", "--no-twin", "--agent-cmd", &agent, "--out", "out"];
        run.extend(reports.iter().flat_map(|report| ["--report", *report]));
        let (text, complaint) = place.say(&run, exit);
        let is_told =
            complaint.contains("would be written twice") || complaint.contains("go to stdout");
        assert_eq!(is_told && text.is_empty(), exit == 2, "{reports:?}: {complaint}");
        assert_eq!(std::fs::read(place.path("old.txt")).unwrap(), b"old");
        assert_eq!(place.path("out/results.json").exists(), exit == 0, "{reports:?}");
    }
}

/// Enough of the tasks that took place is not enough of all.
#[test]
fn what_did_not_take_place_has_not_passed() {
    let place = Place::new();
    place.file("all/a.yaml", GH);
    place.file("all/b.yaml", &GH.replace("scenario: gh", "scenario: other"));
    let counter = place.path("counter").display().to_string();
    let script = format!("echo >> {counter}; [ $(wc -l < {counter}) = 2 ] || {{ {GOOD}; }}");
    let agent = place.agent(&script);
    for (is_stopped, exit) in [(true, 1), (false, 0)] {
        let _ = std::fs::remove_file(&counter);
        let mut run = vec!["run", "all", "--no-twin", "--jobs", "1", "--require-pass", "1/2"];
        run.extend(["--agent-cmd", &agent, "--out", "out"]);
        run.extend(is_stopped.then_some("--fail-fast"));
        place.say(&run, exit);
        place.say(&["grade", "out/results.json"], exit);
        let not_run = if is_stopped { 2 } else { 0 };
        assert_eq!(place.results()["summary"]["not_run"], not_run);
    }
}
