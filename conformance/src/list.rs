//! `agent-conformance list`: the cases, and what they are about.

use fixtures::document::task::Task;
use serde_json::{Value, json};

use crate::case::{self, Case};
use crate::cli::ListArgs;
use crate::exit::Exit;
use crate::plain;
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
    let short = |text: &str| plain::short(text, event::MAX_CHARS);
    let rows = entries.iter().map(|entry| {
        let name = short(&format!("{}/{}", entry.case.name, entry.task.id));
        let class = entry.case.document.class.as_deref().unwrap_or("-");
        let twin = if entry.has_twin() { "yes" } else { "no" };
        let covers = entry.case.document.covers.join(", ");
        let kinds = entry.kinds.join("+");
        let bad = entry.bad_agents().to_string();
        [name, short(class), kinds, twin.to_owned(), bad, short(&covers)]
    });
    let rows: Vec<[String; 6]> = [head].into_iter().chain(rows).collect();
    plain::aligned(&rows, [false, false, false, false, true, false])
}

fn json_of(entries: &[Entry<'_>]) -> String {
    let entries = entries.iter().map(|entry| {
        json!({
            "case": entry.case.name,
            "task": entry.task.id,
            "file": entry.case.file,
            "class": entry.case.document.class,
            "kinds": entry.kinds,
            "covers": entry.case.document.covers,
            "twin": entry.has_twin(),
            "bad_agents": entry.bad_agents(),
        })
    });
    let all: Value = entries.collect();
    format!("{all:#}\n")
}
