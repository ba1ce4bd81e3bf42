//! What is said between this program and the agent, from the first word to the last.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES, AuthMethod, AuthenticateRequest, CLIENT_METHOD_NAMES, CancelNotification,
    EnvVariable, Error, ErrorCode, Implementation, InitializeRequest, InitializeResponse,
    McpServer, McpServerStdio, NewSessionRequest, NewSessionResponse, PromptRequest, SessionId,
    SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use rustix::process::Signal as Kill;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use super::contact::Contact;
use super::failed::Failed;
use super::message::{self, Incoming};
use super::mode::{self, Way};
use super::peer::Peer;
use super::{Order, permission, told};
use crate::{plain, wiring};

/// How often it is looked whether servers were opened.
const LOOK: Duration = Duration::from_millis(20);

/// How long an agent may take over each step of its end.
const GRACE: Duration = Duration::from_secs(3);

/// The same when somebody waits for this program to end.
const HURRY: Duration = Duration::from_secs(1);

/// How long an agent may take to answer a prompt that was cancelled.
const CANCELLING: Duration = Duration::from_secs(2);

/// So much of what is no message, or of what is wrong with one, is quoted.
const MAX_QUOTED_CHARS: usize = 300;

/// An answer of the agent's, and the number of the request that it answers.
type Answer = (u64, Result<Value, Error>);

/// A conversation with an agent that was started.
#[derive(Debug)]
pub(super) struct Conversation {
    peer: Peer,
    asked_to_end: [Signal; 2],
    requests: u64,
    /// The session in which a prompt is being answered.
    prompted: Option<SessionId>,
    /// When the patience with an agent ends that was told to stop.
    deadline: Option<Instant>,
    /// Whether somebody waits for the end.
    is_hurried: bool,
    /// How one logs in to the agent.
    logins: Vec<String>,
}

impl Conversation {
    /// Starts the agent.
    ///
    /// # Errors
    /// The agent cannot be started.
    pub(super) fn begin(order: &Order) -> Result<Conversation, Failed> {
        let listen = |kind| {
            signal(kind).map_err(|error| Failed::before(format!("cannot look at signals: {error}")))
        };
        let asked_to_end = [listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?];
        let peer = Peer::start(&order.command).map_err(Failed::before)?;
        Ok(Conversation {
            peer,
            asked_to_end,
            requests: 0,
            prompted: None,
            deadline: None,
            is_hurried: false,
            logins: Vec::new(),
        })
    }

    /// Asks the agent what the order says, and has its answer.
    ///
    /// # Errors
    /// The agent refuses, ends, or does not speak the protocol.
    pub(super) async fn hold(&mut self, order: &Order) -> Result<Value, Failed> {
        let names = AGENT_METHOD_NAMES;
        let this = Implementation::new("agent-conformance", env!("CARGO_PKG_VERSION"));
        let hello = InitializeRequest::new(ProtocolVersion::V1).client_info(this);
        let hello: InitializeResponse = self.asked(names.initialize, &hello).await?;
        if hello.protocol_version != ProtocolVersion::V1 {
            return Err(Failed::before(format!(
                "the agent speaks version {} of the Agent Client Protocol, and this program version 1",
                hello.protocol_version
            )));
        }
        let login = |it: &AuthMethod| format!("`{}` ({})", it.id().0, it.name());
        self.logins = hello.auth_methods.iter().map(login).collect();
        if let Some(login) = &order.login {
            let request = AuthenticateRequest::new(login.to_owned());
            self.ask(names.authenticate, &request).await?;
        }
        let servers = servers(&order.mcp_json).map_err(Failed::before)?;
        let new = NewSessionRequest::new(&order.workspace).mcp_servers(servers);
        let session: NewSessionResponse = self.asked(names.session_new, &new).await?;
        if let Some(mode) = &order.mode {
            self.choose(mode, &session).await?;
        }
        self.wait(order).await?;
        self.prompt(session.session_id, &order.prompt).await
    }

    async fn choose(&mut self, mode: &str, session: &NewSessionResponse) -> Result<(), Failed> {
        let (names, id) = (AGENT_METHOD_NAMES, session.session_id.clone());
        match mode::way(mode, session).map_err(Failed::before)? {
            Way::Mode => {
                let request = SetSessionModeRequest::new(id, mode.to_owned());
                self.ask(names.session_set_mode, &request).await?;
            }
            Way::Option(option) => {
                let request = SetSessionConfigOptionRequest::new(id, option, mode);
                self.ask(names.session_set_config_option, &request).await?;
            }
        }
        Ok(())
    }

    /// Waits until the mocked servers were opened, as long as there is patience.
    async fn wait(&mut self, order: &Order) -> Result<(), Failed> {
        let Some(mut contact) = Contact::of(order).map_err(Failed::before)? else { return Ok(()) };
        let end = Instant::now() + Duration::from_millis(order.patience_ms);
        loop {
            let missing = contact.missing().map_err(Failed::before)?;
            if missing.is_empty() {
                return Ok(());
            }
            let now = Instant::now();
            if now >= end {
                return told(&json!({"waited": missing})).map_err(Failed::before);
            }
            self.heard("the prompt was sent", Some((now + LOOK).min(end))).await?;
        }
    }

    async fn prompt(&mut self, session: SessionId, prompt: &str) -> Result<Value, Failed> {
        let request = PromptRequest::new(session.clone(), vec![prompt.into()]);
        self.prompted = Some(session);
        let method = AGENT_METHOD_NAMES.session_prompt;
        let stop = self.ask(method, &request).await?;
        if self.deadline.is_some() {
            // Some say that they have come to an end when they were told to.
            return Err(self.failed("the agent took too long, and stopped when told to"));
        }
        match stop["stopReason"].is_string() {
            true => Ok(stop),
            false => Err(self.misunderstood(method, &stop)),
        }
    }

    async fn asked<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, Failed> {
        let result = self.ask(method, params).await?;
        T::deserialize(&result).map_err(|_| self.misunderstood(method, &result))
    }

    /// Asks something, and waits for the answer to it.
    async fn ask(&mut self, method: &str, params: &impl Serialize) -> Result<Value, Failed> {
        self.requests += 1;
        let request = self.requests;
        self.peer.send(message::request(request, method, params));
        let waited_for = format!("it answered `{method}`");
        loop {
            match self.heard(&waited_for, self.deadline).await? {
                Some((id, result)) if id == request => {
                    return result.map_err(|error| self.refused(method, &error));
                }
                None if self.deadline.is_some_and(|it| it <= Instant::now()) => {
                    return Err(
                        self.failed("the agent took too long, and did not stop when told to")
                    );
                }
                // Nobody waits for this one any more, or was told to wait longer.
                Some(_) | None => {}
            }
        }
    }

    /// An answer of the agent's, if one comes in time. What else comes is attended to.
    async fn heard(
        &mut self,
        waited_for: &str,
        until: Option<Instant>,
    ) -> Result<Option<Answer>, Failed> {
        let time_is_up = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(time_is_up);
        loop {
            let [terminate, interrupt] = &mut self.asked_to_end;
            let line = tokio::select! {
                biased;
                _ = terminate.recv() => return self.cancel().map(|()| None),
                _ = interrupt.recv() => return self.cancel().map(|()| None),
                () = &mut time_is_up => return Ok(None),
                line = self.peer.line() => line,
            };
            let Some(line) = line else { return Err(self.gone(waited_for).await) };
            if let Some(response) = self.attend(&line)? {
                return Ok(Some(response));
            }
        }
    }

    /// Has the agent stop what it does.
    fn cancel(&mut self) -> Result<(), Failed> {
        self.is_hurried = true;
        let Some(session) = &self.prompted else {
            return Err(Failed::before("the agent took too long to get ready for its prompt"));
        };
        let request = CancelNotification::new(session.clone());
        let method = AGENT_METHOD_NAMES.session_cancel;
        self.peer.send(message::notification(method, &request));
        self.deadline.get_or_insert(Instant::now() + CANCELLING);
        Ok(())
    }

    /// Looks at a line, and does what it asks for; an answer is handed on.
    fn attend(&self, line: &[u8]) -> Result<Option<Answer>, Failed> {
        match Incoming::read(line) {
            Some(Incoming::Response { id, result }) => return Ok(Some((id, result))),
            Some(Incoming::Request { id, method, params }) => {
                let result = self.answered(&method, &params)?;
                self.peer.send(message::response(&id, result));
            }
            Some(Incoming::Notification { method, params }) => self.noted(&method, &params)?,
            None => {
                let text = String::from_utf8_lossy(line);
                let text = plain::short(text.trim(), MAX_QUOTED_CHARS);
                if !text.is_empty() {
                    crate::note(&format!(
                        "no message of the agent's, though on its stdout: {text}"
                    ));
                }
            }
        }
        Ok(None)
    }

    /// What the agent asks: permission is given, and everything else was never offered.
    fn answered(&self, method: &str, params: &Value) -> Result<Result<Value, Error>, Failed> {
        if method != CLIENT_METHOD_NAMES.session_request_permission {
            return Ok(Err(Error::method_not_found().data(json!({"method": method}))));
        }
        let (response, line) = permission::answered(params, self.deadline.is_some());
        told(&line).map_err(|reason| self.failed(reason))?;
        Ok(Ok(json!(response)))
    }

    fn noted(&self, method: &str, params: &Value) -> Result<(), Failed> {
        match params.get("update") {
            Some(update) if method == CLIENT_METHOD_NAMES.session_update => {
                told(update).map_err(|reason| self.failed(reason))
            }
            _ => Ok(()),
        }
    }

    /// Ends the agent, in order if it lets us. What it still tells is written down.
    pub(super) async fn end(mut self) {
        let grace = if self.is_hurried { HURRY } else { GRACE };
        self.peer.hang_up();
        for signal in [None, Some(Kill::TERM), Some(Kill::KILL)] {
            if let Some(signal) = signal {
                self.peer.signal(signal);
            }
            let end = Instant::now() + grace;
            loop {
                let line = tokio::select! {
                    biased;
                    () = sleep_until(end) => break,
                    line = self.peer.last_line() => line,
                };
                let Some(line) = line else { return };
                if let Some(Incoming::Notification { method, params }) = Incoming::read(&line) {
                    // What cannot be written has been told already, or changes nothing.
                    let _ = self.noted(&method, &params);
                }
            }
        }
    }

    fn failed(&self, reason: impl Into<String>) -> Failed {
        Failed { reason: reason.into(), is_begun: self.prompted.is_some() }
    }

    fn refused(&self, method: &str, error: &Error) -> Failed {
        let data = error.data.as_ref().map_or(String::new(), |it| format!(": {it}"));
        let words = plain::short(&format!("{}{data}", error.message), MAX_QUOTED_CHARS);
        if error.code != ErrorCode::AuthRequired {
            let code = i32::from(error.code);
            return self.failed(format!("the agent refused `{method}`: {words} (code {code})"));
        }
        let how = match &*self.logins {
            [] => String::new(),
            logins => format!("; the logins that it offers: {}", logins.join(", ")),
        };
        Failed::before(format!(
            "the agent is not logged in, as it answered to `{method}`: {words}{how}; log in with the agent's own program, or set the variable that holds its key and choose its login, if it has one"
        ))
    }

    fn misunderstood(&self, method: &str, result: &Value) -> Failed {
        let result = plain::short(&result.to_string(), MAX_QUOTED_CHARS);
        self.failed(format!("the agent's answer to `{method}` is none of the protocol's: {result}"))
    }

    async fn gone(&mut self, waited_for: &str) -> Failed {
        let how = match self.peer.ended(HURRY).await {
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("ended with exit status {code}"),
                (None, signal) => format!("was ended by signal {}", signal.unwrap_or_default()),
            },
            None => "closed its standard output".to_owned(),
        };
        let words = plain::short(&self.peer.last_words().await, MAX_QUOTED_CHARS);
        let words = if words.is_empty() { words } else { format!("; its last words: {words}") };
        self.failed(format!("the agent {how} before {waited_for}{words}"))
    }
}

/// The servers of a configuration, as the protocol has them.
fn servers(mcp_json: &Path) -> Result<Vec<McpServer>, String> {
    let servers = wiring::read_mcp_json(mcp_json)?;
    let server = |(name, server): (String, fixtures::document::task::LiveServer)| {
        let variables = server.env.into_iter();
        let variables = variables.map(|(name, value)| EnvVariable::new(name, value)).collect();
        let stdio = McpServerStdio::new(name, server.command).args(server.args).env(variables);
        McpServer::Stdio(stdio)
    };
    Ok(servers.into_iter().map(server).collect())
}
