//! Many at once, and some of them killed.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::{End, Place, SERVED, end, number, rest, signal};

#[test]
fn sixty_four_at_once_get_sixty_four_different_steps() {
    let steps: Vec<_> =
        (0..64).map(|step| format!("{{stdout: s{step}, exit_code: {step}}}")).collect();
    let mocks = format!("[{{name: gh, responses: [{{sequence: [{}]}}]}}]", steps.join(", "));
    for _ in 0..number("ROUNDS", 10) {
        let place = Place::new(&mocks);
        // All of them are there before the first one may begin.
        let lock = place.lock();
        let start = || place.command("gh", &[]).stdout(Stdio::piped()).spawn().unwrap();
        let children: Vec<Child> = (0..64).map(|_| start()).collect();
        drop(lock);
        let mut seen = BTreeSet::new();
        for mut child in children {
            let End::Exit(code) = end(&mut child) else { panic!("it was killed") };
            assert_eq!(rest(child.stdout.take().unwrap()), format!("s{code}").as_bytes());
            seen.insert(code);
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), (0..64).collect::<Vec<_>>());
        let started = place.of_type("attempt.started");
        let steps: Vec<_> = started.iter().map(|it| it["step"].as_u64().unwrap()).collect();
        assert_eq!(steps, (0..64).collect::<Vec<_>>());
        let (code, _, stderr) = place.call("gh", &[]);
        assert_eq!((code, &*stderr), (127, "gh: exhausted: no further response\n"));
    }
}

#[test]
fn four_hundred_and_eighty_outputs_of_32_kib_are_complete() {
    let text = "0123456789abcdef".repeat(2048);
    let place = Place::new(&format!("[{{name: gh, responses: [{{stdout: {text:?}}}]}}]"));
    let start = || place.command("gh", &[]).stdout(Stdio::piped()).spawn().unwrap();
    let children: Vec<Child> = (0..480).map(|_| start()).collect();
    for mut child in children {
        assert_eq!(end(&mut child), End::Exit(0));
        assert!(rest(child.stdout.take().unwrap()) == text.as_bytes());
    }
    let mut types = place.types();
    types.sort();
    let mut wanted = SERVED.repeat(480);
    wanted.sort_unstable();
    assert_eq!(types, wanted);
}

#[test]
fn a_kill_at_any_instant_serves_no_step_again_and_leaves_no_invented_code() {
    let calls = number("KILLS", 300);
    let responses: Vec<_> = (0..calls.div_ceil(100))
        .map(|response| {
            let steps: Vec<_> = (0..100)
                .map(|step| format!("{{stdout: r{response}s{step}, exit_code: 3}}"))
                .collect();
            format!("{{args: [r{response}], sequence: [{}]}}", steps.join(", "))
        })
        .collect();
    let place = Place::new(&format!("[{{name: gh, responses: [{}]}}]", responses.join(", ")));
    let (next, ends) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let call = next.fetch_add(1, Ordering::Relaxed);
                    if call >= calls {
                        return;
                    }
                    let response = format!("r{}", call / 100);
                    let mut command = place.command("gh", &[&response]);
                    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
                    // Each instant of the first 15 ms, spread evenly.
                    std::thread::sleep(Duration::from_micros((call as u64 * 7919) % 15_000));
                    signal(child.id(), libc::SIGKILL);
                    let ended = end(&mut child);
                    let output = rest(child.stdout.take().unwrap());
                    let output = String::from_utf8(output).unwrap();
                    ends.lock().unwrap().push((child.id(), ended, output));
                }
            });
        }
    });
    let records = place.records();
    let started = || records.iter().filter(|record| record["type"] == "attempt.started");
    let mut steps: BTreeMap<u64, u64> = BTreeMap::new();
    for record in started() {
        let number = |key: &str| record[key].as_u64().unwrap();
        let used = steps.entry(number("response")).or_default();
        assert_eq!(number("step"), *used, "{record}");
        *used += 1;
    }
    let mut seen = (0, 0, BTreeSet::new());
    for (pid, ended, output) in ends.into_inner().unwrap() {
        let own: Vec<&Value> = records.iter().filter(|record| record["pid"] == pid).collect();
        let kinds: Vec<_> = own.iter().map(|it| it["type"].as_str().unwrap()).collect();
        let all = ["attempt.started", "attempt.selected", "attempt.delivered"];
        assert_eq!(kinds, all[..kinds.len()]);
        assert!(own.get(1).is_none_or(|selected| selected["exit_code"] == 3));
        match ended {
            End::Exit(3) => {
                assert_eq!(kinds.len(), 3);
                seen.0 += 1;
            }
            End::Signal(libc::SIGKILL) => seen.1 += 1,
            other => panic!("{other:?}"),
        }
        if let Some(started) = own.first() {
            assert!(started.get("exit_code").is_none());
            let wanted = format!("r{}s{}", started["response"], started["step"]);
            assert!(output == wanted || (output.is_empty() && kinds.len() < 3), "{output:?}");
        } else {
            assert_eq!(output, "");
        }
        assert!(output.is_empty() || seen.2.insert(output), "a step was served twice");
    }
    assert!(seen.0 > 0 && seen.1 > 0, "{} {}", seen.0, seen.1);
    // And the next one goes on behind the last.
    let used = *steps.get(&0).unwrap();
    if used < 100 {
        assert_eq!(place.call("gh", &["r0"]).1, format!("r0s{used}"));
    }
}
