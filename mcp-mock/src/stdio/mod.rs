//! The stdio transport: framing, dispatch, output, around one `poll(2)`.

mod complaints;
mod input;
mod message;
mod output;
mod poll_loop;
mod records;

pub(crate) use message::Id;
pub(crate) use poll_loop::run;
