//! How many jobs can come in how long: the arrival curve of a task and its inverse.

use crate::arithmetic::{sum, times};
use crate::task::{Arrivals, Impossible};

impl Arrivals {
    /// The most jobs that are released in any half-open stretch of `length_ns` when each release
    /// may lag `jitter_ns` behind: ⌈(length + jitter) / period⌉ for sporadic jobs.
    ///
    /// # Errors
    /// [`Impossible::Overflow`].
    pub fn within(&self, length_ns: u64, jitter_ns: u64) -> Result<u64, Impossible> {
        if length_ns == 0 {
            return Ok(0);
        }
        let reach = sum(length_ns, jitter_ns)?;
        match self {
            Self::Sporadic(period_ns) => Ok(reach.div_ceil(*period_ns)),
            Self::Distances(list) => Ok(count_closer_than(list, reach)),
        }
    }

    /// The most jobs that are released in any closed stretch of `length_ns`:
    /// ⌊(length + jitter) / period⌋ + 1.
    ///
    /// # Errors
    /// [`Impossible::Overflow`].
    pub fn within_closed(&self, length_ns: u64, jitter_ns: u64) -> Result<u64, Impossible> {
        self.within(sum(length_ns, 1)?, jitter_ns)
    }

    /// The shortest time from the due time of the first to that of the `count`-th of successive
    /// jobs.
    ///
    /// # Errors
    /// [`Impossible::Overflow`].
    pub fn shortest_for(&self, count: u64) -> Result<u64, Impossible> {
        let gaps = count.saturating_sub(1);
        match self {
            Self::Sporadic(period_ns) => times(gaps, *period_ns),
            Self::Distances(list) => {
                let jobs = list.len() as u64;
                let whole = times(gaps / jobs, *list.last().unwrap_or(&0))?;
                match (gaps % jobs) as usize {
                    0 => Ok(whole),
                    rest => sum(whole, list[rest - 1]),
                }
            }
        }
    }
}

/// The most jobs of which the first and the last are less than `reach` apart.
fn count_closer_than(list: &[u64], reach: u64) -> u64 {
    let jobs = list.len() as u64;
    let last = list[list.len() - 1];
    // Whole lists that fit strictly, then what fits of one more.
    let whole = (reach - 1) / last;
    let rest = reach - whole * last;
    let more = list.partition_point(|distance| *distance < rest) as u64;
    1 + whole.saturating_mul(jobs).saturating_add(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_one_distance_is_a_period() {
        let (list, period) = (Arrivals::Distances(vec![7]), Arrivals::Sporadic(7));
        for length in 0..60 {
            assert_eq!(list.within(length, 0), period.within(length, 0), "{length}");
            assert_eq!(list.within(length, 3), period.within(length, 3), "{length}");
            assert_eq!(list.shortest_for(length), period.shortest_for(length));
        }
    }

    #[test]
    fn a_burst_of_three_and_then_a_pause() {
        // Three jobs at once, the fourth 10 after the first.
        let burst = Arrivals::Distances(vec![0, 0, 10]);
        assert_eq!(burst.within(1, 0), Ok(3));
        assert_eq!(burst.within(10, 0), Ok(3));
        assert_eq!(burst.within(11, 0), Ok(6));
        assert_eq!(burst.within_closed(10, 0), Ok(6));
        assert_eq!(burst.shortest_for(3), Ok(0));
        assert_eq!(burst.shortest_for(4), Ok(10));
        assert_eq!(burst.shortest_for(7), Ok(20));
    }

    #[test]
    fn sums_that_do_not_fit_are_refused() {
        let jobs = Arrivals::Sporadic(u64::MAX / 2);
        assert_eq!(jobs.within(u64::MAX, 1), Err(Impossible::Overflow));
        assert_eq!(jobs.shortest_for(5), Err(Impossible::Overflow));
    }
}
