//! The verdict on a run in words, with the criterion and what virtual time means for it.

use super::rows::measured;
use super::{coloured, paint};
use crate::Style;
use crate::next_step::{Step, steps_of};
use std::fmt::Write;
use wakepath_archive::VirtualTime;
use wakepath_assess::Assessment;
use wakepath_timeline::Measured;
use wakepath_verdict::{Outcome, confidence, duration};

pub(super) fn write_verdict(
    assessment: &Assessment,
    text: &mut String,
    style: Style,
) -> std::fmt::Result {
    let outcome = assessment.outcome.to_string().to_uppercase();
    let outcome = style.bold(&paint(assessment.outcome, &outcome, style));
    write!(text, "verdict: {outcome}")?;
    if let Some(recommendation) = &assessment.overall.recommendation {
        write!(text, ": use {recommendation}")?;
    }
    match (assessment.outcome, &assessment.virtual_time) {
        (Outcome::VirtualTime, Some(time)) => {
            write!(text, ": {}", virtual_time_text(time))?;
        }
        (Outcome::NotJudged, _) => write!(text, ": {}", no_criterion(assessment))?,
        _ => {}
    }
    writeln!(text)?;
    for policy in &assessment.overall.policies {
        let name = policy
            .policy
            .map_or("task set".into(), |policy| policy.to_string());
        let where_ = match policy.outcome {
            Outcome::Passed | Outcome::VirtualTime | Outcome::NotJudged => String::new(),
            _ => format!(" ({})", policy.decided_by.join(", ")),
        };
        writeln!(
            text,
            "  {name:<16} {}{where_}",
            coloured(policy.outcome, style)
        )?;
    }
    for remark in &assessment.remarks {
        writeln!(text, "  {remark}")?;
    }
    for Step { of, what, command } in steps_of(assessment) {
        writeln!(text, "  next, for {of}: {what}")?;
        if let Some(command) = command {
            writeln!(text, "    {command}")?;
        }
    }
    match (assessment.outcome, &assessment.virtual_time) {
        (Outcome::NotJudged, _) => {
            writeln!(
                text,
                "criterion: none was given, so no due time is called missed"
            )?;
        }
        (_, Some(_)) => writeln!(
            text,
            "criterion, not judged: {}",
            criterion_text(assessment)
        )?,
        (_, None) => writeln!(text, "criterion: {}", criterion_text(assessment))?,
    }
    // The one assumption under every bound above that no run can check by itself.
    writeln!(
        text,
        "a maximum is the largest observed, not a bound; a stall too rare to have happened \
             in the run is in no figure"
    )
}

/// The criterion in words.
pub fn criterion_text(assessment: &Assessment) -> String {
    let criterion = &assessment.criterion;
    let mut parts = Vec::new();
    if let Some(latency) = criterion.latency_ns {
        parts.push(format!("wake-up latency ≤ {}", duration(latency as i64)));
    }
    parts.push(if assessment.has_own_deadlines {
        "response ≤ each loop's own period".into()
    } else {
        format!("response ≤ {}", duration(criterion.deadline_ns as i64))
    });
    parts.push(match (criterion.miss_fraction, criterion.evidence) {
        (fraction, _) if fraction > 0.0 => {
            format!("at most {} % of due times missed", fraction * 100.0)
        }
        (_, evidence) => format!(
            "no due time missed, with a bound of {} on the probability",
            evidence.unwrap_or(wakepath_verdict::DEFAULT_EVIDENCE)
        ),
    });
    parts.push(format!("{} confidence", confidence(criterion.confidence)));
    if let Some(most) = criterion.consecutive_misses {
        parts.push(format!("at most {most} in a row"));
    }
    if let Some(outage) = criterion.outage_ns {
        parts.push(format!("outage ≤ {}", duration(outage as i64)));
    }
    if criterion.mode_switches > 0.0 {
        let most = criterion.mode_switches * 100.0;
        parts.push(format!(
            "at most {most} % of cycles with a switch into Linux"
        ));
    }
    if let Some(flight) = assessment
        .flights
        .as_ref()
        .and_then(|flown| flown.criterion)
    {
        parts.push(super::flights::criterion_text(&flight));
    }
    parts.join(", ")
}

/// What to do about a watched run without a verdict.
const NO_CRITERION: &str =
    "no criterion was given; `wakepath watch --latency 200us -- PROGRAM` holds the threads to one";

/// Why a run is not judged.
pub(crate) fn no_criterion(assessment: &Assessment) -> &'static str {
    match (measured(assessment), assessment.cache_delays.is_empty()) {
        (Measured::Noise, _) => "it measures noise, which is not a response: no criterion applies",
        (Measured::Handover, _) => {
            "it measures handovers, which have no due times: no criterion applies"
        }
        (Measured::Latency, true) => NO_CRITERION,
        (Measured::Latency, false) => "it measures what caches lose, and there is nothing to judge",
    }
}

/// What virtual time means, in the words of the verdict.
pub(crate) fn virtual_time_text(time: &VirtualTime) -> String {
    let cpus = cpus_text(time);
    let emulator = match &time.emulator {
        Some(emulator) => format!("{}, {}", emulator.kernel, emulator.version),
        None => "an emulator that is not recorded".to_owned(),
    };
    format!(
        "lengths of software paths, counted in instructions of {} ns ({emulator}, {cpus}, seed \
         {}); not a machine's latencies, and no criterion is judged by them",
        time.ns_per_instruction, time.seed
    )
}

/// How many CPUs, and what virtual time costs there.
pub fn cpus_text(time: &VirtualTime) -> String {
    match (time.cpus, time.turn_ns) {
        (1, _) => "one CPU".to_owned(),
        (cpus, Some(turn_ns)) => format!(
            "{cpus} CPUs that take turns of at most {} µs: while {cpus} work, each has 1/{cpus} of its \
             speed, what one does to another is felt up to that much later, and nothing promises that the \
             run repeats",
            turn_ns as f64 / 1e3
        ),
        (cpus, None) => format!(
            "{cpus} CPUs that take turns of up to milliseconds: no latency here is the guest's own, and \
             nothing promises that the run repeats"
        ),
    }
}
