//! What is the user's, and stays as it is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{GH, GOOD, Place, program};

#[test]
fn nothing_of_the_users_is_touched() {
    let place = Place::of(GH);
    fs::create_dir(place.path("home")).unwrap();
    fs::set_permissions(place.path("home"), fs::Permissions::from_mode(0o555)).unwrap();
    let agent = place.agent(GOOD);
    let mut run = place.command(&["run", "c.yaml", "--agent-cmd", &agent]);
    let output = run.env("HOME", place.path("home")).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::read_dir(place.path("home")).unwrap().count(), 0);
    let mut left: Vec<_> =
        fs::read_dir(place.path("")).unwrap().map(|it| it.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["agent.sh", "c.yaml", "home", "tmp"]);
    place.is_clean();
}

/// Without privileges a home that is sealed is none that could be written to.
#[test]
fn nobody_needs_a_home() {
    let place = Place::new();
    let setpriv = || {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program());
        command
    };
    let can_become_nobody = setpriv().arg("--version").output().is_ok_and(|it| it.status.success());
    if !can_become_nobody {
        return;
    }
    for (name, mode) in [("", 0o755), ("tmp", 0o777), ("home", 0o555)] {
        fs::create_dir_all(place.path(name)).unwrap();
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut run = setpriv();
    run.args(["run", "--agent", "scripted", "--only", "*-transient"]);
    run.current_dir(place.path("home")).env("HOME", place.path("home"));
    let output = run.env("TMPDIR", place.path("tmp")).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("2 passed"), "{output:?}");
    place.is_clean();
}
