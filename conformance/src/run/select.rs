//! Which tasks are run, and as what.

use fixtures::document::task::Task;
use globset::{Glob, GlobMatcher};

use crate::case::Case;
use crate::cli::{MOST_TRIALS, RunArgs};

/// K of N, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fraction {
    pub(crate) part: u32,
    pub(crate) whole: u32,
}

impl std::str::FromStr for Fraction {
    type Err = String;

    fn from_str(text: &str) -> Result<Fraction, String> {
        let parse = |text: &str| text.parse::<u32>().ok();
        text.split_once('/')
            .and_then(|(part, whole)| Some(Fraction { part: parse(part)?, whole: parse(whole)? }))
            .filter(|it| 1 <= it.part && it.part <= it.whole)
            .ok_or_else(|| "write K/N with 1 ≤ K ≤ N, as in 2/3".to_owned())
    }
}

/// A pattern for `CASE/TASK`, or for the case alone.
///
/// # Errors
/// It is no pattern.
pub(crate) fn pattern(text: &str) -> Result<GlobMatcher, String> {
    Glob::new(text).map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())
}

/// The tasks that any of the patterns means, of them this shard's.
pub(crate) fn tasks<'c>(
    cases: &'c [Case],
    only: &[GlobMatcher],
    shard: Option<Fraction>,
) -> Vec<(&'c Case, &'c Task)> {
    let all = cases.iter().flat_map(|case| case.document.tasks.iter().map(move |it| (case, it)));
    let is_meant = |case: &Case, task: &Task| {
        let whole = format!("{}/{}", case.name, task.id);
        only.is_empty() || only.iter().any(|it| it.is_match(&case.name) || it.is_match(&whole))
    };
    let selected = all.filter(|(case, task)| is_meant(case, task)).enumerate();
    let is_here = |index: usize| {
        shard.is_none_or(|shard| index % shard.whole as usize == shard.part as usize - 1)
    };
    selected.filter(|(index, _)| is_here(*index)).map(|(_, task)| task).collect()
}

/// How many trials of a task there are, and how many of them count for pass^k.
pub(super) fn goal(args: &RunArgs) -> Result<(u32, u32), String> {
    match (args.require_pass, args.trials) {
        (Some(Fraction { part, whole }), _) if whole > MOST_TRIALS => Err(format!(
            "`--require-pass {part}/{whole}` asks for {whole} trials: ask for {MOST_TRIALS} at most"
        )),
        (Some(Fraction { part, whole }), None) => Ok((part, whole)),
        (Some(Fraction { part, whole }), Some(trials)) if trials == whole => Ok((part, trials)),
        (Some(Fraction { part, whole }), Some(trials)) => Err(format!(
            "`--require-pass {part}/{whole}` asks for {whole} trials, `--trials` for {trials}: leave `--trials` out"
        )),
        (None, trials) => {
            let trials = trials.unwrap_or(1);
            Ok((trials, trials))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fraction;

    #[test]
    fn a_fraction_is_at_least_one_and_no_more_than_the_whole() {
        assert_eq!("2/3".parse(), Ok(Fraction { part: 2, whole: 3 }));
        for text in ["", "2", "0/3", "4/3", "1/0", "-1/2", "1/2/3", "a/b", "1 /2"] {
            assert!(text.parse::<Fraction>().is_err(), "{text}");
        }
    }
}
