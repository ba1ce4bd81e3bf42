//! Whether the agent has opened the mocked servers, by their own record.

use fixtures::session::Session;

use super::Order;

/// The servers that are still waited for.
#[derive(Debug)]
pub(super) struct Contact {
    session: Session,
    missing: Vec<String>,
}

impl Contact {
    /// Everything that an order waits for; none if that is nothing.
    ///
    /// # Errors
    /// There is no such session.
    pub(super) fn of(order: &Order) -> Result<Option<Contact>, String> {
        let Some(session) = order.session.as_ref().filter(|_| !order.servers.is_empty()) else {
            return Ok(None);
        };
        let session = Session::open(session)?;
        Ok(Some(Contact { session, missing: order.servers.clone() }))
    }

    /// The servers that no client has opened so far.
    ///
    /// # Errors
    /// The record cannot be read.
    pub(super) fn missing(&mut self) -> Result<&[String], String> {
        let opened = self.session.fold()?.opened;
        self.missing.retain(|server| !opened.contains(server));
        Ok(&self.missing)
    }
}
