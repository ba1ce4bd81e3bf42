//! Long lines, and many of them.

use std::io::Write;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::{Fixture, INITIALIZE, assert_exit, end, lines, shake_hands};

const MAX_LINE: usize = 16 * 1024 * 1024;

/// A ping of exactly `length` bytes, without its newline.
fn long_ping(length: usize) -> String {
    let (head, tail) =
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"", "\"}}");
    format!("{head}{}{tail}", "x".repeat(length - head.len() - tail.len()))
}

fn serve(fixture: &Fixture, text: &str) -> (Vec<String>, Child) {
    let mut child = fixture.piped();
    let mut stdin = child.stdin.take().unwrap();
    let text = text.to_owned();
    let writer = std::thread::spawn(move || {
        // The server may stop in the middle.
        let _ = stdin.write_all(text.as_bytes());
    });
    let lines = lines(child.stdout.take().unwrap());
    writer.join().unwrap();
    (lines, child)
}

#[test]
fn a_line_of_16_mib_is_fine_and_one_byte_more_stops_the_server() {
    let fixture = Fixture::usual(1);
    let start = Instant::now();
    for (length, newline, answers, code) in [
        (1 << 20, "\n", 1, 0),
        (MAX_LINE, "\n", 1, 0),
        (MAX_LINE, "", 1, 0),
        (MAX_LINE + 1, "\n", 0, 1),
        (MAX_LINE + 1, "", 0, 1),
        (MAX_LINE + (1 << 20), "\n", 0, 1),
    ] {
        let (lines, mut child) = serve(&fixture, &(long_ping(length) + newline));
        assert_exit(&mut child, code);
        assert_eq!(lines.len(), answers, "{length} bytes");
    }
    assert!(start.elapsed() < Duration::from_secs(40), "the search for newlines is quadratic");
}

#[test]
fn an_oversize_line_is_named_on_stderr() {
    let fixture = Fixture::usual(1);
    let mut child = fixture.piped_with_stderr(Stdio::piped());
    shake_hands(&mut child);
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(&vec![b'x'; MAX_LINE + 100_000]);
    assert_eq!(end(&mut child).code(), Some(1));
    assert_eq!(
        lines(child.stderr.take().unwrap()),
        ["mcp-mock: stopped: a line is longer than 16 MiB"]
    );
}

#[test]
fn a_message_of_single_bytes_is_one_message() {
    let fixture = Fixture::usual(1);
    let mut child = fixture.piped();
    for byte in format!("{INITIALIZE}\n").as_bytes() {
        child.stdin.as_mut().unwrap().write_all(&[*byte]).unwrap();
    }
    assert!(crate::read_line(&mut child).contains("protocolVersion"));
    drop(child.stdin.take());
    assert_exit(&mut child, 0);
}
