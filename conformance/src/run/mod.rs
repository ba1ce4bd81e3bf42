//! Running cases.

pub(crate) mod play;
