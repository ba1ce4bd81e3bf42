//! The record against what the clients saw, read independently of the product.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::client::Told;

#[derive(Debug)]
struct Attempt {
    pid: u64,
    request: u64,
    reason: String,
    response: i64,
    step: Option<u64>,
    tool: String,
    result: Option<Value>,
    is_cancelled: bool,
    is_delivered: bool,
}

/// What is known of a tool: how many steps each of its responses has, if it ends.
pub(crate) type Steps = BTreeMap<&'static str, Option<u64>>;

/// Everything that must hold of a session and its clients.
pub(crate) fn check(session: &Path, told: &[Told], steps: &Steps, is_closed: bool) -> usize {
    let text = std::fs::read_to_string(session.join("journal.jsonl")).unwrap();
    let mut attempts: BTreeMap<u64, Attempt> = BTreeMap::new();
    let mut withdrawn = Vec::new();
    let mut was_closed = false;
    let mut used: BTreeMap<(String, i64), u64> = BTreeMap::new();
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    for (line, wanted) in whole.zip(1..) {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["seq"], wanted, "a gap in {line}");
        let kind = record["type"].as_str().unwrap();
        if ["attempt.started", "attempt.selected", "attempt.cancelled"].contains(&kind) {
            assert!(!was_closed, "after the end of the session: {line}");
        }
        let number = |key: &str| record[key].as_u64().unwrap();
        match kind {
            "attempt.started" => {
                let attempt = Attempt {
                    pid: number("pid"),
                    request: number("request_id"),
                    reason: record["reason"].as_str().unwrap().to_owned(),
                    response: record["response"].as_i64().unwrap(),
                    step: record["step"].as_u64(),
                    tool: record["operation"].as_str().unwrap().to_owned(),
                    result: None,
                    is_cancelled: false,
                    is_delivered: false,
                };
                assert_eq!(number("attempt"), wanted);
                let used = used.entry((attempt.tool.clone(), attempt.response)).or_default();
                match (steps[&*attempt.tool], &*attempt.reason) {
                    (None, reason) => assert_eq!((reason, attempt.step), ("matched", None)),
                    (Some(steps), "matched") => {
                        assert_eq!(attempt.step, Some(*used), "twice or skipped: {line}");
                        *used += 1;
                        assert!(*used <= steps);
                    }
                    (Some(steps), reason) => assert_eq!((reason, *used), ("exhausted", steps)),
                }
                attempts.insert(wanted, attempt);
            }
            "attempt.selected" => {
                let attempt = attempts.get_mut(&number("attempt")).unwrap();
                assert!(attempt.result.is_none() && !attempt.is_cancelled, "{line}");
                attempt.result = Some(record["result"].clone());
            }
            "attempt.cancelled" => {
                let attempt = attempts.get_mut(&number("attempt")).unwrap();
                assert!(attempt.result.is_none() && !attempt.is_cancelled, "{line}");
                attempt.is_cancelled = true;
            }
            "attempt.delivered" => {
                let attempt = attempts.get_mut(&number("attempt")).unwrap();
                assert!(attempt.result.is_some() && !attempt.is_delivered, "{line}");
                attempt.is_delivered = true;
            }
            "request.cancelled" => withdrawn.push((number("pid"), number("request_id"))),
            "session.closed" => was_closed = true,
            _ => {}
        }
    }
    assert_eq!(was_closed, is_closed);
    compare(&attempts, &withdrawn, told, is_closed);
    attempts.len()
}

fn compare(
    attempts: &BTreeMap<u64, Attempt>,
    withdrawn: &[(u64, u64)],
    told: &[Told],
    is_closed: bool,
) {
    let mut by_request = BTreeMap::new();
    for attempt in attempts.values() {
        let twice = by_request.insert((attempt.pid, attempt.request), attempt);
        assert!(twice.is_none(), "one request, two attempts: {attempt:?}");
    }
    for Told { pid, is_killed, calls, withdrawn: asked, replies } in told {
        let pid = u64::from(*pid);
        for (id, tool) in calls {
            let attempt = by_request.remove(&(pid, *id));
            let reply = replies.get(id);
            let was_withdrawn = withdrawn.contains(&(pid, *id));
            assert!(!was_withdrawn || (attempt.is_none() && reply.is_none() && asked.contains(id)));
            let Some(attempt) = attempt else {
                let refused = reply.is_some_and(|reply| {
                    reply["_meta"]["mcp-mock/reason"] == "session_closed" && is_closed
                });
                let never_begun = reply.is_none() && *is_killed;
                assert!(refused || never_begun || was_withdrawn, "{pid} lost {id}: {reply:?}");
                continue;
            };
            assert_eq!(attempt.tool, *tool);
            if attempt.is_cancelled {
                assert!(reply.is_none() && asked.contains(id), "{attempt:?} {reply:?}");
            }
            match reply {
                Some(reply) if reply["_meta"]["mcp-mock/reason"] == "session_closed" => {
                    assert!(is_closed && attempt.result.is_none(), "{attempt:?} {reply}");
                }
                Some(reply) => {
                    assert_eq!(attempt.result.as_ref(), Some(reply), "{attempt:?}");
                    assert!(attempt.is_delivered || *is_killed, "{attempt:?}");
                    if let Some(step) = attempt.step {
                        assert_eq!(reply["content"][0]["text"], step.to_string(), "{attempt:?}");
                    }
                }
                None => {
                    assert!(!attempt.is_delivered, "delivered, and never seen: {attempt:?}");
                    // Within the delay when the session was closed, and then withdrawn: neither.
                    let is_unfinished = *is_killed || (is_closed && asked.contains(id));
                    assert!(attempt.is_cancelled || is_unfinished, "{attempt:?}");
                }
            }
        }
    }
    assert!(by_request.is_empty(), "attempts that nobody asked for: {by_request:?}");
}
