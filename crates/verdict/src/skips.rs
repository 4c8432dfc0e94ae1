//! Whether the due times that the loop says it skipped are those that its samples leave out. It
//! compares two counts of one segment of one thread and judges nothing.

use serde::Serialize;
use wakepath_timeline::Sample;

/// How far the due times of a thread go that must be accounted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServedUntil {
    /// To this one, not included: the thread came to the end of its segment.
    End(u64),
    /// To its last cycle: the thread was stopped, or ended.
    LastCycle,
}

/// Two counts of the same due times: those at which no cycle started. The loop counts them when it
/// continues at a later one; the recording shows them as gaps between cycle numbers. A sample that
/// vanished on its way makes the second larger than the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SkippedCounts {
    /// As the loop counted them, warm-up included.
    pub counted: u64,
    /// As the samples leave them out, warm-up included.
    pub left_out: u64,
}

impl SkippedCounts {
    /// The counts of a thread whose samples, in order, are `samples`; `None` if there is nothing to
    /// compare. If the loop didn't count (`None`: runs of other tools, and of earlier versions) or
    /// samples are known to be lost, gaps are ambiguous, and the counts of samples alone must do.
    pub fn new(
        counted: Option<u64>,
        lost: Option<u64>,
        until: ServedUntil,
        samples: &[Sample],
    ) -> Option<Self> {
        let mut served = CyclesServed::new(until);
        for sample in samples {
            served.see(sample.cycle);
        }
        served.against(counted, lost)
    }

    /// Whether both say the same.
    pub fn agree(&self) -> bool {
        self.counted == self.left_out
    }
}

/// The cycles of a thread that were recorded, counted in their order.
#[derive(Debug, Clone, Copy)]
pub struct CyclesServed {
    until: ServedUntil,
    there: u64,
    last: Option<u64>,
}

impl CyclesServed {
    /// Before the first.
    pub fn new(until: ServedUntil) -> Self {
        Self {
            until,
            there: 0,
            last: None,
        }
    }

    /// One that was recorded.
    pub fn see(&mut self, cycle: u64) {
        let counts = match self.until {
            ServedUntil::End(end) => cycle < end,
            ServedUntil::LastCycle => true,
        };
        self.there += u64::from(counts);
        self.last = Some(cycle);
    }

    /// The recording's shortfall against the loop's count, as in [`SkippedCounts::new`].
    pub fn against(&self, counted: Option<u64>, lost: Option<u64>) -> Option<SkippedCounts> {
        let counted = counted.filter(|_| lost == Some(0))?;
        let end = match self.until {
            ServedUntil::End(end) => end,
            ServedUntil::LastCycle => self.last.map_or(0, |last| last.saturating_add(1)),
        };
        Some(SkippedCounts {
            counted,
            left_out: end.saturating_sub(self.there),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cycles 2 and 3 are left out, and of ten due times those from 7 on.
    fn samples() -> Vec<Sample> {
        let cycles = [0, 1, 4, 5, 6];
        let sample = |cycle| Sample {
            cycle,
            ..Sample::default()
        };
        cycles.map(sample).to_vec()
    }

    fn left_out(until: ServedUntil) -> u64 {
        let counts = SkippedCounts::new(Some(2), Some(0), until, &samples());
        counts.expect("both counts are known").left_out
    }

    #[test]
    fn gaps_count_to_the_last_cycle_of_a_thread_that_was_stopped() {
        assert_eq!(left_out(ServedUntil::LastCycle), 2);
    }

    #[test]
    fn due_times_after_the_last_cycle_count_where_the_thread_came_to_its_end() {
        assert_eq!(left_out(ServedUntil::End(10)), 5);
    }

    #[test]
    fn what_was_not_counted_or_was_lost_is_not_compared() {
        let until = ServedUntil::LastCycle;
        assert_eq!(SkippedCounts::new(None, Some(0), until, &samples()), None);
        assert_eq!(
            SkippedCounts::new(Some(2), Some(1), until, &samples()),
            None
        );
        assert_eq!(SkippedCounts::new(Some(2), None, until, &samples()), None);
    }

    #[test]
    fn a_thread_without_a_cycle_left_out_all_its_due_times_or_none() {
        let of = |until| SkippedCounts::new(Some(0), Some(0), until, &[]).unwrap();
        assert!(of(ServedUntil::LastCycle).agree());
        assert!(!of(ServedUntil::End(3)).agree());
    }
}
