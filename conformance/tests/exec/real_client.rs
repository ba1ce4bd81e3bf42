//! An agent that speaks MCP through a real client sees both mocks.

use std::path::Path;
use std::process::Command;

use crate::{GH, LOOKUP, Place};

#[test]
#[allow(clippy::print_stderr)]
fn an_agent_with_a_real_client_recovers_from_both_mocks() {
    let skip = std::env::var_os("MCP_MOCK_SKIP_CLIENTS").filter(|reason| !reason.is_empty());
    if let Some(reason) = skip {
        eprintln!("skipped: an agent with a real client: {}", reason.display());
        return;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let set_up = Command::new("python3")
        .arg(here.join("../mcp-mock/tests/clients/run.py"))
        .args(["--set-up", "python-2"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("exec-clients"))
        .output()
        .unwrap();
    let hint = "set MCP_MOCK_SKIP_CLIENTS to the reason for going without";
    assert!(set_up.status.success(), "{}; {hint}", String::from_utf8_lossy(&set_up.stderr));
    let python = format!("{}/venv/bin/python", String::from_utf8(set_up.stdout).unwrap().trim());
    let agent = here.join("tests/exec/real_agent.py");
    let place = Place::new();
    let output = place
        .exec(&["--verify", "--json", "run.json", "--mock", GH, "--mock", LOOKUP, "--"])
        .arg(python)
        .arg(agent)
        .arg("{mcp_json}")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "MERGED\n {\"ok\":true}\n");
    let evidence: serde_json::Value = serde_json::from_str(&place.read("run.json")).unwrap();
    let count = |key: &str| evidence[key].as_array().unwrap().len();
    assert_eq!((count("tool_events"), count("command_invocations")), (2, 2));
}
