//! A device's clock: a crystal that is a little off, and the control loop that follows the
//! reference clock.
//!
//! See ETG.1000.4, 6.5. Pure: callers pass the true time.

/// Larger differences mean that a clock was never set.
const FOLLOWED_NS: i64 = 1_000_000;

pub(crate) struct Clock {
    /// How much it is too fast, in billionths.
    error: i64,
    /// Its reading at true time 0.
    beginning_ns: u64,
    /// Between its local time and the system's, as the master set it.
    offset_ns: i64,
    /// Correction by the control loop so far, and its rate per second.
    added_ns: f64,
    added_per_s: f64,
    /// When it last compared.
    compared_ns: Option<u64>,
    difference_ns: i64,
}

impl Clock {
    pub(crate) fn new(error: i64, beginning_ns: u64) -> Self {
        Self {
            error,
            beginning_ns,
            offset_ns: 0,
            added_ns: 0.0,
            added_per_s: 0.0,
            compared_ns: None,
            difference_ns: 0,
        }
    }

    /// Reading of the crystal without correction.
    pub(crate) fn local(&self, now_ns: u64) -> u64 {
        let drift = i128::from(now_ns) * i128::from(self.error) / 1_000_000_000;
        (i128::from(now_ns) + drift) as u64 + self.beginning_ns
    }

    /// The shared time, as this device has it.
    pub(crate) fn system(&self, now_ns: u64) -> u64 {
        let since = self
            .compared_ns
            .map_or(0, |before| now_ns.saturating_sub(before));
        let added = self.added_ns + self.added_per_s * since as f64 / 1e9;
        self.local(now_ns)
            .wrapping_add_signed(self.offset_ns)
            .wrapping_add_signed(added as i64)
    }

    pub(crate) fn set_offset(&mut self, offset_ns: i64) {
        self.offset_ns = offset_ns;
    }

    /// Resets the control loop.
    pub(crate) fn restart(&mut self) {
        (self.added_ns, self.added_per_s, self.compared_ns) = (0.0, 0.0, None);
        self.difference_ns = 0;
    }

    /// Compares with the reference clock's present time, and follows it.
    pub(crate) fn compare(&mut self, reference_ns: u64, is_set: bool, now_ns: u64) {
        let difference = self.system(now_ns).wrapping_sub(reference_ns).cast_signed();
        if !is_set || difference.abs() > FOLLOWED_NS {
            return;
        }
        if let Some(before) = self.compared_ns {
            let since = now_ns.saturating_sub(before).max(1) as f64;
            self.added_ns += self.added_per_s * since / 1e9;
            // Quick for a step, slow for a rate; no crystal is off by more than 200 millionths.
            let rate = self.added_per_s - 0.02 * difference as f64 * 1e9 / since.max(100_000.0);
            self.added_per_s = rate.clamp(-200_000.0, 200_000.0);
        }
        self.added_ns -= 0.25 * difference as f64;
        self.compared_ns = Some(now_ns);
        self.difference_ns = difference;
    }

    /// The last difference in the register's format: amount, and the highest bit if the clock was
    /// behind.
    pub(crate) fn difference(&self) -> u32 {
        let amount = self.difference_ns.unsigned_abs().min(0x7fff_ffff) as u32;
        amount | u32::from(self.difference_ns < 0) << 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// The largest difference after settling, with `step_ns` between comparisons.
    fn followed(error: i64, step_ns: u64) -> i64 {
        let (reference, mut clock) = (Clock::new(0, 0), Clock::new(error, 0));
        let mut worst = 0;
        for number in 1..3000 {
            let now = number * step_ns;
            clock.compare(reference.system(now), true, now);
            if number > 1000 {
                worst = worst.max(clock.difference_ns.abs());
            }
        }
        worst
    }

    #[test]
    fn a_crystal_that_is_off_is_followed_to_the_nanosecond_and_without_is_not() {
        assert_eq!(Clock::new(20_000, 5).local(1_000 * MS), 1_000 * MS + 20_005);
        assert!(followed(20_000, MS) <= 2, "{}", followed(20_000, MS));
        assert!(followed(-40_000, MS) <= 2, "{}", followed(-40_000, MS));
    }

    #[test]
    fn after_a_gap_the_difference_is_the_gap_times_what_was_not_learned() {
        let (reference, mut clock) = (Clock::new(0, 0), Clock::new(30_000, 0));
        // After one comparison its rate is still unknown.
        clock.compare(reference.system(MS), true, MS);
        clock.compare(reference.system(21 * MS), true, 21 * MS);
        // Of the difference of 30 ns a quarter was corrected; 20 ms at 30 millionths are 600 ns.
        let difference = i64::from(clock.difference());
        assert!((600..=630).contains(&difference), "{difference}");
    }

    #[test]
    fn a_clock_that_was_never_set_is_left_alone() {
        let mut clock = Clock::new(0, 0);
        clock.compare(1 << 60, true, MS);
        clock.compare(0, false, MS);
        assert_eq!((clock.system(2 * MS), clock.difference()), (2 * MS, 0));
    }

    #[test]
    fn one_that_is_behind_says_so_in_the_highest_bit() {
        let mut clock = Clock::new(0, 0);
        clock.compare(MS + 100, true, MS);
        assert_eq!(clock.difference(), 0x8000_0000 | 100);
    }
}
