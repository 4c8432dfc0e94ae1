//! The compared figures of one run's conditions. Each run is read once; the result is small,
//! however long the run was.

use super::Metric;
use crate::changes::run_changes;
use crate::conditions::{ConditionSegments, group};
use crate::error::AssessmentError;
use crate::imported;
use crate::judged::judged_with;
use serde::Serialize;
use wakepath_archive::{Run, SegmentRecord};
use wakepath_scenario::{Criterion, Scenario};
use wakepath_statistics::{
    Distribution, LatencyHistogram, MissTally, Quantile, QuantileValue, ValueInterval,
    quantile_interval_in_order,
};
use wakepath_timeline::Sample;
use wakepath_verdict::{Account, ConditionName, Fate, JudgedWindow, Limits, Outcome};

/// One condition of one run.
#[derive(Debug, Clone, Serialize)]
pub struct RunFigures {
    /// Name of the run.
    pub run_id: String,
    /// The verdict on the condition, by the base's criterion.
    pub outcome: Outcome,
    /// Why it can't be trusted, if so.
    pub invalid: Vec<String>,
    /// Due times judged.
    pub due_times: u64,
    /// Median, 99 % and 99.9 % quantile of the wake-up latency over all due times, nanoseconds.
    pub quantiles: Vec<QuantileFigure>,
    /// Largest latency over the first due times, as many as every run has, in nanoseconds.
    pub maximum_ns: Option<i64>,
    /// Largest latency over all its due times, in nanoseconds. Does not compare where counts
    /// differ.
    pub whole_maximum_ns: Option<i64>,
    /// Misses and how they cluster.
    #[serde(serialize_with = "wakepath_statistics::serialize_miss_counts")]
    pub misses: MissTally,
    /// Upper bound on the miss probability within this run, at the criterion's confidence.
    pub miss_fraction_at_most: f64,
}

/// A quantile with what its own run knows of it.
#[derive(Debug, Clone, Serialize)]
pub struct QuantileFigure {
    /// Its value.
    #[serde(flatten)]
    pub value: QuantileValue,
    /// 95 % interval from order statistics: within this run, if its due times were independent.
    pub interval: ValueInterval,
}

/// A bin of a histogram: latencies from `low_ns` to `high_ns`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bin {
    /// Lowest latency counted here, in nanoseconds.
    pub low_ns: i64,
    /// Highest, in nanoseconds.
    pub high_ns: i64,
    /// How many.
    pub count: u64,
}

impl RunFigures {
    /// The value of a metric: nanoseconds or a share. `None` where the run is too short for it.
    pub(crate) fn value(&self, metric: Metric) -> Option<f64> {
        if let Some(wanted) = metric.quantile() {
            let found = self
                .quantiles
                .iter()
                .find(|found| found.value.parts_per_million == wanted.parts_per_million())?;
            return if found.value.is_maximum {
                None
            } else {
                found.value.value.map(|ns| ns as f64)
            };
        }
        match metric {
            Metric::Misses => (self.misses.due > 0).then(|| self.misses.fraction()),
            _ => self.maximum_ns.map(|ns| ns as f64),
        }
    }
}

/// [`RunFigures`] before it is known over how many due times maxima are taken.
pub(crate) struct Measured {
    pub(crate) name: ConditionName,
    pub(crate) figures: RunFigures,
    /// Due times at which the largest latency so far was exceeded: its number from 0, the latency.
    records: Vec<(u64, i64)>,
    histogram: LatencyHistogram,
    /// Whether only a histogram is known.
    unordered: bool,
}

impl Measured {
    /// Of a histogram: their order is unknown.
    pub(crate) fn unordered(
        name: ConditionName,
        figures: RunFigures,
        histogram: LatencyHistogram,
    ) -> Self {
        Self {
            name,
            figures,
            records: Vec::new(),
            histogram,
            unordered: true,
        }
    }
}

impl Measured {
    pub(crate) fn over_equal_counts(mut self, count: u64) -> RunFigures {
        if self.unordered {
            // Which values came first is not known.
            let all = self.figures.due_times == count;
            self.figures.maximum_ns = self.figures.whole_maximum_ns.filter(|_| all);
            return self.figures;
        }
        let within = self.records.iter().rev().find(|(place, _)| *place < count);
        self.figures.maximum_ns = within.map(|(_, latency)| *latency);
        self.figures
    }
}

/// The histogram over all runs of a side.
pub(crate) fn merged(side: &[Measured]) -> Vec<Bin> {
    let mut whole = LatencyHistogram::new();
    for run in side {
        whole.merge(&run.histogram);
    }
    let bins = whole.occupied();
    bins.map(|(low_ns, high_ns, count)| Bin {
        low_ns,
        high_ns,
        count,
    })
    .collect()
}

/// Every condition of a run that was measured.
pub(crate) fn figures(
    run: &Run,
    scenario: &Scenario,
    criterion: &Criterion,
) -> Result<Vec<Measured>, AssessmentError> {
    let changes = run_changes(&run.manifest.facts);
    let scenario = &Scenario {
        criterion: criterion.clone(),
        ..scenario.clone()
    };
    let mut all = Vec::new();
    for condition in group(&run.manifest, scenario) {
        if condition.never_started().is_some() {
            continue;
        }
        if let Some(measured) = of_histogram(run, scenario, &condition) {
            all.push(measured);
            continue;
        }
        let mut latencies = Vec::new();
        let mut collect = |_: &SegmentRecord, window: JudgedWindow, samples: &[Sample]| {
            latencies_of(window, samples, &mut |latency| latencies.push(latency));
        };
        let judgement = judged_with(run, scenario, &condition, &changes, &mut collect)?;
        // Without a criterion there is nothing to be missed.
        let misses = judgement.cycles.misses.map(|misses| misses.tally());
        let misses = misses.unwrap_or_default();
        let mut records: Vec<(u64, i64)> = Vec::new();
        let mut histogram = LatencyHistogram::new();
        for (place, &latency) in (0..).zip(&latencies) {
            histogram.record(latency);
            if records.last().is_none_or(|(_, largest)| latency > *largest) {
                records.push((place, latency));
            }
        }
        let distribution = Distribution::new(latencies.clone());
        let quantiles = distribution.iter().flat_map(|distribution| {
            let wanted = Metric::ALL.into_iter().filter_map(Metric::quantile);
            wanted.map(|quantile| QuantileFigure {
                value: distribution.quantile(quantile),
                interval: quantile_interval_in_order(&latencies, quantile, 0.95),
            })
        });
        let against = |reason: &&wakepath_verdict::Reason| reason.bearing() == Outcome::Invalid;
        let invalid = judgement.reasons.iter().filter(against);
        all.push(Measured {
            figures: RunFigures {
                run_id: run.manifest.run_id.clone(),
                outcome: judgement.outcome,
                invalid: invalid.map(ToString::to_string).collect(),
                due_times: judgement.cycles.scheduled,
                quantiles: quantiles.collect(),
                maximum_ns: None,
                whole_maximum_ns: records.last().map(|(_, latency)| *latency),
                misses,
                miss_fraction_at_most: misses
                    .upper_bound(criterion.confidence, judgement.cycles.threads),
            },
            name: judgement.name,
            records,
            histogram,
            unordered: false,
        });
    }
    Ok(all)
}

/// Figures of a histogram for a comparison; `None` if there are samples.
fn of_histogram(
    run: &Run,
    scenario: &Scenario,
    condition: &ConditionSegments<'_>,
) -> Option<Measured> {
    let criterion = condition.criterion(&scenario.criterion_of_each());
    let counted = imported::counted(&run.manifest, condition)?;
    let judgement = imported::judged_by_histogram(&run.manifest, condition, &criterion)?;
    let mut histogram = LatencyHistogram::new();
    for bin in counted.bins.iter().filter(|bin| !bin.overflowed) {
        histogram.record_many(bin.high_ns, bin.count);
    }
    let wanted = [Quantile::P50, Quantile::P99, Quantile::P999];
    // How many of the overflowed values were late is not known.
    let misses = if counted.bins.iter().any(|bin| bin.overflowed) {
        MissTally::default()
    } else {
        judgement
            .cycles
            .misses
            .map_or(MissTally::default(), |misses| misses.tally())
    };
    let figures = RunFigures {
        run_id: run.manifest.run_id.clone(),
        outcome: judgement.outcome,
        invalid: Vec::new(),
        due_times: counted.count,
        quantiles: wanted
            .map(|quantile| QuantileFigure {
                value: counted.quantile(quantile),
                interval: counted.interval(quantile),
            })
            .to_vec(),
        maximum_ns: None,
        whole_maximum_ns: Some(counted.max_ns),
        misses,
        miss_fraction_at_most: misses.upper_bound(criterion.confidence, judgement.cycles.threads),
    };
    Some(Measured::unordered(judgement.name, figures, histogram))
}

/// Wake-up latency of every judged due time in order, as the verdict's record counts them: one at
/// which no cycle ran counts with the next wake-up − its due time.
fn latencies_of(window: JudgedWindow, samples: &[Sample], each: &mut dyn FnMut(i64)) {
    // The verdict's record has taken them all, and of limits nothing is asked here.
    let _ = Account::new(Limits::default()).add_segment(window, samples, |fate| match fate {
        Fate::Ran { sample, .. } => each(sample.latency_ns()),
        Fate::Skipped(gap) => gap.suffered_ns().for_each(&mut *each),
        Fate::Unknown(_) => {}
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::DueTimes;
    use wakepath_verdict::Gaps;

    #[test]
    fn skipped_due_times_stand_in_their_place_with_what_they_suffered() {
        let due = DueTimes {
            start_ns: 1_000,
            period_ns: 100,
        };
        let sample = |cycle, latency| Sample {
            cycle,
            due_ns: due.due_ns(cycle),
            wake_ns: due.due_ns(cycle) + latency,
            end_ns: due.due_ns(cycle) + latency,
            ..Sample::default()
        };
        let window = JudgedWindow {
            due,
            first_judged_cycle: 1,
            end_cycle: 7,
            thread: 0,
            lost: 0,
            gaps: Gaps::Skipped,
        };
        let mut found = Vec::new();
        let samples = [sample(0, 9), sample(1, 5), sample(4, 20)];
        latencies_of(window, &samples, &mut |latency| found.push(latency));
        // 2 and 3 wait for cycle 4, which woke at 1420; 5 and 6 for the window's end at 1700.
        assert_eq!(found, [5, 220, 120, 20, 200, 100]);
    }
}
