//! Sleeps for a time, as `usleep` and `sleep_for` are: the thread asks for the same time in each turn, and its due
//! times lie that long after it asks. How late it is woken changes nothing about what it asked for.

use super::activation::Activation;
use super::sleep_call::TO_START_NS;
use super::sorted::Sorted;

/// Of ten sleeps, the number that must be of the same time.
const ALIKE_OF_TEN: usize = 8;
/// A thread that waits for others for more than this many times its sleep, on average, sleeps while it serves them.
const FAR_LONGER: u64 = 4;
/// The longest waits show nothing usual: one in so many.
const LONGEST_SHARE: usize = 50;
/// At best it takes no longer than this, in nanoseconds.
const SOONEST_START_NS: u64 = 2_000;
/// Work and wake-up below this share of the sleep, one in so many, don't count as part of the period.
const SMALL: u64 = 20;

/// The sleep that a thread asks for, and the rest of its turns. In nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sleep {
    /// Time that it asks for.
    pub(super) asked_ns: u64,
    /// Median time on a CPU.
    work_ns: u64,
    /// Median time within a turn until others woke it.
    waited_ns: u64,
    /// Mean of it in calls that take data from a descriptor: most turns may take what is there already.
    input_ns: u64,
    /// Mean of it in any call without the longest ones.
    mean_waited_ns: u64,
    /// Shortest wake-up latency.
    latency_ns: u64,
}

impl Sleep {
    /// That of activations with these intervals, if their thread sleeps for a time. A thread that computes the time to
    /// the next due time asks for another each turn, by as much as its turns differ, and its intervals are alike.
    pub(super) fn new(activations: &[Activation], intervals: &Sorted) -> Option<Self> {
        let asked = activations
            .iter()
            .filter_map(|of| of.programmed_ns?.checked_sub(of.asked_at_ns?))
            .collect::<Vec<u64>>();
        if asked.len() * 10 < activations.len() * ALIKE_OF_TEN {
            return None;
        }
        let of = |figure: fn(&Activation) -> Option<u64>| {
            Sorted::new(activations.iter().filter_map(figure).collect())
        };
        let is_alike = |all: &[u64], middle: u64| {
            let alike = all.iter().filter(|of| of.abs_diff(middle) <= TO_START_NS);
            alike.count() * 10 >= all.len() * ALIKE_OF_TEN
        };
        let all = Sorted::new(asked.clone())?;
        let middle = all.at(5);
        if !is_alike(&asked, middle) || all.spread() * 2 > intervals.spread() {
            return None;
        }
        Some(Self {
            asked_ns: as_asked(all.largest_within(middle, TO_START_NS)),
            work_ns: of(|of| Some(of.run_ns))?.at(5),
            waited_ns: of(|of| Some(of.waited_ns))?.at(5),
            input_ns: activations.iter().map(|of| of.input_ns).sum::<u64>()
                / activations.len().max(1) as u64,
            mean_waited_ns: trimmed_mean(activations.iter().map(|of| of.waited_ns).collect()),
            latency_ns: of(|of| of.switched_in_ns.checked_sub(of.programmed_ns?))?.at(0),
        })
    }

    /// Whether others begin the thread's turns rather than this sleep: it waits for them for longer, as a server does that
    /// sleeps while it serves a request.
    pub(super) fn is_within_turns(&self) -> bool {
        self.waited_ns.max(self.input_ns) > self.asked_ns
            || self.mean_waited_ns > self.asked_ns.saturating_mul(FAR_LONGER)
    }

    /// The thread's period: the sleep, and the rest of its turns. `regular_ns`: the median between two
    /// expiries, if they are regular.
    pub(super) fn period_ns(&self, regular_ns: Option<u64>) -> u64 {
        let usual_ns = self.asked_ns + self.work_ns + self.latency_ns;
        let period_ns = regular_ns.unwrap_or(usual_ns);
        if period_ns.saturating_sub(self.asked_ns) <= self.asked_ns / SMALL {
            self.asked_ns
        } else {
            period_ns
        }
    }
}

/// The mean without the longest, one in [`LONGEST_SHARE`] and one at least.
fn trimmed_mean(mut all: Vec<u64>) -> u64 {
    all.sort_unstable();
    all.truncate(all.len().saturating_sub(all.len() / LONGEST_SHARE + 1));
    let sum: u64 = all.iter().sum();
    sum / all.len().max(1) as u64
}

/// The time that was asked for, which is a round one, from what was left of it when the timer was started.
fn as_asked(left_ns: u64) -> u64 {
    let round = [1_000_000, 100_000, 10_000, 1_000];
    let up = round.map(|unit: u64| left_ns.div_ceil(unit) * unit);
    let near = up.into_iter().find(|up| up - left_ns <= SOONEST_START_NS);
    near.unwrap_or(left_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_naps_between_reads_waits_for_data_even_if_most_reads_find_some() {
        let turns = |input: fn(&mut Activation)| -> Vec<Activation> {
            let turn = |number: u64| {
                let mut of = Activation {
                    programmed_ns: Some(number * 100_000_000),
                    asked_at_ns: Some(number * 100_000_000 - 8_000_000),
                    switched_in_ns: number * 100_000_000,
                    ..Activation::default()
                };
                if number.is_multiple_of(10) {
                    of.waited_ns = 300_000_000;
                    input(&mut of);
                }
                of
            };
            (1..100).map(turn).collect()
        };
        let is_within = |turns: &[Activation]| {
            let intervals = Sorted::intervals(&[0, 1, 3, 100_000_000]);
            Sleep::new(turns, &intervals).unwrap().is_within_turns()
        };
        assert!(is_within(&turns(|of| of.input_ns = of.waited_ns)));
        // Sometimes held up by a lock.
        assert!(!is_within(&turns(|_| {})));
    }
}
