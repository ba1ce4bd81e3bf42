//! The agent's process, and the lines that go to and fro.

use std::io::{self, Write};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::plain;

/// A line may be so long; what goes on is no message.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// How long the end of standard error may take to come.
const MOMENT: Duration = Duration::from_millis(300);

/// So much of standard error is looked at at once.
const MAX_CHUNK_BYTES: usize = 8 << 10;

/// So many lines wait to be looked at.
const MAX_WAITING: usize = 64;

/// An agent that was started.
#[derive(Debug)]
pub(super) struct Peer {
    process: Child,
    /// Its input, until that is ended.
    outgoing: Option<mpsc::UnboundedSender<String>>,
    incoming: mpsc::Receiver<Vec<u8>>,
    /// The last line of its standard error that says something.
    words: watch::Receiver<String>,
}

impl Peer {
    /// Starts an agent in a group of its own, so that whoever ends this
    /// program's group leaves it to this program to end the agent.
    ///
    /// # Errors
    /// There is no such program, or it cannot be started.
    pub(super) fn start(command: &[String]) -> Result<Peer, String> {
        let (program, arguments) = command.split_first().ok_or("the order names no agent")?;
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| format!("the agent does not start: `{program}`: {error}"))?;
        let stdin = process.stdin.take().expect("its input is a pipe");
        let stdout = process.stdout.take().expect("its output is a pipe");
        let stderr = process.stderr.take().expect("its standard error is a pipe");
        let (outgoing, to_write) = mpsc::unbounded_channel();
        let (read, incoming) = mpsc::channel(MAX_WAITING);
        tokio::spawn(write(stdin, to_write));
        tokio::spawn(self::read(stdout, read));
        let (heard, words) = watch::channel(String::new());
        tokio::spawn(pass_on(stderr, heard));
        Ok(Peer { process, outgoing: Some(outgoing), incoming, words })
    }

    /// Sends a line. Whoever does not read it is found out by what does not come back.
    pub(super) fn send(&self, line: String) {
        if let Some(outgoing) = &self.outgoing {
            let _ = outgoing.send(line);
        }
    }

    /// The next line; none when no further one will come.
    pub(super) async fn line(&mut self) -> Option<Vec<u8>> {
        self.incoming.recv().await
    }

    /// The next line of an agent that is to end; none once it has.
    pub(super) async fn last_line(&mut self) -> Option<Vec<u8>> {
        tokio::select! {
            biased;
            Some(line) = self.incoming.recv() => Some(line),
            _ = self.process.wait() => None,
        }
    }

    /// Ends the agent's input.
    pub(super) fn hang_up(&mut self) {
        self.outgoing = None;
    }

    /// How the agent ended, if it does within this time.
    pub(super) async fn ended(&mut self, patience: Duration) -> Option<ExitStatus> {
        timeout(patience, self.process.wait()).await.ok()?.ok()
    }

    /// What an agent that has ended said last on its standard error.
    pub(super) async fn last_words(&mut self) -> String {
        // Whoever it has started may hold it open.
        let all = async { while self.words.changed().await.is_ok() {} };
        let _ = timeout(MOMENT, all).await;
        self.words.borrow().clone()
    }

    /// Sends a signal to the agent, and to what is in its group.
    pub(super) fn signal(&self, signal: Signal) {
        let id = self.process.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        if let Some(group) = id {
            // It may have ended this very moment.
            let _ = kill_process_group(group, signal);
        }
    }
}

async fn write(mut stdin: ChildStdin, mut lines: mpsc::UnboundedReceiver<String>) {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        if stdin.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read(stdout: ChildStdout, lines: mpsc::Sender<Vec<u8>>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match (&mut stdout).take(MAX_LINE_BYTES).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if lines.send(line).await.is_err() {
            return;
        }
    }
}

/// Passes on standard error as it comes.
async fn pass_on(mut stderr: ChildStderr, words: watch::Sender<String>) {
    let mut end = Vec::new();
    let mut chunk = vec![0; MAX_CHUNK_BYTES];
    while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
        // Nothing is left to be told when stderr is gone too.
        let _ = io::stderr().write_all(&chunk[..count]);
        end.extend_from_slice(&chunk[..count]);
        end.drain(..end.len().saturating_sub(MAX_CHUNK_BYTES));
        if let Some(line) = plain::last_line(&String::from_utf8_lossy(&end)) {
            words.send_replace(line.to_owned());
        }
    }
}
