//! Wake-up latencies counted by the microsecond for each CPU, as in latency plots over many CPUs. Latencies
//! over a millisecond are only counted: a plot up to them would hide all the others.

use serde::Serialize;
use std::collections::BTreeMap;

/// The latencies of one CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CpuCounts {
    /// The CPU.
    pub cpu: u16,
    /// Whole microseconds, rounded down, and how many latencies had as many; ascending, below
    /// [`CpuCounts::END_US`].
    pub micros: Vec<(u32, u64)>,
    /// How many were later than that.
    pub beyond: u64,
    /// The largest, in nanoseconds.
    pub max_ns: i64,
}

impl CpuCounts {
    /// Number of one-microsecond bins.
    pub const END_US: u32 = 1_000;
}

/// Counts in the making.
#[derive(Debug, Default)]
pub(crate) struct CpuTally(BTreeMap<u16, Tally>);

#[derive(Debug)]
struct Tally {
    micros: Vec<u64>,
    beyond: u64,
    max_ns: i64,
}

impl CpuTally {
    /// A latency on a CPU.
    pub(crate) fn count(&mut self, cpu: u16, latency_ns: i64) {
        self.add(cpu, latency_ns, 1);
        let tally = self.0.get_mut(&cpu);
        tally
            .into_iter()
            .for_each(|tally| tally.max_ns = tally.max_ns.max(latency_ns));
    }

    /// Several latencies of about this value; `largest` sets the largest of a CPU.
    pub(crate) fn add(&mut self, cpu: u16, latency_ns: i64, count: u64) {
        let tally = self.0.entry(cpu).or_insert_with(|| Tally {
            micros: vec![0; CpuCounts::END_US as usize],
            beyond: 0,
            max_ns: i64::MIN,
        });
        // Early wake-ups count as 0.
        let micro = usize::try_from(latency_ns.max(0) / 1_000).unwrap_or(usize::MAX);
        match tally.micros.get_mut(micro) {
            Some(known) => *known += count,
            None => tally.beyond += count,
        }
    }

    /// The largest latency of a CPU, if known in addition to the counts.
    pub(crate) fn largest(&mut self, cpu: u16, max_ns: i64) {
        if let Some(tally) = self.0.get_mut(&cpu) {
            tally.max_ns = tally.max_ns.max(max_ns);
        }
    }

    /// By CPU.
    pub(crate) fn counts(self) -> Vec<CpuCounts> {
        let of = |(cpu, tally): (u16, Tally)| CpuCounts {
            cpu,
            micros: (0..)
                .zip(tally.micros)
                .filter(|(_, count)| *count > 0)
                .collect(),
            beyond: tally.beyond,
            max_ns: tally.max_ns,
        };
        self.0.into_iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_counted_by_the_microsecond_and_what_is_later_is_not_lost() {
        let mut tally = CpuTally::default();
        for latency in [-3, 999, 1_000, 999_999, 1_000_000, 70_000_000] {
            tally.count(3, latency);
        }
        tally.count(0, 5_500);
        let counts = tally.counts();
        assert_eq!(counts[0].micros, [(5, 1)]);
        assert_eq!(
            (
                counts[1].cpu,
                &counts[1].micros[..],
                counts[1].beyond,
                counts[1].max_ns
            ),
            (3, &[(0, 2), (1, 1), (999, 1)][..], 2, 70_000_000)
        );
    }
}
