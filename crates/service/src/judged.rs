//! Whether a loop bore what it had to, from its whole history. Pure; the rules are those by which a run is judged
//! (`wakepath-verdict`), on counts in the place of samples.

use crate::history::Bears;
use crate::summary::LoopSummary;
use serde::Serialize;
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::exact;

/// The verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The criterion is met, with evidence enough.
    Passed,
    /// It is violated.
    Failed,
    /// There is too little evidence, or some of it is missing.
    Undecided,
}

/// A verdict with its reasons, one line each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// The verdict.
    pub outcome: Outcome,
    /// Why.
    pub reasons: Vec<String>,
}

/// Judges one loop.
pub fn judged(of: &LoopSummary, bears: &Bears) -> Judged {
    if *bears == Bears::default() {
        return Judged {
            outcome: Outcome::Undecided,
            reasons: vec!["the criterion does not fit the loop: nothing is judged".into()],
        };
    }
    let tally = &of.misses;
    let confidence = match bears.confidence {
        given if given > 0.0 && given < 1.0 => given,
        _ => 0.95,
    };
    let percent = |share: f64| format!("{:.4} %", share * 100.0);
    let (at_least, at_most) = (
        tally.lower_bound(confidence),
        tally.upper_bound(confidence, 1),
    );
    let (mut failed, mut missing, mut within) = (Vec::new(), Vec::new(), Vec::new());
    let sure = format!("at {:.0} % confidence", confidence * 100.0);
    if bears.miss_fraction <= 0.0 {
        match tally.missed {
            0 if at_most <= bears.evidence => within.push(format!(
                "no miss in {} due times, at most {} {sure}",
                tally.due,
                percent(at_most)
            )),
            0 => missing.push(format!(
                "no miss in {} due times, which shows at most {} {sure}; {} is asked for",
                tally.due,
                percent(at_most),
                percent(bears.evidence)
            )),
            missed => failed.push(format!(
                "{missed} of {} due times missed, and none may be",
                tally.due
            )),
        }
    } else {
        let said = format!(
            "{} of {} due times missed: {} to {} {sure}; {} may be",
            tally.missed,
            tally.due,
            percent(at_least),
            percent(at_most),
            percent(bears.miss_fraction)
        );
        match () {
            () if at_most <= bears.miss_fraction => within.push(said),
            () if at_least > bears.miss_fraction => failed.push(said),
            () => missing.push(said),
        }
    }
    if let Some(limit) = bears.consecutive_misses
        && tally.longest_run > limit
    {
        failed.push(format!(
            "{} misses in a row; {limit} may be",
            tally.longest_run
        ));
    }
    if let Some(limit_ns) = bears.outage_ns
        && of.outage_ns > limit_ns
    {
        failed.push(format!(
            "{} from the end of one cycle to the end of the next; {} may be",
            exact(of.outage_ns),
            exact(limit_ns)
        ));
    }
    if of.lost > 0 {
        missing.push(format!(
            "{} cycles are not recorded: the loop may have missed in them",
            of.lost
        ));
    }
    if of.died > 0 {
        missing.push(format!(
            "its program ended {} times while the loop ran",
            of.died
        ));
    }
    if of.switched_off > 0 {
        missing.push(format!(
            "the machine went down {} times while the loop ran: the last seconds before are not known",
            of.switched_off
        ));
    }
    let rounds = |(count, why): &(u64, String)| {
        (*count > 0).then(|| format!("{} {why}", counted(*count, "round:", "rounds, the last:")))
    };
    failed.extend(rounds(&of.rounds.failed));
    missing.extend(rounds(&of.rounds.undecided));
    if let Some(said) = rounds(&of.rounds.invalid) {
        // Of nothing, no share is worth a word.
        if tally.due == 0 {
            missing.clear();
        }
        missing.insert(0, format!("no evidence in {said}"));
    }
    let outcome = match (failed.is_empty(), missing.is_empty()) {
        (false, _) => Outcome::Failed,
        (true, false) => Outcome::Undecided,
        (true, true) => Outcome::Passed,
    };
    let reasons = [failed, missing, within].concat();
    Judged { outcome, reasons }
}
