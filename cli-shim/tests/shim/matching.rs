//! Which response owns a call: arguments, environment, directory, input.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use serde_json::json;

use crate::{Place, refused, rest, told};

#[test]
fn arguments_match_whole_by_pattern_and_by_prefix() {
    let place = Place::new(
        r#"[{name: gh, responses: [
            {args: [x, y], stdout: exact}, {args: [], stdout: none},
            {args_regex: ["[0-9]+", "(?s).*"], stdout: regex},
            {args_prefix: [x], stdout: prefix}, {args: [x, z], stdout: shadowed},
            {args: [""], stdout: empty}, {args: ["a\nb", "it's \"so\" $HOME `x` \\"], stdout: quoted}]}]"#,
    );
    let cases: &[(&[&str], &str)] = &[
        (&["x", "y"], "exact"),
        (&[], "none"),
        (&["12", ""], "regex"),
        (&["12", "a\nb"], "regex"),
        (&["x"], "prefix"),
        (&["x", "z"], "prefix"),
        (&[""], "empty"),
        (&["a\nb", "it's \"so\" $HOME `x` \\"], "quoted"),
    ];
    for (args, wanted) in cases {
        assert_eq!(place.call("gh", args), (0, (*wanted).to_owned(), String::new()), "{args:?}");
    }
    for args in [&["1 2", "x"][..], &["12"], &["12", "x", "y"], &["a12", "x"], &["", ""]] {
        assert_eq!(place.call("gh", args).0, 127, "{args:?}");
    }
}

#[test]
fn an_argument_that_is_no_text_is_matched_by_no_pattern_and_recorded() {
    let place = Place::new(
        "[{name: gh, responses: [{args_regex: [\"(?s).*\"], stdout: regex}, {args_prefix: [go], stdout: prefix}]}]",
    );
    let strange = OsStr::from_bytes(b"\xff\xfe");
    let output = place.command("gh", &[]).arg(strange).output().unwrap();
    assert_eq!(told(&output).0, 127);
    let output = place.command("gh", &["go"]).arg(strange).output().unwrap();
    assert_eq!(told(&output).1, "prefix");
    assert_eq!(place.of_type("attempt.started")[0]["arguments"], json!(["\u{fffd}\u{fffd}"]));
}

/// As long as Linux lets one argument be.
#[test]
fn an_argument_of_128_kib_is_matched_and_recorded_whole() {
    let long = "x".repeat(128 * 1024 - 1);
    let place =
        Place::new(&format!("[{{name: gh, responses: [{{args: [{long}], stdout: long}}]}}]"));
    assert_eq!(place.call("gh", &[&long]).1, "long");
    assert_eq!(place.call("gh", &[&format!("{}y", &long[1..])]).0, 127);
    assert_eq!(place.of_type("attempt.started")[0]["arguments"], json!([long]));
}

#[test]
fn dots_and_dashes_are_letters_of_a_name() {
    let names = ["a.b-c_d", "7z", "x--", "g++".trim_end_matches('+'), "python3.11"];
    let mocks: Vec<_> =
        names.map(|name| format!("{{name: {name:?}, responses: [{{stdout: {name:?}}}]}}")).into();
    let place = Place::new(&format!("[{}]", mocks.join(", ")));
    for name in names {
        assert_eq!(place.call(name, &[]), (0, name.to_owned(), String::new()));
    }
    let mocks: Vec<_> =
        place.of_type("attempt.started").iter().map(|it| it["mock"].clone()).collect();
    assert_eq!(mocks, names);
}

#[test]
fn the_name_is_that_of_the_file_whatever_the_caller_says() {
    use std::os::unix::process::CommandExt;
    let place = Place::new(
        "[{name: gh, responses: [{stdout: gh}]}, {name: other, responses: [{stdout: other}]}]",
    );
    let output = place.command("gh", &[]).arg0("other").output().unwrap();
    assert_eq!(told(&output).1, "gh");
    std::os::unix::fs::symlink(place.shim("gh"), place.path("other")).unwrap();
    let output =
        std::process::Command::new(place.path("other")).env_clear().current_dir("/").output();
    assert_eq!(told(&output.unwrap()).1, "gh");
    // Found by PATH, through a link to the session.
    std::os::unix::fs::symlink("run", place.path("link")).unwrap();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "PATH=link/bin:$PATH; gh"]).current_dir(place.root());
    assert_eq!(told(&shell.output().unwrap()).1, "gh");
}

#[test]
fn the_environment_is_compared_exactly() {
    let place = Place::new(
        r#"[{name: gh, responses: [{environment: {CI_X: "", CI_Y: "a b"}, stdout: both}, {environment: {CI_Y: "a b"}, stdout: one}]}]"#,
    );
    let with = |variables: &[(&str, &str)]| {
        let mut command = place.command("gh", &[]);
        let output = command.env_clear().envs(variables.iter().copied()).output().unwrap();
        told(&output).1
    };
    assert_eq!(with(&[("CI_X", ""), ("CI_Y", "a b")]), "both");
    assert_eq!(with(&[("CI_Y", "a b")]), "one");
    assert_eq!(with(&[("CI_X", ""), ("CI_Y", "a b ")]), "");
    assert_eq!(with(&[("CI_X", ""), ("ci_y", "a b")]), "");
    let last = place.of_type("attempt.started").pop().unwrap();
    assert_eq!(last["difference"], "the variable `CI_Y` is not set");
}

#[test]
fn the_directory_is_compared_through_links() {
    let place = Place::new(
        "[{name: gh, responses: [{workdir: packages/app, stdout: app}, {workdir: link, stdout: linked}, {workdir: ., stdout: root}]}]",
    );
    std::fs::create_dir_all(place.path("packages/app/deep")).unwrap();
    std::fs::create_dir_all(place.path("else")).unwrap();
    std::os::unix::fs::symlink("else", place.path("link")).unwrap();
    std::os::unix::fs::symlink("packages/app", place.path("short")).unwrap();
    let cases = [
        ("packages/app", "app"),
        ("short", "app"),
        ("packages/app/../../link", "linked"),
        ("else", "linked"),
        ("", "root"),
        ("packages/app/deep", ""),
        ("packages", ""),
    ];
    for (folder, wanted) in cases {
        let output = place.command("gh", &[]).current_dir(place.path(folder)).output().unwrap();
        assert_eq!(told(&output).1, wanted, "{folder}");
    }
}

#[test]
fn a_directory_that_was_removed_is_no_obstacle() {
    let place = Place::new("[{name: gh, responses: [{workdir: gone, stdout: no}, {stdout: yes}]}]");
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\"";
    let mut shell = std::process::Command::new("sh");
    let output =
        shell.args(["-c", script]).arg(place.shim("gh")).current_dir(place.root()).output();
    assert_eq!(told(&output.unwrap()), (0, "yes".to_owned(), String::new()));
}

fn with_input(place: &Place, args: &[&str], input: &[u8]) -> std::process::Output {
    let mut command = place.command("gh", args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that has heard enough may have gone.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

#[test]
fn the_input_is_compared_whole_or_searched() {
    let place = Place::new(
        r#"[{name: gh, responses: [{stdin: "a\nb", stdout: exact}, {stdin: "", stdout: empty}, {stdin_regex: "b+c", stdout: regex}, {args: [x], stdout: other}]}]"#,
    );
    let long = [b"bbc".as_slice(), &vec![b'x'; 16 * 1024 * 1024 - 3]].concat();
    let cases: [(&[u8], &str); 7] = [
        (b"a\nb", "exact"),
        (b"a\nb\n", ""),
        (b"", "empty"),
        (b"xxbbbcyy", "regex"),
        (b"bc\xff", ""),
        (b"a\r\nb", ""),
        (&long, "regex"),
    ];
    for (input, wanted) in cases {
        assert_eq!(told(&with_input(&place, &[], input)).1, wanted, "{}", input.len());
    }
    assert_eq!(told(&with_input(&place, &["x"], b"whatever")).1, "other");
    let before = place.records().len();
    let told = refused(&with_input(&place, &["x"], &[long.as_slice(), b"y"].concat()));
    assert!(told.contains("16 MiB"), "{told}");
    assert_eq!(place.records().len(), before);
}

#[test]
fn the_input_is_untouched_unless_a_response_asks() {
    let place = Place::new("[{name: gh, responses: [{args: [a], stdout: x}]}]");
    std::fs::write(place.path("input"), "left alone").unwrap();
    let script = "\"$0\" a; \"$0\" b 2>/dev/null; cat";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).arg(place.shim("gh")).current_dir(place.root());
    shell.stdin(std::fs::File::open(place.path("input")).unwrap());
    assert_eq!(told(&shell.output().unwrap()).1, "xleft alone");
    // Nor is it waited for: the other end stays open, and silent.
    let (reader, writer) = std::io::pipe().unwrap();
    let mut child =
        place.command("gh", &["a"]).stdin(reader).stdout(Stdio::piped()).spawn().unwrap();
    assert_eq!(rest(child.stdout.take().unwrap()), b"x");
    assert_eq!(crate::end(&mut child), crate::End::Exit(0));
    drop(writer);
}
