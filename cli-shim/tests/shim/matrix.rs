//! Who starts the command × what it is doing × what happens to it.

use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::launch::{LAUNCHERS, Launcher, pipe};
use crate::{End, Place, is_alive, rest, signal, skipped, types, wait_until};

/// What the command is doing when something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It waits for the lock, which this process holds.
    Lock,
    Delay,
    /// It writes into a pipe that is full.
    FullPipe,
    /// Its delay, with nobody to read what comes after.
    ClosedPipe,
    /// The host's program runs in its stead.
    Host,
    /// Any of these: it was started a moment ago, with room in its pipe.
    EmptyPipe,
}

const PHASES: [Phase; 6] =
    [Phase::Lock, Phase::Delay, Phase::FullPipe, Phase::ClosedPipe, Phase::Host, Phase::EmptyPipe];

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Signal(i32),
    Deadline,
}

const EVENTS: [Event; 6] = [
    Event::Signal(libc::SIGINT),
    Event::Signal(libc::SIGTERM),
    Event::Signal(libc::SIGHUP),
    Event::Signal(libc::SIGPIPE),
    Event::Signal(libc::SIGKILL),
    Event::Deadline,
];

/// What must hold: how the command ends, and the records, shortened.
type Holds = (End, &'static [&'static str]);

/// The table of the specification.
fn wanted(launcher: Launcher, phase: Phase, event: Event) -> Holds {
    use End::{Exit, Signal};
    const DONE: Holds = (Exit(7), &["started", "selected 7", "delivered"]);
    let is_deaf = matches!(event, Event::Signal(number) if launcher.is_deaf_to(number));
    let holds: [Holds; 5] = match event {
        _ if is_deaf => [
            DONE,
            DONE,
            DONE,
            (Signal(libc::SIGPIPE), &["started", "selected 7"]),
            // The test ends the program of the host.
            (Exit(137), &["host.started", "host.finished signal 9"]),
        ],
        Event::Deadline => [
            (Exit(124), &[]),
            (Exit(124), &["started", "cancelled deadline 124"]),
            DONE,
            (Exit(124), &["started", "cancelled deadline 124"]),
            (
                Exit(124),
                match launcher {
                    // Killed after its grace, since TERM is blocked for the program, too.
                    Launcher::Blocked => &["host.started", "host.finished signal 9"],
                    _ => &["host.started", "host.finished signal 15"],
                },
            ),
        ],
        Event::Signal(number @ (libc::SIGPIPE | libc::SIGKILL)) => [
            (Signal(number), &[]),
            (Signal(number), &["started"]),
            (Signal(number), &["started", "selected 7"]),
            (Signal(number), &["started"]),
            (Signal(number), &["host.started"]),
        ],
        Event::Signal(number) => [
            (Exit(130), &[]),
            (Exit(130), &["started", "cancelled cancel 130"]),
            (Signal(number), &["started", "selected 7"]),
            (Exit(130), &["started", "cancelled cancel 130"]),
            (
                Exit(130),
                match number {
                    libc::SIGINT => &["host.started", "host.finished signal 2"],
                    libc::SIGHUP => &["host.started", "host.finished signal 1"],
                    _ => &["host.started", "host.finished signal 15"],
                },
            ),
        ],
    };
    holds[phase as usize]
}

fn place(phase: Phase, event: Event) -> Place {
    let response = match phase {
        Phase::Lock | Phase::EmptyPipe => "{stdout: out, exit_code: 7}".to_owned(),
        Phase::Delay | Phase::ClosedPipe => {
            "{stdout: out, exit_code: 7, delay_ms: 2000}".to_owned()
        }
        Phase::FullPipe => format!("{{stdout: {}, exit_code: 7}}", "x".repeat(200_000)),
        Phase::Host => "{args: [mocked], stdout: never}".to_owned(),
    };
    let mocks = format!("[{{name: gh, on_unmatched: host, responses: [{response}]}}]");
    let place = Place::with(&mocks, |making| {
        making.call_timeout = (event == Event::Deadline).then_some(Duration::from_millis(1200));
    });
    place.program("host/gh", "#!/bin/sh\necho $$\nexec sleep 60\n");
    place
}

/// The records, each as its type and what it says about the end.
fn short(records: &[Value]) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let tell = |(record, kind): (&Value, String)| {
        let keys = ["cause", "exit_code", "signal"];
        let said = keys.iter().filter_map(|key| Some((*key, record.get(key)?)));
        said.fold(kind, |kind, (key, value)| match key {
            "signal" => format!("{kind} signal {}", text(value)),
            _ => format!("{kind} {}", text(value)),
        })
    };
    records.iter().zip(types(records)).map(tell).collect()
}

fn cell(launcher: Launcher, phase: Phase, event: Event) {
    let told = format!("{launcher:?}, {phase:?}, {event:?}");
    let place = place(phase, event);
    let lock = (phase == Phase::Lock).then(|| place.lock());
    let (reader, writer) = pipe();
    let mut reader = (phase != Phase::ClosedPipe).then_some(reader);
    let mut running = launcher.start(&place, &["arg"], writer);
    let mut program = None;
    match phase {
        Phase::Lock => wait_until(|| watches(running.pid) || event == Event::Deadline),
        Phase::Delay | Phase::ClosedPipe => place.wait_for("attempt.started"),
        Phase::FullPipe => place.wait_for("attempt.selected"),
        Phase::Host => program = Some(first_line(reader.as_mut().unwrap()).parse().unwrap()),
        Phase::EmptyPipe => {}
    }
    let mut is_deaf = false;
    if let Event::Signal(number) = event {
        is_deaf = launcher.is_deaf_to(number);
        running.signal(number);
    }
    if is_deaf || (phase == Phase::FullPipe && event == Event::Deadline) {
        // Long enough for the deadline, and for a signal that should do nothing.
        std::thread::sleep(Duration::from_millis(if is_deaf { 50 } else { 1300 }));
        drop(lock);
        if let Some(program) = program {
            signal(program, libc::SIGKILL);
        }
    } else if phase == Phase::FullPipe && event != Event::Deadline {
        // Nothing is read: it ends where it is.
        let (holds, records) = wanted(launcher, phase, event);
        assert_eq!(running.end(), running.as_told(holds), "{told}");
        assert_eq!(short(&place.records()), records, "{told}");
        return;
    }
    let output = reader.map(rest).unwrap_or_default();
    let (holds, records) = wanted(launcher, phase, event);
    assert_eq!(running.end(), running.as_told(holds), "{told}");
    assert_eq!(short(&place.records()), records, "{told}");
    let length = match phase {
        Phase::FullPipe => 200_000,
        _ => 3,
    };
    assert_eq!(output.len(), if records.contains(&"delivered") { length } else { 0 }, "{told}");
    if let Some(program) = program {
        wait_until(|| !is_alive(program));
    }
}

/// A moment after the start anything may be, but it must be consistent.
fn moment(launcher: Launcher, event: Event) {
    let told = format!("{launcher:?}, {event:?}");
    let place = place(Phase::EmptyPipe, event);
    let (reader, writer) = pipe();
    let mut running = launcher.start(&place, &["arg"], writer);
    // Not before it is the command: `nohup` has to begin, too.
    let comm = format!("/proc/{}/comm", running.pid);
    wait_until(|| {
        std::fs::read_to_string(&comm).is_ok_and(|it| it == "gh\n") || !is_alive(running.pid)
    });
    if let Event::Signal(number) = event {
        running.signal(number);
    }
    let output = rest(reader);
    let ended = running.end();
    let records = short(&place.records());
    let is_selected = records.len() > 1;
    assert!(output.is_empty() || is_selected, "{told}: {records:?}");
    match event {
        Event::Signal(number) if !launcher.is_deaf_to(number) => {
            let is_end = ended == End::Exit(7)
                || ended == running.as_told(End::Signal(number))
                || (ended == End::Exit(130) && records.is_empty());
            assert!(is_end, "{told}: {ended:?} {records:?}");
        }
        _ => assert_eq!(ended, End::Exit(7), "{told}"),
    }
    if ended == End::Exit(7) {
        assert_eq!(records, ["started", "selected 7", "delivered"], "{told}");
        assert_eq!(output, b"out", "{told}");
    }
}

/// Whether a process holds signals back: the descriptor that it looks through is open.
fn watches(pid: u32) -> bool {
    let Ok(fds) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let mut links = fds.filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok());
    links.any(|link| link.to_string_lossy().contains("signalfd"))
}

fn first_line(reader: &mut impl Read) -> String {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while reader.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    String::from_utf8(line).unwrap()
}

#[test]
fn every_start_in_every_phase_ends_as_the_table_says() {
    let launchers = LAUNCHERS.into_iter().filter(|launcher| match launcher.is_missing() {
        None => true,
        Some(program) => {
            skipped(&format!("{launcher:?}: no `{program}` here"));
            false
        }
    });
    let cells: Vec<_> = launchers
        .flat_map(|launcher| PHASES.map(|phase| EVENTS.map(|event| (launcher, phase, event))))
        .flatten()
        .collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match *cell {
                        (launcher, Phase::EmptyPipe, event) => moment(launcher, event),
                        (launcher, phase, event) => self::cell(launcher, phase, event),
                    }
                }
            });
        }
    });
}
