//! Tracks when a part of the loop is due, and how often it was due again before it had run.
//!
//! Counted in due times of the loop, so that a skipped one counts as well.

/// A part that should run once in every `every` due times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lateness {
    every: u64,
    last_run: u64,
    /// Missed runs of the present wait that are counted already.
    counted: u64,
    pub(super) late: u64,
}

impl Lateness {
    /// A part that is first due `every` due times after cycle 0.
    pub(super) fn new(every: u64) -> Self {
        Self {
            every: every.max(1),
            last_run: 0,
            counted: 0,
            late: 0,
        }
    }

    pub(super) fn every(&self) -> u64 {
        self.every
    }

    /// At due time number `at`: whether it is due. A part that waits for two of its intervals or
    /// more is late once for each beyond the first, as in ArduPilot's scheduler ("slip").
    #[inline]
    pub(super) fn is_due(&mut self, at: u64) -> bool {
        let waited = at.saturating_sub(self.last_run) / self.every;
        let missed = waited.saturating_sub(1);
        if missed > self.counted {
            self.late += missed - self.counted;
            self.counted = missed;
        }
        waited > 0
    }

    /// It ran at due time number `at`.
    #[inline]
    pub(super) fn ran(&mut self, at: u64) {
        (self.last_run, self.counted) = (at, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_late_each_time_that_it_is_due_again_before_it_ran() {
        let mut part = Lateness::new(4);
        assert!(!part.is_due(3) && part.is_due(4) && part.is_due(7));
        assert_eq!(part.late, 0);
        // Due at 4 and not run: late at 8 and at 12, once each.
        assert!((8..=12).all(|at| part.is_due(at)));
        assert_eq!(part.late, 2);
        part.ran(12);
        assert!(!part.is_due(15) && part.is_due(16));
        assert_eq!(part.late, 2);
        // A loop that skips from 16 to 25: due at 16 and not run, late at 20 and at 24.
        assert!(part.is_due(25));
        assert_eq!(part.late, 4);
    }
}
