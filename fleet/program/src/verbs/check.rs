//! `wakepath-fleet check`: whether an archive is whole.

use super::standings::terms;
use super::{Outcome, archive};
use crate::command_line::Check;
use crate::terminal::print;
use std::process::ExitCode;
use wakepath_fleet_archive::{Standing, catalogue, check};
use wakepath_timeline::count::counted;

/// Prints missing or altered objects.
pub fn run(arguments: &Check) -> Outcome {
    let scratch = tempfile::tempdir()?;
    let store = archive::open_anew(&arguments.at.of, scratch.path())?;
    let all = catalogue(&*store)?;
    let problems = check(&*store, &all)?;
    let runs = counted(all.records.len() as u64, "run", "runs");
    let terms = terms(&*store, &arguments.at.seals)?;
    let standings = all.standings(&*store, &terms)?;
    let mut verified = 0_u64;
    let mut wrong = 0_u64;
    for (run, standing) in &standings {
        match standing {
            Standing::Verified => verified += 1,
            Standing::Wrong(_) => wrong += 1,
            Standing::Unsealed | Standing::Unchecked => {}
        }
        let is_asked = terms.trust.is_some() || matches!(standing, Standing::Wrong(_));
        if let Some(why) = standing.objection().filter(|_| is_asked) {
            print(&format!("run {run}: does not count: {why}\n"))?;
        }
    }
    if problems.is_empty() && wrong == 0 {
        let seals = match terms.trust {
            Some(_) => format!("; {} by their seals", counted(verified, "counts", "count")),
            None => String::new(),
        };
        print(&format!("{runs}: all there and as they were{seals}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    for problem in &problems {
        print(&format!("{problem}\n"))?;
    }
    if problems.is_empty() {
        let wrong = counted(wrong, "is", "are");
        return Err(format!("{runs}: {wrong} not as sealed").into());
    }
    Err(format!(
        "{runs}: {} are not as they were written",
        counted(problems.len() as u64, "object", "objects")
    )
    .into())
}
