//! Why there is no answer to the prompt.

/// What went wrong.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) reason: String,
    /// Whether the agent had been asked, and could have done it.
    pub(super) is_begun: bool,
}

impl Failed {
    /// Something without which the agent cannot be asked.
    pub(super) fn before(reason: impl Into<String>) -> Failed {
        Failed { reason: reason.into(), is_begun: false }
    }
}
