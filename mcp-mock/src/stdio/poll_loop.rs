//! One thread around `poll(2)`: the order of events is the order of this code.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use fixtures::document::Server;
use fixtures::engine::Engine;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::{Map, Value};

use super::complaints::Complaints;
use super::input::{Input, Oversize};
use super::message::{self, Id, Incoming, Request};
use super::output::{Gone, HIGH_WATER, Output};
use crate::call::{Begun, Call};
use crate::exit::Exit;
use crate::protocol::{self, Era, InitializeResult, ListResult, RpcError};

/// Requests that were accepted and neither answered nor withdrawn.
const MAX_PENDING: usize = 64;

/// Replies are written together until there are this many bytes of them.
const BATCH_BYTES: usize = 64 * 1024;

/// How long replies that were handed over may still go out after a stop.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Serves until the end of input, or until something stops the server.
pub(crate) fn run(server: &Server) -> Exit {
    let (stdin, stdout, stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let mut serving = Loop {
        stdin: stdin.as_fd(),
        stdout: stdout.as_fd(),
        input: Input::default(),
        output: Output::new(stdout.as_fd()),
        complaints: Complaints::new(stderr.as_fd()),
        server,
        engine: Engine::new(server),
        has_handshake: false,
        running: None,
        queue: VecDeque::new(),
        held: VecDeque::new(),
    };
    match serving.serve() {
        Ok(()) => {
            serving.complaints.finish(None);
            Exit::Success
        }
        Err(Stop(cause)) => {
            serving.last_words();
            serving.complaints.finish(Some(&cause));
            Exit::Stopped
        }
    }
}

struct Loop<'p, 'fd> {
    stdin: BorrowedFd<'fd>,
    stdout: BorrowedFd<'fd>,
    input: Input,
    output: Output<'fd>,
    complaints: Complaints<'fd>,
    server: &'p Server,
    engine: Engine<'p>,
    has_handshake: bool,
    /// The call whose delay is running.
    running: Option<Running>,
    /// Calls that wait for their turn.
    queue: VecDeque<Call>,
    /// Immediate requests that came while the output was stuck.
    held: VecDeque<Immediate>,
}

struct Running {
    id: Id,
    due: Instant,
    reply: Vec<u8>,
}

/// A request that touches no sequence, and its answer.
struct Immediate {
    id: Id,
    answer: Answer,
}

enum Answer {
    Initialize(&'static str),
    Discover,
    Pong,
    Tools(Era),
    Error(RpcError),
}

/// Why the server stops.
struct Stop(String);

impl From<Gone> for Stop {
    fn from(_: Gone) -> Stop {
        Stop("stopped: stdout is gone".to_owned())
    }
}

impl From<Oversize> for Stop {
    fn from(_: Oversize) -> Stop {
        Stop("stopped: a line is longer than 16 MiB".to_owned())
    }
}

impl Loop<'_, '_> {
    fn serve(&mut self) -> Result<(), Stop> {
        loop {
            if self.finish_running() || self.begin_next() || self.admit_next()? {
                continue;
            }
            let was_full = self.is_full();
            self.output.flush()?;
            if was_full && !self.is_full() {
                continue;
            }
            if self.input.is_at_end() && self.pending() == 0 && self.output.len() == 0 {
                return Ok(());
            }
            self.wait()?;
        }
    }

    fn is_full(&self) -> bool {
        self.output.len() >= HIGH_WATER
    }

    fn finish_running(&mut self) -> bool {
        match self.running.take_if(|running| running.due <= Instant::now()) {
            Some(running) => {
                self.output.buffer().extend_from_slice(&running.reply);
                true
            }
            None => false,
        }
    }

    fn begin_next(&mut self) -> bool {
        if self.is_full() {
            return false;
        }
        if let Some(immediate) = self.held.pop_front() {
            self.answer(immediate);
            return true;
        }
        if self.running.is_some() {
            return false;
        }
        let Some(call) = self.queue.pop_front() else { return false };
        self.begin(call);
        true
    }

    /// Begins a call, whose step is used from here on.
    fn begin(&mut self, call: Call) {
        let Begun { delay, reply, complaint } = call.begin(&mut self.engine);
        if let Some(complaint) = complaint {
            self.complaints.say(complaint);
        }
        if delay.is_zero() {
            self.output.buffer().extend_from_slice(&reply);
        } else {
            self.running = Some(Running { id: call.id, due: Instant::now() + delay, reply });
        }
    }

    /// Looks at the next line, if there is one and it may be looked at.
    fn admit_next(&mut self) -> Result<bool, Stop> {
        if self.output.len() >= BATCH_BYTES {
            self.output.flush()?;
        }
        if self.is_full() && Instant::now() < self.output.stuck_at() {
            return Ok(false);
        }
        let Some(line) = self.input.next_line()? else { return Ok(false) };
        match message::read(self.input.bytes(line)) {
            Incoming::Nothing | Incoming::Response => {}
            Incoming::NotJson(error) => self.complaints.say(format_args!("not JSON: {error}")),
            Incoming::Invalid { id, reason } => {
                self.complaints.say(format_args!("not a message: {reason}"));
                protocol::write_error(
                    self.output.buffer(),
                    id.as_ref(),
                    &RpcError::invalid_request(reason),
                );
            }
            Incoming::Notification { method, params } => self.notice(&method, params.as_ref()),
            Incoming::Request(request) => self.accept(request)?,
        }
        Ok(true)
    }

    fn notice(&mut self, method: &str, params: Option<&Value>) {
        if method != "notifications/cancelled" {
            return;
        }
        let Some(id) = params.and_then(|params| params.get("requestId")).and_then(Id::read) else {
            return;
        };
        if self.running.take_if(|running| running.id == id).is_none() {
            self.queue.retain(|call| call.id != id);
        }
    }

    fn pending(&self) -> usize {
        self.queue.len() + self.held.len() + usize::from(self.running.is_some())
    }

    fn is_pending(&self, id: &Id) -> bool {
        self.running.as_ref().is_some_and(|running| running.id == *id)
            || self.queue.iter().any(|call| call.id == *id)
            || self.held.iter().any(|immediate| immediate.id == *id)
    }

    fn accept(&mut self, request: Request) -> Result<(), Stop> {
        if self.is_pending(&request.id) {
            return Err(Stop(format!("stopped: the id {} is pending already", request.id)));
        }
        let Request { id, method, params } = request;
        match self.understand(&id, &method, params) {
            Ok(Understood::Call(call)) if self.pending() == 0 && !self.is_full() => {
                self.begin(call);
                Ok(())
            }
            Ok(Understood::Call(call)) => {
                self.leave_room()?;
                self.queue.push_back(call);
                Ok(())
            }
            Ok(Understood::Immediate(answer)) => self.reply_now(Immediate { id, answer }),
            Err(error) => {
                self.complaints.say(format_args!("{method}: {}", error.message()));
                self.reply_now(Immediate { id, answer: Answer::Error(error) })
            }
        }
    }

    /// Answers at once; while the output is stuck the request waits, and counts.
    fn reply_now(&mut self, immediate: Immediate) -> Result<(), Stop> {
        if self.is_full() {
            self.leave_room()?;
            self.held.push_back(immediate);
        } else {
            self.answer(immediate);
        }
        Ok(())
    }

    fn leave_room(&self) -> Result<(), Stop> {
        if self.pending() < MAX_PENDING {
            return Ok(());
        }
        Err(Stop(format!("stopped: more than {MAX_PENDING} requests are pending")))
    }

    /// What a request asks for, or the error that it gets.
    fn understand(
        &mut self,
        id: &Id,
        method: &str,
        params: Option<Value>,
    ) -> Result<Understood, RpcError> {
        let is_known =
            ["initialize", "server/discover", "ping", "tools/list", "tools/call"].contains(&method);
        let params = match params {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) if is_known => {
                return Err(RpcError::invalid_params("`params` must be an object"));
            }
            Some(_) => return Err(RpcError::unknown_method(method)),
        };
        let era = match protocol::meta(&params).and_then(protocol::era_of) {
            Ok(era) => era,
            Err(error) if is_known || error.is_unsupported_version() => return Err(error),
            Err(_) => return Err(RpcError::unknown_method(method)),
        };
        let shape = era.or(self.has_handshake.then_some(Era::Legacy));
        let unshaped = || {
            RpcError::invalid_params("`initialize` first, or give the protocol version in `_meta`")
        };
        match (method, era) {
            ("initialize", _) => protocol::negotiate(&params).map(|version| {
                self.has_handshake = true;
                Understood::Immediate(Answer::Initialize(version))
            }),
            ("server/discover", Some(Era::Modern)) => Ok(Understood::Immediate(Answer::Discover)),
            ("server/discover", None) => Err(RpcError::invalid_params(
                "`_meta` must have the protocol version and the client's capabilities",
            )),
            ("ping", None | Some(Era::Legacy)) => Ok(Understood::Immediate(Answer::Pong)),
            ("tools/list", _) => match shape {
                None => Err(unshaped()),
                Some(_) if params.contains_key("cursor") => {
                    Err(RpcError::invalid_params("the cursor is unknown: there is one page"))
                }
                Some(era) => Ok(Understood::Immediate(Answer::Tools(era))),
            },
            ("tools/call", _) => match shape {
                None => Err(unshaped()),
                Some(era) => Call::read(id.clone(), era, params).map(Understood::Call),
            },
            _ => Err(RpcError::unknown_method(method)),
        }
    }

    fn answer(&mut self, Immediate { id, answer }: Immediate) {
        let server = self.server;
        let out = self.output.buffer();
        match answer {
            Answer::Initialize(version) => {
                protocol::write_result(out, &id, &InitializeResult::new(server, version));
            }
            Answer::Discover => {
                protocol::write_result(out, &id, &protocol::DiscoverResult::new(server))
            }
            Answer::Pong => protocol::write_result(out, &id, &protocol::Empty {}),
            Answer::Tools(era) => protocol::write_result(out, &id, &ListResult::new(server, era)),
            Answer::Error(error) => protocol::write_error(out, Some(&id), &error),
        }
    }

    /// Sleeps until something can be read or written, or a delay is over.
    fn wait(&mut self) -> Result<(), Stop> {
        let now = Instant::now();
        let is_stuck = self.output.stuck_at() <= now;
        let reads = !self.input.is_at_end() && (!self.is_full() || is_stuck);
        let due = self.running.as_ref().map(|running| running.due);
        let looks = (self.is_full() && !is_stuck).then(|| self.output.stuck_at());
        let timeout = due.into_iter().chain(looks).min().map(|until| timespec(until - now));
        let writes = if self.output.len() > 0 { PollFlags::OUT } else { PollFlags::empty() };
        let mut fds = [
            PollFd::from_borrowed_fd(self.stdout, writes),
            PollFd::from_borrowed_fd(self.stdin, PollFlags::IN),
        ];
        let watched = if reads { &mut fds[..] } else { &mut fds[..1] };
        match poll(watched, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(()),
            Err(error) => {
                return Err(Stop(format!("stopped: cannot wait for stdin and stdout: {error}")));
            }
        }
        let [stdout_events, stdin_events] = fds.map(|fd| fd.revents());
        if !stdin_events.is_empty() {
            let read = self.input.read(self.stdin);
            read.map_err(|error| Stop(format!("stopped: cannot read stdin: {error}")))?;
        }
        let is_done = self.input.is_at_end() && self.pending() == 0 && self.output.len() == 0;
        if is_gone(stdout_events, self.output.hangs_up()) && !(is_done && self.input.is_empty()) {
            return Err(Gone.into());
        }
        Ok(())
    }

    /// Lets out what was handed over before the stop, for a bounded time.
    fn last_words(&mut self) {
        let end = Instant::now() + LAST_WORDS;
        while self.output.flush().is_ok() && self.output.len() > 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let mut fds = [PollFd::from_borrowed_fd(self.stdout, PollFlags::OUT)];
            if poll(&mut fds, Some(&timespec(left))).is_ok_and(|_| is_gone(fds[0].revents(), true))
            {
                return;
            }
        }
    }
}

/// A request that was understood.
enum Understood {
    Call(Call),
    Immediate(Answer),
}

fn is_gone(events: PollFlags, hangs_up: bool) -> bool {
    events.intersects(PollFlags::ERR | PollFlags::NVAL)
        || (hangs_up && events.contains(PollFlags::HUP))
}

fn timespec(duration: Duration) -> Timespec {
    // A delay is at most minutes, and nanoseconds are below a billion.
    Timespec { tv_sec: duration.as_secs() as i64, tv_nsec: i64::from(duration.subsec_nanos()) }
}
