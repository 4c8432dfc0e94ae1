//! Schedules of repeated scenarios: times of a day, in UTC, on days of the week.
//!
//! Pure: callers pass the current time.

/// Seconds of a day.
const DAY: u64 = 86_400;

/// Default time after the scheduled one within which a job can still begin: six hours.
pub const USUAL_WITHIN: u64 = 6 * 3600;

/// Days to look back for jobs and for missed times.
pub const DAYS_BACK: u64 = 8;

/// Names of the days, the first as in ISO 8601.
pub(crate) const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A scenario that is run at its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Its name: its jobs are called after it.
    pub name: String,
    /// The scenario, as for `run`.
    pub scenario: String,
    /// The boards, as for `--on`.
    pub on: Vec<String>,
    /// Minutes of the day in UTC, ascending.
    pub at: Vec<u64>,
    /// Days on which, Monday first.
    pub days: [bool; 7],
    /// Seconds after a scheduled time within which its job can still begin.
    pub within: u64,
    /// Duration of the scenario in seconds, if only boards know it.
    pub takes: Option<u64>,
    /// The archive that runs are added to.
    pub archive: Option<String>,
    /// A trust file.
    pub trust: Option<String>,
}

impl Schedule {
    /// The latest of its times that is not after `now`, seconds since 1970.
    pub fn latest(&self, now: u64) -> Option<u64> {
        let times = (0..=7).filter_map(|back| now.checked_sub(back * DAY));
        let mut times = times.flat_map(|day| self.of_day(day).rev());
        times.find(|time| *time <= now)
    }

    /// The scheduled time whose job should begin now, if any.
    pub fn due(&self, now: u64) -> Option<u64> {
        self.latest(now).filter(|time| now - time <= self.within)
    }

    /// Its next time.
    pub fn next(&self, now: u64) -> Option<u64> {
        let mut times = (0..=7).flat_map(|days| self.of_day(now + days * DAY));
        times.find(|time| *time > now)
    }

    /// Its times after `from` and before `until`.
    pub fn between(&self, from: u64, until: u64) -> Vec<u64> {
        let days = until.saturating_sub(from) / DAY + 1;
        let times = (0..=days).flat_map(|days| self.of_day(from + days * DAY));
        times
            .filter(|time| (from + 1..until).contains(time))
            .collect()
    }

    /// Its times on the day of `instant`.
    fn of_day(&self, instant: u64) -> impl DoubleEndedIterator<Item = u64> {
        let day = instant / DAY;
        // 1970-01-01 was a Thursday.
        let is_on = self.days[((day + 3) % 7) as usize];
        let at = self.at.iter().filter(move |_| is_on);
        at.map(move |minute| day * DAY + minute * 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(at: &[u64], days: &[usize]) -> Schedule {
        Schedule {
            name: "night".into(),
            scenario: "check".into(),
            on: vec!["all".into()],
            at: at.to_vec(),
            days: std::array::from_fn(|day| days.contains(&day)),
            within: USUAL_WITHIN,
            takes: None,
            archive: None,
            trust: None,
        }
    }

    /// date -u -d 2026-11-24 +%s, a Tuesday.
    const TUESDAY: u64 = 1_795_478_400;

    #[test]
    fn a_time_is_due_from_its_minute_on_for_as_long_as_it_may_still_be_begun() {
        let nightly = schedule(&[120], &[0, 1, 2, 3, 4, 5, 6]);
        let two = TUESDAY + 7200;
        assert_eq!(nightly.due(two - 1), None);
        assert_eq!(nightly.due(two), Some(two));
        assert_eq!(nightly.due(two + USUAL_WITHIN), Some(two));
        assert_eq!(nightly.due(two + USUAL_WITHIN + 1), None);
        assert_eq!(nightly.latest(two - 1), Some(two - DAY));
        assert_eq!(nightly.next(two - 1), Some(two));
        assert_eq!(nightly.next(two), Some(two + DAY));
    }

    #[test]
    fn days_of_the_week_and_several_times_of_a_day() {
        let weekly = schedule(&[0, 720], &[1]);
        assert_eq!(weekly.due(TUESDAY), Some(TUESDAY));
        assert_eq!(weekly.next(TUESDAY), Some(TUESDAY + DAY / 2));
        assert_eq!(weekly.next(TUESDAY + DAY / 2), Some(TUESDAY + 7 * DAY));
        assert_eq!(
            weekly.latest(TUESDAY - 1),
            Some(TUESDAY - 7 * DAY + DAY / 2)
        );
        assert_eq!(
            weekly.between(TUESDAY, TUESDAY + 7 * DAY + 1),
            [TUESDAY + DAY / 2, TUESDAY + 7 * DAY]
        );
        assert_eq!(weekly.latest(0), None);
        assert_eq!(schedule(&[1], &[]).next(TUESDAY), None);
    }
}
