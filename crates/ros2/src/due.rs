//! When the runs of a timer's callback were due, by the rule of rcl's `rcl_timer_call`: the next call is due a period
//! after the one before was, or, if that has passed, at the next whole period in the future.

/// What lies between a timer's own reading of the clock and the events that mark it: a run that begins so little
/// before it was due is on time, and not a period late.
const SLACK_NS: u64 = 200_000;

/// The whole periods after a timer's making, run by run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    first_ns: u64,
    period_ns: u64,
    next_ns: u64,
    /// The first of the due times that the run before passed over, if it did.
    passed_ns: Option<u64>,
    /// When the run before began.
    last_ns: u64,
    /// Due times that were passed over.
    skipped: u64,
    runs: usize,
    /// Runs that began before they were due.
    beside: usize,
}

impl Grid {
    /// Of a timer of this making and period; `None` without a period.
    pub(crate) fn new(made_ns: u64, period_ns: u64) -> Option<Self> {
        let first_ns = made_ns.checked_add(period_ns)?;
        (period_ns > 0).then_some(Self {
            first_ns,
            period_ns,
            next_ns: first_ns,
            passed_ns: None,
            last_ns: 0,
            skipped: 0,
            runs: 0,
            beside: 0,
        })
    }

    /// The run before is unknown: the next is due at the latest whole period before it.
    pub(crate) fn forgets(&mut self, start_ns: u64) {
        let slack_ns = SLACK_NS.min(self.period_ns / 4);
        let passed_ns = (start_ns + slack_ns).saturating_sub(self.first_ns);
        self.next_ns = self.first_ns + passed_ns / self.period_ns * self.period_ns;
        self.passed_ns = None;
    }

    /// When the next run, which begins now, was due. `None` if no due time is before it.
    pub(crate) fn due(&mut self, start_ns: u64) -> Option<u64> {
        self.runs += 1;
        let slack_ns = SLACK_NS.min(self.period_ns / 4);
        if self.next_ns > start_ns + slack_ns {
            let newest_ns = self.next_ns - self.period_ns;
            let is_near = self.last_ns.saturating_sub(newest_ns) < slack_ns;
            let next_ns = match self.passed_ns {
                // A thread of its own calls the timers of an EventsExecutor on time, and their runs queue up.
                Some(passed_ns) if !is_near => passed_ns,
                _ => {
                    self.beside += 1;
                    // The clock was read before the due time that was taken for passed over.
                    let periods = (self.next_ns - start_ns).div_ceil(self.period_ns);
                    self.next_ns.checked_sub(periods * self.period_ns)?
                }
            };
            let periods = (self.next_ns.saturating_sub(next_ns)) / self.period_ns;
            self.next_ns = Some(next_ns).filter(|next_ns| *next_ns >= self.first_ns)?;
            self.skipped = self.skipped.saturating_sub(periods);
        }
        let due_ns = self.next_ns;
        self.next_ns += self.period_ns;
        self.passed_ns = None;
        self.last_ns = start_ns;
        if self.next_ns < start_ns {
            self.passed_ns = Some(self.next_ns);
            let periods = (start_ns - self.next_ns).div_ceil(self.period_ns);
            self.next_ns += periods * self.period_ns;
            self.skipped += periods;
        }
        Some(due_ns)
    }

    /// Whether the runs so far fit; they don't if the timer was reset, its period was changed, or it is on another
    /// clock.
    pub(crate) fn fits(&self) -> bool {
        self.beside * 20 <= self.runs
    }
}

/// How many whole periods after the timer's making each run was due, less one. Between runs that are not `known` to
/// follow each other, others may be missing. `None` where the runs do not fit the timer's whole periods.
pub(crate) fn due_cycles(
    made_ns: u64,
    period_ns: u64,
    starts: &[u64],
    known: impl Fn(u64, u64) -> bool,
) -> Option<Vec<u64>> {
    let (due, grid) = on_grid(made_ns, period_ns, starts, known)?;
    let cycles = due
        .iter()
        .map(|due_ns| (due_ns - grid.first_ns) / period_ns);
    Some(cycles.collect())
}

/// The due time of each run by the timer's whole periods, in nanoseconds, and these. `None` where the runs do not fit
/// them.
fn on_grid(
    made_ns: u64,
    period_ns: u64,
    starts: &[u64],
    known: impl Fn(u64, u64) -> bool,
) -> Option<(Vec<u64>, Grid)> {
    let mut grid = Grid::new(made_ns, period_ns)?;
    let mut before_ns = made_ns;
    let due = starts.iter().map(|start| {
        if !known(before_ns, *start) {
            grid.forgets(*start);
        }
        before_ns = *start;
        grid.due(*start)
    });
    let due: Vec<u64> = due.collect::<Option<_>>()?;
    grid.fits().then_some((due, grid))
}

/// The due time of each run, in nanoseconds on the clock of `starts`, and how many were passed over.
/// Between runs that are not `known` to follow each other, others may be missing.
pub(crate) fn due_times(
    made_ns: u64,
    period_ns: u64,
    starts: &[u64],
    known: impl Fn(u64, u64) -> bool,
) -> Option<(Vec<u64>, u64)> {
    let (due, grid) = on_grid(made_ns, period_ns, starts, known)?;
    // A run that begins a little before its due time is on time.
    let both = due.iter().zip(starts);
    let due = both.map(|(due_ns, start)| *due_ns.min(start)).collect();
    Some((due, grid.skipped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_call_serves_the_due_time_after_the_call_before_it() {
        // Due at 1100, 1200 …: the third is 250 late, and two due times pass.
        let starts = [1_101, 1_202, 1_550, 1_603];
        let (due, skipped) = due_times(1_000, 100, &starts, |_, _| true).unwrap();
        assert_eq!(due, [1_100, 1_200, 1_300, 1_600]);
        assert_eq!(skipped, 2);
    }

    #[test]
    fn runs_that_queued_up_serve_the_due_times_one_after_the_other() {
        // The run due at 1200 begins 350 late, and those due at 1300, 1400 and 1500 follow it at once.
        let starts = [1_101, 1_550, 1_551, 1_552, 1_553, 1_601, 1_701];
        let (due, skipped) = due_times(1_000, 100, &starts, |_, _| true).unwrap();
        assert_eq!(due, [1_100, 1_200, 1_300, 1_400, 1_500, 1_600, 1_700]);
        assert_eq!(skipped, 0);
    }

    #[test]
    fn runs_that_were_not_recorded_make_none_late_and_skip_none() {
        let starts = [1_101, 1_202, 5_603, 5_701];
        let known = |from_ns, to_ns| !(from_ns < 1_300 && to_ns > 5_000);
        let (due, skipped) = due_times(1_000, 100, &starts, known).unwrap();
        assert_eq!(due, [1_100, 1_200, 5_600, 5_700]);
        assert_eq!(skipped, 0);
    }

    #[test]
    fn a_timer_of_another_clock_fits_nothing() {
        let starts: Vec<u64> = (1..100).map(|k| 1_000_000 + k * 30_000).collect();
        assert!(due_times(1_000_000, 100_000, &starts, |_, _| true).is_none());
        assert!(due_times(0, 0, &starts, |_, _| true).is_none());
    }
}
