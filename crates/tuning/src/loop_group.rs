//! The control group that the plan makes for the loop.
//!
//! The measuring command moves a run's own loop process there; everything else stays out.

use crate::{SettingError, System, programs};
use wakepath_machine::Root;
use wakepath_timeline::CpuSet;

pub(crate) const V2_TOP: &str = "/sys/fs/cgroup";
pub(crate) const V2_OWN: &str = "/sys/fs/cgroup/wakepath";
pub(crate) const V1_TOP: &str = "/sys/fs/cgroup/cpuset";
pub(crate) const V1_OWN: &str = "/sys/fs/cgroup/cpuset/wakepath-loop";
pub(crate) const V1_OTHERS: &str = "/sys/fs/cgroup/cpuset/wakepath-others";

/// The group's present state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopGroup {
    /// Its directory.
    pub path: String,
    /// The CPUs that it grants.
    pub cpus: CpuSet,
}

impl LoopGroup {
    /// The group, if `tune apply` created one.
    pub fn find(root: &Root) -> Option<Self> {
        let files = [
            (V2_OWN, "cpuset.cpus.effective"),
            (V1_OWN, "cpuset.effective_cpus"),
        ];
        files.into_iter().find_map(|(path, file)| {
            let read = root.cpus(&format!("{path}/{file}"));
            let cpus = read.known()?.clone();
            (!cpus.is_empty()).then(|| Self {
                path: path.to_owned(),
                cpus,
            })
        })
    }

    /// Directory of this process's group in the same hierarchy.
    ///
    /// # Errors
    /// If it is unknown, the reason.
    pub fn home(&self) -> Result<String, SettingError> {
        let top = if self.path.starts_with(V1_TOP) {
            V1_TOP
        } else {
            V2_TOP
        };
        let group = programs::group_of(&System::host(), std::process::id(), top)?;
        Ok(format!("{top}{group}"))
    }

    /// Moves a process with all its threads into the group.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn take_in(&self, pid: u32) -> Result<(), SettingError> {
        System::host().write(&format!("{}/cgroup.procs", self.path), &pid.to_string())
    }
}
