//! Short form of the benchmark against cyclictest.
//!
//! Checks that both run on equal terms and that wakepath isn't grossly slower. So few rounds can't
//! show a finer difference.

use super::outcome::Outcome;
use crate::bench::peer::{self, Condition, Extent};
use crate::bench::{highest_cpu, released_program};
use crate::job::Job;
use crate::place;
use crate::tools::{missing_program, missing_target};
use std::fs::OpenOptions;
use std::io::Write;

/// Above this ratio of medians, something is wrong that no noise explains.
const GROSS: f64 = 1.5;
/// Rounds of each condition, and of a second attempt if the first is grossly slower. An idle
/// virtual machine wakes in two modes, some 10 µs apart, and three rounds can fall into different
/// ones.
const ROUNDS: [usize; 2] = [3, 9];

/// A few rounds of each condition.
pub fn smoke(job: &Job) -> Outcome {
    let missing = missing_program(&["cyclictest", "stress-ng"])
        .or_else(|| missing_target(&place::static_target()));
    if let Some(why) = missing {
        return Outcome::not_run(why);
    }
    let log = |text: &str| {
        if let Ok(mut log) = OpenOptions::new().append(true).open(job.log()) {
            let _ = writeln!(log, "{text}");
        }
    };
    let measured = |rounds| {
        let extent = Extent {
            rounds,
            seconds: 1,
            cpu: highest_cpu()?,
        };
        let program = released_program(|build| job.carry_out(build))?;
        let conditions = peer::measure(&program, extent, &mut |line| log(&line))?;
        log(&peer::report(&conditions, extent));
        let slow = conditions
            .iter()
            .any(|condition| gross(condition).is_some());
        let outcomes = conditions.iter().map(|condition| judged(condition, extent));
        Ok::<_, String>((outcomes.fold(Outcome::default(), Outcome::and), slow))
    };
    let [few, many] = ROUNDS;
    let outcome = match measured(few) {
        Ok((_, true)) => measured(many),
        outcome => outcome,
    };
    match outcome {
        Err(error) => Outcome::new(Some(error)),
        Ok((outcome, _)) => outcome,
    }
}

/// Slowdown of wakepath, if beyond what noise explains.
fn gross(condition: &Condition) -> Option<String> {
    // Under a load, a time-sharing loop's median is the load's, not the program's.
    let decides = !(condition.loaded && condition.policy == peer::Policy::Other);
    match condition.ratios(|figures| figures.median).median() {
        Some(median) if median > GROSS && decides => Some(format!("median ratio {median:.2}")),
        Some(_) => None,
        None => Some("no ratio".into()),
    }
}

fn judged(condition: &Condition, extent: Extent) -> Outcome {
    let name = condition.name();
    let cycles = extent.seconds * 1000;
    let ratio = condition.ratios(|figures| figures.median);
    let fault = condition.rounds.iter().find_map(|(ours, theirs)| {
        // wakepath can skip due times, which it reports; cyclictest always runs all its cycles.
        if theirs.executed != cycles || ours.executed == 0 || ours.executed > cycles {
            return Some(format!(
                "{} and {} cycles ran",
                ours.executed, theirs.executed
            ));
        }
        (ours.page_faults != Some(0)).then(|| format!("page faults: {:?}", ours.page_faults))
    });
    let failure = fault
        .or_else(|| gross(condition))
        .map(|failure| format!("{name}: {failure}"));
    Outcome::new(failure).noting(format!("{name}: median ratio {}", ratio.shown()))
}
