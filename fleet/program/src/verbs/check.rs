//! `wakepath-fleet check`: whether an archive is whole.

use super::{Outcome, archive};
use crate::command_line::Check;
use crate::terminal::print;
use std::process::ExitCode;
use wakepath_fleet_archive::{catalogue, check};
use wakepath_timeline::count::counted;

/// Says what is missing or altered.
pub fn run(arguments: &Check) -> Outcome {
    let store = archive::open(&arguments.of)?;
    let all = catalogue(&store)?;
    let problems = check(&store, &all)?;
    let runs = counted(all.records.len() as u64, "run", "runs");
    if problems.is_empty() {
        print(&format!("{runs}: all there and as they were\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&(problems.join("\n") + "\n"))?;
    Err(format!(
        "{runs}: {} are not as they were written",
        counted(problems.len() as u64, "object", "objects")
    )
    .into())
}
