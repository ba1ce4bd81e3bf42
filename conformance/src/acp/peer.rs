//! The agent's process, and the lines that go to and fro.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// A line may be so long; what goes on is no message.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// So many lines wait to be looked at.
const MAX_WAITING: usize = 64;

/// An agent that was started.
#[derive(Debug)]
pub(super) struct Peer {
    process: Child,
    /// Its input, until that is ended.
    outgoing: Option<mpsc::UnboundedSender<String>>,
    incoming: mpsc::Receiver<Vec<u8>>,
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
            .process_group(0)
            .spawn()
            .map_err(|error| format!("the agent does not start: `{program}`: {error}"))?;
        let stdin = process.stdin.take().expect("its input is a pipe");
        let stdout = process.stdout.take().expect("its output is a pipe");
        let (outgoing, to_write) = mpsc::unbounded_channel();
        let (read, incoming) = mpsc::channel(MAX_WAITING);
        tokio::spawn(write(stdin, to_write));
        tokio::spawn(self::read(stdout, read));
        Ok(Peer { process, outgoing: Some(outgoing), incoming })
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

    /// Ends the agent's input.
    pub(super) fn hang_up(&mut self) {
        self.outgoing = None;
    }

    /// How the agent ended, if it does within this time.
    pub(super) async fn ended(&mut self, patience: Duration) -> Option<ExitStatus> {
        timeout(patience, self.process.wait()).await.ok()?.ok()
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
