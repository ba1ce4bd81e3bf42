//! `env`: its code in real shells, against start-up files that reset PATH.

use std::os::unix::fs::PermissionsExt;

use crate::{HOST, Place, is_installed, printed, skipped};

/// Shell code and real names at their worst.
const ODD: &str = "it's \"a\" $HOME `id` \\run * {é} ";

const SHELLS: [&str; 4] = ["sh", "bash", "zsh", "fish"];

/// With a session, and start-up files that reset PATH and say that they were read.
fn hostile(directory: &str) -> Place {
    let place = Place::usual();
    place.ok(&["install", "fixture.yaml", "--dir", directory]);
    for name in [".profile", ".bash_profile", ".zprofile", ".zlogin"] {
        place.write(&format!("home/{name}"), &format!("PATH={HOST}; export PATH USER_FILE=read\n"));
    }
    place.write("home/.zshenv", &format!("export PATH={HOST} USER_FILE=read\n"));
    place.write("home/bashenv", &format!("export PATH={HOST} USER_FILE=read\n"));
    place.write(
        "home/.config/fish/config.fish",
        &format!("set -gx PATH {}\nset -gx USER_FILE read\n", HOST.replace(':', " ")),
    );
    place
}

/// What `line` prints in a shell that evaluated the code of `env` before.
fn within(place: &Place, shell: &str, directory: &str, line: &str) -> String {
    place.write(&format!("code.{shell}"), &place.ok(&["env", directory, "--shell", shell]));
    let code = place.text_path(&format!("code.{shell}"));
    let mut command = place.start(shell);
    // Without the user's files, so that the outer shell is as the code leaves it.
    let args: &[&str] = match shell {
        "bash" => &["--norc", "--noprofile", "-c"],
        "zsh" => &["-f", "-c"],
        "fish" => &["--no-config", "-c"],
        _ => &["-c"],
    };
    let include = if shell == "fish" { "source" } else { "." };
    printed(&command.args(args).arg(format!("{include} '{code}'\n{line}")).output().unwrap())
}

#[test]
fn every_shell_and_the_shells_within_reach_the_shim() {
    for directory in ["run", ODD] {
        let place = hostile(directory);
        for shell in SHELLS {
            if !is_installed(shell) {
                skipped(&format!("{shell} is not installed"));
                continue;
            }
            assert_eq!(within(&place, shell, directory, "twin go"), "mocked", "{shell}");
            for inner in ["sh -c", "bash -c", "bash -lc", "sh -lc", "zsh -c", "zsh -lc", "fish -lc"]
            {
                let (program, _) = inner.split_once(' ').unwrap();
                if !is_installed(program) {
                    skipped(&format!("{program} is not installed"));
                    continue;
                }
                let line = format!("{inner} 'twin go; echo; echo $HOME'");
                let home = place.text_path("home");
                let told = within(&place, shell, directory, &line);
                assert_eq!(told, format!("mocked\n{home}\n"), "{shell}, {inner}");
                if inner.ends_with("lc") {
                    let told =
                        within(&place, shell, directory, &format!("{inner} 'echo $USER_FILE'"));
                    assert_eq!(told, "read\n", "{shell}, {inner}");
                }
            }
        }
    }
}

#[test]
fn a_profile_wins_without_the_code() {
    let place = hostile("run");
    let mut shell = place.start("bash");
    shell.env("PATH", format!("{}:{HOST}", place.text_path("run/bin")));
    let told = shell.args(["-lc", "command -v twin || echo none"]).output().unwrap();
    assert_eq!(printed(&told), "none\n");
}

#[test]
fn to_be_on_path_is_not_enough() {
    let place = hostile("run");
    let (bin, host) = (place.text_path("run/bin"), place.text_path("host"));
    for shell in SHELLS {
        if !is_installed(shell) {
            skipped(&format!("{shell} is not installed"));
            continue;
        }
        let code = place.ok(&["env", "run", "--shell", shell]);
        let mut command = place.start(shell);
        command.env("PATH", format!("{host}:{bin}:{HOST}"));
        let told = command.args(["-c", &format!("{code}\ntwin go; printenv PATH")]).output();
        let told = printed(&told.unwrap());
        assert!(told.starts_with(&format!("mocked{bin}:")), "{shell}: {told}");
    }
}

#[test]
fn code_that_is_evaluated_again_changes_nothing() {
    let place = hostile("run");
    for shell in SHELLS {
        if !is_installed(shell) {
            skipped(&format!("{shell} is not installed"));
            continue;
        }
        let once = within(&place, shell, "run", "env | sort | grep -v -e ^_ -e ^SHLVL");
        let include = if shell == "fish" { "source" } else { "." };
        let code = place.text_path(&format!("code.{shell}"));
        let line = format!("{include} '{code}'; env | sort | grep -v -e ^_ -e ^SHLVL");
        assert_eq!(within(&place, shell, "run", &line), once, "{shell}");
    }
    let mut strict = place.start("sh");
    strict.env_remove("PATH").env_remove("HOME");
    let code = place.ok(&["env", "run", "--shell", "sh"]);
    let told = strict.args(["-euc", &format!("{code}\ntwin go")]).output().unwrap();
    assert_eq!(printed(&told), "mocked");
}

#[test]
fn what_the_user_had_is_still_read() {
    let place = hostile("run");
    let code = place.ok(&["env", "run", "--shell", "sh"]);
    place.write("home/elsewhere/.zshenv", "export USER_FILE=elsewhere\n");
    let mut shell = place.start("sh");
    shell.env("BASH_ENV", "$HOME/bashenv").env("ZDOTDIR", place.path("home/elsewhere"));
    let line = "bash -c 'echo $USER_FILE; twin go; echo'";
    let zsh = "zsh -c 'echo $USER_FILE; twin go; echo'";
    let has_zsh = is_installed("zsh");
    let zsh = if has_zsh { zsh } else { "" };
    let told = shell.args(["-c", &format!("{code}\n{line}\n{zsh}")]).output().unwrap();
    let wanted = if has_zsh { "read\nmocked\nelsewhere\nmocked\n" } else { "read\nmocked\n" };
    assert_eq!(printed(&told), wanted);
    if !has_zsh {
        skipped("zsh is not installed");
    }
}

#[test]
fn an_interactive_sh_reads_both_files() {
    let place = hostile("run");
    let code = place.ok(&["env", "run", "--shell", "sh"]);
    let mut shell = place.start("sh");
    shell.env("ENV", "$HOME/bashenv");
    let line = "/bin/sh -ic 'echo $USER_FILE; twin go'";
    let told = shell.args(["-c", &format!("{code}\n{line}")]).output().unwrap();
    assert_eq!(printed(&told), "read\nmocked");
}

#[test]
fn a_second_session_goes_on_top_of_the_first() {
    let place = hostile("run");
    let other = "{schemaVersion: \"2.0\", scenario: s, command_mocks: [
      {name: twin, responses: [{args: [go], stdout: above}]}]}";
    place.write("other.yaml", other);
    place.ok(&["install", "other.yaml", "--dir", "top"]);
    let codes = ["run", "top"].map(|it| place.ok(&["env", it, "--shell", "sh"])).concat();
    for inner in ["bash -lc", "bash -c", "zsh -lc", "fish -lc"] {
        if !is_installed(inner.split_once(' ').unwrap().0) {
            skipped(&format!("there is no shell for {inner}"));
            continue;
        }
        let mut shell = place.start("sh");
        let line = format!("{codes}\n{inner} 'twin go; echo; lone'");
        let output = shell.args(["-c", &line]).output().unwrap();
        assert_eq!(output.stdout, b"above\none", "{inner}: {output:?}");
        place.ok(&["reset", "run"]);
    }
}

/// `sh` on PATH is to be noticed by login shells only.
#[test]
fn the_sh_on_path_passes_everything_on() {
    let place = hostile("run");
    let line =
        "sh -c 'echo \"$1|$2|$HOME\"' name 'a b' -l; echo 'echo \"$1\"' >script; sh script -l
sh -o errexit -lc 'echo $USER_FILE; false; echo no'; echo $?; sh -e -c 'exit 7'; echo $?
env -u HOME sh -lc 'echo ${HOME-none}; twin go'; echo 'twin go' | sh -l";
    let told = within(&place, "sh", "run", line);
    let home = place.text_path("home");
    assert_eq!(told, format!("a b|-l|{home}\n-l\nread\n1\n7\nnone\nmockedmocked"));
}

#[test]
fn the_files_belong_to_whom_the_session_belongs() {
    let place = Place::usual();
    place.ok(&["install", "fixture.yaml", "--dir", "run", "--mode", "0755"]);
    place.ok(&["env", "run"]);
    let mode = |name: &str| {
        place.path("run/shell").join(name).metadata().unwrap().permissions().mode() & 0o777
    };
    assert_eq!([mode(""), mode("zsh"), mode("bin/sh")], [0o755; 3]);
    assert_eq!([mode("bash"), mode("zsh/.zshrc")], [0o644; 2]);
    assert!(!place.names("run/shell").iter().any(|name| name.starts_with('.')));
}

#[test]
fn the_shell_is_the_one_of_the_user() {
    let place = Place::usual();
    place.install();
    let code = |shell: &str| {
        printed(&place.command(&["env", "run"]).env("SHELL", shell).output().unwrap())
    };
    assert_eq!(code("/usr/bin/fish"), place.ok(&["env", "run", "--shell", "fish"]));
    for shell in ["/bin/bash", "/bin/zsh", ""] {
        assert_eq!(code(shell), place.ok(&["env", "run", "--shell", "sh"]));
    }
}

#[test]
fn a_session_without_executables_has_nothing_for_path() {
    let place = Place::usual();
    place.install();
    place.write("none.yaml", "{schemaVersion: \"2.0\", scenario: s}");
    place.ok(&["reset", "run", "--from", "none.yaml"]);
    for verb in ["env", "doctor"] {
        let told = place.refused(&[verb, "run"]);
        assert!(told.contains("no executable"), "{told}");
    }
}

#[test]
fn json_has_what_the_code_would_export() {
    for directory in ["run", ODD] {
        let place = hostile(directory);
        place.write("code.sh", &place.ok(&["env", directory, "--shell", "sh"]));
        let json: std::collections::BTreeMap<String, String> =
            serde_json::from_str(&place.ok(&["env", directory, "--json"])).unwrap();
        let code = place.text_path("code.sh");
        for (name, value) in json {
            let line = format!(". '{code}'\nprintf '%s' \"${{{name}}}\"");
            let exported = printed(&place.start("sh").args(["-c", &line]).output().unwrap());
            assert_eq!(exported, value.trim_end(), "{name}");
        }
    }
}
