//! Responses of many sets: the same equations as [`responses`](super::responses) for deadlines within the
//! period, without names, pieces or allocation after the first set. A sweep calls it a million times a
//! second.
//!
//! A source is divided only when its count of jobs changes: each remembers up to which window its count is
//! right. The window of a task starts at the end of the one before it, with its own execution added,
//! and the counts with it (Sjödin and Hansson, "Improved response-time analysis calculations", RTSS 1998):
//! it is never longer than the answer, since everything that filled the window before fills this one too.
//! Nor is it shorter than its total demand divided by the CPU share that the tasks before leave (ibid.),
//! computed in floating point and rounded down.

/// A task of a set that is asked about quickly, in order of priority, the highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuickTask {
    /// The most CPU time of a job, in nanoseconds; above 0.
    pub execution_ns: u64,
    /// The shortest time between jobs, in nanoseconds; above 0.
    pub period_ns: u64,
    /// From due time to deadline, in nanoseconds; at most the period.
    pub deadline_ns: u64,
    /// How far the release may lag, in nanoseconds.
    pub jitter_ns: u64,
    /// Waiting for tasks of lower priority, in nanoseconds.
    pub blocking_ns: u64,
}

/// Work that runs before the next task, and its amount within the window reached so far. Reuse it:
/// [`clear`](Self::clear) keeps its memory.
#[derive(Debug, Clone, Default)]
pub struct Windows {
    sources: Vec<Source>,
    /// Total execution of all counted jobs.
    charged_ns: u64,
    /// The last task's wait for lower-priority tasks: a window with less of that can be shorter.
    blocking_ns: u64,
    /// The share of the CPU that all sources take, to 1e-12.
    share: f64,
}

/// Windows are given up beyond this, so that they are signed numbers too, which convert faster.
const LONGEST_NS: u64 = 1 << 62;

/// Far above what a sum of shares is wrong by.
const MARGIN: f64 = 1e-9;

#[derive(Debug, Clone, Copy)]
struct Source {
    execution_ns: u64,
    period_ns: u64,
    jitter_ns: u64,
    /// 1 / period.
    rate: f64,
    /// The longest window in which no more jobs come than are counted.
    right_until_ns: u64,
}

impl Source {
    /// Its jobs in the shortest window, and the window after which more come.
    fn first(execution_ns: u64, period_ns: u64, jitter_ns: u64) -> (Self, u64) {
        let jobs = jitter_ns / period_ns + 1;
        let right_until_ns = jobs.saturating_mul(period_ns) - jitter_ns;
        let source = Self {
            execution_ns,
            period_ns,
            jitter_ns,
            rate: 1.0 / period_ns as f64,
            right_until_ns,
        };
        (source, jobs.saturating_mul(execution_ns))
    }

    /// ⌈length / period⌉ for a length below 2⁶²: estimated by the rate, put right in whole numbers.
    #[inline]
    fn jobs_in(&self, length_ns: u64) -> u64 {
        let jobs = (length_ns.cast_signed() as f64 * self.rate) as i64;
        let jobs = jobs.cast_unsigned();
        let filled_ns = jobs.saturating_mul(self.period_ns);
        match (filled_ns < length_ns, length_ns - filled_ns.min(length_ns)) {
            (true, rest_ns) if rest_ns <= self.period_ns => jobs + 1,
            (false, _) if filled_ns - length_ns < self.period_ns => jobs,
            // Beyond 2⁵³ ns the estimate can be off by more.
            _ => length_ns.div_ceil(self.period_ns),
        }
    }
}

impl Windows {
    /// Nothing runs before the next task.
    pub fn clear(&mut self) {
        self.sources.clear();
        self.charged_ns = 0;
        self.blocking_ns = 0;
        self.share = 0.0;
    }

    /// Something that runs before all further tasks: at most `execution_ns` in each `period_ns`
    /// (above 0), up to `jitter_ns` late.
    pub fn add(&mut self, execution_ns: u64, period_ns: u64, jitter_ns: u64) {
        let (source, charged_ns) = Source::first(execution_ns, period_ns, jitter_ns);
        self.share += execution_ns as f64 * source.rate;
        self.sources.push(source);
        self.charged_ns = self.charged_ns.saturating_add(charged_ns);
    }

    /// The longest response of the next task, from due time to end, in nanoseconds; `None` if it is beyond
    /// the deadline or sums don't fit 64 bits. The task then runs before all further ones.
    #[inline]
    pub fn next(&mut self, task: &QuickTask) -> Option<u64> {
        let response_ns = self.response(task);
        self.add(task.execution_ns, task.period_ns, task.jitter_ns);
        response_ns
    }

    /// As [`next`](Self::next), for a task that does not run before others.
    #[inline]
    pub fn response(&mut self, task: &QuickTask) -> Option<u64> {
        let fixed_ns = task.execution_ns.checked_add(task.blocking_ns)?;
        if fixed_ns < self.blocking_ns {
            self.restart();
        }
        self.blocking_ns = task.blocking_ns;
        let most_ns = task.deadline_ns.checked_sub(task.jitter_ns);
        let window_ns = most_ns.and_then(|most_ns| self.window(fixed_ns, most_ns));
        match window_ns {
            // Counts of a window that was given up may be beyond those of the next.
            None => {
                self.restart();
                None
            }
            Some(window_ns) => window_ns.checked_add(task.jitter_ns),
        }
    }

    /// The least window that `fixed_ns` and all sources fill, if it is at most `most_ns`.
    #[inline]
    fn window(&mut self, fixed_ns: u64, most_ns: u64) -> Option<u64> {
        // A sum that does not fit stays at the largest number, which is beyond that.
        let most_ns = most_ns.min(LONGEST_NS);
        let left = 1.0 - self.share;
        let least_ns = if left > MARGIN {
            (fixed_ns as f64 / left * (1.0 - MARGIN)) as u64
        } else {
            0
        };
        // Only the execution of counted jobs is charged, and all of them arrive within the window.
        let mut needed_ns = self.charged_ns.saturating_add(fixed_ns);
        let mut window_ns = needed_ns.max(least_ns);
        loop {
            if window_ns > most_ns {
                return None;
            }
            for source in &mut self.sources {
                if source.right_until_ns < window_ns {
                    let jobs = source.jobs_in(window_ns - source.right_until_ns);
                    let longer_ns = jobs.saturating_mul(source.period_ns);
                    source.right_until_ns = source.right_until_ns.saturating_add(longer_ns);
                    needed_ns = needed_ns.saturating_add(jobs.saturating_mul(source.execution_ns));
                }
            }
            if needed_ns <= window_ns {
                self.charged_ns = needed_ns - fixed_ns;
                return Some(needed_ns);
            }
            window_ns = needed_ns;
        }
    }

    /// Counts again, from the shortest window.
    fn restart(&mut self) {
        self.charged_ns = 0;
        for place in &mut self.sources {
            let (source, charged_ns) =
                Source::first(place.execution_ns, place.period_ns, place.jitter_ns);
            *place = source;
            self.charged_ns = self.charged_ns.saturating_add(charged_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_counted_exactly_up_to_the_longest_window() {
        for period_ns in [1, 2, 3, 7, 1_000_003, (1 << 40) + 7, (1 << 61) + 1] {
            let source = Source::first(1, period_ns, 0).0;
            for multiple in [
                1,
                2,
                1000,
                (1 << 22) + 1,
                (1 << 53) + 1,
                LONGEST_NS / period_ns,
            ] {
                let Some(around) = period_ns.checked_mul(multiple) else {
                    continue;
                };
                for length_ns in around.saturating_sub(2)..around.saturating_add(3) {
                    if (1..=LONGEST_NS).contains(&length_ns) {
                        let expected = length_ns.div_ceil(period_ns);
                        assert_eq!(
                            source.jobs_in(length_ns),
                            expected,
                            "{length_ns} / {period_ns}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn times_that_do_not_fit_are_a_miss() {
        let task = |execution_ns, period_ns| QuickTask {
            execution_ns,
            period_ns,
            deadline_ns: period_ns,
            jitter_ns: 0,
            blocking_ns: 0,
        };
        let holds = |tasks: &[QuickTask]| {
            let mut windows = Windows::default();
            tasks.iter().all(|task| windows.next(task).is_some())
        };
        assert!(holds(&[task(3, 7), task(3, 12), task(5, 20)]));
        assert!(!holds(&[task(u64::MAX, u64::MAX)]));
        assert!(!holds(&[
            task(u64::MAX / 2, u64::MAX),
            task(u64::MAX / 3, u64::MAX)
        ]));
        let late = QuickTask {
            jitter_ns: u64::MAX,
            ..task(1, 2)
        };
        assert!(!holds(&[late, task(1, u64::MAX)]));
    }
}
