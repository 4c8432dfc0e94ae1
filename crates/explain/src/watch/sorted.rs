//! Times in order, and how far they spread.

/// Times in ascending order, in nanoseconds; never empty.
pub(super) struct Sorted(Vec<u64>);

impl Sorted {
    /// Of some times; `None` of none.
    pub(super) fn new(mut times: Vec<u64>) -> Option<Self> {
        times.sort_unstable();
        (!times.is_empty()).then_some(Self(times))
    }

    /// Between each instant and the next one; of fewer than two instants a 0.
    pub(super) fn intervals(instants: &[u64]) -> Self {
        let between = instants.windows(2);
        let between = between.map(|two| two[1].saturating_sub(two[0])).collect();
        Self::new(between).unwrap_or(Self(vec![0]))
    }

    /// The value with this many tenths below it.
    pub(super) fn at(&self, tenths: usize) -> u64 {
        self.0[(self.0.len() - 1) * tenths / 10]
    }

    /// Between the first and the last tenth.
    pub(super) fn spread(&self) -> u64 {
        self.at(9) - self.at(1)
    }

    /// How many of ten are within a share of a time, one in so many.
    pub(super) fn near(&self, time: u64, share: u64) -> usize {
        let near = |of: &&u64| of.abs_diff(time) <= time / share;
        self.0.iter().filter(near).count() * 10 / self.0.len()
    }

    /// The middle of the range of this width that holds most of them.
    pub(super) fn densest(&self, width: u64) -> u64 {
        let within = |from: usize| {
            let end = self
                .0
                .partition_point(|of| *of <= self.0[from].saturating_add(width));
            (end - from, from)
        };
        let (count, from) = (0..self.0.len()).map(within).max().unwrap_or_default();
        self.0[from].midpoint(self.0[from + count.saturating_sub(1)])
    }

    /// The largest within this distance of a time.
    pub(super) fn largest_within(&self, time: u64, distance: u64) -> u64 {
        let next = self
            .0
            .partition_point(|of| *of <= time.saturating_add(distance));
        self.0[next.saturating_sub(1)]
    }
}
