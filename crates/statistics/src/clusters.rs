//! Counts misses as they come and how they cluster, because one stall that misses 300 due times
//! is one piece of evidence, not 300. What counts as a miss is decided elsewhere.

use crate::binomial::{miss_lower_bound, miss_upper_bound};
use crate::blocks::{OpenBlocks, Spread};
use crate::dispersion::dispersion;

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
    close: u64,
    close_blocks: OpenBlocks,
}

/// What was counted.
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
}

/// Due times that were missed or nearly missed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Close {
    count: u64,
    spread: Spread,
}

/// Near misses stand for misses only if they are the tail of what was measured: at most this share of
/// due times.
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
            close: 0,
            close_blocks: OpenBlocks::default(),
        }
    }

    /// Counts so many due times in a row as missed, in constant time.
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
        self.close = self.close.saturating_add(times);
        self.close_blocks.push_missed(times);
    }

    /// Counts the next due time of the series.
    pub fn push(&mut self, missed: bool) {
        match missed {
            true => self.push_missed(1),
            false => {
                self.met();
                self.close_blocks.push_met();
            }
        }
    }

    /// Counts the next due time of the series as met with little to spare. How these come together
    /// shows how misses would, before there are any.
    pub fn push_near_miss(&mut self) {
        self.met();
        self.close = self.close.saturating_add(1);
        self.close_blocks.push_missed(1);
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
        self.close_blocks.end_series();
    }

    /// What was counted so far.
    pub fn tally(&self) -> MissTally {
        MissTally {
            due: self.due,
            missed: self.missed,
            longest_run: self.longest_run,
            clusters: self.clusters,
            largest_cluster: self.largest_cluster,
            spread: self.blocks.spread(),
            close: Close {
                count: self.close,
                spread: self.close_blocks.spread(),
            },
        }
    }

    /// What was counted since the last call. Merged in their order, all of these are what one tally
    /// would have been. A run or cluster under way goes on: its whole length is in the part in which
    /// it is longest.
    pub fn take(&mut self) -> MissTally {
        let tally = self.tally();
        self.blocks.part();
        self.close_blocks.part();
        [
            &mut self.due,
            &mut self.missed,
            &mut self.longest_run,
            &mut self.clusters,
            &mut self.largest_cluster,
            &mut self.close,
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
            ..self
        }
    }

    /// Adds what was counted after this: the next part of the same recording
    /// ([`MissClusters::take`]), or another one, which is a replicate.
    pub fn merge(&mut self, later: &Self) {
        // A history that somebody else wrote may hold any number.
        self.due = self.due.saturating_add(later.due);
        self.missed = self.missed.saturating_add(later.missed);
        self.longest_run = self.longest_run.max(later.longest_run);
        self.clusters = self.clusters.saturating_add(later.clusters);
        self.largest_cluster = self.largest_cluster.max(later.largest_cluster);
        self.spread.append(&later.spread);
        self.close.count = self.close.count.saturating_add(later.close.count);
        self.close.spread.append(&later.close.spread);
    }

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

    /// Due times that the bounds at `confidence` treat as one: 1 where misses come independently
    /// of each other. Misses that come together, in clusters or in stretches of time, raise it, and
    /// so does having seen only few of these. So do near misses that come together.
    pub fn evidence_unit(&self, confidence: f64) -> f64 {
        let misses = dispersion(&self.spread, self.missed, self.due, Some(confidence));
        let Close { count, spread } = &self.close;
        // Without others these are the misses again.
        let is_tail = *count > self.missed && *count as f64 <= TAIL * self.due as f64;
        match is_tail {
            true => misses.max(dispersion(spread, *count, self.due, None)),
            false => misses,
        }
    }

    /// One-sided upper bound on the miss probability at `confidence`, with due times and misses
    /// divided by [`Self::evidence_unit`] and by `parallel` series that may be hit together (1
    /// for one thread).
    ///
    /// It knows only the misses and near misses that were seen: a run without either counts each due
    /// time as evidence of its own, and bounds no stall that is too rare to have occurred in it.
    pub fn upper_bound(&self, confidence: f64, parallel: u64) -> f64 {
        let (missed, due) = self.independent(confidence, parallel);
        miss_upper_bound(missed, due, confidence)
    }

    /// One-sided lower bound on the miss probability at `confidence`, with due times and misses
    /// divided as for [`Self::upper_bound`]; or, where that is more, the share missed times
    /// 1 − `confidence`, which holds however misses depend on each other (Markov's inequality).
    pub fn lower_bound(&self, confidence: f64, parallel: u64) -> f64 {
        let (missed, due) = self.independent(confidence, parallel);
        miss_lower_bound(missed, due, confidence).max((1.0 - confidence) * self.fraction())
    }

    /// Misses and due times that were as good as independent.
    fn independent(&self, confidence: f64, parallel: u64) -> (f64, f64) {
        let unit = self.evidence_unit(confidence) * parallel.max(1) as f64;
        (self.missed as f64 / unit, self.due as f64 / unit)
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

    /// As many misses as `missed` in each stretch of `stretch` due times, at its start.
    fn regular(stretches: usize, stretch: usize, missed: usize) -> MissTally {
        let one = "x".repeat(missed) + &".".repeat(stretch - missed);
        tally(10, &[&one.repeat(stretches)])
    }

    #[test]
    fn runs_and_clusters_are_told_apart() {
        let found = tally(1, &["..xx.x...x..", "xxx."]);
        assert_eq!((found.due, found.missed), (16, 7));
        assert_eq!(found.longest_run, 3);
        assert_eq!((found.clusters, found.largest_cluster), (3, 3));
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
    fn one_stall_is_one_piece_of_evidence_whose_size_is_a_guess() {
        let stall = ".".repeat(60_000) + &"x".repeat(300) + &".".repeat(59_700);
        let found = tally(10, &[&stall]);
        // 0.28 % if the misses had been independent of each other.
        assert!(found.upper_bound(0.95, 1) > 0.01, "{found:?}");
        assert!(found.lower_bound(0.95, 1) < 2e-4);
        let short = tally(10, &[&(".".repeat(50_000) + "xxx" + &".".repeat(50_000))]);
        assert!(short.upper_bound(0.95, 1) < 0.005);
    }

    #[test]
    fn lone_misses_count_each_by_itself() {
        let alone = regular(100, 1000, 1);
        assert_eq!(alone.evidence_unit(0.95), 1.0);
        assert_eq!(
            alone.upper_bound(0.95, 1),
            miss_upper_bound(100.0, 100_000.0, 0.95)
        );
    }

    #[test]
    fn half_of_everything_missed_in_many_stretches_is_beyond_doubt_at_once() {
        assert!(regular(60, 20, 10).lower_bound(0.95, 1) > 0.3);
        // A single one that takes half of the run: Markov's inequality.
        let half = "x".repeat(600) + &".".repeat(600);
        let bound = tally(10, &[&half]).lower_bound(0.95, 1);
        assert!((bound - 0.025).abs() < 1e-12, "{bound}");
    }

    #[test]
    fn near_misses_show_how_misses_would_come_together() {
        let run = |near: &dyn Fn(u64) -> bool| {
            let mut clusters = MissClusters::new(10);
            for place in 0..10_000 {
                match near(place) {
                    true => clusters.push_near_miss(),
                    false => clusters.push(false),
                }
            }
            clusters.tally()
        };
        let together = run(&|place| place % 1000 < 20 && (place / 1000) % 3 == 1);
        assert!(together.evidence_unit(0.95) > 15.0);
        assert_eq!(together.missed, 0);
        let clean = run(&|_| false).upper_bound(0.95, 1);
        assert!(together.upper_bound(0.95, 1) > 15.0 * clean);
        for alone in [run(&|place| place % 100 == 7), run(&|place| place == 7)] {
            assert_eq!(alone.evidence_unit(0.95), 1.0);
        }
        // What is usual shows nothing of what is rare.
        assert_eq!(run(&|place| place % 5000 < 2500).evidence_unit(0.95), 1.0);
    }

    #[test]
    fn threads_that_are_hit_together_count_as_one() {
        let alone = regular(20, 1000, 1);
        assert!(alone.upper_bound(0.95, 4) > alone.upper_bound(0.95, 1));
        assert!(alone.lower_bound(0.95, 4) < alone.lower_bound(0.95, 1));
    }

    #[test]
    fn minutes_merged_are_the_whole() {
        let mut whole = MissClusters::new(10);
        let mut by_minute = MissClusters::new(10);
        let mut merged = MissTally::default();
        for place in 0..200_000_u64 {
            for clusters in [&mut whole, &mut by_minute] {
                match place % 7000 {
                    0..12 => clusters.push(true),
                    12..30 | 400 => clusters.push_near_miss(),
                    _ => clusters.push(false),
                }
            }
            if place % 7777 == 0 {
                merged.merge(&by_minute.take());
            }
        }
        merged.merge(&by_minute.take());
        assert_eq!(merged, whole.tally());
    }

    #[test]
    fn nothing_due_is_no_evidence() {
        assert_eq!(MissTally::default().upper_bound(0.95, 1), 1.0);
        assert_eq!(MissTally::default().lower_bound(0.95, 1), 0.0);
        assert_eq!(MissTally::default().extremal_index(), None);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_tally_is_read_as_it_was_written_and_a_clean_one_is_short() {
        let mut clusters = MissClusters::new(10);
        let read_back = |clusters: &mut MissClusters| {
            let tally = clusters.take();
            let text = serde_json::to_string(&tally).unwrap();
            assert_eq!(serde_json::from_str::<MissTally>(&text).unwrap(), tally);
            text
        };
        (0..5000).for_each(|_| clusters.push(false));
        assert!(!read_back(&mut clusters).contains("blocks"));
        (0..5000).for_each(|place| clusters.push(place % 500 < 7));
        assert!(read_back(&mut clusters).contains("blocks"));
        clusters.end_series();
        (0..70).for_each(|place| match place % 5 {
            0 => clusters.push_near_miss(),
            _ => clusters.push(place == 33),
        });
        assert!(read_back(&mut clusters).contains("close_blocks"));
        (0..3000).for_each(|_| clusters.push(false));
        assert!(!read_back(&mut clusters).contains("blocks"));
        assert!(read_back(&mut clusters).len() < 150);
    }
}
