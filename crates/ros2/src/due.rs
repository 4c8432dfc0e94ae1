//! When the runs of a timer's callback were due, by the rule of rcl's `rcl_timer_call`: the next call is due a period
//! after the one before was, or, if that has passed, at the next whole period in the future.

/// What lies between a timer's own reading of the clock and the events that mark it: a run that begins so little
/// before it was due is on time, and not a period late.
const SLACK_NS: u64 = 200_000;

/// How many whole periods after the timer's making each run was due, less one, and how many due times were passed
/// over. `None` where the runs do not fit the timer's whole periods: it was reset, its period was changed, or it is on
/// another clock.
pub fn due_cycles(made_ns: u64, period_ns: u64, starts: &[u64]) -> Option<(Vec<u64>, u64)> {
    let (mut due, mut skipped, mut beside) = (Vec::with_capacity(starts.len()), 0_u64, 0);
    let first = made_ns.checked_add(period_ns)?;
    let mut next = first;
    if period_ns == 0 {
        return None;
    }
    for &start in starts {
        if next > start + SLACK_NS.min(period_ns / 4) {
            beside += 1;
            // The clock was read before the due time that was taken for passed over.
            let periods = (next - start).div_ceil(period_ns);
            next = next
                .checked_sub(periods * period_ns)
                .filter(|next| *next >= first)?;
            skipped = skipped.saturating_sub(periods);
        }
        due.push((next - first) / period_ns);
        next += period_ns;
        if next < start {
            let periods = (start - next).div_ceil(period_ns);
            next += periods * period_ns;
            skipped += periods;
        }
    }
    (beside * 20 <= starts.len()).then_some((due, skipped))
}

/// The due time of each run, in nanoseconds on the clock of `starts`, and how many were passed over.
pub(crate) fn due_times(made_ns: u64, period_ns: u64, starts: &[u64]) -> Option<(Vec<u64>, u64)> {
    let (cycles, skipped) = due_cycles(made_ns, period_ns, starts)?;
    let due = cycles.iter().zip(starts).map(|(cycle, start)| {
        // A run that begins a little before its due time is on time.
        (made_ns + (cycle + 1) * period_ns).min(*start)
    });
    Some((due.collect(), skipped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_call_serves_the_due_time_after_the_call_before_it() {
        // Due at 1100, 1200 …: the third is 250 late, and two due times pass.
        let starts = [1_101, 1_202, 1_550, 1_603];
        let (due, skipped) = due_times(1_000, 100, &starts).unwrap();
        assert_eq!(due, [1_100, 1_200, 1_300, 1_600]);
        assert_eq!(skipped, 2);
    }

    #[test]
    fn a_timer_of_another_clock_fits_nothing() {
        let starts: Vec<u64> = (1..100).map(|k| 1_000_000 + k * 30_000).collect();
        assert!(due_times(1_000_000, 100_000, &starts).is_none());
        assert!(due_times(0, 0, &starts).is_none());
    }
}
