//! Real MCP clients, from their registries, through `clients/run.py`.
#![allow(clippy::print_stderr, missing_docs)]

use std::path::Path;
use std::process::Command;

#[test]
fn real_clients_get_what_the_document_says() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    if let Some(reason) =
        std::env::var_os("MCP_MOCK_SKIP_CLIENTS").filter(|reason| !reason.is_empty())
    {
        eprintln!("skipped: real clients: {}", reason.display());
        return;
    }
    let status = Command::new("python3")
        .arg(here.join("tests/clients/run.py"))
        .arg(env!("CARGO_BIN_EXE_mcp-mock"))
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients"))
        .status();
    let hint = "install Python 3.10, Node.js 20 and npm, or set MCP_MOCK_SKIP_CLIENTS to the reason for going without";
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("some client failed ({status}), see above; {hint}"),
        Err(error) => panic!("cannot start python3: {error}; {hint}"),
    }
}
