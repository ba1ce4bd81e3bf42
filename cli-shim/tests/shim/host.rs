//! Pass-through: what the host's program gets, and what it gives.

use std::ffi::CString;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::launch::{blocked, ignoring, terminal};
use crate::{End, Place, SERVED, end, refused, told};

/// What is mocked, and the rest of which is the host's.
pub(crate) const MOCKS: &str =
    "[{name: gh, on_unmatched: host, responses: [{args: [mocked], sequence: [{stdout: mocked}]}]}]";

/// A session with a program of the host behind it.
pub(crate) fn place(program: &str) -> Place {
    let place = Place::new(MOCKS);
    place.program("host/gh", program);
    place
}

/// A call with the session first on PATH, then the folder of the host.
pub(crate) fn command(place: &Place, args: &[&str]) -> Command {
    let mut command = place.command("gh", args);
    let (bin, host) = (place.path("run/bin"), place.path("host"));
    let usual = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{}:{usual}", bin.display(), host.display()));
    command
}

#[test]
fn the_program_of_the_host_says_how_it_ends() {
    let place =
        place("#!/bin/sh\necho out; echo err >&2\n[ \"$1\" = kill ] && kill -$2 $$\nexit $2\n");
    for code in [0, 1, 7, 124, 126, 127, 130, 255] {
        let output = command(&place, &["exit", &code.to_string()]).output().unwrap();
        assert_eq!(told(&output), (code, "out\n".to_owned(), "err\n".to_owned()));
        let last = place.of_type("host.finished").pop().unwrap();
        assert_eq!((&last["exit_code"], last.get("signal")), (&json!(code), None));
    }
    for number in [1, 2, 6, 9, 13, 15] {
        let output = command(&place, &["kill", &number.to_string()]).output().unwrap();
        assert_eq!(told(&output).0, 128 + number);
        let last = place.of_type("host.finished").pop().unwrap();
        assert_eq!((&last["signal"], last.get("exit_code")), (&json!(number), None));
    }
    let records = place.records();
    assert_eq!(place.types(), ["host.started", "host.finished"].repeat(14));
    assert_eq!(records[0]["program"], place.path("host/gh").to_str().unwrap());
    assert_eq!(records[0]["arguments"], json!(["exit", "0"]));
}

#[test]
fn only_what_nothing_matches_reaches_the_host() {
    let place = place("#!/bin/sh\necho host\n");
    let call = |args: &[&str]| told(&command(&place, args).output().unwrap());
    assert_eq!(call(&["mocked"]), (0, "mocked".to_owned(), String::new()));
    let exhausted = (127, String::new(), "gh: exhausted: no further response\n".to_owned());
    assert_eq!(call(&["mocked"]), exhausted);
    assert_eq!(call(&["other"]), (0, "host\n".to_owned(), String::new()));
    let all = [&SERVED[..], &SERVED, &["host.started", "host.finished"]].concat();
    assert_eq!(place.types(), all);
}

#[test]
fn without_a_program_of_the_host_the_call_is_refused() {
    let place = Place::new(MOCKS);
    // None of these can be executed.
    std::fs::create_dir_all(place.path("a/gh")).unwrap();
    std::fs::create_dir_all(place.path("b")).unwrap();
    std::fs::write(place.path("b/gh"), "#!/bin/sh\necho no\n").unwrap();
    std::fs::create_dir_all(place.path("c")).unwrap();
    std::os::unix::fs::symlink(place.shim("gh"), place.path("c/gh")).unwrap();
    std::fs::create_dir_all(place.path("d")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.path("d/gh")).unwrap();
    // In the directory, where it is not looked for without an empty entry.
    place.program("gh", "#!/bin/sh\necho no\n");
    for path in ["a:b:c:d:run/bin:nowhere", "a"] {
        let told = refused(&place.command("gh", &["x"]).env("PATH", path).output().unwrap());
        assert!(told.contains("no `gh` elsewhere on PATH"), "{told}");
    }
    let told = refused(&place.command("gh", &["x"]).env_remove("PATH").output().unwrap());
    assert!(told.contains("no `gh` elsewhere on PATH"), "{told}");
    assert_eq!(place.types(), [""; 0]);
    // Nor one that the system cannot start.
    place.program("e/gh", "#!/nowhere\n");
    let told = refused(&place.command("gh", &["x"]).env("PATH", "e").output().unwrap());
    assert!(told.contains("cannot start `e/gh`"), "{told}");
}

#[test]
fn a_script_without_a_first_line_runs_as_it_does_in_a_shell() {
    let place = place("echo plain\n");
    assert_eq!(told(&command(&place, &[]).output().unwrap()).1, "plain\n");
}

#[test]
fn the_streams_are_the_callers_own() {
    let place = place("#!/bin/sh\nexec tee /dev/stderr\n");
    let bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    std::fs::write(place.path("input"), &bytes).unwrap();
    let input = std::fs::File::open(place.path("input")).unwrap();
    let output = command(&place, &[]).stdin(input).output().unwrap();
    assert!(output.stdout == bytes && output.stderr == bytes);
    place.program(
        "host/gh",
        "#!/bin/sh\n[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && read line && echo \"<$line>\"\n",
    );
    let (mut ours, theirs) = terminal();
    let mut command = command(&place, &[]);
    command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    drop(command);
    ours.write_all(b"typed\n").unwrap();
    assert_eq!(end(&mut child), End::Exit(0));
    let (mut seen, mut piece) = (Vec::new(), [0; 100]);
    // A terminal that nobody has any more is an error to read from.
    while let Ok(length @ 1..) = ours.read(&mut piece) {
        seen.extend_from_slice(&piece[..length]);
    }
    assert!(String::from_utf8_lossy(&seen).contains("<typed>"), "{seen:?}");
}

/// `cat` as the program of the host, which shows what `/proc` says about it.
fn cat() -> Place {
    let place = Place::new(MOCKS);
    std::fs::create_dir(place.path("host")).unwrap();
    let cat = ["/bin/cat", "/usr/bin/cat"].into_iter().find(|it| Path::new(it).exists()).unwrap();
    std::os::unix::fs::symlink(cat, place.path("host/gh")).unwrap();
    place
}

#[test]
fn the_program_is_called_as_the_shim_was() {
    let place = cat();
    let output = command(&place, &["/proc/self/cmdline", ""]).arg0("/odd/cat").output().unwrap();
    assert_eq!(output.stdout, b"/odd/cat\0/proc/self/cmdline\0\0");
    let place = self::place("#!/bin/sh\npwd -P\n");
    std::fs::create_dir(place.path("deep")).unwrap();
    let output = command(&place, &[]).current_dir(place.path("deep")).output().unwrap();
    assert_eq!(told(&output).1, format!("{}/deep\n", place.root().display()));
}

/// Has a command start with exactly this environment, whatever it is.
#[expect(unsafe_code, reason = "an environment that is no mapping needs execve itself")]
fn with_environment(command: &mut Command, program: &Path, arguments: &[&str], entries: &[&str]) {
    let strings = |texts: &[&str]| -> Vec<CString> {
        texts.iter().map(|text| CString::new(*text).unwrap()).collect()
    };
    let program = CString::new(program.to_str().unwrap()).unwrap();
    let (arguments, entries) = (strings(arguments), strings(entries));
    let exec = move || {
        let mut lists = [[std::ptr::null(); 16]; 2];
        for (list, strings) in lists.iter_mut().zip([&arguments, &entries]) {
            for (place, string) in list.iter_mut().zip(strings) {
                *place = string.as_ptr();
            }
        }
        // SAFETY: strings and lists that end with null, alive until the program is replaced.
        unsafe { libc::execve(program.as_ptr(), lists[0].as_ptr(), lists[1].as_ptr()) };
        Err(std::io::Error::last_os_error())
    };
    // SAFETY: one system call, on memory of the closure.
    unsafe { command.pre_exec(exec) };
}

#[test]
fn the_environment_is_unchanged_but_for_path() {
    let place = cat();
    let (bin, host) = (place.shim(""), place.path("host"));
    let path = format!("PATH={}:{}:/usr/bin", bin.display(), host.display());
    let given = ["Z=1", "NOVALUE", "A=1", &path, "A=2", "=odd", "B=", "LAST=x=y"];
    let mut command = place.command("gh", &[]);
    let arguments = ["cat", "/proc/self/environ"];
    with_environment(&mut command, &place.shim("gh"), &arguments, &given);
    let output = command.output().unwrap();
    let seen = String::from_utf8(output.stdout).unwrap();
    let changed = format!("PATH={}:/usr/bin", host.display());
    let wanted = given.map(|entry| if entry == path { changed.as_str() } else { entry });
    assert_eq!(seen.trim_end_matches('\0').split('\0').collect::<Vec<_>>(), wanted);
}

#[test]
fn dispositions_and_the_mask_are_those_of_the_caller() {
    let place = cat();
    let ways: [fn(&mut Command); 3] = [
        |_| {},
        |it| blocked(it, &[libc::SIGINT, libc::SIGTERM, libc::SIGUSR1, libc::SIGTSTP]),
        |it| {
            for number in [libc::SIGPIPE, libc::SIGCHLD, libc::SIGHUP, libc::SIGXFSZ, libc::SIGUSR2]
            {
                ignoring(it, number);
            }
        },
    ];
    for way in ways {
        let mut direct = Command::new(place.path("host/gh"));
        direct.arg0("cat").arg("/proc/self/status");
        let mut through = command(&place, &["/proc/self/status"]);
        through.arg0("cat");
        let [direct, through] = [&mut direct, &mut through].map(|command| {
            way(command);
            let (code, status, stderr) = told(&command.output().unwrap());
            assert_eq!((code, &*stderr), (0, ""));
            let lines =
                status.lines().filter(|line| line.starts_with("Sig") && !line.starts_with("SigQ"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        });
        assert_eq!(direct, through);
        assert_eq!(place.types().pop().unwrap(), "host.finished");
    }
}
