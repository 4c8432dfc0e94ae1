//! What the kernel's driver says that leaving an idle state takes, and which wait is far above it.

use std::collections::BTreeMap;

/// The drivers' figures, by CPU and number of the state, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdleExits(BTreeMap<(u16, u32), u64>);

/// A wait is far above a driver's figure when it is longer than so many times that and
/// [`BEYOND_NS`]: figures are rounded, and say nothing of caches that are cold afterwards.
const TIMES: u64 = 4;
/// In nanoseconds.
const BEYOND_NS: u64 = 100_000;

impl IdleExits {
    /// From figures by CPU and state; what is not among them is not known.
    pub fn new(figures: impl IntoIterator<Item = ((u16, u32), u64)>) -> Self {
        Self(figures.into_iter().collect())
    }

    /// The driver's figure for a state in which a CPU stayed for so long, where that is far above
    /// it: the state did not take the rest.
    pub(crate) fn exceeded(&self, cpu: u16, state: Option<u32>, ns: u64) -> Option<u64> {
        let figure_ns = *self.0.get(&(cpu, state?))?;
        (ns > figure_ns.saturating_mul(TIMES).saturating_add(BEYOND_NS)).then_some(figure_ns)
    }
}
