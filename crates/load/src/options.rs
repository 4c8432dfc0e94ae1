//! Facts about the machine and the run that the caller passes to the loads.
//!
//! Nothing here is looked up.

use std::path::PathBuf;
use std::time::Duration;

/// One cache level as one CPU sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    /// Size in bytes.
    pub bytes: u64,
    /// Number of CPUs that share one such cache; 1 if it is private.
    pub shared_by_cpus: u32,
}

/// Data caches of the machine; `None` if the level is absent or unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Caches {
    /// Level-1 data cache.
    pub l1d: Option<Cache>,
    /// Level-2 cache.
    pub l2: Option<Cache>,
    /// Level-3 cache.
    pub l3: Option<Cache>,
}

impl Caches {
    /// The largest known level.
    pub(crate) fn last_level(&self) -> Option<Cache> {
        self.l3.or(self.l2).or(self.l1d)
    }
}

/// Options for starting loads, apart from the loads themselves.
#[derive(Debug, Clone)]
pub struct StartOptions {
    /// The program that answers `internal load-supervisor` and `internal load-worker`, as a rule
    /// [`std::env::current_exe`].
    pub executable: PathBuf,
    /// Existing directory on the file system that file loads shall disturb.
    pub scratch_directory: PathBuf,
    /// CPUs of the measured loop, so that a proof shows whether a load could run there.
    pub measured_cpus: Vec<u16>,
    /// Sizes for memory loads that name a cache.
    pub caches: Caches,
    /// Whether to create a PID namespace if privileges allow. `true` except to select the weaker
    /// containment, for example in a test.
    pub use_pid_namespace: bool,
    /// Delays before the starts of workers and programs, used in turn. None on a real machine,
    /// whose starts always differ; in virtual time all starts would be alike.
    pub delays: Vec<Duration>,
}

impl StartOptions {
    /// Options for `executable` and `scratch_directory`, with no measured CPU, unknown caches and a
    /// PID namespace if possible.
    pub fn new(executable: impl Into<PathBuf>, scratch_directory: impl Into<PathBuf>) -> Self {
        Self {
            executable: executable.into(),
            scratch_directory: scratch_directory.into(),
            measured_cpus: Vec::new(),
            caches: Caches::default(),
            use_pid_namespace: true,
            delays: Vec::new(),
        }
    }
}
