//! Which program is the host's: PATH in all of its shapes, and sessions on sessions.

use std::process::Command;

use crate::host::MOCKS;
use crate::{Place, refused, told};

/// Says who it is, and what is left of PATH.
fn speaker(place: &Place, folder: &str) {
    let text = format!("#!/bin/sh\necho \"{folder} $PATH\"\n");
    place.program(&format!("{folder}/gh"), &text);
}

fn speaking(place: &Place, path: &str) -> String {
    let mut command = place.command("gh", &["x"]);
    told(&command.env("PATH", path).output().unwrap()).1.trim_end().to_owned()
}

#[test]
fn every_entry_that_leads_to_the_session_is_left_out_and_no_other() {
    let place = Place::new(MOCKS);
    speaker(&place, "host");
    speaker(&place, "later");
    std::os::unix::fs::symlink("run", place.path("link")).unwrap();
    std::os::unix::fs::symlink("run/bin", place.path("direct")).unwrap();
    let root = place.root().display().to_string();
    let cases = [
        ("run/bin:host:later", "host:later"),
        ("run/bin:run/bin:host:run/bin", "host"),
        ("run/bin/:host/:later/", "host/:later/"),
        ("link/bin:direct:./run/../run/bin:host", "host"),
        (&format!("{root}/run/bin:{root}/link/bin:host"), "host"),
        ("nowhere:host:nowhere:run/bin", "nowhere:host:nowhere"),
        ("host:later", "host:later"),
        ("run:host:host", "run:host:host"),
        (":run/bin::host:", "::host:"),
        ("run/bin:host:", "host:"),
    ];
    for (path, left) in cases {
        assert_eq!(speaking(&place, path), format!("host {left}"), "{path}");
    }
}

#[test]
fn an_empty_entry_is_the_directory_of_the_caller() {
    let place = Place::new(MOCKS);
    speaker(&place, "host");
    place.program("gh", "#!/bin/sh\necho \"here $PATH\"\n");
    for path in [":host", "run/bin::host", ""] {
        let left = path.trim_start_matches("run/bin:");
        assert_eq!(speaking(&place, path), format!("here {left}").trim_end(), "{path}");
    }
    assert_eq!(speaking(&place, "host:"), "host host:");
    // Also when that is where the shims are.
    let mut command = place.command("gh", &["x"]);
    command.env("PATH", format!("::{}", place.path("host").display()));
    let output = command.current_dir(place.path("run/bin")).output().unwrap();
    assert_eq!(told(&output).1, format!("host {}\n", place.path("host").display()));
}

#[test]
fn a_program_that_only_others_may_execute_is_passed_over() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    if !rustix::process::geteuid().is_root() {
        return crate::skipped("only root can run a program as somebody else");
    }
    // Somewhere that others may enter.
    let folder = tempfile::tempdir().unwrap();
    let place = Place::with(MOCKS, |_| {});
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let mut copy = Command::new("cp");
    copy.args(["-a", "--no-preserve=links"]).arg(place.path("run")).arg(folder.path());
    assert!(copy.status().unwrap().success());
    speaker(&place, "mine");
    speaker(&place, "host");
    let mut copy = Command::new("cp");
    copy.arg("-a").args([place.path("mine"), place.path("host")]).arg(folder.path());
    assert!(copy.status().unwrap().success());
    let secret = folder.path().join("mine/gh");
    std::fs::set_permissions(secret, PermissionsExt::from_mode(0o700)).unwrap();
    let owner = ["-R", "65534", "run"];
    let owned = Command::new("chown").args(owner).current_dir(folder.path()).status().unwrap();
    assert!(owned.success());
    let mut command = Command::new(folder.path().join("run/bin/gh"));
    command.arg("x").env("PATH", "mine:host:/usr/bin:/bin").current_dir(folder.path()).uid(65534);
    let output = command.output().unwrap();
    assert_eq!(told(&output).1, "host mine:host:/usr/bin:/bin\n", "{output:?}");
}

#[test]
fn sessions_on_sessions_end_at_the_host() {
    for is_copied in [false, true] {
        let place = Place::new(MOCKS);
        let other =
            "[{name: gh, on_unmatched: host, responses: [{args: [second], stdout: second}]}]";
        let copy = place.path("copy");
        // By somebody else, since a file that is open for writing cannot be executed.
        let mut copier = Command::new("cp");
        assert!(copier.arg(place.shim("gh")).arg(&copy).status().unwrap().success());
        place.make("two", other, |making| {
            making.shim = is_copied.then_some(copy).or(making.shim.take());
        });
        speaker(&place, "host");
        for path in [
            "run/bin:two/bin:host",
            "run/bin:two/bin:run/bin:two/bin:host",
            "two/bin:run/bin:two/bin:host",
        ] {
            assert_eq!(speaking(&place, path), "host host", "{path}");
            let mut command = place.command("gh", &["second"]);
            assert_eq!(told(&command.env("PATH", path).output().unwrap()).1, "second");
            let mut command = place.command("gh", &["mocked"]);
            let output = command.env("PATH", path).output().unwrap();
            assert!(["mocked", ""].contains(&&*told(&output).1), "{path}");
        }
        let program = &place.of_type("host.started")[0]["program"];
        assert_eq!(program, "two/bin/gh");
        let two = crate::records(&place.path("two/journal.jsonl"));
        assert_eq!(two[0]["type"], "host.started");
        assert_eq!(two[0]["program"], "host/gh");
        // Without a host it is the last of them that says so, once.
        let mut command = place.command("gh", &["x"]);
        let output = command.env("PATH", "run/bin:two/bin:run/bin").output().unwrap();
        assert!(refused(&output).contains("elsewhere on PATH"));
    }
}
