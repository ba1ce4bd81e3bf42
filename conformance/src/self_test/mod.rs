//! `agent-conformance self-test`: the graders are proven by agents that are known.

pub(crate) mod derived;
