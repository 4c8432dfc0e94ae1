//! Counts misses as they come and how they cluster, because one stall that misses 300 due times
//! is one piece of evidence, not 300. What counts as a miss is decided elsewhere.

use crate::binomial::{miss_lower_bound, miss_upper_bound};

/// Tallies misses over one or several series of due times.
#[derive(Debug, Clone)]
pub struct MissClusters {
    gap: u64,
    tally: MissTally,
    run: u64,
    cluster: u64,
    hits_since_miss: u64,
}

/// What was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
}

impl MissClusters {
    /// Misses with at most `gap` due times met between them belong to one cluster; with 0, only
    /// consecutive ones.
    pub fn new(gap: u64) -> Self {
        Self {
            gap,
            tally: MissTally::default(),
            run: 0,
            cluster: 0,
            hits_since_miss: 0,
        }
    }

    /// Counts so many due times in a row as missed, in constant time.
    pub fn push_missed(&mut self, times: u64) {
        let Some(further) = times.checked_sub(1) else {
            return;
        };
        self.push(true);
        let add = |to: &mut u64| *to = to.saturating_add(further);
        [&mut self.run, &mut self.cluster].into_iter().for_each(add);
        [&mut self.tally.due, &mut self.tally.missed]
            .into_iter()
            .for_each(add);
        self.tally.longest_run = self.tally.longest_run.max(self.run);
        self.tally.largest_cluster = self.tally.largest_cluster.max(self.cluster);
    }

    /// Counts the next due time of the series.
    pub fn push(&mut self, missed: bool) {
        self.tally.due += 1;
        if !missed {
            self.run = 0;
            self.hits_since_miss = self.hits_since_miss.saturating_add(1);
            return;
        }
        let joins = self.cluster > 0 && self.hits_since_miss <= self.gap;
        self.cluster = if joins { self.cluster + 1 } else { 1 };
        self.tally.clusters += u64::from(!joins);
        self.hits_since_miss = 0;
        self.run += 1;
        self.tally.missed += 1;
        self.tally.longest_run = self.tally.longest_run.max(self.run);
        self.tally.largest_cluster = self.tally.largest_cluster.max(self.cluster);
    }

    /// Ends the series: what comes next has nothing to do with what was before.
    pub fn end_series(&mut self) {
        self.run = 0;
        self.cluster = 0;
        self.hits_since_miss = 0;
    }

    /// What was counted so far.
    pub fn tally(&self) -> MissTally {
        self.tally
    }
}

impl MissTally {
    /// Share of due times missed; 0 where nothing was due.
    pub fn fraction(&self) -> f64 {
        if self.due == 0 {
            0.0
        } else {
            self.missed as f64 / self.due as f64
        }
    }

    /// Extremal index of the misses by the runs estimator: clusters over misses, 1 where they
    /// stand alone. `None` without misses.
    pub fn extremal_index(&self) -> Option<f64> {
        (self.missed > 0).then(|| self.clusters as f64 / self.missed as f64)
    }

    /// Due times that the bounds treat as one piece of evidence: the size of the largest cluster,
    /// at least 1. The mean cluster size would be the usual estimate, but a few lone misses
    /// beside one long stall would dilute it.
    pub fn evidence_unit(&self) -> u64 {
        self.largest_cluster.max(1)
    }

    /// One-sided upper bound on the miss probability at `confidence`, with due times and misses
    /// divided by [`Self::evidence_unit`] and by `parallel` series that may be hit together (1
    /// for one thread).
    ///
    /// It knows only the clusters that were seen: a run without a miss counts each due time as
    /// evidence of its own, and bounds no stall that is too rare to have occurred in it.
    pub fn upper_bound(&self, confidence: f64, parallel: u64) -> f64 {
        let unit = self.evidence_unit() as f64 * parallel.max(1) as f64;
        miss_upper_bound(
            self.missed as f64 / unit,
            self.due as f64 / unit,
            confidence,
        )
    }

    /// One-sided lower bound on the miss probability at `confidence`, each due time counted by
    /// itself.
    pub fn lower_bound(&self, confidence: f64) -> f64 {
        miss_lower_bound(self.missed as f64, self.due as f64, confidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(gap: u64, series: &[&str]) -> MissTally {
        let mut clusters = MissClusters::new(gap);
        for part in series {
            part.bytes().for_each(|byte| clusters.push(byte == b'x'));
            clusters.end_series();
        }
        clusters.tally()
    }

    #[test]
    fn runs_and_clusters_are_told_apart() {
        let found = tally(1, &["..xx.x...x..", "xxx."]);
        let expected = MissTally {
            due: 16,
            missed: 7,
            longest_run: 3,
            clusters: 3,
            largest_cluster: 3,
        };
        assert_eq!(found, expected);
        assert_eq!(tally(0, &["..xx.x...x.."]).clusters, 3);
        assert_eq!(found.extremal_index(), Some(3.0 / 7.0));
    }

    #[test]
    fn clusters_do_not_reach_across_series() {
        let found = tally(5, &["...x", "x..."]);
        assert_eq!((found.clusters, found.longest_run), (2, 1));
    }

    #[test]
    fn misses_pushed_together_count_as_one_by_one() {
        for (before, times) in [("", 0), ("..x", 1), ("x.", 7), ("....", 40)] {
            let mut together = MissClusters::new(2);
            before.bytes().for_each(|byte| together.push(byte == b'x'));
            let mut single = together.clone();
            together.push_missed(times);
            (0..times).for_each(|_| single.push(true));
            for clusters in [&mut together, &mut single] {
                clusters.push(false);
                clusters.push(true);
            }
            assert_eq!(together.tally(), single.tally(), "{before} {times}");
        }
    }

    #[test]
    fn one_stall_of_300_counts_as_one_piece_of_evidence() {
        let one_stall = MissTally {
            due: 120_000,
            missed: 300,
            longest_run: 300,
            clusters: 1,
            largest_cluster: 300,
        };
        // One event in 400 independent stretches: 1.18 %, where 300 lone misses would say 0.28 %.
        assert!((one_stall.upper_bound(0.95, 1) - 0.011_807).abs() < 1e-5);
        let alone = MissTally {
            largest_cluster: 1,
            clusters: 300,
            ..one_stall
        };
        assert!((alone.upper_bound(0.95, 1) - 0.002_75).abs() < 1e-5);
    }

    #[test]
    fn lone_misses_do_not_dilute_a_stall() {
        let stall = "x".repeat(50) + &".".repeat(2000);
        let with_lone = stall.clone() + &"x...................".repeat(20);
        let alone = tally(3, &[&(stall + &".".repeat(400))]);
        let diluted = tally(3, &[&with_lone]);
        assert_eq!((alone.due, diluted.due), (2450, 2450));
        assert_eq!(
            (diluted.missed, diluted.clusters, diluted.largest_cluster),
            (70, 21, 50)
        );
        assert!(diluted.upper_bound(0.95, 1) > alone.upper_bound(0.95, 1));
    }

    #[test]
    fn nothing_due_is_no_evidence() {
        assert_eq!(MissTally::default().upper_bound(0.95, 1), 1.0);
        assert_eq!(MissTally::default().extremal_index(), None);
    }
}
