//! What the tests of the runner share.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The program; the two that it needs lie beside it.
pub(crate) fn program() -> &'static Path {
    static BUILT: OnceLock<&Path> = OnceLock::new();
    BUILT.get_or_init(|| {
        let program = Path::new(env!("CARGO_BIN_EXE_agent-conformance"));
        let folder = program.parent().unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "-p", "mcp-mock", "-p", "cli-shim", "--target-dir"]);
        build.arg(folder.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
        if folder.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success(), "{build:?}");
        program
    })
}
