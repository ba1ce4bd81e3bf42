//! The hidden command that evaluates jq: `.` is the evidence on standard input.

use std::io::{self, Read};

use jaq_core::data::JustLut;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, unwrap_valr};
use jaq_json::{Val, read};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::code::Evaluated;
use crate::exit::Exit;

/// An expression that takes more memory than this ends the process.
const MAX_MEMORY_BYTES: u64 = 1 << 30;

/// So much of what an expression gives is shown.
const SHOWN_CHARS: usize = 500;

const VARIABLES: [&str; 4] = ["tool_events", "command_invocations", "answer", "changes"];

/// Evaluates each text, and prints what became of all of them.
pub(crate) fn run(assertions: &[String]) -> Exit {
    let limit = Rlimit { current: Some(MAX_MEMORY_BYTES), maximum: Some(MAX_MEMORY_BYTES) };
    // Where that cannot be, time alone is bounded.
    let _ = setrlimit(Resource::As, limit);
    let mut evidence = Vec::new();
    if let Err(error) = io::stdin().read_to_end(&mut evidence) {
        return crate::complain(&format!("no evidence: {error}"));
    }
    let evidence = match read::parse_single(&evidence) {
        Ok(evidence) => evidence,
        Err(error) => return crate::complain(&format!("the evidence is no JSON: {error}")),
    };
    let evaluated: Vec<Evaluated> =
        assertions.iter().map(|text| evaluate(text, &evidence)).collect();
    let text = serde_json::to_string(&evaluated).expect("string keys always serialise");
    crate::print(text.as_bytes())
}

/// True is an expression whose only output is `true`.
fn evaluate(text: &str, evidence: &Val) -> Evaluated {
    let refused =
        |error: String| Evaluated { passed: false, saw: String::new(), error: Some(error) };
    let pure = |name: &str| name != "env" && name != "now" && name != "halt";
    let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let funs = jaq_core::funs::<JustLut<Val>>().chain(jaq_std::funs()).chain(jaq_json::funs());
    let funs = funs.filter(|(name, ..)| pure(name));
    let arena = Arena::default();
    let modules = match Loader::new(defs.filter(|it| !is_halting(it.name)))
        .load(&arena, File { code: text, path: () })
    {
        Ok(modules) => modules,
        Err(errors) => return refused(told(&errors)),
    };
    let variables = VARIABLES.map(|name| format!("${name}"));
    let compiler =
        Compiler::default().with_funs(funs).with_global_vars(variables.iter().map(String::as_str));
    let filter = match compiler.compile(modules) {
        Ok(filter) => filter,
        Err(errors) => {
            let names = errors.iter().flat_map(|(_, errors)| errors);
            let names: Vec<String> =
                names.map(|(name, kind)| format!("undefined {} `{name}`", kind.as_str())).collect();
            return refused(names.join(", "));
        }
    };
    let values = VARIABLES.map(|name| member(evidence, name));
    let context = Ctx::<JustLut<Val>>::new(&filter.lut, Vars::new(values));
    let mut outputs = filter.id.run((context, evidence.clone())).map(unwrap_valr);
    let (first, second) = (outputs.next(), outputs.next());
    let saw = match (&first, &second) {
        (None, _) => "no output".to_owned(),
        (Some(Ok(_)), Some(_)) => "more than one output".to_owned(),
        (Some(Ok(value)), None) => value.to_string(),
        (Some(Err(error)), _) => error.to_string(),
    };
    let passed = second.is_none() && matches!(first, Some(Ok(Val::Bool(true))));
    Evaluated { passed, saw: saw.chars().take(SHOWN_CHARS).collect(), error: None }
}

fn is_halting(name: &str) -> bool {
    name.starts_with("halt")
}

fn member(evidence: &Val, name: &str) -> Val {
    match evidence {
        Val::Obj(members) => members.get(&Val::from(name.to_owned())).cloned().unwrap_or(Val::Null),
        _ => Val::Null,
    }
}

/// What is wrong with a text, and where.
fn told(errors: &load::Errors<&str, ()>) -> String {
    let mut told = Vec::new();
    for (file, error) in errors {
        let at = |rest: &str| {
            let before = file.code.len().saturating_sub(rest.len());
            file.code.get(..before).map_or(0, |before| before.chars().count()) + 1
        };
        match error {
            load::Error::Io(errors) => {
                told.extend(errors.iter().map(|(_, reason)| reason.clone()));
            }
            load::Error::Lex(errors) => told.extend(errors.iter().map(|(wanted, rest)| {
                format!("expected {} at character {}", wanted.as_str(), at(rest))
            })),
            load::Error::Parse(errors) => told.extend(errors.iter().map(|(wanted, found)| {
                let found = if found.is_empty() { "the end" } else { found };
                format!("expected {}, found {found}", wanted.as_str())
            })),
        }
    }
    told.join(", ")
}
