//! Streams, and what they tell.

use serde_json::json;

use super::*;

fn read(stream: &str) -> Vec<Seen> {
    let servers = ["orders".to_owned()];
    let mut reader = Reader::new(&servers);
    lines(stream).flat_map(|line| reader.seen(&line)).collect()
}

/// What is taken for the answer.
fn said(stream: &str) -> String {
    crate::observed::answer(&super::read(stream, &[]))
}

fn ended(id: &str, how: Ended) -> Seen {
    Seen::Ended { id: id.to_owned(), how }
}

fn call(id: &str, arguments: Value) -> Seen {
    let (server, tool) = (Some("orders".to_owned()), "lookup".to_owned());
    Seen::Call { id: id.to_owned(), server, tool, arguments }
}

fn command(id: &str, command: &str) -> Seen {
    Seen::Command { id: id.to_owned(), command: command.to_owned() }
}

const RUN: &str = r#"
{"sessionUpdate": "available_commands_update", "availableCommands": []}
{"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Let me "}}
{"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "look."}}
{"sessionUpdate": "tool_call", "toolCallId": "1", "title": "mcp__orders__lookup", "kind": "other", "status": "pending", "rawInput": {}}
{"sessionUpdate": "tool_call_update", "toolCallId": "1", "rawInput": {"id": 7}}
{"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "failed", "content": [{"type": "content", "content": {"type": "text", "text": "busy"}}]}
{"sessionUpdate": "tool_call", "toolCallId": "2", "title": "gh", "kind": "execute", "status": "in_progress", "rawInput": {"command": ["bash", "-lc", "gh pr merge 7"]}}
{"sessionUpdate": "tool_call_update", "toolCallId": "2", "status": "completed"}
{"sessionUpdate": "tool_call_update", "toolCallId": "2", "status": "completed", "rawOutput": "again"}
{"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}
{"sessionUpdate": "agent_message_chunk", "messageId": "a", "content": {"type": "text", "text": "All"}}
{"sessionUpdate": "agent_message_chunk", "messageId": "a", "content": {"type": "text", "text": " done"}}
{"sessionUpdate": "agent_message_chunk", "messageId": "b", "content": {"type": "text", "text": "Really."}}
{"stop": {"stopReason": "end_turn"}}
"#;

#[test]
fn a_run_is_told_in_order() {
    let answer = "All done\nReally.".to_owned();
    assert_eq!(
        read(RUN),
        [
            Seen::Said("Let me look.".to_owned()),
            call("1", json!({"id": 7})),
            ended("1", Ended::Failed("busy".to_owned())),
            command("2", "gh pr merge 7"),
            ended("2", Ended::Done),
            Seen::Said(answer.clone()),
            Seen::Answer(answer.clone()),
        ]
    );
    assert_eq!(said(RUN), answer);
}

#[test]
fn whoever_ends_with_a_call_has_no_answer() {
    let (until, _) =
        RUN.split_once("{\"sessionUpdate\": \"agent_thought_chunk\"").unwrap_or((RUN, ""));
    assert_eq!(said(until), "");
    assert_eq!(said("half a line\"}}\n"), "");
}

#[test]
fn calls_are_told_however_little_is_known() {
    let seen = read(
        r#"
{"sessionUpdate": "tool_call", "toolCallId": "1", "title": "lookup (orders MCP Server)", "kind": "other"}
{"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed"}
{"sessionUpdate": "tool_call", "toolCallId": "2", "title": "`ls -l`", "kind": "execute"}
{"failed": "the agent ended", "begun": true}
"#,
    );
    let expected = [call("1", json!({})), ended("1", Ended::Done), command("2", "ls -l")];
    assert_eq!(seen, expected);
}

#[test]
fn what_was_not_permitted_is_refused_once() {
    for (chosen, words) in [
        ("null", "no permission: nothing that could be chosen allows it"),
        (r#""reject_once""#, "no permission: reject_once"),
    ] {
        let seen = read(&format!(
            r#"
{{"permission": {{"toolCall": {{"toolCallId": "1", "kind": "execute", "rawInput": {{"command": "rm x"}}}}, "options": [], "chosen": {chosen}}}}}
{{"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "failed"}}
"#
        ));
        let refused = ended("1", Ended::Refused(words.to_owned()));
        assert_eq!(seen, [command("1", "rm x"), refused]);
    }
}

#[test]
fn the_agents_own_policy_is_told_from_failure() {
    let words = "Permission denied: Auto mode could not evaluate this action";
    let seen = read(&format!(
        r#"
{{"permission": {{"toolCall": {{"toolCallId": "1", "title": "Tool: orders/lookup", "rawInput": {{"server": "orders", "tool": "lookup", "arguments": {{"id": 7}}}}}}, "options": [], "chosen": "allow_once"}}}}
{{"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "failed", "rawOutput": "{words}"}}
"#
    ));
    let refused = ended("1", Ended::Refused(words.to_owned()));
    assert_eq!(seen, [call("1", json!({"id": 7})), refused]);
}

#[test]
fn whether_the_agent_was_asked_is_told() {
    let failed = |is_begun: bool| format!("{{\"failed\": \"not there\", \"begun\": {is_begun}}}\n");
    assert_eq!(not_begun(&failed(false)).as_deref(), Some("not there"));
    assert_eq!(not_begun(&failed(true)), None);
    assert_eq!(not_begun(RUN), None);
}

/// What five agents wrote when they were to look up an order that is there the
/// second time, and to merge what can be merged the second time.
#[test]
fn agents_are_understood() {
    for (agent, stream) in [
        ("claude-agent-acp", include_str!("streams/claude-agent-acp.jsonl")),
        ("codex-acp", include_str!("streams/codex-acp.jsonl")),
        ("gemini", include_str!("streams/gemini.jsonl")),
        ("opencode", include_str!("streams/opencode.jsonl")),
        ("qwen", include_str!("streams/qwen.jsonl")),
    ] {
        let (mut asked, mut done, mut answers) = (Vec::new(), 0, Vec::new());
        for seen in read(stream) {
            match seen {
                Seen::Call { server, tool, arguments, .. } => {
                    let server = server.unwrap_or_default();
                    asked.push(format!("{server}.{tool} {arguments}"));
                }
                Seen::Command { command, .. } => asked.push(command),
                Seen::Ended { how: Ended::Done, .. } => done += 1,
                Seen::Ended { how: Ended::Failed(_), .. } | Seen::Said(_) => {}
                Seen::Answer(answer) => answers.push(answer),
                other => panic!("{agent}: {other:?}"),
            }
        }
        let (call, command) = (r#"orders.lookup_order {"id":"A-100"}"#, "gh pr merge 7");
        assert_eq!(asked, [call, call, command, command], "{agent}");
        // Some take a command for done that has failed.
        assert!((2..=3).contains(&done), "{agent}");
        assert_eq!(answers, ["Order A-100 is shipped, and pull request 7 is merged."], "{agent}");
    }
}

/// The same in a mode in which the agent asks a model about each call, which did not answer.
#[test]
fn refusals_of_agents_are_understood() {
    for (agent, stream, words) in [
        (
            "claude-agent-acp",
            include_str!("streams/claude-agent-acp.refused.jsonl"),
            "Auto mode could not evaluate this action",
        ),
        (
            "codex-acp",
            include_str!("streams/codex-acp.refused.jsonl"),
            "Automatic approval review failed",
        ),
    ] {
        let seen = read(stream);
        let calls = seen.iter().filter_map(|it| match it {
            Seen::Call { id, server: Some(server), .. } if server == "orders" => Some(id),
            _ => None,
        });
        let is_refused = |call: &String| {
            seen.iter().any(|it| match it {
                Seen::Ended { id, how: Ended::Refused(why) } => id == call && why.contains(words),
                _ => false,
            })
        };
        let refused: Vec<bool> = calls.map(is_refused).collect();
        assert_eq!(refused, [true, true], "{agent}");
    }
}
