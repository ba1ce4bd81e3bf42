//! `agent-conformance run`: selected cases, played by one agent, graded, reported.

pub(crate) mod agent;
pub(crate) mod crew;
mod observe;
mod output;
pub(crate) mod play;
mod progress;
pub(crate) mod select;
pub(crate) mod setup;
pub(crate) mod spool;
mod tries;

use std::path::Path;
use std::time::Duration;

use fixtures::document::PathGlob;
use fixtures::document::task::Task;

use crate::case::{self, Case};
use crate::cli::RunArgs;
use crate::exec::signals::Signals;
use crate::exit::Exit;
use crate::results::{self, Record, Tally, Verdict};
use crate::{wiring, workspace};
use agent::{Agent, Hired, Template};
use crew::Crew;
use output::Output;
use play::Run;
use progress::Progress;
use spool::Spool;

pub(crate) fn run(args: &RunArgs) -> Exit {
    match conduct(args) {
        Ok(exit) => exit,
        Err(reason) => crate::complain(&reason),
    }
}

/// What became of a run, and whether its case has failed by it.
type Played = (Verdict, bool);

/// One run to come.
#[derive(Debug, Clone, Copy)]
struct Planned<'c> {
    case: &'c Case,
    task: &'c Task,
    trial: u32,
    twin: bool,
}

impl Planned<'_> {
    fn name(&self) -> String {
        let Planned { case, task, trial, twin } = self;
        results::run_name(&format!("{}/{}", case.name, task.id), *trial, *twin)
    }
}

fn conduct(args: &RunArgs) -> Result<Exit, String> {
    let template = |flag, text: &Option<String>| {
        text.as_deref().map(|text| Template::parse(flag, text)).transpose()
    };
    let command = template("--agent-cmd", &args.agent_cmd)?;
    let speaker = template("--agent-acp", &args.agent_acp)?;
    let hired = args.agent.as_deref().filter(|name| *name != results::SCRIPTED);
    let hired =
        hired.map(|name| Hired::find(name, &args.agent_args, args.scripted_model)).transpose()?;
    let agent = match (&command, &speaker, &hired) {
        (Some(template), ..) => Some(Agent::Command(template)),
        (_, Some(template), _) => Some(Agent::Acp {
            template,
            login: args.acp_login.as_deref(),
            mode: args.acp_mode.as_deref(),
        }),
        (.., Some(hired)) => Some(Agent::Adapter(hired)),
        (None, None, None) => None,
    };
    let (k, trials) = select::goal(args)?;
    let cases = case::load(&args.paths, crate::is_styled())?;
    let selected = select::tasks(&cases, &args.only, args.shard);
    if selected.is_empty() {
        crate::note(&"agent-conformance: nothing was selected; see `agent-conformance list`");
        return Ok(Exit::Empty);
    }
    can_be_played(&selected)?;
    if let Some(template) = &command {
        hint(template, &selected);
    }
    command.iter().chain(&speaker).for_each(hint_files);
    let output = Output::open(args)?;
    let signals = Signals::hold()?;
    let draft = output.draft()?;
    let plan = plan(&selected, trials, !args.no_twin);
    let folder = output.folder()?;
    let spool = Spool::new()?;
    let progress = Progress::new(plan.len());
    let timeout = args.timeout;
    let play = |index: usize, crew: &Crew| -> Result<Played, String> {
        let planned = plan[index];
        let place = folder.made(index, planned);
        let record = played(planned, agent, timeout, &args.ignore, &place, crew);
        let is_kept = args.keep_sessions || (record.wiring_error.is_some() && !args.clean);
        if !is_kept {
            remove(&place);
        }
        let has_failed = spool.keep(index, &record)?;
        Ok((record.verdict, has_failed))
    };
    let goes_on = |index: usize, played: &Result<Played, String>| {
        progress.ended(plan[index], played.as_ref().ok().map(|(verdict, _)| *verdict));
        played.as_ref().is_ok_and(|(_, has_failed)| !(args.fail_fast && *has_failed))
    };
    let done = crew::work(plan.len(), args.jobs, &signals, play, goes_on)?;
    progress.finish();
    let is_trial = |index: &usize| !plan[*index].twin;
    let not_run = done.results.iter().enumerate().filter(|(_, it)| it.is_none());
    let not_run: Vec<usize> = not_run.map(|(index, _)| index).collect();
    if !args.keep_sessions {
        // An interrupted run is none, whatever became of it.
        not_run.iter().for_each(|index| remove(&folder.of(*index, plan[*index])));
    }
    let not_run = not_run.into_iter().filter(is_trial).count() as u64;
    let is_lost = |result: &Option<_>| !matches!(result, Some(Ok(_)));
    let ran = (0..plan.len()).filter(|index| !is_lost(&done.results[*index]));
    let mut tally = Tally::new(k, trials, not_run);
    output.write(draft, spool.settled(ran), &mut tally)?;
    if let Some(reason) = done.results.iter().flatten().find_map(|it| it.as_ref().err()) {
        return Err(reason.clone());
    }
    Ok(match done.interrupted {
        Some(signal) => Exit::interrupted(signal),
        None => exit(&tally, args.require_pass.map(|it| it.part)),
    })
}

fn remove(place: &Path) {
    if let Err(error) = workspace::remove(place) {
        crate::note(&format!("note: cannot remove `{}`: {error}", place.display()));
    }
}

/// All runs, in the order of results: the trials of a task, its twin before them.
fn plan<'c>(selected: &[(&'c Case, &'c Task)], trials: u32, with_twins: bool) -> Vec<Planned<'c>> {
    let mut plan = Vec::new();
    for (case, task) in selected {
        if with_twins && task.no_fault.is_some() {
            plan.push(Planned { case, task, trial: 1, twin: true });
        }
        plan.extend((1..=trials).map(|trial| Planned { case, task, trial, twin: false }));
    }
    plan
}

fn played(
    planned: Planned<'_>,
    agent: Option<Agent<'_>>,
    timeout: Duration,
    ignored: &[PathGlob],
    place: &Path,
    crew: &Crew,
) -> Record {
    let Planned { case, task, trial, twin } = planned;
    let script = task.self_test.as_ref().map(|it| &*it.good);
    let is_scripted = match agent {
        Some(Agent::Adapter(hired)) => hired.is_scripted,
        agent => agent.is_none(),
    };
    let given = agent;
    let agent = agent.unwrap_or(Agent::Scripted(script.unwrap_or_default()));
    let ignored = ignored.iter().chain(agent.ignored()).cloned().collect();
    let run = Run { case, task, trial, twin, agent, timeout, ignored };
    if is_scripted && script.is_none() {
        return play::skipped(
            &run,
            "the task has no `self_test.good`, which the scripted agent plays",
        );
    }
    if let (Some(Agent::Adapter(hired)), Some(script), true) = (given, script, is_scripted)
        && let Err(reason) = hired.played(script, None).check()
    {
        return play::skipped(&run, &reason);
    }
    play::play(&run, place, crew)
}

/// The toolkit's own programs are looked for before anything is made.
fn can_be_played(selected: &[(&Case, &Task)]) -> Result<(), String> {
    selected.iter().try_for_each(|(case, task)| {
        wiring::can_be_played(&setup::effective(&case.document, task, &task.expect))
    })
}

/// What a command line most likely forgets.
fn hint(template: &Template, selected: &[(&Case, &Task)]) {
    if !template.names("prompt") && !template.names("prompt_file") {
        crate::note(
            &"note: `--agent-cmd` has neither {prompt} nor {prompt_file}, so the agent is not told what to do",
        );
    }
    let is_served = |(case, task): &(&Case, &Task)| {
        task.mcp_mocks.as_ref().map_or(!case.document.mcp_mocks.is_empty(), |it| !it.is_empty())
    };
    if !template.names("mcp_json") && !template.names("session") && selected.iter().any(is_served) {
        crate::note(
            &"note: `--agent-cmd` has no {mcp_json}, so the agent is not told of its MCP servers",
        );
    }
}

/// Words that most likely mean another file than they name.
fn hint_files(template: &Template) {
    for file in template.relative_files() {
        crate::note(&format!(
            "note: the agent starts in its workspace, where there is no `{file}` of yours: write its whole path, as in \"$PWD/{file}\""
        ));
    }
}

/// What the numbers say.
pub(crate) fn exit(tally: &Tally, required: Option<u32>) -> Exit {
    let summary = tally.summary();
    if summary.passed + summary.failed + summary.invalid + summary.error == 0 {
        return Exit::Empty;
    }
    let is_enough = |passed: u32, all: u32| passed >= required.unwrap_or(all);
    // Where not all took place, enough of some tasks is not enough.
    let is_part = summary.not_run > 0;
    let (mut failed, mut unjudged) = (is_part && summary.failed > 0, is_part);
    for task in tally.tasks() {
        let all = task.passed + task.failed + task.unjudged;
        if !is_enough(task.passed, all) {
            failed |= task.failed > 0;
            unjudged |= task.failed == 0;
        }
    }
    match (failed, unjudged) {
        (true, _) => Exit::Failed,
        (false, true) => Exit::Unjudged,
        (false, false) => Exit::Success,
    }
}
