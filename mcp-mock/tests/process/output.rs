//! Much output, read fast, slowly, or never.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::{
    Fixture, INITIALIZE, assert_exit, call, end, lines, ping, read_line, send, shake_hands, spawn,
    status_field,
};

/// Reads in small pieces, with pauses among the first.
struct Slowly<R>(R, usize);

impl<R: Read> Read for Slowly<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.1 < 100 {
            self.1 += 1;
            std::thread::sleep(Duration::from_millis(12));
            let most = buffer.len().min(4096);
            return self.0.read(&mut buffer[..most]);
        }
        self.0.read(buffer)
    }
}

fn pipelined(calls: usize, bytes: usize, over_socket: bool, slowly: bool) {
    let fixture = Fixture::usual(bytes);
    let mut command = fixture.command();
    let (mut stdin, stdout): (Box<dyn Write + Send>, Box<dyn Read>);
    let mut child: Child;
    if over_socket {
        let (ours_in, theirs_in) = UnixStream::pair().unwrap();
        let (ours_out, theirs_out) = UnixStream::pair().unwrap();
        child = spawn(command.stdin(OwnedFd::from(theirs_in)).stdout(OwnedFd::from(theirs_out)));
        // The command keeps the server's ends open until it is gone.
        drop(command);
        (stdin, stdout) = (Box::new(ours_in), Box::new(ours_out));
    } else {
        child = spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        (stdin, stdout) =
            (Box::new(child.stdin.take().unwrap()), Box::new(child.stdout.take().unwrap()));
    }
    let text: String = std::iter::once(format!("{INITIALIZE}\n"))
        .chain((1..=calls).map(|id| call(id, "big")))
        .collect();
    let writer = std::thread::spawn(move || {
        stdin.write_all(text.as_bytes()).unwrap();
        drop(stdin);
    });
    let lines = if slowly { lines(Slowly(stdout, 0)) } else { lines(stdout) };
    writer.join().unwrap();
    assert_exit(&mut child, 0);
    assert_eq!(lines.len(), calls + 1);
    for (id, line) in lines.iter().enumerate().skip(1) {
        assert!(
            line.starts_with(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\"")),
            "{}",
            &line[..60]
        );
        assert!(line.len() > bytes && line.ends_with("}]}}"));
    }
}

#[test]
fn thirty_megabytes_of_pipelined_answers_arrive() {
    for (calls, bytes) in [(200, 150_000), (400, 75_000), (3000, 10_000)] {
        for over_socket in [false, true] {
            for slowly in [false, true] {
                pipelined(calls, bytes, over_socket, slowly);
            }
        }
    }
}

/// Writes until the server reads no more or has ended.
fn flood(child: &mut Child, message: impl Fn(usize) -> String) {
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{INITIALIZE}\n").as_bytes()).unwrap();
    for id in 1..200_000 {
        if stdin.write_all(message(id).as_bytes()).is_err() {
            return;
        }
    }
    panic!("the flood was swallowed");
}

#[test]
fn a_client_that_never_reads_is_stopped() {
    let fixture = Fixture::usual(100_000);
    let list = |id| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\",\"params\":{{\"x\":\"{}\"}}}}\n",
            "y".repeat(200)
        )
    };
    let long_ping = |id| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}{}\",\"method\":\"ping\"}}\n", "p".repeat(500))
    };
    let floods: [Box<dyn Fn(usize) -> String>; 3] =
        [Box::new(|id| call(id, "big")), Box::new(list), Box::new(long_ping)];
    for message in floods {
        let mut child = fixture.piped();
        let pid = child.id();
        let watcher = std::thread::spawn(move || {
            let mut peak = 0;
            while let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) {
                let Some(line) = status.lines().find(|line| line.starts_with("VmHWM:")) else {
                    break;
                };
                peak = line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap();
                std::thread::sleep(Duration::from_millis(20));
            }
            peak
        });
        flood(&mut child, message);
        assert_exit(&mut child, 1);
        let peak = watcher.join().unwrap();
        assert!(peak < 64 * 1024, "{peak} KiB of memory");
    }
}

#[test]
fn cancellation_works_while_a_reply_is_blocked() {
    let fixture = Fixture::usual(1_000_000);
    let mut child = fixture.piped();
    shake_hands(&mut child);
    send(&mut child, &(call(1, "big") + &call(2, "slow") + &call(3, "now")));
    std::thread::sleep(Duration::from_millis(100));
    let cancel = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}\n";
    send(&mut child, &(cancel.to_owned() + &ping(4)));
    drop(child.stdin.take());
    let ids: Vec<String> = lines(child.stdout.take().unwrap())
        .iter()
        .map(|line| line.split("\"id\":").nth(1).unwrap().split(',').next().unwrap().to_owned())
        .collect();
    assert_eq!(ids, ["1", "3", "4"]);
    assert_exit(&mut child, 0);
}

#[test]
fn a_stdout_that_is_gone_is_noticed_while_idle() {
    let fixture = Fixture::usual(1);
    let mut child = fixture.piped();
    shake_hands(&mut child);
    drop(child.stdout.take());
    assert_exit(&mut child, 1);

    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = fixture.command();
    let mut child = spawn(command.stdin(Stdio::piped()).stdout(OwnedFd::from(theirs)));
    drop(command);
    send(&mut child, &format!("{INITIALIZE}\n"));
    let mut byte = [0];
    (&ours).read_exact(&mut byte).unwrap();
    drop(ours);
    assert_exit(&mut child, 1);
}

#[test]
fn a_stdout_that_goes_during_a_delay_or_a_blocked_reply_ends_the_server() {
    let fixture = Fixture::usual(1_000_000);
    for tool in ["slow", "big"] {
        let mut child = fixture.piped();
        shake_hands(&mut child);
        send(&mut child, &call(1, tool));
        std::thread::sleep(Duration::from_millis(50));
        drop(child.stdout.take());
        assert_exit(&mut child, 1);
    }
}

#[test]
fn a_full_stderr_never_blocks_the_server() {
    let fixture = Fixture::usual(1);
    let (reader, mut writer) = std::io::pipe().unwrap();
    // Fills the pipe to the last byte.
    nix::fcntl::fcntl(&writer, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK))
        .unwrap();
    while writer.write(&[b'x'; 4096]).is_ok() {}
    while writer.write(b"x").is_ok() {}
    nix::fcntl::fcntl(&writer, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::empty())).unwrap();
    let mut child = fixture.piped_with_stderr(writer);
    shake_hands(&mut child);
    send(&mut child, &"garbage\n".repeat(1000));
    send(&mut child, &ping(1));
    assert!(read_line(&mut child).contains("\"id\":1"));
    drop(child.stdin.take());
    assert_exit(&mut child, 0);
    drop(reader);
}

#[test]
fn stderr_has_at_most_twenty_lines_about_bad_input_then_a_count() {
    let fixture = Fixture::usual(1);
    let mut child = fixture.piped_with_stderr(Stdio::piped());
    send(&mut child, &"garbage\n".repeat(50));
    drop(child.stdin.take());
    let said = lines(child.stderr.take().unwrap());
    assert!(end(&mut child).success());
    assert_eq!(said.len(), 21, "{said:?}");
    assert!(said[..20].iter().all(|line| line.contains("not JSON")), "{said:?}");
    assert_eq!(said[20], "mcp-mock: … and 30 more lines");
    assert!(lines(child.stdout.take().unwrap()).is_empty());
}

#[test]
fn memory_of_a_large_message_is_given_back() {
    let fixture = Fixture::usual(1);
    let mut child = fixture.piped();
    shake_hands(&mut child);
    let large = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"a\":\"{}\"}}}}\n",
        "x".repeat(8 << 20)
    );
    send(&mut child, &large);
    assert!(read_line(&mut child).contains("\"id\":1"));
    send(&mut child, &ping(2));
    assert!(read_line(&mut child).contains("\"id\":2"));
    let resident: u64 = status_field(&child, "VmRSS").split(' ').next().unwrap().parse().unwrap();
    assert!(resident < 16 * 1024, "{resident} KiB stay resident");
    drop(child.stdin.take());
    assert_exit(&mut child, 0);
}
