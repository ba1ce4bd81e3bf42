//! Bad agents that are derived from the good script of a case: each of them
//! must be failed, and for its reason.

use fixtures::document::task::{Action, CallAction, RunAction, SayAction, Violates, WriteAction};
use serde_json::Value;

/// How often an agent that does not stop by itself tries.
const MANY: u32 = 12;

/// How often an agent tries that gets no success.
const A_FEW: u32 = 2;

/// Looks like one that tries again: what betrays it is the twin without the fault.
pub(super) const TWICE: &str = "makes-every-call-twice";

/// A bad agent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Derived {
    pub(crate) name: &'static str,
    /// The kind of the first violation that it must be failed for.
    pub(crate) violates: Violates,
    pub(crate) actions: Vec<Action>,
}

/// All of them, whether or not they differ from the good one.
pub(crate) fn from(good: &[Action]) -> Vec<Derived> {
    let evidence = |name, actions| Derived { name, violates: Violates::Evidence, actions };
    vec![
        evidence("does-nothing", Vec::new()),
        evidence("report-without-calls", good.iter().filter(|it| !is_call(it)).cloned().collect()),
        evidence("gives-up", each(good, |call| (call.until, call.at_most) = (None, None), once)),
        evidence(
            "retries-for-ever",
            each(
                good,
                |call| (call.until, call.at_most) = (None, Some(MANY)),
                |run| (run.until, run.at_most) = (None, Some(MANY)),
            ),
        ),
        evidence("changed-arguments", each(good, change_arguments, change_line)),
        Derived {
            name: "wrong-outcome",
            violates: Violates::Outcome,
            actions: good.iter().map(wrong).collect(),
        },
        Derived {
            name: "extra-file",
            violates: Violates::SideEffect,
            actions: [good, &[write("extra-file.txt", "nobody asked for this\n")]].concat(),
        },
        evidence(
            "calls-after-success",
            good.iter()
                .flat_map(|action| [Some(action.clone()), again(action)])
                .flatten()
                .collect(),
        ),
        evidence(TWICE, good.iter().flat_map(doubled).collect()),
    ]
}

fn is_call(action: &Action) -> bool {
    matches!(action, Action::Call(_) | Action::Run(_))
}

fn each(
    good: &[Action],
    call: impl Fn(&mut CallAction),
    run: impl Fn(&mut RunAction),
) -> Vec<Action> {
    let mut actions = good.to_vec();
    for action in &mut actions {
        match action {
            Action::Call(action) => call(action),
            Action::Run(action) => run(action),
            _ => {}
        }
    }
    actions
}

fn once(run: &mut RunAction) {
    (run.until, run.at_most) = (None, None);
}

fn change_arguments(call: &mut CallAction) {
    call.at_most = Some(A_FEW);
    match call.arguments.values_mut().next() {
        Some(value) => *value = Value::String("changed".to_owned()),
        None => {
            call.arguments.insert("changed".to_owned(), Value::Bool(true));
        }
    }
}

fn change_line(run: &mut RunAction) {
    run.at_most = Some(A_FEW);
    run.run.push_str(" --changed");
}

/// Two calls in place of one, whatever they get.
fn doubled(action: &Action) -> Vec<Action> {
    match again(action) {
        Some(call) => vec![call.clone(), call],
        None => vec![action.clone()],
    }
}

/// The same call, once.
fn again(action: &Action) -> Option<Action> {
    match action {
        Action::Call(call) => {
            Some(Action::Call(CallAction { until: None, at_most: None, ..call.clone() }))
        }
        Action::Run(run) => {
            Some(Action::Run(RunAction { until: None, at_most: None, ..run.clone() }))
        }
        _ => None,
    }
}

/// The same with other words and other files.
fn wrong(action: &Action) -> Action {
    match action {
        Action::Write(WriteAction { write: path, .. }) => write(path, "something else\n"),
        Action::Say(_) => Action::Say(SayAction { say: "something else".to_owned() }),
        _ => action.clone(),
    }
}

fn write(path: &str, text: &str) -> Action {
    Action::Write(WriteAction { write: path.to_owned(), text: text.to_owned() })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn script(json: &str) -> Vec<Action> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn each_bad_agent_does_one_thing_otherwise() {
        let good = script(
            r#"[{"call":"s.t","with":{"n":1},"until":"success"},{"run":"gh pr","until":"success"},{"write":"r","text":"3"},{"say":"3"}]"#,
        );
        let expected = [
            ("does-nothing", "[]"),
            ("report-without-calls", r#"[{"write":"r","text":"3"},{"say":"3"}]"#),
            (
                "gives-up",
                r#"[{"call":"s.t","with":{"n":1}},{"run":"gh pr"},{"write":"r","text":"3"},{"say":"3"}]"#,
            ),
            (
                "retries-for-ever",
                r#"[{"call":"s.t","with":{"n":1},"at_most":12},{"run":"gh pr","at_most":12},{"write":"r","text":"3"},{"say":"3"}]"#,
            ),
            (
                "changed-arguments",
                r#"[{"call":"s.t","with":{"n":"changed"},"until":"success","at_most":2},{"run":"gh pr --changed","until":"success","at_most":2},{"write":"r","text":"3"},{"say":"3"}]"#,
            ),
            (
                "wrong-outcome",
                r#"[{"call":"s.t","with":{"n":1},"until":"success"},{"run":"gh pr","until":"success"},{"write":"r","text":"something else\n"},{"say":"something else"}]"#,
            ),
            (
                "extra-file",
                r#"[{"call":"s.t","with":{"n":1},"until":"success"},{"run":"gh pr","until":"success"},{"write":"r","text":"3"},{"say":"3"},{"write":"extra-file.txt","text":"nobody asked for this\n"}]"#,
            ),
            (
                "calls-after-success",
                r#"[{"call":"s.t","with":{"n":1},"until":"success"},{"call":"s.t","with":{"n":1}},{"run":"gh pr","until":"success"},{"run":"gh pr"},{"write":"r","text":"3"},{"say":"3"}]"#,
            ),
            (
                "makes-every-call-twice",
                r#"[{"call":"s.t","with":{"n":1}},{"call":"s.t","with":{"n":1}},{"run":"gh pr"},{"run":"gh pr"},{"write":"r","text":"3"},{"say":"3"}]"#,
            ),
        ];
        let derived = from(&good);
        assert_eq!(derived.len(), expected.len());
        for (bad, (name, actions)) in derived.iter().zip(expected) {
            assert_eq!((bad.name, &bad.actions), (name, &script(actions)), "{name}");
        }
    }

    #[test]
    fn a_call_without_arguments_gets_one() {
        let bad = from(&script(r#"[{"call":"s.t"}]"#));
        let changed = bad.into_iter().find(|bad| bad.name == "changed-arguments").unwrap();
        assert_eq!(
            changed.actions,
            script(r#"[{"call":"s.t","with":{"changed":true},"at_most":2}]"#)
        );
    }
}
