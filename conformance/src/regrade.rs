//! `agent-conformance grade`: saved evidence, judged again.

use std::path::Path;

use crate::cli::{Format, GradeArgs};
use crate::exit::Exit;
use crate::grade::graders::{self, Place};
use crate::report::sink::Sink;
use crate::report::text;
use crate::results::{self, Results, Tally};
use crate::run;
use crate::run::spool::Settling;
use crate::supervise::{self, Order};
use crate::{verdict, workspace};

pub(crate) fn run(args: &GradeArgs) -> Exit {
    // All of them are read before anything is printed.
    let read: Result<Vec<Results>, String> =
        args.files.iter().map(|file| results::read(file)).collect();
    let graded = read.and_then(|all| {
        let mut exits = Vec::new();
        for (results, file) in all.into_iter().zip(&args.files) {
            exits.push(grade(results, file, args.allow_programs)?);
        }
        Ok(exits)
    });
    match graded {
        Ok(exits) => worst(&exits),
        Err(reason) => crate::complain(&reason),
    }
}

/// What holds for all of them: a failure before an error, success if nothing else.
fn worst(exits: &[Exit]) -> Exit {
    let order = [Exit::Failed, Exit::Unjudged, Exit::Success];
    order.into_iter().find(|exit| exits.contains(exit)).unwrap_or(Exit::Empty)
}

fn grade(results: Results, file: &Path, allows_programs: bool) -> Result<Exit, String> {
    let Results { runs, summary, .. } = results;
    let mut tally = Tally::new(summary.k, summary.n, summary.not_run);
    let folder = workspace::temporary()?;
    let supervised = |order: &Order| supervise::finish(supervise::start()?, order);
    let mut settling = Settling::default();
    let mut sink = Sink::stdout(Format::Json)?;
    for mut record in runs {
        let base = Path::new(&record.document).parent().unwrap_or(Path::new(""));
        let place = Place { base, folder: folder.path(), supervised: &supervised };
        record.graders = graders::judge(&record, allows_programs, place);
        verdict::judge(&mut record);
        let record = settling.settled(record);
        tally.count(&record);
        sink.run(&record)?;
    }
    let summary = tally.summary();
    sink.finish(&summary)?;
    crate::note(&format!("{}: {}", file.display(), text::summary(&summary).trim_end()));
    let required = (summary.k < summary.n).then_some(summary.k);
    Ok(run::exit(&tally, required))
}
