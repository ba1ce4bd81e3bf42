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
use crate::contact::{Contact, Heard};
use crate::find;
use crate::grade::graders::{self, Place};
use crate::model::Served;
use crate::observed::{self, Seen};
use crate::plain;
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
        observed(run, (&document, task, expect), &wired, &mut record, crew)
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
        client_repeated: Vec::new(),
        agent_calls: None,
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
    (document, task, expect): (&Document, &Task, &Expectation),
    wired: &Wired,
    record: &mut Record,
    crew: &Crew,
) -> Result<(), String> {
    let session = &wired.session;
    record.admitted = observe::admitted(task, &session.redactor());
    let forbidden = observe::forbidden(expect);
    let kept: Vec<_> =
        forbidden.iter().map(|path| workspace::state(path)).collect::<Result<_, _>>()?;
    let model = run.agent.model(task, session)?;
    let launch = run.agent.launch(wired, &task.prompt, model.as_ref().map(Served::url))?;
    let (stdout, stderr) = (wired.folder.join("stdout.txt"), wired.folder.join("stderr.txt"));
    // Held, so that it does not matter what the agent puts in their place.
    let (said, complained) = (observe::made(&stdout)?, observe::made(&stderr)?);
    let order = Order {
        program: launch.program.into(),
        arguments: launch.arguments,
        is_whole: launch.environment.is_some(),
        environment: launch
            .environment
            .unwrap_or_else(|| vec![("PATH".into(), wired.path.clone())]),
        directory: wired.workspace.clone().into(),
        stdin: "/dev/null".into(),
        stdout: stdout.into(),
        stderr: stderr.into(),
        timeout_ms: u64::try_from(run.timeout.as_millis()).unwrap_or(u64::MAX),
        runner: rustix::process::getpid().as_raw_nonzero().get(),
    };
    let begun = before(&launch.before, &order, crew);
    let outcome = begun.and_then(|()| crew.supervised(&order));
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
    record.complaint = observe::last_line(complained, &session.redactor());
    record.duration_ms = (outcome.duration_ms * 1e3).round() / 1e3;
    let servers: Vec<String> = wired.servers.keys().cloned().collect();
    let seen = run.agent.seen(&answer, &servers);
    (record.answer, record.answer_bytes_missing) =
        run.agent.answer((answer, missing), seen.as_deref())?;
    if !is_first {
        return Err("the session was closed before the agent had ended".to_owned());
    }
    in_touch(run, document, record, seen.as_deref(), &session.redactor())
}

/// Runs what the adapter wants done before the agent.
///
/// # Errors
/// One of the commands failed.
fn before(commands: &[Vec<String>], agent: &Order, crew: &Crew) -> Result<(), String> {
    for words in commands {
        let [program, arguments @ ..] = &**words else { continue };
        let path = agent.environment.iter().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, path)| path.clone()).unwrap_or_default();
        let found = find::on_path(program.as_ref(), &path);
        let found = found.ok_or_else(|| {
            format!("`{program}`, which its adapter wants run before the agent, is not on PATH")
        })?;
        let nowhere = || "/dev/null".into();
        let order = Order {
            program: found.into(),
            arguments: arguments.to_vec(),
            stdout: nowhere(),
            stderr: nowhere(),
            ..agent.clone()
        };
        let outcome = crew.supervised(&order)?;
        if let Some(reason) = outcome.not_started {
            return Err(reason);
        }
        if outcome.exit_code != Some(0) {
            return Err(format!(
                "`{}`, which its adapter wants run before the agent, failed",
                shell_words::join(words)
            ));
        }
    }
    Ok(())
}

/// Sets the record against what the agent's own events say.
///
/// # Errors
/// What the agent tried did not reach the mocks, for which it is not to blame.
fn in_touch(
    run: &Run<'_>,
    document: &Document,
    record: &mut Record,
    seen: Option<&[Seen]>,
    redactor: &Redactor,
) -> Result<(), String> {
    let heard = Heard { seen, tool: run.agent.tool(), redactor };
    let contact = Contact::new(document, record, heard);
    let repeated = contact.repeated();
    let broken = contact.broken().filter(|_| run.agent.is_promised());
    record.agent_calls = contact.into_own_calls();
    record.client_retries = repeated.as_ref().map(|it| u32::try_from(it.len()).unwrap_or(u32::MAX));
    record.client_repeated = repeated.unwrap_or_default();
    if let Some(problem) = seen.and_then(observed::problem) {
        record.complaint = Some(plain::short(&redactor.text(problem), observe::MAX_LINE_CHARS));
    }
    broken.map_or(Ok(()), Err)
}
