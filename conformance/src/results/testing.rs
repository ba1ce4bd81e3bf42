//! Records for tests.
#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::Record;

/// A run in which nothing was seen, and nothing is expected.
pub(crate) fn record() -> Record {
    let text = json!({
        "case": "c", "task": "t", "trial": 1, "twin": false, "verdict": "PASS", "violations": [],
        "dependency_modes": {"mcp": {"s": "mocked"}, "commands": {}},
        "tool_events": [], "command_invocations": [], "began_ms": {}, "contacts": ["s"],
        "faults": {}, "changes": [], "answer": "", "client_retries": null, "graders": [],
        "exit": {"code": 0, "signal": null, "timed_out": false, "orphans": []},
        "duration_ms": 1.5, "agent": {"name": "a", "version": null}, "document": "c.yaml",
        "positions": {}, "covers": [], "admitted": {"id": "t", "prompt": "p", "expect": {}},
    });
    serde_json::from_str(&text.to_string()).unwrap()
}
