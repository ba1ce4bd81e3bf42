//! Fail closed: what is not right is answered with 127 and one line, on stderr,
//! uses nothing, and never reaches the host.

use std::path::Path;
use std::process::{Command, Output};

use crate::{Place, SERVED, refused, told};

/// A sequence, a payload in a file, and a door to the host.
fn place() -> Place {
    let place = Place::new(&format!(
        "[{{name: gh, on_unmatched: host, responses: [{{args: [a], sequence: [{{stdout: one}}, {{stdout: two}}]}}, {{args: [big], stdout: {}}}]}}]",
        "x".repeat(5000)
    ));
    place.program("host/gh", "#!/bin/sh\necho host; echo host >>\"$HOST_LOG\"\n");
    place
}

/// A program of this session, with the host behind it.
fn call(place: &Place, program: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(args).current_dir(place.root());
    with_host(place, &mut command).output().unwrap()
}

fn with_host<'c>(place: &Place, command: &'c mut Command) -> &'c mut Command {
    let path = std::env::var("PATH").unwrap();
    let folders = format!("{0}/run/bin:{0}/host:{path}", place.root().display());
    command.env("PATH", folders).env("HOST_LOG", place.path("host.log"))
}

/// Asserts that matched and unmatched calls are refused and use nothing.
fn refuses(place: &Place, program: &Path, reason: &str) {
    let before = std::fs::read(place.journal()).ok();
    for args in [["a"], ["unmatched"]] {
        let told = refused(&call(place, program, &args));
        assert!(told.contains(reason), "{told} instead of {reason}");
    }
    assert_eq!(std::fs::read(place.journal()).ok(), before);
    assert!(!place.path("host.log").exists(), "the host was reached: {reason}");
}

fn edit(path: &Path, change: impl Fn(String) -> String) {
    let text = std::fs::read_to_string(path).unwrap();
    let changed = change(text.clone());
    assert_ne!(changed, text);
    std::fs::write(path, changed).unwrap();
}

/// Some damage, and what is said about it.
type Damage = (&'static str, fn(&Place));

const DAMAGES: &[Damage] = &[
    ("cannot open", |it| std::fs::remove_file(it.path("run/session.json")).unwrap()),
    ("is no session.json", |it| std::fs::write(it.path("run/session.json"), "").unwrap()),
    ("is no session.json", |it| edit(&it.path("run/session.json"), |text| text[..99].to_owned())),
    ("no session", |it| {
        std::fs::remove_file(it.path("run/session.json")).unwrap();
        std::fs::create_dir(it.path("run/session.json")).unwrap();
    }),
    ("of version 2, this program knows 1", |it| {
        edit(&it.path("run/session.json"), |text| text.replace("\"version\": 1", "\"version\": 2"));
    }),
    ("of version 2, this program knows 1", |it| {
        std::fs::write(it.path("run/session.json"), "{\"version\": 2, \"mocks\": 1}").unwrap();
    }),
    ("does not declare `gh`", |it| {
        edit(&it.path("run/session.json"), |text| text.replace("\"gh\"", "\"hg\""));
    }),
    ("does not declare `gh`", |it| {
        edit(&it.path("run/session.json"), |text| text.replace("\"cli\"", "\"mcp\""));
    }),
    ("its digest differs", |it| {
        edit(&it.path("run/session.json"), |text| {
            let at = text.find("\"sha256\": \"").unwrap() + 11;
            format!("{}{}{}", &text[..at], "0".repeat(64), &text[at + 64..])
        });
    }),
    ("its digest differs", |it| edit(&it.path("run/commands/gh.json"), |text| text + " ")),
    ("its digest differs", |it| {
        edit(&it.path("run/commands/gh.json"), |text| text.replace("one", "two"));
    }),
    ("is not what the session was made with", |it| {
        std::fs::remove_file(it.path("run/commands/gh.json")).unwrap();
    }),
    ("cannot open", |it| std::fs::remove_file(it.journal()).unwrap()),
    ("is damaged at byte 0", |it| std::fs::write(it.journal(), "what is this\n").unwrap()),
    ("has version 2", |it| {
        let record = "{\"v\":2,\"seq\":1,\"type\":\"program.opened\"}\n";
        std::fs::write(it.journal(), record).unwrap();
    }),
    ("stands where 1 belongs", |it| {
        let record = "{\"v\":1,\"seq\":2,\"type\":\"program.opened\"}\n";
        std::fs::write(it.journal(), record).unwrap();
    }),
    ("session closed", |it| it.close()),
];

#[test]
fn a_session_that_is_not_as_it_was_made_serves_nothing() {
    for (reason, damage) in DAMAGES {
        let place = place();
        damage(&place);
        refuses(&place, &place.shim("gh"), reason);
    }
}

#[test]
fn a_payload_that_is_not_what_it_was_is_not_emitted() {
    for is_missing in [false, true] {
        let place = place();
        let mut blobs = std::fs::read_dir(place.path("run/blobs")).unwrap();
        let blob = blobs.next().unwrap().unwrap().path();
        if is_missing {
            std::fs::remove_file(blob).unwrap();
        } else {
            edit(&blob, |text| text.replacen('x', "y", 1));
        }
        let told = refused(&call(&place, &place.shim("gh"), &["big"]));
        assert!(told.contains("payload"), "{told}");
        // Verified when it is due, so the call has begun; its code is not invented.
        assert_eq!(place.types(), ["started"]);
        assert!(!place.path("host.log").exists());
        // What needs no payload does not look at it.
        assert_eq!(told_of(&place), "one");
    }
}

fn told_of(place: &Place) -> String {
    told(&call(place, &place.shim("gh"), &["a"])).1
}

#[test]
fn a_program_that_lies_elsewhere_or_under_another_name_is_no_mock() {
    let place = place();
    let beside = |name: &str| {
        let path = place.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::hard_link(place.shim("gh"), &path).unwrap();
        path
    };
    refuses(&place, &beside("run/bin/other"), "other: the session at");
    refuses(&place, &beside("run/bin/.gh"), ".gh: the session at");
    refuses(&place, &beside("gh"), "gh: no session");
    refuses(&place, &beside("run/gh"), "gh: no session");
    refuses(&place, &beside("run/bin/deep/gh"), "gh: no session");
    refuses(&place, &beside("else/bin/gh"), "session.json");
    refuses(&place, &beside("run/bin/cli-shim"), "cli-shim: the session at");
    // A copy is another file, and no more at home.
    let mut copy = Command::new("cp");
    assert!(copy.arg(place.shim("gh")).arg(place.path("else/gh")).status().unwrap().success());
    refuses(&place, &place.path("else/gh"), "gh: no session");
    assert_eq!(told_of(&place), "one");
}

/// Runs a script that has the shim open as 9.
fn opened(place: &Place, script: &str) -> String {
    let mut shell = Command::new("sh");
    let script = format!("exec 9<run/bin/gh; {script}; exec /proc/self/fd/9 a");
    shell.args(["-c", &script]).current_dir(place.root());
    refused(&with_host(place, &mut shell).output().unwrap())
}

#[test]
fn a_program_that_was_removed_or_replaced_while_it_starts_is_no_mock() {
    let scripts = [
        "rm run/bin/gh",
        "rm run/bin/gh; cp /bin/true run/bin/gh",
        "rm run/bin/gh; cp /bin/true 'run/bin/gh (deleted)'",
        "rm -r run",
    ];
    for script in scripts {
        let place = place();
        let told = opened(&place, script);
        assert!(told.starts_with("gh: ") && told.contains("removed or replaced"), "{told}");
        assert!(!place.path("host.log").exists());
        assert!(std::fs::read(place.journal()).unwrap_or_default().is_empty());
    }
    let place = place();
    let told = opened(&place, "mv run/bin/gh elsewhere");
    assert!(told.starts_with("elsewhere: no session"), "{told}");
}

#[test]
fn the_session_serves_again_when_what_was_in_the_way_is_gone() {
    let place = place();
    let hidden = place.path("hidden");
    for file in ["session.json", "commands/gh.json", "journal.jsonl"] {
        let file = place.path("run").join(file);
        std::fs::rename(&file, &hidden).unwrap();
        refused(&call(&place, &place.shim("gh"), &["a"]));
        std::fs::rename(&hidden, &file).unwrap();
    }
    assert_eq!(told_of(&place), "one");
    assert_eq!(place.types(), SERVED);
}
