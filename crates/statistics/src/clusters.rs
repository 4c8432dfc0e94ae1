//! Counts misses as they come and how they cluster, because one stall that misses 300 due times
//! is one piece of evidence, not 300. What counts as a miss is decided elsewhere.

use crate::binomial::miss_lower_bound;
use crate::blocks::{OpenBlocks, Spread};
use crate::dispersion::dispersion;
use crate::steady_bound::{Seen, worth};

/// Tallies misses over one or several series of due times, in a few kilobytes for any number.
#[derive(Debug, Clone)]
pub struct MissClusters {
    gap: u64,
    due: u64,
    missed: u64,
    longest_run: u64,
    clusters: u64,
    largest_cluster: u64,
    run: u64,
    cluster: u64,
    hits_since_miss: u64,
    blocks: OpenBlocks,
    close: OpenClose,
    halfway: OpenClose,
}

/// The due times past a part of a limit, under way.
#[derive(Debug, Clone, Default)]
struct OpenClose {
    count: u64,
    blocks: OpenBlocks,
}

impl OpenClose {
    fn push(&mut self, times: u64) {
        self.count = self.count.saturating_add(times);
        self.blocks.push_missed(times);
    }

    fn close(&self) -> Close {
        Close {
            count: self.count,
            spread: self.blocks.spread(),
        }
    }
}

/// Share of its limit that a due time used although it was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NearMiss {
    /// More than half.
    PastHalf,
    /// More than three quarters.
    PastThreeQuarters,
}

/// The counts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "stored::Stored", into = "stored::Stored")
)]
pub struct MissTally {
    /// Due times.
    pub due: u64,
    /// Due times missed.
    pub missed: u64,
    /// Longest run of consecutive misses.
    pub longest_run: u64,
    /// Groups of misses with no more than the gap of due times met between two of them.
    pub clusters: u64,
    /// Misses in the largest cluster.
    pub largest_cluster: u64,
    spread: Spread,
    close: Close,
    halfway: Close,
}

/// Due times that were missed, or past three quarters (`close`) or half (`halfway`) of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Close {
    count: u64,
    spread: Spread,
}

impl Close {
    fn merge(&mut self, later: &Self) {
        self.count = self.count.saturating_add(later.count);
        self.spread.append(&later.spread);
    }
}

/// Near misses can represent misses only if they are the tail of the measurement: at most this share of due
/// times.
const TAIL: f64 = 0.1;

impl MissClusters {
    /// Misses with at most `gap` due times met between them belong to one cluster; with 0, only
    /// consecutive ones.
    pub fn new(gap: u64) -> Self {
        Self {
            gap,
            due: 0,
            missed: 0,
            longest_run: 0,
            clusters: 0,
            largest_cluster: 0,
            run: 0,
            cluster: 0,
            hits_since_miss: 0,
            blocks: OpenBlocks::default(),
            close: OpenClose::default(),
            halfway: OpenClose::default(),
        }
    }

    /// Counts `times` consecutive due times as missed, in constant time.
    pub fn push_missed(&mut self, times: u64) {
        if times == 0 {
            return;
        }
        let joins = self.cluster > 0 && self.hits_since_miss <= self.gap;
        self.cluster = if joins { self.cluster } else { 0 }.saturating_add(times);
        self.clusters += u64::from(!joins);
        self.hits_since_miss = 0;
        self.run = self.run.saturating_add(times);
        self.due = self.due.saturating_add(times);
        self.missed = self.missed.saturating_add(times);
        self.longest_run = self.longest_run.max(self.run);
        self.largest_cluster = self.largest_cluster.max(self.cluster);
        self.blocks.push_missed(times);
        self.close.push(times);
        self.halfway.push(times);
    }

    /// Counts the next due time of the series.
    pub fn push(&mut self, missed: bool) {
        if missed {
            self.push_missed(1)
        } else {
            self.met();
            self.close.blocks.push_met();
            self.halfway.blocks.push_met();
        }
    }

    /// Counts the next due time of the series as met with this share of its limit used. How these cluster
    /// shows how misses would, before there are any.
    pub fn push_near_miss(&mut self, used: NearMiss) {
        self.met();
        match used {
            NearMiss::PastHalf => self.close.blocks.push_met(),
            NearMiss::PastThreeQuarters => self.close.push(1),
        }
        self.halfway.push(1);
    }

    fn met(&mut self) {
        self.due += 1;
        self.run = 0;
        self.hits_since_miss = self.hits_since_miss.saturating_add(1);
        self.blocks.push_met();
    }

    /// Ends the series (a repetition, a boot): no run and no cluster reaches into the next one, and
    /// the series counts as one replicate among those that there are.
    pub fn end_series(&mut self) {
        self.run = 0;
        self.cluster = 0;
        self.hits_since_miss = 0;
        self.blocks.end_series();
        self.close.blocks.end_series();
        self.halfway.blocks.end_series();
    }

    /// The counts so far.
    pub fn tally(&self) -> MissTally {
        MissTally {
            due: self.due,
            missed: self.missed,
            longest_run: self.longest_run,
            clusters: self.clusters,
            largest_cluster: self.largest_cluster,
            spread: self.blocks.spread(),
            close: self.close.close(),
            halfway: self.halfway.close(),
        }
    }

    /// The counts since the last call. Merged in their order, these tallies equal the single tally. An
    /// unfinished run or cluster continues: its whole length is in the part in which it is longest.
    pub fn take(&mut self) -> MissTally {
        let tally = self.tally();
        self.blocks.part();
        self.close.blocks.part();
        self.halfway.blocks.part();
        [
            &mut self.due,
            &mut self.missed,
            &mut self.longest_run,
            &mut self.clusters,
            &mut self.largest_cluster,
            &mut self.close.count,
            &mut self.halfway.count,
        ]
        .into_iter()
        .for_each(|count| *count = 0);
        tally
    }
}

impl MissTally {
    /// Counts whose order in time is unknown, as those of a histogram: each due time by itself.
    pub fn without_order(missed: u64, due: u64) -> Self {
        Self {
            due,
            missed,
            clusters: missed,
            largest_cluster: u64::from(missed > 0),
            ..Self::default()
        }
    }

    /// The counts alone: how misses are spread over time is forgotten.
    #[must_use]
    pub fn counts(self) -> Self {
        Self {
            spread: Spread::default(),
            close: Close::default(),
            halfway: Close::default(),
            ..self
        }
    }

    /// Adds what was counted after this: the next part of the same recording
    /// ([`MissClusters::take`]), or another one, which is a replicate.
    pub fn merge(&mut self, later: &Self) {
        // A history from another writer can hold any number.
        self.due = self.due.saturating_add(later.due);
        self.missed = self.missed.saturating_add(later.missed);
        self.longest_run = self.longest_run.max(later.longest_run);
        self.clusters = self.clusters.saturating_add(later.clusters);
        self.largest_cluster = self.largest_cluster.max(later.largest_cluster);
        self.spread.append(&later.spread);
        self.close.merge(&later.close);
        self.halfway.merge(&later.halfway);
    }

    /// Share of due times missed; 0 if nothing was due.
    pub fn fraction(&self) -> f64 {
        if self.due == 0 {
            0.0
        } else {
            self.missed as f64 / self.due as f64
        }
    }

    /// Extremal index of the misses by the runs estimator: clusters over misses, 1 if no two misses share a
    /// cluster. `None` without misses.
    pub fn extremal_index(&self) -> Option<f64> {
        (self.missed > 0).then(|| self.clusters as f64 / self.missed as f64)
    }

    /// Due times that [`Self::upper_bound`] treats as one: for one series 1 where misses come independently
    /// of each other. Misses that come together, in clusters or in stretches of time, raise it, and
    /// so do near misses that come together.
    pub fn evidence_unit(&self, confidence: f64, parallel: u64) -> f64 {
        let bound = self.upper_bound(confidence, parallel);
        let series = parallel.max(1) as f64;
        let [missed, due] = [self.missed, self.due].map(|count| count as f64 / series);
        series * worth(missed, due, bound, confidence)
    }

    /// One-sided upper bound on the miss probability at `confidence`, for `parallel` series that may be
    /// hit together (1 for one thread). A due time that is missed instead of met never lowers it.
    ///
    /// It knows only the misses and near misses that were seen: a run without either counts each due time as
    /// independent evidence, and bounds no stall that is too rare to have occurred in it.
    pub fn upper_bound(&self, confidence: f64, parallel: u64) -> f64 {
        let seen = Seen {
            missed: self.missed as f64,
            due: self.due as f64,
            confidence,
            parallel: parallel.max(1) as f64,
        };
        let near = [&self.close, &self.halfway].map(|Close { count, spread }| {
            let others = count.saturating_sub(self.missed);
            // Also without others: the last near miss that becomes a miss must not lower the bound.
            if others as f64 <= TAIL * self.due as f64 {
                seen.by_near_misses(spread, *count as f64)
            } else {
                0.0
            }
        });
        near.into_iter()
            .fold(seen.by_misses(&self.spread), f64::max)
    }

    /// One-sided lower bound on the miss probability at `confidence`, with due times and misses divided by
    /// the ratio of variances and by `parallel` series that can be hit together (1 for one thread); or, if
    /// larger, the share missed times 1 − `confidence`, which holds however misses depend on each other
    /// (Markov's inequality).
    pub fn lower_bound(&self, confidence: f64, parallel: u64) -> f64 {
        let unit = self.variance_ratio(confidence) * parallel.max(1) as f64;
        let (missed, due) = (self.missed as f64 / unit, self.due as f64 / unit);
        miss_lower_bound(missed, due, confidence).max((1.0 - confidence) * self.fraction())
    }

    /// Variance of the misses, or near misses, in blocks of time over that of independent ones.
    pub(crate) fn variance_ratio(&self, confidence: f64) -> f64 {
        let misses = dispersion(&self.spread, self.missed, self.due, Some(confidence));
        let Close { count, spread } = &self.close;
        // Without others these are the misses again.
        let is_tail = *count > self.missed && *count as f64 <= TAIL * self.due as f64;
        if is_tail {
            misses.max(dispersion(spread, *count, self.due, None))
        } else {
            misses
        }
    }
}

/// The counts alone, for reports.
///
/// # Errors
/// The serializer's.
#[cfg(feature = "serde")]
pub fn serialize_miss_counts<S: serde::Serializer>(
    tally: &MissTally,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeStruct;
    let mut counts = serializer.serialize_struct("MissCounts", 5)?;
    counts.serialize_field("due", &tally.due)?;
    counts.serialize_field("missed", &tally.missed)?;
    counts.serialize_field("longest_run", &tally.longest_run)?;
    counts.serialize_field("clusters", &tally.clusters)?;
    counts.serialize_field("largest_cluster", &tally.largest_cluster)?;
    counts.end()
}

#[cfg(feature = "serde")]
mod stored;

#[cfg(test)]
mod tests;
