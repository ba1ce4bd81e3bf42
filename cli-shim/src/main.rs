//! One executable: under its own name a small control program, under any
//! other name the mocked command of that name.
//!
//! There is no Rust start-up before `main`, since it would have SIGPIPE
//! ignored: the mocked command keeps every disposition that it was given.
#![no_main]

// Without that start-up only glibc and macOS tell a program its arguments.
#[cfg(all(target_os = "linux", not(target_env = "gnu")))]
compile_error!("every call would be recorded without its arguments: build for a `-gnu` target");

mod call;
mod canary;
mod control;
mod descriptors;
mod emit;
mod host;
mod identity;
mod respond;
mod signals;

use std::ffi::{c_char, c_int};

use identity::Identity;

/// The entry point of C.
#[expect(unsafe_code, reason = "the name is what the C runtime calls, and nothing else defines it")]
#[unsafe(no_mangle)]
pub extern "C" fn main(_count: c_int, _arguments: *const *const c_char) -> c_int {
    let identity = descriptors::open_closed().and_then(|()| identity::of_this_program());
    match identity {
        Ok(Identity::Control) => control::run(),
        Ok(Identity::Shim { name, session }) => respond::run(&name, &session).into(),
        Err(reason) => {
            emit::line(&reason);
            respond::NOT_SERVED.into()
        }
    }
}
