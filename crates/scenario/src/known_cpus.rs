//! The CPUs of the machine that a scenario is read for, as given by the caller.

use wakepath_timeline::CpuSet;

/// The usable CPUs of the machine; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCpus(CpuSet);

impl KnownCpus {
    /// These CPUs; `None` if empty.
    pub fn new(cpus: impl IntoIterator<Item = u16>) -> Option<Self> {
        let cpus: CpuSet = cpus.into_iter().collect();
        (!cpus.is_empty()).then_some(Self(cpus))
    }

    /// CPUs 0 to `count` − 1 (at least one): for reading a scenario that another machine will run.
    pub fn first(count: u16) -> Self {
        Self((0..count.max(1)).collect())
    }

    /// The CPUs, ascending.
    pub fn cpus(&self) -> &CpuSet {
        &self.0
    }

    /// The first CPU of `wanted` that is not there.
    pub(crate) fn first_absent(&self, wanted: &CpuSet) -> Option<u16> {
        wanted.without(&self.0).first()
    }
}
