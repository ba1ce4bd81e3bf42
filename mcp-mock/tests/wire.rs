//! Bytes in, lines and exit status out: every case of `wire/*.txt` as a process of its own.
//!
//! A case is a title (`# …`) and these lines:
//!
//! ```text
//! > MESSAGE         sent with a newline; macros are expanded
//! >raw BYTES        sent as they are; escapes \n \r \t \xNN \\
//! >times N MESSAGE  sent N times at once, {i} counting from 0
//! wait N            until N lines came out
//! sleep MS          where waiting is the subject
//! signal NAME       sent to the server
//! hold              stdin stays open to the end; else it is closed after the last step
//! < MESSAGE         expected; "*" matches any value
//! <times N MESSAGE  expected N times, {i} counting from 0
//! exit N | killed NAME
//! ```
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

const THREADS: usize = 4;
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
struct Case {
    title: String,
    steps: Vec<Step>,
    holds: bool,
    expected: Vec<Value>,
    end: String,
}

#[derive(Debug)]
enum Step {
    Send(Vec<u8>),
    Wait(usize),
    Sleep(u64),
    Signal(Signal),
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire")
}

#[test]
fn every_case_holds() {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    let cases: Vec<Case> = files.iter().flat_map(|path| read(path)).collect();
    assert!(cases.len() > 120, "only {} cases were read", cases.len());
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(reason) = run(case) {
                        failures.lock().unwrap().push(format!("{}\n    {reason}", case.title));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(
        failures.is_empty(),
        "{} of {} cases:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

fn read(path: &Path) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (number, line) in fs::read_to_string(path).unwrap().lines().enumerate() {
        let place = format!("{}:{}", path.file_name().unwrap().display(), number + 1);
        if let Some(title) = line.strip_prefix("# ") {
            cases.push(Case { title: format!("{place} {title}"), ..Case::default() });
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        let case =
            cases.last_mut().unwrap_or_else(|| panic!("{place}: a line before the first title"));
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            ">" => case.steps.push(Step::Send(format!("{}\n", expand(rest)).into_bytes())),
            ">raw" => case.steps.push(Step::Send(unescape(&expand(&rest.replace("\\n", "\n"))))),
            ">times" => {
                let text: String = times(rest).map(|message| expand(&message) + "\n").collect();
                case.steps.push(Step::Send(text.into_bytes()));
            }
            "<" => case.expected.push(expected(rest, &place)),
            "<times" => case.expected.extend(times(rest).map(|message| expected(&message, &place))),
            "wait" => case.steps.push(Step::Wait(rest.parse().unwrap())),
            "sleep" => case.steps.push(Step::Sleep(rest.parse().unwrap())),
            "signal" => case.steps.push(Step::Signal(format!("SIG{rest}").parse().unwrap())),
            "hold" => case.holds = true,
            "exit" | "killed" => line.clone_into(&mut case.end),
            _ => panic!("{place}: `{word}` is no step"),
        }
    }
    for case in &cases {
        assert!(!case.end.is_empty(), "{}: no `exit` or `killed`", case.title);
    }
    cases
}

fn times(rest: &str) -> impl Iterator<Item = String> {
    let (count, message) = rest.split_once(' ').unwrap();
    (0..count.parse().unwrap()).map(|index: usize| message.replace("{i}", &index.to_string()))
}

fn expected(text: &str, place: &str) -> Value {
    let text = expand(text);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{place}: {error}: {text}"))
}

/// Replaces macros, the innermost text first: `CALL(1,seq,{"ms":5})`.
fn expand(text: &str) -> String {
    let text = text
        .replace("META26", r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#)
        .replace("SERVERINFO", r#"{"name":"wire","version":"*"}"#);
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(|c: char| c.is_ascii_uppercase()) {
        let is_word_start =
            !rest[..at].ends_with(|c: char| c.is_alphanumeric() || "\"\\_-".contains(c));
        let name_len = rest[at..]
            .find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-'))
            .unwrap_or(rest.len() - at);
        let (name, after) = rest[at..].split_at(name_len);
        let (arguments, after) = match after.strip_prefix('(') {
            Some(after) => split_arguments(after),
            None => (Vec::new(), after),
        };
        match expansion(name, &arguments).filter(|_| is_word_start) {
            Some(expanded) => {
                out += &rest[..at];
                out += &expanded;
                rest = after;
            }
            None => {
                out += &rest[..at + name_len];
                rest = &rest[at + name_len..];
            }
        }
    }
    out + rest
}

/// The arguments up to the closing parenthesis, and what follows it.
fn split_arguments(text: &str) -> (Vec<&str>, &str) {
    let (mut depth, mut start, mut in_string, mut escaped) = (0, 0, false, false);
    let mut arguments = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => {
                arguments.push(&text[start..at]);
                return (arguments, &text[at + 1..]);
            }
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                arguments.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    (arguments, "")
}

fn expansion(name: &str, arguments: &[&str]) -> Option<String> {
    let text_block = |text: &str| format!(r#"[{{"type":"text","text":{text}}}]"#);
    let modern = r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"wire","version":"*"}}"#;
    Some(match (name, arguments) {
        ("INIT", []) => expansion("INIT", &["2025-11-25"])?,
        ("INIT", [version]) => format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
        ),
        ("INITED", []) => r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        ("R-INIT", []) => expansion("R-INIT", &["2025-11-25"])?,
        ("R-INIT", [version]) => format!(
            r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"wire","version":"*"}}}}}}"#
        ),
        ("CALL", [id, tool]) => expansion("CALL", &[id, tool, "{}"])?,
        ("CALL", [id, tool, args]) => format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{args}}}}}"#
        ),
        ("CALL", [id, tool, args, meta]) => format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{args},"_meta":{meta}}}}}"#
        ),
        ("LIST", [id]) => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#),
        ("PING", [id]) => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#),
        ("CANCEL", [id]) => {
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            )
        }
        ("OK", [id, text]) => {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":{}}}}}"#, text_block(text))
        }
        ("OK26", [id, text]) => format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":{},{modern}}}}}"#,
            text_block(text)
        ),
        ("TOOLERR", [id, text]) => {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":{},"isError":true}}}}"#,
                text_block(text)
            )
        }
        ("MOCKERR", [id, reason, text]) => format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":{},"isError":true,"_meta":{{"mcp-mock/reason":"{reason}"}}}}}}"#,
            text_block(text)
        ),
        ("EMPTY", [id]) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
        ("ERR", [code]) => {
            format!(r#"{{"jsonrpc":"2.0","error":{{"code":{code},"message":"*"}}}}"#)
        }
        ("ERR", [id, code]) => {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"*"}}}}"#)
        }
        ("TOOLS", [id]) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":"*"}}}}"#),
        _ => return None,
    })
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            bytes.extend(c.to_string().bytes());
            continue;
        }
        match chars.next().unwrap() {
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'x' => {
                let digits: String = chars.by_ref().take(2).collect();
                bytes.push(u8::from_str_radix(&digits, 16).unwrap());
            }
            other => bytes.extend(other.to_string().bytes()),
        }
    }
    bytes
}

/// The lines that came out so far, and whether more can come.
#[derive(Default)]
struct Lines(Mutex<(Vec<String>, bool)>, Condvar);

fn run(case: &Case) -> Result<(), String> {
    let mut server = Command::new(env!("CARGO_BIN_EXE_mcp-mock"))
        .arg("serve")
        .arg(folder().join("wire.yaml"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = Arc::new(Lines::default());
    let stdout = server.stdout.take().unwrap();
    let reader = std::thread::spawn({
        let lines = Arc::clone(&lines);
        move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                lines.0.lock().unwrap().0.push(line);
                lines.1.notify_all();
            }
            lines.0.lock().unwrap().1 = true;
            lines.1.notify_all();
        }
    });
    let status = play(case, &mut server, &lines);
    if status.is_err() {
        let _ = server.kill();
        let _ = server.wait();
    }
    reader.join().unwrap();
    let actual = lines.0.lock().unwrap().0.clone();
    let end = status.map_err(|reason| format!("{reason}; got {actual:?}")).map(end)?;
    if actual.len() != case.expected.len() {
        return Err(format!(
            "expected {} lines, got {}: {actual:#?}, {end}",
            case.expected.len(),
            actual.len()
        ));
    }
    for (index, (expected, actual)) in case.expected.iter().zip(&actual).enumerate() {
        let value: Value =
            serde_json::from_str(actual).map_err(|error| format!("{error}: {actual}"))?;
        if !matches(expected, &value) {
            return Err(format!("line {index}: expected {expected}\n    {:>17} {actual}", "got"));
        }
    }
    if end == case.end { Ok(()) } else { Err(format!("expected {}, got {end}", case.end)) }
}

fn play(case: &Case, server: &mut Child, lines: &Lines) -> Result<ExitStatus, String> {
    let mut stdin = server.stdin.take();
    for step in &case.steps {
        match step {
            // A server that has stopped reads no more; what it said is what counts.
            Step::Send(bytes) => drop(stdin.as_mut().unwrap().write_all(bytes)),
            Step::Wait(count) => {
                let guard = lines.0.lock().unwrap();
                let (guard, _) = lines
                    .1
                    .wait_timeout_while(guard, PATIENCE, |(lines, done)| {
                        lines.len() < *count && !*done
                    })
                    .unwrap();
                if guard.0.len() < *count {
                    return Err(format!("waited in vain for {count} lines"));
                }
            }
            Step::Sleep(ms) => std::thread::sleep(Duration::from_millis(*ms)),
            Step::Signal(signal) => {
                let pid = nix::unistd::Pid::from_raw(server.id().try_into().unwrap());
                nix::sys::signal::kill(pid, *signal).unwrap();
            }
        }
    }
    if !case.holds {
        drop(stdin.take());
    }
    for _ in 0..PATIENCE.as_millis() / 5 {
        if let Some(status) = server.try_wait().unwrap() {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Err("the server did not end".to_owned())
}

fn end(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => {
            let name = Signal::try_from(signal).unwrap().as_str();
            format!("killed {}", &name["SIG".len()..])
        }
        (None, None) => "ended somehow".to_owned(),
    }
}

fn matches(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::String(text), _) if text == "*" => true,
        (Value::Object(expected), Value::Object(actual)) => {
            expected.len() == actual.len()
                && expected.iter().all(|(key, value)| {
                    actual.get(key).is_some_and(|actual| matches(value, actual))
                })
        }
        (Value::Array(expected), Value::Array(actual)) => {
            expected.len() == actual.len()
                && expected.iter().zip(actual).all(|(e, a)| matches(e, a))
        }
        _ => expected == actual,
    }
}

#[test]
fn a_difference_is_seen() {
    assert!(matches(&json!({"a": ["*", 1]}), &json!({"a": [{"b": 2}, 1]})));
    for (expected, actual) in [
        (json!({"a": 1}), json!({"a": 1, "b": 2})),
        (json!([1]), json!([1, 2])),
        (json!(1), json!("1")),
    ] {
        assert!(!matches(&expected, &actual), "{expected} {actual}");
    }
    assert_eq!(expand(r#"CALL(1,echo,{"a":"INIT(\")"})"#).matches("protocolVersion").count(), 0);
}
