//! The proof that a load did its work.
//!
//! It is made where the load is measured, stored in the record, and read by verdicts and reports.
//! Old runs can lack fields that later versions added.

use crate::Disturbance;

/// Work of one load in a stretch of time.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LoadProof {
    /// Name of the load, such as `memory` or `stress-ng`.
    pub name: String,
    /// Disturbed parts of the machine.
    #[cfg_attr(feature = "serde", serde(default))]
    pub disturbs: Vec<Disturbance>,
    /// Unit of `work_done`: "rounds", "MiB", "messages", "CPU seconds" and so on.
    #[cfg_attr(feature = "serde", serde(default))]
    pub unit: String,
    /// Work that succeeded within `seconds`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub work_done: f64,
    /// Length of the stretch in seconds.
    #[cfg_attr(feature = "serde", serde(default))]
    pub seconds: f64,
    /// `work_done / seconds`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub per_second: f64,
    /// Worker processes, or copies of the program.
    #[cfg_attr(feature = "serde", serde(default))]
    pub workers: u32,
    /// Workers whose own count did not advance; always 0 for programs.
    #[cfg_attr(feature = "serde", serde(default))]
    pub idle_workers: u32,
    /// CPUs that it could use, ascending.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cpus: Vec<u16>,
    /// Whether those include a CPU of the measured loop.
    #[cfg_attr(feature = "serde", serde(default))]
    pub shares_a_measured_cpu: bool,
    /// CPU time of all its processes in seconds, in steps of the kernel's clock tick (10 ms as a
    /// rule).
    #[cfg_attr(feature = "serde", serde(default))]
    pub cpu_seconds: f64,
    /// Bytes that its processes read and wrote: through system calls, or to and from storage,
    /// whichever is more.
    #[cfg_attr(feature = "serde", serde(default))]
    pub io_bytes: u64,
    /// Working set of one worker of a memory load.
    #[cfg_attr(feature = "serde", serde(default))]
    pub working_set_bytes: Option<u64>,
    /// The installed program that did the work.
    #[cfg_attr(feature = "serde", serde(default))]
    pub program: Option<String>,
    /// Version that the program printed.
    #[cfg_attr(feature = "serde", serde(default))]
    pub version: Option<String>,
    /// Command line that ran, for programs.
    #[cfg_attr(feature = "serde", serde(default))]
    pub command_line: Option<String>,
    /// How often it was started again after it ended, since the phase began.
    #[cfg_attr(feature = "serde", serde(default))]
    pub restarts: u64,
    /// Whether it ended although it should not have.
    #[cfg_attr(feature = "serde", serde(default))]
    pub died_early: bool,
    /// The last exit of one of its processes, such as "exit status 0" or "signal 9".
    #[cfg_attr(feature = "serde", serde(default))]
    pub exit: Option<String>,
    /// The device that did the work, for loads of a GPU.
    #[cfg_attr(feature = "serde", serde(default))]
    pub device: Option<DeviceAtWork>,
    /// Figures that the program itself reported at its end; empty before the loads are stopped.
    #[cfg_attr(feature = "serde", serde(default))]
    pub reported: Vec<Reported>,
    /// Differences from the request, such as a smaller working set.
    #[cfg_attr(feature = "serde", serde(default))]
    pub notes: Vec<String>,
    /// Whether it did its work: only then is the phase valid.
    pub working: bool,
    /// Why not.
    #[cfg_attr(feature = "serde", serde(default))]
    pub reason: Option<String>,
}

impl LoadProof {
    /// The entry for a load without a proof.
    pub fn missing(name: &str, reason: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            reason: Some(reason.into()),
            ..Self::default()
        }
    }

    /// Reason why the load counts as not working; `None` if it worked.
    pub fn why_unproven(&self) -> Option<&str> {
        let why = self.reason.as_deref();
        (!self.working).then(|| why.unwrap_or("it says nothing of its work"))
    }
}

/// A GPU that worked.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct DeviceAtWork {
    /// Its name.
    pub name: String,
    /// Its interface: "cuda", "vulkan" or "opencl".
    pub interface: String,
    /// The driver and its version.
    pub driver: String,
    /// Whether it is a program on the CPU.
    pub is_software: bool,
    /// How long it was at work within the stretch, in seconds, by its own clock.
    pub busy_seconds: f64,
}

/// One figure that a program reported about itself.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Reported {
    /// Subject of the figure, such as a stressor's name.
    pub name: String,
    /// How much, over the program's whole life.
    pub amount: f64,
    /// Its unit, such as "bogo operations".
    pub unit: String,
    /// The program's own figure per second of real time.
    pub per_second: f64,
}
