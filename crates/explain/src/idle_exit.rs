//! Exit latencies of idle states by the kernel's driver, and the waits that are far above them.

use std::collections::BTreeMap;

/// The drivers' figures, by CPU and number of the state, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdleExits(BTreeMap<(u16, u32), u64>);

/// A wait is far above a driver's figure when it is longer than this many times the figure plus
/// [`BEYOND_NS`]: figures are rounded, and don't include the cost of cold caches.
const TIMES: u64 = 4;
/// In nanoseconds.
const BEYOND_NS: u64 = 100_000;
/// No driver's state takes as long to be left, in nanoseconds: the largest figures in Linux' device trees are 4 ms.
const MOST_NS: u64 = 10_000_000;

impl IdleExits {
    /// From figures by CPU and state; all others are unknown.
    pub fn new(figures: impl IntoIterator<Item = ((u16, u32), u64)>) -> Self {
        Self(figures.into_iter().collect())
    }

    /// The driver's figure for a state in which a CPU stayed for `ns`, if that is far above the figure: the
    /// state did not take the rest. 0 of an unknown state in which it stayed for longer than any takes to be left.
    pub(crate) fn exceeded(&self, cpu: u16, state: Option<u32>, ns: u64) -> Option<u64> {
        let Some(state) = state else {
            return (ns > MOST_NS).then_some(0);
        };
        let figure_ns = *self.0.get(&(cpu, state))?;
        (ns > figure_ns.saturating_mul(TIMES).saturating_add(BEYOND_NS)).then_some(figure_ns)
    }
}
