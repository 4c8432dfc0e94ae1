//! Due times of a thread that computes the time to its next due time and sleeps for that, as `rclcpp::Rate` and most
//! loops in Python do: a whole number of periods apart, except for what passes between its look at the clock and the
//! kernel's.

use super::sorted::Sorted;

/// Of a hundred due times, the number that must be near one row.
const NEAR_OF_HUNDRED: usize = 90;
/// A due time is near its row within this share of the period, one in so many.
const NEAR: u64 = 100;
/// The shortest intervals are a period, but for this share of it, one in so many.
const ROUNDED: u64 = 500;

/// A row that due times lie near. In nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NearRow {
    pub(super) period_ns: u64,
    /// One of its due times.
    pub(super) anchor_ns: u64,
    /// Allowed distance of due times from it.
    pub(super) beside_ns: u64,
}

impl NearRow {
    /// The row of these due times, which have these intervals; `None` if they are on none.
    pub(super) fn of(dues_ns: &[u64], intervals: &Sorted) -> Option<Self> {
        let first_ns = *dues_ns.first()?;
        let period_ns = round(intervals.at(1))?;
        let half_ns = period_ns / 2;
        // Around the middle of a period, so that none is cut at its end.
        let place = |due: &u64| (due.saturating_sub(first_ns) + half_ns) % period_ns;
        let places = Sorted::new(dues_ns.iter().map(place).collect())?;
        // The first can itself be off the row.
        let anchor_ns = (first_ns + places.at(5)).saturating_sub(half_ns);
        let beside_ns = period_ns / NEAR;
        let near = dues_ns
            .iter()
            .filter(|due| beside(**due, anchor_ns, period_ns) <= beside_ns);
        (near.count() * 100 >= dues_ns.len() * NEAR_OF_HUNDRED).then_some(Self {
            period_ns,
            anchor_ns,
            beside_ns,
        })
    }
}

/// Distance of a due time from a row, in nanoseconds.
pub(super) fn beside(due_ns: u64, anchor_ns: u64, period_ns: u64) -> u64 {
    let off_ns = due_ns.abs_diff(anchor_ns) % period_ns;
    off_ns.min(period_ns - off_ns)
}

/// The round time that an interval is next to; `None` next to none.
fn round(interval_ns: u64) -> Option<u64> {
    let units = [1_000_000, 100_000, 10_000, 1_000];
    let rounded = units.map(|unit: u64| (interval_ns + unit / 2) / unit * unit);
    let is_near = |of: &u64| *of > 0 && of.abs_diff(interval_ns) <= interval_ns / ROUNDED;
    rounded.into_iter().find(is_near)
}
