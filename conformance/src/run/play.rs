//! One run, top to bottom: set up, the agent, what was seen of it, its record.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use fixtures::document::task::{Expectation, Task};
use fixtures::document::{Document, PathGlob, faulted_responses, without_faults};
use fixtures::journal::record::SessionEnd;
use fixtures::redact::Redactor;

use super::agent::Agent;
use super::crew::Crew;
use super::observe;
use super::setup::{self, Failed, Wired};
use crate::case::Case;
use crate::grade::graders::{self, Place};
use crate::results::{Exit, Modes, Record, Verdict};
use crate::supervise::Order;
use crate::{verdict, workspace};

/// What is run.
#[derive(Debug, Clone)]
pub(crate) struct Run<'a> {
    pub(crate) case: &'a Case,
    pub(crate) task: &'a Task,
    pub(crate) trial: u32,
    /// Whether the fault is taken out.
    pub(crate) twin: bool,
    pub(crate) agent: Agent<'a>,
    pub(crate) timeout: Duration,
    /// Paths of the workspace that are not the agent's own doing, beside the task's.
    pub(crate) ignored: Vec<PathGlob>,
}

impl Run<'_> {
    /// All paths of the workspace that are not the agent's own doing.
    fn ignored(&self, task: &Task) -> Result<Vec<PathGlob>, String> {
        let own = task.ignore.iter().map(|text| {
            PathGlob::parse(text).map_err(|reason| format!("`ignore: [{text}]`: {reason}"))
        });
        self.ignored.iter().cloned().map(Ok).chain(own).collect()
    }
}

/// Plays a run in `folder`, which is empty and the run's own, and judges it.
pub(crate) fn play(run: &Run<'_>, folder: &Path, crew: &Crew) -> Record {
    let twin = run.twin.then(|| without_faults(&run.case.document));
    let document = twin.as_ref().unwrap_or(&run.case.document);
    let task = document.tasks.iter().find(|task| task.id == run.task.id).unwrap_or(run.task);
    let expect = match &task.no_fault {
        Some(no_fault) if run.twin => &no_fault.expect,
        _ => &task.expect,
    };
    let document = setup::effective(document, task, expect);
    let mut record = blank(run, &document);
    let wired = setup::wire(&document, task, &run.case.base, run.timeout, folder);
    let played = wired.and_then(|wired| {
        observed(run, task, expect, &wired, &mut record, crew)
            .map_err(|reason| Failed { reason, made: wired.made })
    });
    if let Err(failed) = played {
        record.wiring_error = Some(failed.told());
    }
    let supervised = |order: &Order| crew.supervised(order);
    let place = Place { base: &run.case.base, folder, supervised: &supervised };
    record.graders = graders::judge(&record, true, place);
    verdict::judge(&mut record);
    record
}

/// A run that has not begun.
fn blank(run: &Run<'_>, document: &Document) -> Record {
    Record {
        case: run.case.name.clone(),
        task: run.task.id.clone(),
        trial: run.trial,
        twin: run.twin,
        verdict: Verdict::Error,
        reason: None,
        violations: Vec::new(),
        dependency_modes: setup::modes(document),
        tool_events: Vec::new(),
        command_invocations: Vec::new(),
        began_ms: BTreeMap::new(),
        contacts: Vec::new(),
        faults: faulted_responses(document),
        changes: Vec::new(),
        answer: String::new(),
        answer_bytes_missing: 0,
        complaint: None,
        client_retries: None,
        graders: Vec::new(),
        exit: Exit::default(),
        duration_ms: 0.0,
        agent: run.agent.about(),
        wiring_error: None,
        skipped: None,
        document: run.case.file.clone(),
        positions: run.case.positions(&run.task.id),
        class: document.class.clone(),
        covers: document.covers.clone(),
        admitted: observe::admitted(run.task, &Redactor::new(b"", document.redact.as_ref(), [])),
    }
}

/// A run that is not begun, since the agent cannot be asked this.
pub(crate) fn skipped(run: &Run<'_>, reason: &str) -> Record {
    let document = setup::effective(&run.case.document, run.task, &run.task.expect);
    let mut record = Record { skipped: Some(reason.to_owned()), ..blank(run, &document) };
    record.dependency_modes = Modes::default();
    verdict::judge(&mut record);
    record
}

/// Runs the agent, and takes down what was seen of it.
///
/// # Errors
/// Something failed that is not the agent's.
fn observed(
    run: &Run<'_>,
    task: &Task,
    expect: &Expectation,
    wired: &Wired,
    record: &mut Record,
    crew: &Crew,
) -> Result<(), String> {
    let session = &wired.session;
    record.admitted = observe::admitted(task, &session.redactor());
    let forbidden = observe::forbidden(expect);
    let kept: Vec<_> =
        forbidden.iter().map(|path| workspace::state(path)).collect::<Result<_, _>>()?;
    let launch = run.agent.launch(wired, &task.prompt)?;
    let (stdout, stderr) = (wired.folder.join("stdout.txt"), wired.folder.join("stderr.txt"));
    // Held, so that it does not matter what the agent puts in their place.
    let (said, complained) = (observe::made(&stdout)?, observe::made(&stderr)?);
    let order = Order {
        program: launch.program.into(),
        arguments: launch.arguments,
        environment: vec![("PATH".into(), wired.path.clone())],
        directory: wired.workspace.clone().into(),
        stdin: "/dev/null".into(),
        stdout: stdout.into(),
        stderr: stderr.into(),
        timeout_ms: u64::try_from(run.timeout.as_millis()).unwrap_or(u64::MAX),
        runner: rustix::process::getpid().as_raw_nonzero().get(),
    };
    let outcome = crew.supervised(&order);
    // From here on nobody adds evidence.
    let is_first = session.close(SessionEnd::Runner);
    let (outcome, is_first) = (outcome?, is_first?);
    if let Some(reason) = outcome.not_started {
        return Err(reason);
    }
    let after = workspace::look(&wired.workspace)?;
    let fold = session.fold()?;
    record.tool_events = observe::events(&fold.tool_events());
    record.command_invocations = observe::events(&fold.command_invocations());
    record.began_ms = observe::began(&fold);
    record.contacts = observe::contacts(&fold);
    let named = observe::named(task);
    let ignored = run.ignored(task)?;
    record.changes = observe::changes(&wired.workspace, &wired.before, &after, &named, &ignored);
    for (path, before) in forbidden.iter().zip(&kept) {
        let after = workspace::state(path)?;
        if after != *before {
            record.changes.push(observe::touched(path, before.as_ref(), after.as_ref()));
        }
    }
    record.exit = Exit {
        code: outcome.exit_code,
        signal: outcome.signal,
        timed_out: outcome.timed_out,
        orphans: outcome.orphans,
    };
    let (answer, missing) = observe::answer(said)
        .map_err(|error| format!("cannot read what the agent said: {error}"))?;
    (record.answer, record.answer_bytes_missing) = (answer, missing);
    record.complaint = observe::last_line(complained, &session.redactor());
    record.duration_ms = (outcome.duration_ms * 1e3).round() / 1e3;
    if !is_first {
        return Err("the session was closed before the agent had ended".to_owned());
    }
    Ok(())
}
