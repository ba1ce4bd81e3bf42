//! Agents that leave what nobody expects, and those that reach for the evidence.

use super::{GOOD, Place};

/// Has agents do more than they should; each row is what they do, the exit
/// status, and what is said of it.
fn judged(rows: &[(&str, i32, &str)]) {
    for (script, exit, wanted) in rows {
        let place = Place::new();
        let script = format!("{GOOD}\n{script}");
        let (code, text) = place.run(place.agent(&script, &["c.yaml", "--timeout", "20"]));
        assert_eq!(code, *exit, "{script}: {text}");
        assert!(text.contains(wanted), "{script}: {text}");
    }
}

#[test]
fn whatever_stands_in_the_workspace_is_looked_at() {
    let deep = format!(
        "p={}d; for i in 1 2 3 4 5 6 7 8 9 10; do mkdir -p $p && cd -P $p 2>/dev/null; done",
        "d/".repeat(499)
    );
    judged(&[
        ("rm -rf \"$PWD\"", 1, "`.` was deleted"),
        ("cd ..; mv workspace other; ln -s / workspace", 1, "`.` was changed"),
        ("rm r; ln -s /etc/hostname r", 1, "saw a symbolic link"),
        ("rm r; mkfifo r", 1, "saw neither file nor directory"),
        ("rm r; mkdir r", 1, "saw a directory"),
        ("ln -s . a; ln -s c b; ln -s b c", 1, "`c` was made"),
        ("truncate -s 200G r", 1, "saw a file whose content was not kept"),
        ("truncate -s 200G big", 1, "`big` was made"),
        ("touch \"$(printf 'a\\377')\" \"$(printf 'a\\376')\"", 1, r"`a\xfe` was made"),
        ("touch \"$(printf '\\033[31m\\nred')\"", 1, "[31m red` was made"),
        (&deep, 1, "/d/d` was made"),
    ]);
}

/// A large file that stays as it was is no change, though nobody reads it.
#[test]
fn a_large_file_of_the_template_is_known_again() {
    for (script, exit) in [("true", 0), ("printf x | dd of=big conv=notrunc 2>/dev/null", 1)] {
        let place = Place::new();
        std::fs::create_dir(place.path("tpl")).unwrap();
        let big = std::fs::File::create(place.path("tpl/big")).unwrap();
        big.set_len(1 << 30).unwrap();
        place.case("big", "workspace: tpl,", "");
        let (code, text) = place.run(place.agent(&format!("{GOOD}\n{script}"), &["big.yaml"]));
        assert_eq!(code, exit, "{text}");
    }
}

#[test]
fn many_directories_take_no_square_of_the_time() {
    let place = Place::new();
    let script = format!("{GOOD}\nfor i in $(seq 60); do mkdir $i; (cd $i; mkdir $(seq 60)); done");
    let (code, text) = place.run(place.agent(&script, &["c.yaml"]));
    assert_eq!(code, 1);
    assert!(text.contains("`60/` was made, 60 entries"), "{text}");
}

#[test]
fn what_is_sealed_is_a_change_and_goes() {
    // Nothing is sealed for the superuser, who sees what is in it.
    judged(&[
        ("mkdir -p d/e; touch d/e/f; chmod 0 d/e; chmod 555 d", 1, "` was made"),
        ("mkdir -p go/mod; touch go/mod/x; chmod 555 go/mod go .", 1, "` was made"),
    ]);
}

/// Nothing of this is a way to pass; what does not touch the evidence is none to fail.
#[test]
fn the_evidence_is_whole_or_there_is_no_verdict() {
    judged(&[
        ("echo junk >> ../session/journal.jsonl", 3, "is damaged"),
        ("rm ../session/journal.jsonl", 3, "cannot open"),
        ("rm -r ../session", 3, "cannot open"),
        ("cd ../session; rm journal.jsonl; mkfifo journal.jsonl", 3, "it is no regular file"),
        ("truncate -s 100G ../session/journal.jsonl", 3, "is damaged"),
        ("cd ../session; cp journal.jsonl j; mv j journal.jsonl; gh pr", 1, "no further call"),
        ("gh pr && gh pr && gh pr", 1, "expect.calls"),
        ("rm ../stdout.txt ../stderr.txt; mkfifo ../stdout.txt ../stderr.txt", 0, "PASS"),
        ("rm ../session/journal.state; mkfifo ../session/journal.state", 0, "PASS"),
    ]);
}

/// What a shell opens again as /dev/stdout is written where the agent is.
#[test]
fn an_answer_has_no_holes() {
    let place = Place::new();
    let script = format!("{GOOD}\necho one; echo two > /dev/stdout; echo three");
    let (code, _) = place.run(place.agent(&script, &["c.yaml", "--out", "out"]));
    assert_eq!(code, 0);
    let text = std::fs::read_to_string(place.path("out/results.json")).unwrap();
    assert!(text.contains(r#"two\nthree\n","client_retries"#), "{text}");
}
