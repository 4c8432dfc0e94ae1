//! Combines archived recordings into one flight.
//!
//! A recording is widened to its planned window, and several are flown one after the other.

use super::schedule::Schedule;

impl Schedule {
    /// The same within a longer window: `before` due times without a job first, `due_times` due
    /// times in total (never fewer than recorded). A loop that slept through the first or the last
    /// due times of its window has no records there, but they still count.
    #[must_use]
    pub fn within(mut self, before: u64, due_times: u64) -> Self {
        self.shift(before);
        self.due_times = self.due_times.saturating_add(before).max(due_times);
        self
    }

    /// A loop that served none of `due_times` due times.
    pub fn without_jobs(period_ns: u64, due_times: u64) -> Self {
        Self {
            period_ns: period_ns.max(1),
            due_times,
            activations: vec![],
        }
    }

    /// This one, then `next` in the same flight: the vehicle continues from where the first left
    /// it. If the last job of the first ends late, the second begins at the first due time after
    /// it, and the due times between count as missed. Both must have the same period.
    #[must_use]
    pub fn followed_by(mut self, mut next: Self) -> Self {
        debug_assert_eq!(self.period_ns, next.period_ns);
        let busy_until = self.activations.last().map_or(0, |last| last.actuate_ns);
        self.due_times = self.due_times.max(busy_until.div_ceil(self.period_ns));
        next.shift(self.due_times);
        self.due_times = self.due_times.saturating_add(next.due_times);
        self.activations.append(&mut next.activations);
        self
    }

    fn shift(&mut self, due_times: u64) {
        let by_ns = due_times.saturating_mul(self.period_ns);
        for job in &mut self.activations {
            for at_ns in [&mut job.due_ns, &mut job.sample_ns, &mut job.actuate_ns] {
                *at_ns = at_ns.saturating_add(by_ns);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instants(schedule: &Schedule) -> Vec<[u64; 3]> {
        let jobs = schedule.activations().iter();
        jobs.map(|job| [job.due_ns, job.sample_ns, job.actuate_ns])
            .collect()
    }

    #[test]
    fn due_times_slept_through_at_either_end_of_a_window_stay_missed() {
        let widened = Schedule::constant(100, 2, 7).within(3, 9);
        assert_eq!((widened.due_times(), widened.end_ns()), (9, 900));
        assert_eq!(instants(&widened), [[300, 300, 307], [400, 400, 407]]);
        assert_eq!(Schedule::constant(100, 5, 7).within(1, 2).due_times(), 6);
    }

    #[test]
    fn a_second_recording_goes_on_where_the_first_ended() {
        let joined = Schedule::constant(100, 2, 7).followed_by(Schedule::constant(100, 1, 9));
        assert_eq!(joined.due_times(), 3);
        assert_eq!(instants(&joined)[2], [200, 200, 209]);
    }

    #[test]
    fn a_second_recording_waits_for_the_last_job_of_the_first() {
        let late = Schedule::constant(100, 1, 250);
        let joined = late.followed_by(Schedule::constant(100, 1, 9));
        assert_eq!(joined.due_times(), 4);
        assert_eq!(instants(&joined), [[0, 0, 250], [300, 300, 309]]);
    }

    #[test]
    fn a_loop_that_never_ran_leaves_every_due_time_missed() {
        let silent = Schedule::without_jobs(100, 4);
        assert_eq!((silent.due_times(), silent.activations().len()), (4, 0));
    }
}
