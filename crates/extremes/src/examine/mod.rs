//! A series examined: the statement about its largest value, the gates in order, and a bound only if all
//! gates pass. A refusal is an answer.
//!
//! With confidence 1 − α any one cycle exceeds the largest of n values with a probability of at most
//! p₀ = 1 − α^{1/θn}. For a probability p < p₀ the bound is m + (p₀/p)(M − m), M the largest value and m
//! the median. It holds if exceedances fall at least in proportion to the distance from the median:
//! P(X > m + ty) ≤ P(X > m + y)/t for y = M − m and t = p₀/p. Exponential, Weibull, lognormal and Pareto tails
//! (ξ ≤ 1) do, and so does a slow mode that was barely seen, unless it is t times slower than M. A fitted
//! tail continues the ordinary values, whatever else there is.

mod said;
mod tails;
#[cfg(test)]
mod tests;

pub use said::{Answer, Examined, Extended, Observed, Question};
pub use tails::{Tail, tails};

use crate::exceedances::{Exceedances, Highest};
use crate::gate::{Gate, GateName, figure};
use crate::steadiness::steadiness;
use wakepath_statistics::miss_bound_without_misses;

/// Fewer clusters of exceedances than this are refused.
const LEAST_CLUSTERS: usize = 50;
/// Exceedances with which steadiness is tested and clusters are first counted.
const EXCEEDANCES_TESTED: usize = 300;
/// Fewest exceedances with which clusters are counted: rare bursts show at the very top only.
const FEWEST_TESTED: usize = 18;
/// Without clusters, the bound may lie this many times further from the median than the largest value. Clusters
/// don't count here: a run in which a slow path showed must not be refused for having shown it.
const REACH: f64 = 10.0;

/// A series examined, from which the answer to any question follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Examination {
    /// Everything but the reach and the answer.
    grounds: Examined,
    median: i64,
}

/// Examines a series in the order of time for one question. `provenance` is the gate of how it was measured,
/// which this crate can't know. `None` for a series without values.
pub fn examine(series: &[i64], provenance: Gate, question: &Question) -> Option<Examined> {
    let examination = Examination::new(series, provenance, question.confidence)?;
    Some(examination.answer(question.exceed))
}

impl Examination {
    /// As [`examine`], before anything is asked.
    pub fn new(series: &[i64], provenance: Gate, confidence: f64) -> Option<Self> {
        let most = (series.len() / 10).min(EXCEEDANCES_TESTED);
        let highest = Highest::new(series, most.max(1) + 1);
        let largest = highest.largest()?;
        let tested = highest.above_rank(most);
        let index = least_index(&highest, most);
        let observed = Observed::new(highest.length(), largest, index, confidence);
        let mut grounds = Examined {
            observed,
            gates: vec![provenance, count(&observed, tested.as_ref())],
            cautions: Vec::new(),
            tests: Vec::new(),
            answer: Answer::Refused,
        };
        // Drift can't be seen in too few values; it can in many that come in few bunches.
        if let Some(tested) = tested.filter(|above| above.count >= LEAST_CLUSTERS as u64) {
            let (tests, gate, dependent) = steadiness(series, &tested);
            grounds.tests = tests;
            grounds.gates.push(gate);
            grounds.cautions.extend(dependent);
        }
        let mut values = series.to_vec();
        let middle = values.len() / 2;
        let (_, &mut median, _) = values.select_nth_unstable(middle);
        Some(Self { grounds, median })
    }

    /// The answer for the level that any one cycle exceeds with this probability.
    pub fn answer(&self, exceed: f64) -> Examined {
        let mut examined = self.grounds.clone();
        let observed = examined.observed;
        let times = miss_bound_without_misses(observed.effective, observed.confidence) / exceed;
        let counted = |gate: &Gate| gate.name != GateName::Count || gate.passed;
        if times > 1.0 && examined.gates.iter().all(counted) {
            examined.gates.push(reach(&observed, exceed));
        }
        examined.observed = observed.held_by(&examined.gates);
        if examined.failed().next().is_none() {
            let from_median = (observed.largest - self.median) as f64;
            examined.answer = if times > 1.0 {
                Answer::Extended(Extended {
                    bound: self.median as f64 + times * from_median,
                    median: self.median,
                    times,
                })
            } else {
                Answer::Observed
            };
        }
        examined
    }
}

/// The smallest extremal index over thresholds from `most` exceedances up to few: values that come in
/// clusters only at the very top count once for each cluster.
fn least_index(highest: &Highest, most: usize) -> f64 {
    let halved = std::iter::successors(Some(most), |count| Some(count / 2));
    halved
        .take_while(|count| *count >= FEWEST_TESTED)
        .filter_map(|count| Some(highest.above_rank(count)?.index))
        .fold(1.0, f64::min)
}

fn count(observed: &Observed, above: Option<&Exceedances>) -> Gate {
    let clusters = above.map_or(0, |above| above.clusters.len());
    let values = above.map_or(0, |above| above.count);
    if clusters >= LEAST_CLUSTERS {
        let finding = format!(
            "{clusters} clusters among the {values} highest of {} values, extremal index {}",
            observed.count,
            figure(observed.extremal_index)
        );
        return Gate::passed(GateName::Count, finding);
    }
    if values >= LEAST_CLUSTERS as u64 {
        return Gate::failed(
            GateName::Count,
            format!(
                "the {values} highest of {} values come in {clusters} {}; at least {LEAST_CLUSTERS} are needed",
                observed.count,
                if clusters == 1 { "cluster" } else { "clusters" }
            ),
            "find the cause of the clusters (wakepath explain) and judge it as a phase of its own, or \
             measure until it has come fifty times",
        );
    }
    let shortest = (LEAST_CLUSTERS * 10) as u64;
    Gate::failed(
        GateName::Count,
        format!(
            "only {values} of {} values stand out as its highest tenth, or its 300 highest; at least \
             {LEAST_CLUSTERS} are needed",
            observed.count
        ),
        if observed.count < shortest {
            format!("measure at least {shortest} cycles")
        } else {
            "measure with a finer clock: most of the highest values are equal".to_owned()
        },
    )
}

fn reach(observed: &Observed, exceed: f64) -> Gate {
    let alone = miss_bound_without_misses(observed.count as f64, observed.confidence);
    let furthest = alone / REACH;
    Gate::new(
        GateName::Reach,
        exceed >= furthest,
        format!(
            "{} is {} times rarer than the {} that the largest of {} cycles proves at best; at most {REACH} \
             times are allowed",
            figure(exceed),
            figure(alone / exceed),
            figure(alone),
            observed.count,
        ),
        &format!(
            "measure {:.0} cycles, or ask for --exceed {:.1e}",
            (-(1.0 - observed.confidence).ln() / (REACH * exceed)).ceil(),
            // Rounded up, so that it is within reach.
            round_up(furthest)
        ),
    )
}

/// Two digits, not below the value.
fn round_up(value: f64) -> f64 {
    let unit = 10_f64.powf(value.log10().floor() - 1.0);
    (value / unit).ceil() * unit
}
