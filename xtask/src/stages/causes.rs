//! Causes injected at random, named first and charged with the time that they took.

use super::outcome::Outcome;
use crate::bench::causes::{self, Extent};
use crate::bench::{highest_cpu, released_program};
use crate::job::Job;
use crate::place;
use crate::tools::{missing_program, missing_target};
use std::fs::OpenOptions;
use std::io::Write;

/// Some two hundred programs.
pub fn campaign(job: &Job) -> Outcome {
    let missing = missing_program(&["cc"]).or_else(|| missing_target(&place::static_target()));
    if let Some(why) = missing {
        return Outcome::not_run(why);
    }
    if !rustix::process::geteuid().is_root() {
        return Outcome::not_run("only root may trace");
    }
    let log = |text: &str| {
        if let Ok(mut log) = OpenOptions::new().append(true).open(job.log()) {
            let _ = writeln!(log, "{text}");
        }
    };
    let measured = || {
        let extent = Extent {
            programs: 203,
            cycles: 1000,
            seed: 1,
            cpu: highest_cpu()?,
            only: Vec::new(),
        };
        let program = released_program(|build| job.carry_out(build))?;
        causes::measure(&program, &extent, &mut |line| log(line))
    };
    match measured() {
        Err(error) => Outcome::new(Some(error)),
        Ok(matrix) => {
            let report = causes::report(&matrix);
            log(&report);
            let is_reached = causes::reaches_goals(&matrix);
            Outcome::new(
                (!is_reached).then(|| report.lines().last().unwrap_or_default().to_owned()),
            )
        }
    }
}
