//! `mcp-mock schema`: the JSON Schema of the fixture document.

use crate::exit::Exit;

pub(crate) fn run() -> Exit {
    crate::print(fixtures::SCHEMA.as_bytes())
}
