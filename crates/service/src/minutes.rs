//! What the cycles of a loop come to, minute by minute. Pure: it reads no clock and writes nothing; that it gives the
//! same whether samples come from a ring or from a segment on disk is what makes a killed recorder whole again.

use crate::history::{Bears, Minute};
use wakepath_statistics::{LatencyHistogram, MissClusters};
use wakepath_timeline::Sample;

const MINUTE_NS: u64 = 60_000_000_000;
/// Misses with at most so many due times met between them count as one event, as where a run is judged.
const CLUSTER_GAP: u64 = 10;
/// Due times that may lie between two cycles: a loop of 10 µs for a day. More is no loop's.
const MOST_BETWEEN: u64 = 10_000_000_000;
/// Misses one after the other that are counted one by one; what is beyond is as long a run as any.
const MOST_PUSHED: u64 = 1_000_000;

/// Why a sample can't be one of this loop's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Impossible;

/// One loop.
#[derive(Debug)]
pub struct Account {
    name: String,
    bears: Bears,
    /// From `CLOCK_MONOTONIC` to the time since 1970.
    offset_ns: i128,
    clusters: MissClusters,
    histogram: LatencyHistogram,
    minute: Minute,
    /// Number of the minute under way.
    number: Option<u64>,
    next_cycle: Option<u64>,
    ended_ns: Option<u64>,
    /// Cycles that are known to be lost and not yet seen as a gap.
    lost: u64,
    /// What is known to be lost behind a gap of which nothing is known.
    lost_behind: u64,
    lost_so_far: u64,
}

impl Account {
    /// Of a loop that begins.
    pub fn new(name: &str, bears: Bears, offset_ns: i128) -> Self {
        Self {
            name: name.into(),
            bears,
            offset_ns,
            clusters: MissClusters::new(CLUSTER_GAP),
            histogram: LatencyHistogram::new(),
            minute: Minute::default(),
            number: None,
            next_cycle: None,
            ended_ns: None,
            lost: 0,
            lost_behind: 0,
            lost_so_far: 0,
        }
    }

    /// The first due time that counts is that of this cycle.
    pub fn begin_at(&mut self, cycle: u64) {
        self.next_cycle = Some(cycle);
    }

    /// No sample comes any more, and the last due time is that of the cycle before this one: what is missing before
    /// it was skipped, or is lost. Nothing where no sample came: there is no minute to put it in.
    pub fn end_before(&mut self, cycle: u64) {
        let between = self.next_cycle.map_or(0, |next| cycle.saturating_sub(next));
        if self.number.is_none() || self.lost == u64::MAX {
            return;
        }
        let lost = between.min(self.lost);
        let skipped = between - lost;
        (0..skipped.min(MOST_PUSHED)).for_each(|_| self.clusters.push(true));
        self.lost = 0;
        self.lost_so_far += lost;
        self.minute.lost += lost;
        self.minute.skipped += skipped;
        self.minute.missed += skipped;
    }

    /// Cycles that were seen to be lost.
    pub fn lost_so_far(&self) -> u64 {
        self.lost_so_far
    }

    /// So many cycles more were dropped.
    pub fn lose(&mut self, cycles: u64) {
        match self.lost {
            u64::MAX => self.lost_behind = self.lost_behind.saturating_add(cycles),
            lost => self.lost = lost.saturating_add(cycles),
        }
    }

    /// What lies between this cycle and the next sample is lost, whatever it was: nobody can tell any more. Where
    /// nothing is known of before, from this cycle on.
    /// So many were dropped until now, some of them perhaps behind that sample.
    pub fn lose_all_until_next(&mut self, from_cycle: u64, dropped: u64) {
        self.next_cycle = Some(from_cycle);
        self.lost_behind = dropped;
        self.lost = u64::MAX;
    }

    /// Takes in the next sample; returns the minute that has ended with it.
    ///
    /// # Errors
    /// For a sample that no loop writes.
    pub fn add(&mut self, sample: &Sample) -> Result<Option<Minute>, Impossible> {
        let expected = self.next_cycle.unwrap_or(sample.cycle);
        let between = sample.cycle.checked_sub(expected).ok_or(Impossible)?;
        let is_whole = sample.end_ns >= sample.wake_ns && sample.latency_ns() > -1_000_000_000_000;
        if between > MOST_BETWEEN || !is_whole || sample.cycle == u64::MAX {
            return Err(Impossible);
        }
        let at_ns = (i128::from(sample.due_ns) + self.offset_ns).max(0) as u64;
        let number = at_ns / MINUTE_NS;
        let ended = match self.number {
            Some(before) if before != number => self.take(),
            _ => None,
        };
        if self.number.is_none() {
            self.minute.at_ns = at_ns;
        }
        self.number = Some(number);
        self.next_cycle = Some(sample.cycle + 1);

        let lost = between.min(self.lost);
        self.lost = match self.lost {
            u64::MAX => std::mem::take(&mut self.lost_behind),
            more => more - lost,
        };
        self.lost_so_far += lost;
        let skipped = between - lost;
        if lost > 0 {
            self.clusters.end_series();
            self.ended_ns = None;
        }
        (0..skipped.min(MOST_PUSHED)).for_each(|_| self.clusters.push(true));
        let (latency_ns, response_ns) = (sample.latency_ns(), sample.response_ns());
        let above = |value: i64, limit: Option<u64>| {
            limit.is_some_and(|limit| i128::from(value) > i128::from(limit))
        };
        let is_missed =
            above(latency_ns, self.bears.latency_ns) || above(response_ns, self.bears.deadline_ns);
        self.clusters.push(is_missed);
        self.histogram.record(latency_ns);
        let minute = &mut self.minute;
        minute.executed += 1;
        minute.skipped += skipped;
        minute.missed += skipped + u64::from(is_missed);
        minute.lost += lost;
        minute.sum_ns = minute
            .sum_ns
            .saturating_add(latency_ns.max(0).cast_unsigned());
        minute.max_response_ns = minute.max_response_ns.max(response_ns);
        if let Some(before_ns) = self.ended_ns {
            let outage_ns = sample.end_ns.saturating_sub(before_ns);
            minute.outage_ns = minute.outage_ns.max(outage_ns);
        }
        self.ended_ns = Some(sample.end_ns);
        Ok(ended)
    }

    /// The minute as far as it has come, where anything came; another begins.
    pub fn take(&mut self) -> Option<Minute> {
        self.number.take()?;
        let mut minute = std::mem::take(&mut self.minute);
        let tally = self.clusters.tally();
        minute.name.clone_from(&self.name);
        (minute.longest_run, minute.largest_cluster) = (tally.longest_run, tally.largest_cluster);
        minute.put(&self.histogram);
        self.histogram = LatencyHistogram::new();
        Some(minute)
    }

    /// No sample comes any more that would show what was lost last.
    pub fn settle(&mut self) {
        if self.number.is_some() && self.lost < u64::MAX {
            self.minute.lost += self.lost;
        }
        self.lost = 0;
    }

    /// The clock of the day may have been set.
    pub fn set_offset(&mut self, offset_ns: i128) {
        self.offset_ns = offset_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(cycle: u64, latency_ns: u64) -> Sample {
        let due_ns = 1_000_000_000 + cycle * 1_000_000;
        Sample {
            cycle,
            due_ns,
            wake_ns: due_ns + latency_ns,
            end_ns: due_ns + latency_ns + 1_000,
            ..Sample::default()
        }
    }

    fn account() -> Account {
        let bears = Bears {
            latency_ns: Some(200_000),
            ..Bears::default()
        };
        Account::new("loop", bears, 0)
    }

    #[test]
    fn skipped_and_lost_cycles_are_told_apart_and_all_are_accounted_for() {
        let mut account = account();
        for cycle in [0, 1, 5] {
            account.add(&sample(cycle, 300_000)).unwrap();
        }
        account.lose(4);
        account.add(&sample(10, 7_000)).unwrap();
        account.add(&sample(12, 7_000)).unwrap();
        let minute = account.take().unwrap();
        // Cycles 2 to 4 and 11 were skipped, 6 to 9 lost.
        assert_eq!((minute.executed, minute.skipped, minute.lost), (5, 4, 4));
        assert_eq!(minute.missed, 3 + 4);
        assert_eq!(minute.executed + minute.skipped + minute.lost, 13);
        assert_eq!(minute.longest_run, 6);
        assert_eq!(minute.outage_ns, 4_000_000);
        assert_eq!((minute.min_ns, minute.max_ns), (7_000, 300_000));
        account.add(&sample(13, 7_000)).unwrap();
        account.lose(2);
        account.settle();
        assert_eq!(account.take().unwrap().lost, 2, "at its end");
    }

    #[test]
    fn a_minute_ends_where_the_next_one_s_first_cycle_is_due() {
        let mut account = account();
        let ended = (0..120_000).filter_map(|cycle| account.add(&sample(cycle, 5_000)).unwrap());
        let ended: Vec<u64> = ended.map(|minute| minute.executed).collect();
        // The first due time is one second into its minute.
        assert_eq!(ended, [59_000, 60_000]);
        assert_eq!(account.take().unwrap().executed, 1_000);
        assert_eq!(account.take(), None);
    }

    #[test]
    fn samples_that_no_loop_writes_are_refused() {
        let mut account = account();
        account.add(&sample(9, 5_000)).unwrap();
        let early = Sample {
            end_ns: 0,
            ..sample(10, 5_000)
        };
        for wild in [sample(9, 5_000), sample(1 << 40, 5_000), early] {
            assert_eq!(account.add(&wild), Err(Impossible));
        }
        assert_eq!(account.take().unwrap().executed, 1);
    }
}
