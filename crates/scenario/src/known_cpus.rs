//! The CPUs of the machine that a scenario is read for, as told by the caller.

use crate::CpuSet;

/// The CPUs that exist and may be used; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCpus(CpuSet);

impl KnownCpus {
    /// These CPUs; `None` when there is none.
    pub fn new(cpus: impl IntoIterator<Item = u16>) -> Option<Self> {
        let cpus: std::collections::BTreeSet<u16> = cpus.into_iter().collect();
        (!cpus.is_empty()).then(|| Self(CpuSet(cpus.into_iter().collect())))
    }

    /// CPUs 0 to `count` − 1 (at least one): for reading a scenario that another machine will run.
    pub fn first(count: u16) -> Self {
        Self(CpuSet((0..count.max(1)).collect()))
    }

    /// The CPUs, ascending.
    pub fn cpus(&self) -> &CpuSet {
        &self.0
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.0.len()
    }

    /// The first CPU of `wanted` that is not there.
    pub(crate) fn first_absent(&self, wanted: &CpuSet) -> Option<u16> {
        wanted
            .0
            .iter()
            .copied()
            .find(|cpu| self.0.0.binary_search(cpu).is_err())
    }
}
