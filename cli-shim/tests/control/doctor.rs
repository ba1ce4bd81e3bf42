//! `doctor`: where calls go, told by the journal.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{HOST, Place, is_installed, skipped};

/// The doctor of `run`, with that PATH.
fn doctor(place: &Place, path: &str, args: &[&str]) -> Command {
    let mut command = place.command(&["doctor", "run"]);
    command.args(args).env("PATH", path);
    command
}

fn report(place: &Place, path: &str, args: &[&str]) -> (Option<i32>, Value) {
    let output = doctor(place, path, args).arg("--json").output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    (output.status.code(), serde_json::from_slice(&output.stdout).expect(&told))
}

/// Where the calls of a name went, by route.
fn went<'r>(report: &'r Value, route: &str, name: &str) -> &'r str {
    let routes = report["routes"].as_array().unwrap();
    let row = routes.iter().find(|row| row["route"] == route).unwrap();
    row["names"][name].as_str().unwrap()
}

fn shims_first(place: &Place) -> String {
    format!("{}:{}:{HOST}", place.text_path("run/bin"), place.text_path("host"))
}

fn host_only(place: &Place) -> String {
    format!("{}:{HOST}", place.text_path("host"))
}

#[test]
fn shims_on_path_are_reached_and_recorded() {
    let place = Place::usual();
    place.install();
    let (code, told) = report(&place, &shims_first(&place), &[]);
    assert_eq!((code, &told["ok"]), (Some(0), &json!(true)));
    let keys = |it: &Value| it.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&told), ["ok", "routes", "dynamic"]);
    let wanted = ["route", "required", "reaches_shim", "names", "details"];
    assert!(told["routes"].as_array().unwrap().iter().all(|row| keys(row) == wanted));
    for route in ["exec", "sh -c", "bash -c"] {
        for name in ["lone", "twin"] {
            assert_eq!(went(&told, route, name), "shim", "{route}");
        }
    }
    for (route, program) in [("python subprocess", "python3"), ("node spawn", "node")] {
        let wanted = if is_installed(program) { "shim" } else { "not installed" };
        assert_eq!(went(&told, route, "twin"), wanted);
    }
    assert_eq!(
        [went(&told, "env -i", "lone"), went(&told, "command -p", "lone")],
        ["not found"; 2]
    );
    assert_eq!(went(&told, "absolute path", "twin"), "host");
    assert_eq!(went(&told, "absolute path", "lone"), "not found");
    let records = place.records();
    assert!(records.iter().all(|record| record["type"] == "canary.reached"));
    let exec: Vec<_> = records.iter().filter(|it| it["route"] == "exec").collect();
    assert_eq!([&exec[0]["name"], &exec[1]["name"]], ["lone", "twin"]);
    assert_eq!(place.status()["mocks"]["command:lone"]["calls"], 0);
    assert!(!place.names("run").iter().any(|name| name.starts_with("canary")));
}

#[test]
fn without_the_shims_on_path_the_host_is_seen() {
    let place = Place::usual();
    place.install();
    let (code, told) = report(&place, &host_only(&place), &["--require", "sh -c"]);
    assert_eq!((code, &told["ok"]), (Some(1), &json!(false)));
    for route in ["exec", "sh -c", "bash -c", "python subprocess", "node spawn"] {
        if went(&told, route, "twin") == "not installed" {
            skipped(&format!("nothing starts {route} here"));
            continue;
        }
        assert_eq!(went(&told, route, "twin"), "host", "{route}");
        assert_eq!(went(&told, route, "lone"), "not found", "{route}");
    }
    assert!(place.records().is_empty());
    let output = doctor(&place, &host_only(&place), &["--require", "sh -c"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.starts_with("route              reaches\n"), "{table}");
    let row = "sh -c              host: twin; not found: lone  (required)\n";
    assert!(table.contains(row), "{table}");
}

#[test]
fn env_makes_login_shells_reach_the_shims() {
    let place = Place::usual();
    place.install();
    for name in [".profile", ".bash_profile", ".zprofile"] {
        place.write(&format!("home/{name}"), "PATH=/usr/bin:/bin\n");
    }
    let (_, told) = report(&place, &shims_first(&place), &[]);
    assert_eq!([went(&told, "bash -lc", "lone"), went(&told, "sh -lc", "lone")], ["not found"; 2]);
    let code = place.ok(&["env", "run", "--shell", "sh"]);
    let mut args = Vec::new();
    for route in ["exec", "bash -lc", "sh -lc", "zsh -lc", "fish -lc"] {
        match is_installed(route.split(' ').next().unwrap()) || route == "exec" {
            true => args.push(format!("--require '{route}'")),
            false => skipped(&format!("nothing starts {route} here")),
        }
    }
    let doctor = format!("{} doctor run {}", env!("CARGO_BIN_EXE_cli-shim"), args.join(" "));
    let output = place.start("sh").args(["-c", &format!("{code}\n{doctor}")]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_command_line_of_an_agent_is_a_route() {
    let place = Place::usual();
    place.install();
    let path = shims_first(&place);
    let args = [
        "--shell-command",
        "exec env A='b c' bash -c",
        "--shell-command",
        "bash -c {} </dev/null; true",
        "--shell-command",
        "env -i PATH=/usr/bin:/bin sh -c {}",
        "--shell-command",
        "true",
        "--require",
        "shell-command",
        "--require",
        "shell-command 2",
    ];
    let (code, told) = report(&place, &path, &args);
    assert_eq!(code, Some(0));
    assert_eq!(went(&told, "shell-command", "lone"), "shim");
    assert_eq!(went(&told, "shell-command 2", "lone"), "shim");
    assert_eq!(went(&told, "shell-command 3", "lone"), "not found");
    assert_eq!(went(&told, "shell-command 4", "lone"), "host");
    let args = ["--shell-command", "true", "--require", "shell-command", "--require", "exec"];
    assert_eq!(report(&place, &path, &args).0, Some(1));
}

#[test]
fn an_unknown_route_or_a_closed_session_is_refused() {
    let place = Place::usual();
    place.install();
    let told = place.refused(&["doctor", "run", "--require", "ksh -c"]);
    assert!(told.contains("`ksh -c`") && told.contains("`bash -lc`"), "{told}");
    place.refused(&["doctor", "run", "--require", "shell-command"]);
    place.ok(&["close", "run"]);
    let told = place.refused(&["doctor", "run"]);
    assert!(told.contains("closed"), "{told}");
}

/// What a shim cannot record did not reach it, whatever it answers.
#[test]
fn only_the_journal_is_believed() {
    let place = Place::usual();
    place.install();
    let text = "[ -e \"$0\" ] && for it in RUN/canary.*; do head -n 1 \"$it\"; done";
    place.program("liar/twin", &text.replace("RUN", &place.text_path("run")));
    let path = format!("{}:{HOST}", place.text_path("liar"));
    let (code, told) = report(&place, &path, &["--require", "exec"]);
    assert_eq!((code, went(&told, "exec", "twin")), (Some(1), "not recorded"));
    let row = &told["routes"][0];
    assert!(row["details"]["twin"].as_str().unwrap().contains("sandbox"), "{row}");
}

#[test]
fn a_shim_that_cannot_serve_is_told_apart() {
    let place = Place::usual();
    place.install();
    place.write("run/commands/twin.json", "{}");
    let (_, told) = report(&place, &shims_first(&place), &[]);
    assert_eq!([went(&told, "exec", "lone"), went(&told, "exec", "twin")], ["shim", "failed"]);
    let detail = told["routes"][0]["details"]["twin"].as_str().unwrap();
    assert!(detail.contains("not what the session was made with"), "{detail}");
}

#[test]
fn dynamic_shims_are_named() {
    let place = Place::usual();
    place.install();
    let (_, told) = report(&place, &shims_first(&place), &[]);
    let shim = std::fs::read(place.path("run/bin/lone")).unwrap();
    let names_loader = shim.windows(12).any(|it| it == b"/ld-linux-x8");
    if cfg!(all(target_arch = "x86_64", target_env = "gnu")) && names_loader {
        assert_eq!(told["dynamic"], json!(["lone", "twin"]));
    } else {
        skipped("the program under test is no dynamic one for x86-64");
    }
}

#[test]
fn doctors_do_not_disturb_each_other() {
    let place = Place::usual();
    place.install();
    let slow = ["--shell-command", "sleep 1; true"];
    let mut command = doctor(&place, &shims_first(&place), &slow);
    let mut first = command.stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let second = doctor(&place, &host_only(&place), &[]).output().unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert_eq!(second.status.code(), Some(2));
    assert!(String::from_utf8(second.stderr).unwrap().contains("another doctor"));
}
