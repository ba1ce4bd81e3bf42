//! `agent-conformance check`: what is wrong with documents, and with cases.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use fixtures::document::task::Task;
use fixtures::document::{self, Checked, Document, Options, faulted_responses};
use serde_json::{Value, json};

use crate::case;
use crate::cli::{CheckArgs, CheckFormat};
use crate::exit::Exit;
use crate::find;
use crate::run::setup;
use crate::self_test::plan;

pub(crate) fn run(args: &CheckArgs) -> Exit {
    match check(args) {
        Ok(exit) => exit,
        Err(reason) => crate::complain(&reason),
    }
}

/// Something about a case that no single document can get wrong, or only a runner cares for.
#[derive(Debug)]
struct Remark {
    file: String,
    /// The task, if it is about one.
    task: Option<String>,
    is_error: bool,
    message: String,
}

impl Remark {
    fn severity(&self) -> &'static str {
        if self.is_error { "error" } else { "warning" }
    }
}

fn check(args: &CheckArgs) -> Result<Exit, String> {
    let (checked, unopened) = all(&args.paths)?;
    let mut known = BTreeMap::new();
    let mut remarks = Vec::new();
    for file in &checked {
        let Some(document) = &file.document else { continue };
        let is_case = !document.tasks.is_empty();
        let namesake = |known: &mut _| case::namesake(known, &document.scenario, &file.path);
        if let Some(message) = is_case.then(|| namesake(&mut known)).flatten() {
            remarks.push(Remark { file: file.path.clone(), task: None, is_error: true, message });
        }
        remarks.extend(about(&file.path, document));
    }
    let report = match args.format {
        CheckFormat::Human => human(&checked, &remarks),
        CheckFormat::Json => json_report(&checked, &remarks, unopened.is_empty())?,
    };
    for complaint in &unopened {
        crate::complain(complaint);
    }
    let printed = crate::print(report.as_bytes());
    let is_refused =
        checked.iter().any(Checked::is_refused) || remarks.iter().any(|it| it.is_error);
    let is_noisy = !remarks.is_empty() || checked.iter().any(Checked::is_noisy);
    Ok(match printed {
        Exit::Success if !unopened.is_empty() => Exit::Refused,
        Exit::Success if is_refused || (args.strict && is_noisy) => Exit::Failed,
        printed => printed,
    })
}

/// The documents at the paths, or the built-in suites; and which cannot be opened.
fn all(paths: &[PathBuf]) -> Result<(Vec<Checked>, Vec<String>), String> {
    if paths.is_empty() {
        let checked =
            case::suites().map(|source| Checked::of(source, Path::new("."), Options::default()));
        return Ok((checked.collect(), Vec::new()));
    }
    let files = case::files(paths)?;
    if files.is_empty() {
        let paths: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
        return Err(format!("there is no document (.yaml, .yml) in {}", paths.join(", ")));
    }
    let (mut checked, mut unopened) = (Vec::new(), Vec::new());
    for file in files {
        match document::check_file(&file, Options::default()) {
            Ok(found) => checked.push(found),
            Err(error) => unopened.push(format!("cannot open `{}`: {error}", file.display())),
        }
    }
    Ok((checked, unopened))
}

fn about(file: &str, document: &Document) -> Vec<Remark> {
    let remark = |task: Option<&Task>, is_error, message: String| Remark {
        file: file.to_owned(),
        task: task.map(|task| task.id.clone()),
        is_error,
        message,
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let missing = document.mcp_servers.iter().filter(|(name, server)| {
        let own = document.tasks.iter().filter_map(|task| task.mcp_mocks.as_ref()).flatten();
        let is_mocked = document.mcp_mocks.iter().chain(own).any(|mock| mock.name == **name);
        !is_mocked && find::on_path(OsStr::new(&server.command), &path).is_none()
    });
    let mut remarks: Vec<Remark> = missing
        .map(|(name, server)| {
            let command = &server.command;
            remark(
                None,
                false,
                format!("`{command}`, the live server `{name}`, was not found here"),
            )
        })
        .collect();
    for task in &document.tasks {
        match &task.self_test {
            None => {
                let message = "it has no `self_test`, so that nothing proves its graders";
                remarks.push(remark(Some(task), false, message.to_owned()));
            }
            Some(scripts) => {
                let gaps = plan::gaps(scripts).into_iter();
                remarks.extend(gaps.map(|gap| remark(Some(task), true, gap)));
            }
        }
        let document = setup::effective(document, task, &task.expect);
        if task.no_fault.is_some() && faulted_responses(&document).is_empty() {
            let message = "it has a twin without the fault, and no fault";
            remarks.push(remark(Some(task), false, message.to_owned()));
        }
    }
    remarks
}

fn human(checked: &[Checked], remarks: &[Remark]) -> String {
    let is_styled = io::stdout().is_terminal() && crate::may_style();
    let mut text = document::render_files(checked, is_styled);
    for remark in remarks {
        let Remark { file, task, message, .. } = remark;
        let severity = remark.severity();
        let task = task.as_ref().map_or(String::new(), |task| format!(" task `{task}`:"));
        text += &format!("{severity}: {file}:{task} {message}\n");
    }
    text
}

/// The report of `mcp-mock check`, with what is about cases beside it.
fn json_report(
    checked: &[Checked],
    remarks: &[Remark],
    is_complete: bool,
) -> Result<String, String> {
    let is_sound = is_complete && !remarks.iter().any(|it| it.is_error);
    let report = document::render_json(checked, is_sound);
    let mut report: Value = fixtures::json::parse(&report).map_err(|error| error.to_string())?;
    let cases = remarks.iter().map(|it| {
        json!({"file": it.file, "task": it.task, "severity": it.severity(), "message": it.message})
    });
    report["cases"] = cases.collect();
    Ok(format!("{report:#}\n"))
}
