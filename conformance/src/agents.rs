//! `agent-conformance agents`: the agents that adapters know, and which are here.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::adapter::{self, Adapter, BUILT_IN, Found};
use crate::cli::AgentsArgs;
use crate::exit::Exit;
use crate::plain;

pub(crate) fn run(args: &AgentsArgs) -> Exit {
    match told(args) {
        Ok(text) => crate::print(text.as_bytes()),
        Err(reason) => crate::complain(&reason),
    }
}

fn told(args: &AgentsArgs) -> Result<String, String> {
    if let Some(name) = &args.name {
        if let Some(text) = adapter::text_of(name) {
            return Ok(text.to_owned());
        }
        // A file of the user's is checked, and shown as it was read.
        Adapter::find(name)?;
        return std::fs::read_to_string(name)
            .map_err(|error| format!("cannot read the adapter `{name}`: {error}"));
    }
    let adapters = BUILT_IN.iter().map(|(name, _)| Adapter::find(name));
    let adapters: Vec<Adapter> = adapters.collect::<Result<_, _>>()?;
    if args.markdown {
        return Ok(markdown(&adapters));
    }
    let found = all_found(&adapters);
    let both = || adapters.iter().zip(&found);
    if args.json {
        let all: Vec<Value> = both().map(|(it, found)| as_json(it, found.as_ref())).collect();
        return Ok(format!("{:#}\n", Value::Array(all)));
    }
    let head = ["agent", "found", "version", "door", "verified with"].map(str::to_owned);
    let row = |(adapter, found): (&Adapter, &Option<Found>)| {
        let version = found.as_ref().and_then(|it| it.version.clone());
        [
            adapter.name.clone(),
            if found.is_some() { "yes" } else { "no" }.to_owned(),
            version.unwrap_or_else(|| "-".to_owned()),
            adapter.door.name().to_owned(),
            adapter.verified.clone().unwrap_or_else(|| "not verified".to_owned()),
        ]
    };
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(both().map(row)).collect();
    let mut text = plain::aligned(&rows, [false; 5]);
    for adapter in adapters.iter().filter(|it| !it.gaps.is_empty()) {
        // A string takes any text.
        let _ = write!(text, "\n{}:\n", adapter.title);
        for gap in &adapter.gaps {
            let _ = writeln!(text, "  * {gap}");
        }
    }
    Ok(text)
}

/// Looks for all of them at once: each may take a second to tell its version.
fn all_found(adapters: &[Adapter]) -> Vec<Option<Found>> {
    std::thread::scope(|scope| {
        let looks: Vec<_> = adapters.iter().map(|it| scope.spawn(|| adapter::detect(it))).collect();
        looks.into_iter().map(|look| look.join().ok().flatten()).collect()
    })
}

fn as_json(adapter: &Adapter, found: Option<&Found>) -> Value {
    json!({
        "name": adapter.name,
        "title": adapter.title,
        "found": found.map(|it| it.program.display().to_string()),
        "version": found.and_then(|it| it.version.clone()),
        "door": adapter.door.name(),
        "verified": adapter.verified,
        "has_events": has_events(adapter),
        "scripted_model": adapter.model.as_ref().map(|it| it.dialect.name()),
        "gaps": adapter.gaps,
    })
}

fn has_events(adapter: &Adapter) -> bool {
    adapter.door == adapter::Door::Acp || adapter.events.is_some()
}

/// The table of the documentation.
fn markdown(adapters: &[Adapter]) -> String {
    let yes = |is_so: bool| if is_so { "yes" } else { "no" };
    let mut text =
        "| agent | `--agent` | verified with | door | MCP | commands | events | known gaps |\n\
         |---|---|---|---|---|---|---|---|\n"
            .to_owned();
    for adapter in adapters {
        let verified = adapter.verified.as_deref().unwrap_or("*not verified*");
        let is_acp = adapter.door == adapter::Door::Acp;
        // A string takes any text.
        let _ = writeln!(
            text,
            "| {} | `{}` | {verified} | {} | {} | {} | {} | {} |",
            adapter.title,
            adapter.name,
            adapter.door.name(),
            yes(is_acp || adapter.mcp.is_some()),
            yes(is_acp || adapter.shell.is_some()),
            yes(has_events(adapter)),
            adapter.gaps.join(" ").replace('|', "\\|"),
        );
    }
    text
}
