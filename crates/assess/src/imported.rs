//! Runs that another tool measured: figures and verdicts of histograms, and what such a run can't
//! show. An imported run never passes: what its tool does not record can't be judged. It may fail.

use crate::Assessment;
use crate::conditions::ConditionSegments;
use crate::picture::{CpuCounts, CpuTally, Shape};
use std::collections::BTreeMap;
use wakepath_archive::{Imported, Manifest, ThreadHistogram};
use wakepath_scenario::Criterion;
use wakepath_statistics::{
    DistributionSummary, MissTally, Quantile, QuantileValue, RankInterval, ValueInterval,
    quantile_rank_interval,
};
use wakepath_timeline::Lack;
use wakepath_verdict::{
    DueTally, Judgement, Limits, Misses, Observation, Observed, Outcome, Reason, judged, shown_by,
};

/// The histograms of a condition's threads, added up; `None` if it has samples.
pub(crate) fn counted(manifest: &Manifest, condition: &ConditionSegments<'_>) -> Option<Counted> {
    let imported = manifest.imported.as_ref()?;
    let of = |segment, thread| imported.histogram(segment, thread);
    let all: Option<Vec<&ThreadHistogram>> = condition
        .threads
        .iter()
        .map(|(segment, thread)| of(segment.segment, thread.thread))
        .collect();
    all.filter(|all| !all.is_empty())
        .map(|all| Counted::new(&all))
}

/// Values between two ends.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    low_ns: i64,
    pub(crate) high_ns: i64,
    pub(crate) count: u64,
    /// Beyond the histogram's range: only the edges of these values are known.
    pub(crate) overflowed: bool,
}

/// Counts by value over several threads.
pub(crate) struct Counted {
    /// Ascending by highest value.
    pub(crate) bins: Vec<Counts>,
    pub(crate) count: u64,
    min_ns: i64,
    pub(crate) max_ns: i64,
    mean_ns: f64,
}

impl Counted {
    fn new(all: &[&ThreadHistogram]) -> Self {
        let mut bins: Vec<Counts> = Vec::new();
        for histogram in all {
            bins.extend(
                histogram
                    .bins
                    .iter()
                    .map(|&(low_ns, high_ns, count)| Counts {
                        low_ns,
                        high_ns,
                        count,
                        overflowed: false,
                    }),
            );
            if histogram.overflowed > 0 {
                let last = histogram.bins.last().map_or(0, |bin| bin.1);
                let low_ns = histogram.range_end_ns.unwrap_or(last);
                bins.push(Counts {
                    low_ns,
                    high_ns: histogram.max_ns.unwrap_or(low_ns).max(low_ns),
                    count: histogram.overflowed,
                    overflowed: true,
                });
            }
        }
        bins.sort_unstable_by_key(|bin| (bin.high_ns, bin.low_ns));
        let count = bins
            .iter()
            .fold(0_u64, |sum, bin| sum.saturating_add(bin.count));
        let middle =
            |bin: &Counts| (bin.low_ns as f64 + bin.high_ns as f64) / 2.0 * bin.count as f64;
        let own = bins.iter().map(middle).sum::<f64>() / count.max(1) as f64;
        let told = all
            .iter()
            .map(|h| Some((h.mean_ns? as f64, h.count() as f64)));
        let told: Option<Vec<(f64, f64)>> = told.collect();
        let mean_ns = told.map_or(own, |told| {
            let sum: f64 = told.iter().map(|(mean, count)| mean * count).sum();
            sum / count.max(1) as f64
        });
        let least = bins.iter().map(|bin| bin.low_ns).min().unwrap_or(0);
        let most = bins.last().map_or(0, |bin| bin.high_ns);
        Self {
            count,
            min_ns: all.iter().filter_map(|h| h.min_ns).min().unwrap_or(least),
            max_ns: all.iter().filter_map(|h| h.max_ns).max().unwrap_or(most),
            mean_ns,
            bins,
        }
    }

    /// The upper edge of the bin at this rank: never below the value, and at most one bin above it. `None`
    /// if the rank can fall on an overflowed value, whose size is lost.
    fn at_rank(&self, rank: u64) -> Option<i64> {
        let lost = self.bins.iter().filter(|bin| bin.overflowed);
        let lowest_lost = lost.map(|bin| bin.low_ns).min();
        let mut seen = 0_u64;
        for bin in &self.bins {
            seen = seen.saturating_add(bin.count);
            if seen >= rank {
                let known = lowest_lost.is_none_or(|lost| bin.high_ns < lost);
                let value = bin.high_ns.clamp(self.min_ns, self.max_ns.max(self.min_ns));
                return known.then_some(value);
            }
        }
        None
    }

    /// As it is drawn. What overflowed lies in one wide bin, from the range's end to the largest.
    fn shape(&self) -> Option<Shape> {
        let mut bins: BTreeMap<(i64, i64), u64> = BTreeMap::new();
        for bin in &self.bins {
            let high_ns = if bin.overflowed {
                self.max_ns
            } else {
                bin.high_ns
            };
            let count = bins.entry((bin.low_ns, high_ns)).or_default();
            *count = count.saturating_add(bin.count);
        }
        let bins: Vec<(i64, i64, u64)> = bins
            .into_iter()
            .map(|((low, high), count)| (low, high.max(low), count))
            .collect();
        let mut shape = Shape::of_counts(&bins, self.max_ns)?;
        (shape.min, shape.mean) = (self.min_ns, self.mean_ns);
        for value in &mut shape.quantiles {
            if let Some(quantile) = Quantile::from_parts_per_million(value.parts_per_million) {
                *value = self.quantile(quantile);
            }
        }
        Some(shape)
    }

    pub(crate) fn quantile(&self, quantile: Quantile) -> QuantileValue {
        let found = self.at_rank(quantile.rank(self.count));
        QuantileValue {
            parts_per_million: quantile.parts_per_million(),
            value: found,
            is_maximum: found.is_none() || !quantile.differs_from_maximum(self.count),
        }
    }

    pub(crate) fn interval(&self, quantile: Quantile) -> ValueInterval {
        let RankInterval {
            lower,
            upper,
            coverage,
        } = quantile_rank_interval(self.count, quantile, 0.95);
        ValueInterval {
            lower: lower.and_then(|rank| self.at_rank(rank)),
            upper: upper.and_then(|rank| self.at_rank(rank)),
            coverage,
        }
    }

    fn summary(&self) -> DistributionSummary {
        let shown = [
            Quantile::P50,
            Quantile::P90,
            Quantile::P99,
            Quantile::P999,
            Quantile::P9999,
        ];
        DistributionSummary {
            count: self.count,
            min: self.min_ns,
            max: self.max_ns,
            mean: self.mean_ns,
            quantiles: shown.map(|quantile| self.quantile(quantile)).to_vec(),
        }
    }

    /// Values that were certainly late. How they cluster is not known.
    fn misses(&self, criterion: &Criterion) -> MissTally {
        let limits = Limits::new(criterion);
        // A cycle ends no sooner than it wakes.
        let is_late = |ns: i64| limits.are_exceeded_by(ns, ns);
        let late = self.bins.iter().filter(|bin| is_late(bin.low_ns));
        let late = late.fold(0_u64, |sum, bin| sum.saturating_add(bin.count));
        // A bin on the limit can contain late values; the largest value is known exactly.
        let missed = late.max(u64::from(is_late(self.max_ns)));
        MissTally::without_order(missed, self.count)
    }
}

/// The plotted shape of a condition's latencies; `None` if there are samples.
pub(crate) fn shape(manifest: &Manifest, condition: &ConditionSegments<'_>) -> Option<Shape> {
    counted(manifest, condition)?.shape()
}

/// The latencies of each CPU, where each of several threads was pinned to one; otherwise none.
pub(crate) fn cpu_counts(manifest: &Manifest, condition: &ConditionSegments<'_>) -> Vec<CpuCounts> {
    let mut tally = CpuTally::default();
    for (segment, thread) in &condition.threads {
        let imported = manifest.imported.as_ref();
        let histogram = imported.and_then(|all| all.histogram(segment.segment, thread.thread));
        let (Some(histogram), [cpu]) = (histogram, &thread.cpus[..]) else {
            return Vec::new();
        };
        for &(low_ns, _, count) in &histogram.bins {
            tally.add(*cpu, low_ns, count);
        }
        tally.add(*cpu, i64::MAX, histogram.overflowed);
        let last = histogram.bins.last().map(|bin| bin.1);
        if let Some(largest) = histogram.max_ns.or(last) {
            tally.largest(*cpu, largest);
        }
    }
    let counts = tally.counts();
    if counts.len() > 1 { counts } else { Vec::new() }
}

/// The verdict on a condition known only from histograms; `None` if there are samples.
pub(crate) fn judged_by_histogram(
    manifest: &Manifest,
    condition: &ConditionSegments<'_>,
    criterion: &Criterion,
) -> Option<Judgement> {
    let imported = manifest.imported.as_ref()?;
    let counted = counted(manifest, condition)?;
    let has_due_times = imported.measured.has_due_times();
    let misses = if has_due_times {
        counted.misses(criterion)
    } else {
        MissTally::default()
    };
    let observed = condition.threads.iter().map(|(segment, thread)| {
        let own = imported.histogram(segment.segment, thread.thread);
        match own.and_then(|own| own.observed_ns) {
            Some(ns) => ns,
            None if has_due_times => thread.expected.saturating_mul(thread.due.period_ns),
            None => 0,
        }
    });
    let judged_ns = observed.fold(0_u64, u64::saturating_add);
    let tally = DueTally {
        executed: counted.count,
        executed_late: misses.missed,
        misses,
        window_ns: judged_ns,
        threads: (0..).take(condition.threads.len()).collect(),
        largest_latency_ns: Some(counted.max_ns),
        // It is no shorter.
        largest_response_ns: Some(counted.max_ns),
        ..DueTally::default()
    };
    let name = condition.name();
    // The order of the values is not known, nor all that were late: only a failure is certain.
    let mut reasons = shown_by(&tally, criterion);
    reasons.retain(|reason| reason.bearing() == Outcome::Failed);
    let mut judgement = judged(&name, &tally, reasons, criterion);
    judgement.cycles.latency_as_executed = Some(counted.summary());
    judgement.cycles.latency_as_scheduled = Some(counted.summary());
    let judgement = held_back(judgement, imported);
    Some(if has_due_times {
        judgement
    } else {
        judgement.without_criterion()
    })
}

/// With what the tool does not record as a reason against passing, and without the figures that
/// would rest on it.
pub(crate) fn held_back(judgement: Judgement, imported: &Imported) -> Judgement {
    let mut judgement = as_known(judgement, imported);
    judgement.more = None;
    let lacks = wakepath_verdict::counted(imported.lacks.len() as u64, "thing", "things");
    let what = format!("{lacks} that a verdict needs, listed below");
    judgement.with(Reason::NotRecorded { what })
}

/// With those figures alone that the tool's recording shows.
pub(crate) fn as_known(mut judgement: Judgement, imported: &Imported) -> Judgement {
    let cycles = &mut judgement.cycles;
    if !imported.has_work() {
        (cycles.execution, cycles.response, cycles.longest_outage) = (None, None, None);
        cycles.overruns = None;
        let known = |seen: &Observation| seen.of == Observed::LatencyAsScheduled;
        judgement.observations.retain(known);
    }
    // No cycle was asked what it came after, or what its work said.
    if imported.is_made_of_events() || !imported.histograms.is_empty() {
        (cycles.late_after_overrun, cycles.work_faults) = (None, None);
    }
    if imported.lacks.contains(&Lack::SkippedPeriods) || !imported.histograms.is_empty() {
        (cycles.skipped, cycles.skipped_at_end) = (None, None);
    }
    if imported.lacks.contains(&Lack::Order) {
        cycles.misses = cycles.misses.map(Misses::without_order);
    }
    judgement
}

/// Whether more values may be late than were counted: those beyond the histogram's range, how late
/// each was is lost.
pub fn more_may_be_late(assessment: &Assessment, of: &Judgement) -> bool {
    let Some(imported) = &assessment.imported else {
        return false;
    };
    // If the largest is not late, none is.
    let missed = of.cycles.missed().is_some_and(|missed| missed > 0);
    let may_be = |all: &ThreadHistogram| all.overflowed > 0 && (missed || all.max_ns.is_none());
    imported.measured.has_due_times()
        && (imported.lacks.contains(&Lack::OverflowCount) || imported.histograms.iter().any(may_be))
}

#[cfg(test)]
mod tests;
