//! A canary: a call that only tells whether the shim is reached.

use std::borrow::Cow;
use std::path::Path;

use fixtures::journal::Refusal;
use fixtures::journal::record::Event;
use fixtures::session::{Session, canary};
use rustix::stdio::stdout;

use crate::emit;

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
        let nonce = canary::nonce_of(arguments.next()?.to_str()?)?.to_owned();
        if arguments.next().is_some() {
            return None;
        }
        let text = std::fs::read_to_string(canary::file(session, &nonce)).ok()?;
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
