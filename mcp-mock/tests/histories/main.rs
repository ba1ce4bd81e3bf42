//! Many processes on one session, killed at any point: no step is served
//! twice, none is skipped, and the record is what the clients saw.
//!
//! `HISTORIES=10000` and `CALLS=1000000` set how many are generated.
#![allow(clippy::unwrap_used, missing_docs, clippy::print_stderr)]

mod chance;
mod check;
mod client;
mod history;
mod load;
mod trace;

/// A number from the environment, for those who want more.
fn wanted(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}
