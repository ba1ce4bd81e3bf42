//! A canary: a call that only tells whether the shim is reached.
//!
//! The control program leaves a file `canary.NONCE` in the session, with what
//! to answer in the first line and the route in the second, and has the shim
//! called with the one argument `--cli-shim-canary=NONCE`. Nobody can guess
//! the nonce, and the file is gone after the call, so that an ordinary call is
//! never taken for a canary; one with another nonce is an ordinary call.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use fixtures::journal::Refusal;
use fixtures::journal::record::Event;
use fixtures::session::Session;
use rustix::stdio::stdout;

use crate::emit;

/// What the argument of a canary begins with.
pub(crate) const ARGUMENT: &str = "--cli-shim-canary=";

/// The hexadecimal digits of a nonce.
const DIGITS: usize = 32;

/// Where the control program leaves word of a canary.
pub(crate) fn file(session: &Path, nonce: &str) -> PathBuf {
    session.join(format!("canary.{nonce}"))
}

/// What a canary answers, and what it records.
#[derive(Debug)]
pub(crate) struct Canary {
    answer: String,
    /// Empty when nothing is to be recorded.
    route: String,
}

impl Canary {
    /// The canary that this call is, if it is one.
    pub(crate) fn of_this_call(session: &Path) -> Option<Canary> {
        let mut arguments = std::env::args_os().skip(1);
        let argument = arguments.next()?;
        let nonce = argument.to_str()?.strip_prefix(ARGUMENT)?;
        let is_nonce = nonce.len() == DIGITS && nonce.bytes().all(|it| it.is_ascii_hexdigit());
        if !is_nonce || arguments.next().is_some() {
            return None;
        }
        let text = std::fs::read_to_string(file(session, nonce)).ok()?;
        let (answer, route) = text.split_once('\n')?;
        Some(Canary { answer: answer.to_owned(), route: route.trim_end().to_owned() })
    }

    /// Answers, and records the route if there is one.
    ///
    /// # Errors
    /// An ordinary call would not be served either.
    pub(crate) fn answer(&self, session: &Session, name: &str) -> Result<(), String> {
        session.executable(name)?;
        let mut journal = session.journal()?;
        let recorded = journal.lock().and_then(|mut locked| {
            if locked.is_closed() {
                return Err(Refusal::Closed);
            }
            if !self.route.is_empty() {
                let (name, route) = (Cow::Borrowed(name), Cow::Borrowed(&*self.route));
                locked.push(&Event::CanaryReached { name, route });
            }
            Ok(locked.commit()?)
        });
        recorded.map_err(|refusal| match refusal {
            Refusal::Busy => journal.locked_too_long().to_string(),
            Refusal::Closed => "session closed: the canary was not answered".to_owned(),
            Refusal::Failed(error) => error.to_string(),
        })?;
        emit::all(stdout(), format!("{}\n", self.answer).as_bytes())
            .map_err(|error| format!("cannot answer the canary: {error}"))
    }
}
