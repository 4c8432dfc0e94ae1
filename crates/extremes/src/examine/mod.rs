//! A series examined: what is always true of its largest value, every gate in order, and the level
//! with its bound only where all gates pass. A refusal is an answer.

mod agreement;
mod estimate;
mod said;
mod tails;
#[cfg(test)]
mod tests;

pub use said::{Answer, Estimate, Examined, Observed, Question, Tail};

use crate::dependence::Tested;
use crate::exceedances::{Exceedances, Highest};
use crate::gate::{Gate, GateName, figure};
use crate::moments::tail_class;
use crate::steadiness::steadiness;
use estimate::estimate;
use tails::Tails;

/// Fewer clusters of exceedances than this are refused.
const LEAST_CLUSTERS: usize = 50;
/// More exceedances than this are not looked at: by then the threshold is no tail's, and simulations of
/// how often bounds hold go no further.
const MOST_EXCEEDANCES: usize = 1000;
/// Exceedances with which steadiness is tested and clusters are first counted.
const EXCEEDANCES_TESTED: usize = 300;
/// The level asked for may lie this many times further out than the run.
const REACH: f64 = 100.0;
/// Level of the goodness of fit and of ForwardStop.
const LEVEL: f64 = 0.05;

/// Examines a series in the order of time. `provenance` is the gate of how it was measured, which
/// this crate can't know. `None` for a series without values.
pub fn examine(series: &[i64], provenance: Gate, question: &Question) -> Option<Examined> {
    let most = (series.len() / 10).min(MOST_EXCEEDANCES);
    let highest = Highest::of(series, most.max(1) + 1);
    let largest = highest.largest()?;
    let tested = highest.above_rank(EXCEEDANCES_TESTED.min(most));
    let index = tested.as_ref().map_or(1.0, |above| above.index);
    let observed = Observed::new(highest.length(), largest, index, question.confidence);
    let mut examined = Examined {
        observed,
        gates: vec![provenance],
        cautions: Vec::new(),
        tests: Vec::new(),
        tails: Vec::new(),
        class: None,
        answer: Answer::Refused,
    };
    examined.gates.push(count(&observed, tested.as_ref()));
    // Too few values tell nothing of drift either; many in few bunches do.
    let Some(tested) = tested.filter(|above| above.count >= LEAST_CLUSTERS as u64) else {
        return Some(examined);
    };
    let (tests, gates) = steadiness(series, &tested);
    examined.tests = tests;
    examined.gates.extend(gates);
    if tested.clusters.len() < LEAST_CLUSTERS {
        return Some(examined);
    }
    if observed.exceeded_at_most <= question.exceed {
        if examined.failed().next().is_none() {
            examined.answer = Answer::Observed;
        }
        return Some(examined);
    }
    examined.gates.push(discreteness(&tested));
    examined.gates.push(reach(&observed, question));
    let tails = Tails::of(&highest, most, tested.resolution);
    examined.tails = tails.told();
    examined.class = tails.tried.first().and_then(|tried| {
        let found: Tested = tail_class(&tried.above.values())?;
        Some((found.statistic, found.p_value, found.effect))
    });
    // What resamples is not begun where the answer is known.
    if examined.failed().next().is_none() {
        estimate(series, &tails, question, &mut examined);
    }
    Some(examined)
}

fn count(observed: &Observed, above: Option<&Exceedances>) -> Gate {
    let clusters = above.map_or(0, |above| above.clusters.len());
    let values = above.map_or(0, |above| above.count);
    if let Some(above) = above.filter(|_| clusters >= LEAST_CLUSTERS) {
        let finding = format!(
            "{clusters} clusters among the {values} highest of {} values, extremal index {}",
            observed.count,
            figure(above.index)
        );
        return Gate::passed(GateName::Count, finding);
    }
    if values >= LEAST_CLUSTERS as u64 {
        return Gate::failed(
            GateName::Count,
            format!(
                "the {values} highest of {} values come in {clusters} {}; {LEAST_CLUSTERS} are the \
                 least",
                observed.count,
                if clusters == 1 { "cluster" } else { "clusters" }
            ),
            "find out what comes in bunches (wakepath explain) and judge it as a phase of its own, or \
             measure until it has come fifty times",
        );
    }
    let needed = (LEAST_CLUSTERS * 10) as u64;
    Gate::failed(
        GateName::Count,
        format!(
            "{} values, too few of them high and apart: {LEAST_CLUSTERS} clusters among the highest \
             tenth are the least",
            observed.count
        ),
        format!(
            "measure at least {} cycles",
            needed.max(observed.count.saturating_mul(2))
        ),
    )
}

fn discreteness(above: &Exceedances) -> Gate {
    const LEAST_DISTINCT: usize = 20;
    let finding = match above.resolution {
        None => format!(
            "{:.1} % of the exceedances are tied, on a grid too fine to matter",
            above.ties * 100.0
        ),
        Some(step) => format!(
            "{:.1} % of the exceedances are tied: {} different values on a grid of {} ns, fitted as \
             intervals",
            above.ties * 100.0,
            above.distinct,
            figure(step)
        ),
    };
    let fine = above.resolution.is_none() || above.distinct >= LEAST_DISTINCT;
    Gate::of(
        GateName::Discreteness,
        fine,
        finding,
        "measure with a finer clock: twenty different values are the least that show a tail",
    )
}

fn reach(observed: &Observed, question: &Question) -> Gate {
    let furthest = 1.0 / (REACH * observed.effective);
    let needed = 1.0 / (REACH * question.exceed * observed.extremal_index);
    Gate::of(
        GateName::Reach,
        question.exceed >= furthest,
        format!(
            "{} is asked for; {:.0} effective cycles reach {}",
            figure(question.exceed),
            observed.effective,
            figure(furthest)
        ),
        &format!("measure {:.0} cycles, or ask for less", needed.ceil()),
    )
}
