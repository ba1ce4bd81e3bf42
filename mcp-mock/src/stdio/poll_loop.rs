//! One thread around `poll(2)`: the order of events is the order of this code.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use fixtures::document::{Revision, Server};
use fixtures::engine::{Book, Engine};
use fixtures::journal::record::{
    Cancellation, Cancelled, Delivered, Event, Kind, ProgramEnd, ProgramOpened,
};
use fixtures::journal::{JournalError, LOCK_PATIENCE, Refusal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::{Map, Value};

use super::complaints::Complaints;
use super::input::{Input, Oversize};
use super::message::{self, Id, Incoming, Request};
use super::output::{Gone, HIGH_WATER, Output};
use super::records::Records;
use crate::call::{Begun, Call, Reply};
use crate::exit::Exit;
use crate::protocol::{self, InitializeResult, ListResult, RpcError};

/// Requests that were accepted and neither answered nor withdrawn.
const MAX_PENDING: usize = 64;

/// Replies are written together until there are this many bytes of them.
const BATCH_BYTES: usize = 64 * 1024;

/// Violations of the protocol that are recorded; what follows is counted.
const MAX_VIOLATIONS: u32 = 20;

/// How long replies that were handed over may still go out after a stop.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Serves until the end of input, or until something stops the server.
pub(crate) fn run(server: &Server, book: Book) -> Exit {
    let (stdin, stdout, stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let mut serving = Loop {
        stdin: stdin.as_fd(),
        stdout: stdout.as_fd(),
        input: Input::default(),
        output: Output::new(stdout.as_fd()),
        complaints: Complaints::new(stderr.as_fd()),
        server,
        engine: Engine::new(server, book),
        handshake: None,
        running: None,
        queue: VecDeque::new(),
        held: VecDeque::new(),
        records: Records::new(),
        undelivered: VecDeque::new(),
        is_opened: false,
        violations: 0,
    };
    match serving.serve() {
        Ok(()) => {
            serving.leave(ProgramEnd::Eof, LOCK_PATIENCE);
            serving.complaints.finish(None);
            Exit::Success
        }
        Err(stop) => {
            serving.last_words();
            let end = match &stop {
                Stop::Violation { code, cause } => {
                    serving.violation(code, cause);
                    ProgramEnd::Violation
                }
                Stop::Gone(_) => ProgramEnd::Gone,
            };
            serving.leave(end, LAST_WORDS);
            let (Stop::Violation { cause, .. } | Stop::Gone(cause)) = stop;
            serving.complaints.finish(Some(&format!("stopped: {cause}")));
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
    handshake: Option<Revision>,
    /// The call whose delay is running.
    running: Option<Running>,
    /// Calls that wait for their turn.
    queue: VecDeque<Call>,
    /// Immediate requests that came while the output was stuck.
    held: VecDeque<Immediate>,
    /// Records that wait for the lock of the journal.
    records: Records,
    /// Attempts whose reply was handed over, and where it ends among all output.
    undelivered: VecDeque<(u64, u64)>,
    /// Whether the record says that this program attached.
    is_opened: bool,
    violations: u32,
}

struct Running {
    call: Call,
    due: Instant,
    attempt: Option<u64>,
    reply: Reply,
}

/// A request that touches no sequence, and its answer.
struct Immediate {
    id: Id,
    answer: Answer,
}

enum Answer {
    Initialize(Revision),
    Discover,
    Pong,
    Tools(Revision),
    Error(RpcError),
}

/// Why the server stops.
enum Stop {
    /// The client broke the protocol.
    Violation { code: &'static str, cause: String },
    /// Standard input or output failed.
    Gone(String),
}

impl From<Gone> for Stop {
    fn from(_: Gone) -> Stop {
        Stop::Gone("stdout is gone".to_owned())
    }
}

impl From<Oversize> for Stop {
    fn from(_: Oversize) -> Stop {
        Stop::Violation { code: "oversize_line", cause: "a line is longer than 16 MiB".to_owned() }
    }
}

impl Loop<'_, '_> {
    fn serve(&mut self) -> Result<(), Stop> {
        loop {
            self.settle();
            if self.finish_running() || self.begin_next() || self.admit_next()? {
                continue;
            }
            let was_full = self.is_full();
            self.flush()?;
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

    /// Writes what can be written now, and notes what was written whole.
    fn flush(&mut self) -> Result<(), Gone> {
        let flushed = self.output.flush();
        let taken = self.output.taken();
        while let Some((attempt, _)) = self.undelivered.pop_front_if(|(_, end)| *end <= taken) {
            self.note(Event::Delivered(Delivered { attempt }));
        }
        self.settle();
        flushed
    }

    /// A record that decides nothing, if there is a journal.
    fn note(&mut self, event: Event<'static>) {
        self.open(None);
        if self.engine.is_recording() {
            self.records.push(event);
        }
    }

    /// Records that this program attached, once, with the client as it named itself.
    fn open(&mut self, client: Option<&Value>) {
        if self.is_opened || !self.engine.is_recording() {
            return;
        }
        self.is_opened = true;
        let client = client.and_then(|client| self.engine.redacted(client)).map(Cow::Owned);
        self.records.push(Event::ProgramOpened(ProgramOpened {
            program: Cow::Borrowed(env!("CARGO_PKG_NAME")),
            version: Cow::Borrowed(env!("CARGO_PKG_VERSION")),
            kind: Kind::Mcp,
            name: Cow::Owned(self.server.name.clone()),
            client,
        }));
    }

    fn violation(&mut self, code: &'static str, detail: &str) {
        self.violations = self.violations.saturating_add(1);
        if self.violations <= MAX_VIOLATIONS {
            let detail = Cow::Owned(self.engine.redact(detail).into_owned());
            self.note(Event::Violation { code: Cow::Borrowed(code), detail });
        }
    }

    /// Appends what waits for the lock of the journal, if it can be had.
    fn settle(&mut self) {
        if let Some(said) = self.records.settle(&mut self.engine) {
            self.complaints.say(said);
        }
    }

    /// Records that this program leaves, and waits for the lock, but not for ever.
    fn leave(&mut self, cause: ProgramEnd, patience: Duration) {
        if !self.engine.is_recording() {
            return;
        }
        if let Some(Running { attempt: Some(attempt), .. }) = self.running.take() {
            let cause = Cancellation::Stop;
            self.note(Event::Cancelled(Cancelled { attempt, cause, exit_code: None }));
        }
        if self.violations > MAX_VIOLATIONS {
            let detail = format!("{} more violations", self.violations - MAX_VIOLATIONS);
            self.note(Event::Violation { code: Cow::Borrowed("more"), detail: detail.into() });
        }
        self.note(Event::ProgramClosed { cause });
        let end = Instant::now() + patience;
        self.settle();
        while !self.records.is_empty() && Instant::now() < end {
            if let Some(retry) = self.records.retry() {
                std::thread::sleep(retry.saturating_duration_since(Instant::now()));
            }
            self.settle();
        }
    }

    fn finish_running(&mut self) -> bool {
        let Some(running) = self.running.take_if(|running| running.due <= Instant::now()) else {
            return false;
        };
        let Some(attempt) = running.attempt else {
            self.output.buffer().extend_from_slice(&running.reply.line);
            return true;
        };
        let refusal = if self.records.lets_pass() {
            let Reply { outcome, .. } = running.reply;
            let selected = self.engine.selected(attempt, outcome, running.reply.result());
            self.engine.record(&[selected]).err()
        } else {
            Some(Refusal::Busy)
        };
        match refusal {
            None => {
                self.records.was_free();
                self.hand_over(&running.reply, Some(attempt));
            }
            Some(Refusal::Busy) if running.due.elapsed() < LOCK_PATIENCE => {
                self.wait_for_lock();
                self.running = Some(running);
                return false;
            }
            Some(refusal) => self.refuse(&running.call, refusal),
        }
        true
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
        match self.begin(call) {
            None => true,
            Some(call) => {
                self.queue.push_front(call);
                false
            }
        }
    }

    /// Begins a call, whose step is used from here on. Back comes a call that
    /// has to wait for the lock of the journal.
    fn begin(&mut self, call: Call) -> Option<Call> {
        self.settle();
        let begun = if self.records.lets_pass() {
            call.begin(&mut self.engine)
        } else {
            Err(Refusal::Busy)
        };
        match begun {
            Ok(Begun { attempt, delay, reply, complaint }) => {
                self.records.was_free();
                if let Some(complaint) = complaint {
                    self.complaints.say(complaint);
                }
                if delay.is_zero() {
                    self.hand_over(&reply, attempt);
                } else {
                    let due = Instant::now() + delay;
                    self.running = Some(Running { call, due, attempt, reply });
                }
            }
            Err(Refusal::Busy)
                if self.records.busy_since(call.accepted).elapsed() < LOCK_PATIENCE =>
            {
                self.wait_for_lock();
                return Some(call);
            }
            Err(refusal) => self.refuse(&call, refusal),
        }
        None
    }

    /// Has the lock tried again after a pause, unless one is running.
    fn wait_for_lock(&mut self) {
        if self.records.retry().is_none_or(|retry| retry <= Instant::now()) {
            self.records.was_busy();
        }
    }

    /// Whether only the lock of the journal keeps a call.
    /// Whether there is no room for more, and that is not the client's fault:
    /// somebody else has the lock that the next call waits for.
    fn is_held_up(&self) -> bool {
        self.pending() == MAX_PENDING
            && self.running.is_none()
            && self.waits_for_lock()
            && self.records.retry().is_some()
    }

    fn waits_for_lock(&self) -> bool {
        match &self.running {
            Some(running) => running.due <= Instant::now(),
            None => !self.is_full() && !self.queue.is_empty(),
        }
    }

    /// Hands a reply to the output; its attempt is delivered when it was written whole.
    fn hand_over(&mut self, reply: &Reply, attempt: Option<u64>) {
        self.output.buffer().extend_from_slice(&reply.line);
        if let Some(attempt) = attempt {
            let end = self.output.taken() + self.output.len() as u64;
            self.undelivered.push_back((attempt, end));
        }
    }

    /// Answers a call that the journal does not take.
    fn refuse(&mut self, call: &Call, refusal: Refusal) {
        let error: Option<JournalError> = match refusal {
            Refusal::Closed => None,
            Refusal::Failed(error) => Some(error),
            Refusal::Busy => self.engine.locked_too_long(),
        };
        let Begun { reply, complaint, .. } = call.refused_by(self.server, error.as_ref());
        if let Some(complaint) = complaint {
            self.complaints.say(complaint);
        }
        self.hand_over(&reply, None);
    }

    /// Looks at the next line, if there is one and it may be looked at.
    fn admit_next(&mut self) -> Result<bool, Stop> {
        if self.output.len() >= BATCH_BYTES {
            self.flush()?;
        }
        if self.is_full() && Instant::now() < self.output.stuck_at() || self.is_held_up() {
            return Ok(false);
        }
        let Some(line) = self.input.next_line()? else { return Ok(false) };
        match message::read(self.input.bytes(line)) {
            Incoming::Nothing | Incoming::Response => {}
            Incoming::NotJson(error) => {
                self.complaints.say(format_args!("not JSON: {error}"));
                self.violation("not_json", &error.to_string());
            }
            Incoming::Invalid { id, reason } => {
                self.complaints.say(format_args!("not a message: {reason}"));
                protocol::write_error(
                    self.output.buffer(),
                    id.as_ref(),
                    &RpcError::invalid_request(reason),
                );
                self.violation("invalid_request", reason);
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
        if let Some(running) = self.running.take_if(|running| running.call.id == id) {
            if let Some(attempt) = running.attempt {
                let cause = Cancellation::Cancel;
                self.note(Event::Cancelled(Cancelled { attempt, cause, exit_code: None }));
            }
        } else if let Some(place) = self.queue.iter().position(|call| call.id == id)
            && let Some(call) = self.queue.remove(place)
        {
            self.note(Event::RequestCancelled {
                request_id: Cow::Owned(call.id.to_json()),
                operation: Cow::Owned(call.tool),
            });
        }
    }

    fn pending(&self) -> usize {
        self.queue.len() + self.held.len() + usize::from(self.running.is_some())
    }

    fn is_pending(&self, id: &Id) -> bool {
        self.running.as_ref().is_some_and(|running| running.call.id == *id)
            || self.queue.iter().any(|call| call.id == *id)
            || self.held.iter().any(|immediate| immediate.id == *id)
    }

    fn accept(&mut self, request: Request) -> Result<(), Stop> {
        if self.is_pending(&request.id) {
            let cause = format!("the id {} is pending already", request.id);
            return Err(Stop::Violation { code: "duplicate_id", cause });
        }
        let Request { id, method, params } = request;
        match self.understand(&id, &method, params) {
            Ok(Understood::Call(call)) => {
                let is_next = self.pending() == 0 && !self.is_full();
                if let Some(call) = if is_next { self.begin(call) } else { Some(call) } {
                    self.leave_room()?;
                    self.queue.push_back(call);
                }
                Ok(())
            }
            Ok(Understood::Immediate(answer)) => self.reply_now(Immediate { id, answer }),
            Err(error) => {
                self.complaints.say(format_args!("{method}: {}", error.message()));
                if error.is_violation() {
                    self.violation("invalid_params", &format!("{method}: {}", error.message()));
                }
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
        let cause = format!("more than {MAX_PENDING} requests are pending");
        Err(Stop::Violation { code: "overflow", cause })
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
        let named = match protocol::meta(&params).and_then(protocol::revision_of) {
            Ok(named) => named,
            Err(error) if is_known || error.is_unsupported_version() => return Err(error),
            Err(_) => return Err(RpcError::unknown_method(method)),
        };
        if named.is_some() {
            self.open(protocol::client_of(&params));
        }
        let shape = named.or(self.handshake);
        let unshaped = || {
            RpcError::invalid_params("`initialize` first, or give the protocol version in `_meta`")
        };
        match (method, named) {
            ("initialize", _) => protocol::negotiate(&params).map(|revision| {
                self.handshake = Some(revision);
                self.open(params.get("clientInfo"));
                Understood::Immediate(Answer::Initialize(revision))
            }),
            ("server/discover", Some(Revision::V2026_07_28)) => {
                Ok(Understood::Immediate(Answer::Discover))
            }
            ("server/discover", None) => Err(RpcError::invalid_params(
                "`_meta` must have the protocol version and the client's capabilities",
            )),
            ("ping", named) if !named.is_some_and(Revision::is_modern) => {
                Ok(Understood::Immediate(Answer::Pong))
            }
            ("tools/list", _) => match shape {
                None => Err(unshaped()),
                Some(_) if params.contains_key("cursor") => {
                    Err(RpcError::invalid_params("the cursor is unknown: there is one page"))
                }
                Some(revision) => Ok(Understood::Immediate(Answer::Tools(revision))),
            },
            ("tools/call", _) => match shape {
                None => Err(unshaped()),
                Some(revision) => Call::read(id.clone(), revision, params).map(Understood::Call),
            },
            _ => Err(RpcError::unknown_method(method)),
        }
    }

    fn answer(&mut self, Immediate { id, answer }: Immediate) {
        let server = self.server;
        let out = self.output.buffer();
        let _written = match answer {
            Answer::Initialize(revision) => {
                protocol::write_result(out, &id, &InitializeResult::new(server, revision))
            }
            Answer::Discover => {
                protocol::write_result(out, &id, &protocol::DiscoverResult::new(server))
            }
            Answer::Pong => protocol::write_result(out, &id, &protocol::Empty {}),
            Answer::Tools(revision) => {
                protocol::write_result(out, &id, &ListResult::new(server, revision))
            }
            Answer::Error(error) => protocol::write_error(out, Some(&id), &error),
        };
    }

    /// Sleeps until something can be read or written, or a delay is over.
    fn wait(&mut self) -> Result<(), Stop> {
        let now = Instant::now();
        let is_stuck = self.output.stuck_at() <= now;
        let reads = !self.input.is_at_end() && (!self.is_full() || is_stuck) && !self.is_held_up();
        let due = self.running.as_ref().map(|running| running.due).filter(|due| *due > now);
        // The pause may have ended while the loop was busy otherwise.
        let waits = !self.records.is_empty() || self.waits_for_lock();
        let retry = waits.then(|| self.records.retry().unwrap_or(now));
        let looks = (self.is_full() && !is_stuck).then(|| self.output.stuck_at());
        let next = [due, retry, looks].into_iter().flatten().min();
        let timeout = next.map(|until| timespec(until.saturating_duration_since(now)));
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
                return Err(Stop::Gone(format!("cannot wait for stdin and stdout: {error}")));
            }
        }
        let [stdout_events, stdin_events] = fds.map(|fd| fd.revents());
        if !stdin_events.is_empty() {
            let read = self.input.read(self.stdin);
            read.map_err(|error| Stop::Gone(format!("cannot read stdin: {error}")))?;
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
        while self.flush().is_ok() && self.output.len() > 0 {
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
