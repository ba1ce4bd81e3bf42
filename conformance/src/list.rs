//! `agent-conformance list`: the cases, and what they are about.

use std::fmt::Write;

use fixtures::document::task::Task;
use serde_json::{Value, json};

use crate::case::{self, Case};
use crate::cli::ListArgs;
use crate::exit::Exit;
use crate::report::event;
use crate::run::setup;
use crate::self_test::plan;

pub(crate) fn run(args: &ListArgs) -> Exit {
    match case::load(&args.paths, crate::is_styled()) {
        Ok(cases) => {
            let tasks = cases
                .iter()
                .flat_map(|case| case.document.tasks.iter().map(move |task| Entry::of(case, task)));
            let tasks: Vec<Entry<'_>> = tasks.collect();
            let text = if args.json { json_of(&tasks) } else { table(&tasks) };
            crate::print(text.as_bytes())
        }
        Err(reason) => crate::complain(&reason),
    }
}

/// One task.
struct Entry<'c> {
    case: &'c Case,
    task: &'c Task,
    /// `mcp`, `cli`, or both.
    kinds: Vec<&'static str>,
}

impl<'c> Entry<'c> {
    fn of(case: &'c Case, task: &'c Task) -> Entry<'c> {
        let document = setup::effective(&case.document, task, &task.expect);
        let mcp = (!document.mcp_mocks.is_empty()).then_some("mcp");
        let cli = (!document.command_mocks.is_empty()).then_some("cli");
        Entry { case, task, kinds: mcp.into_iter().chain(cli).collect() }
    }

    /// What the task covers, its class first.
    fn covers(&self) -> &[String] {
        &self.case.document.covers
    }

    /// How many agents prove that the task can be failed.
    fn bad_agents(&self) -> usize {
        self.task.self_test.as_ref().map_or(0, plan::bad_agents)
    }

    fn has_twin(&self) -> bool {
        self.task.no_fault.is_some()
    }
}

fn table(entries: &[Entry<'_>]) -> String {
    let head = ["task", "class", "kinds", "twin", "bad agents", "covers"].map(str::to_owned);
    let rows = entries.iter().map(|entry| {
        let name = event::short(&format!("{}/{}", entry.case.name, entry.task.id));
        let class = entry.case.document.class.as_deref().unwrap_or("-");
        let twin = if entry.has_twin() { "yes" } else { "no" };
        let covers = entry.covers().join(", ");
        let kinds = entry.kinds.join("+");
        let bad = entry.bad_agents().to_string();
        [name, event::short(class), kinds, twin.to_owned(), bad, event::short(&covers)]
    });
    let rows: Vec<[String; 6]> = [head].into_iter().chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let [task, class, kinds, twin, bad] =
        [0, 1, 2, 3, 4].map(|column| width(column).unwrap_or_default());
    let mut text = String::new();
    for [a, b, c, d, e, f] in &rows {
        let line = format!("{a:task$}  {b:class$}  {c:kinds$}  {d:twin$}  {e:>bad$}  {f}");
        // A string takes any text.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn json_of(entries: &[Entry<'_>]) -> String {
    let entries = entries.iter().map(|entry| {
        json!({
            "case": entry.case.name,
            "task": entry.task.id,
            "file": entry.case.file,
            "class": entry.case.document.class,
            "kinds": entry.kinds,
            "covers": entry.covers(),
            "twin": entry.has_twin(),
            "bad_agents": entry.bad_agents(),
        })
    });
    let all: Value = entries.collect();
    format!("{all:#}\n")
}
