//! The resolved plan of one phase for the supervisor, and the job of one process for a worker.
//!
//! Nothing in it is left to look up.

use crate::launch::THIS_PROGRAM;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;
use wakepath_timeline::Disturbance;

/// Everything that runs in one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) loads: Vec<PlannedLoad>,
    /// Time before each process's start, over and over; none: no time.
    pub(crate) delays: Vec<Duration>,
}

impl Plan {
    /// Load and worker of each process to start, in order, each with the delay before. Random
    /// delays determine the order too, so that no load is always first.
    pub(crate) fn starts(&self) -> Vec<(usize, u32, Duration)> {
        let workers = |(index, load): (usize, &PlannedLoad)| {
            (0..load.workers).map(move |worker| (index, worker))
        };
        let starts = self.loads.iter().enumerate().flat_map(workers);
        if self.delays.is_empty() {
            let at_once = |(load, worker)| (load, worker, Duration::ZERO);
            return starts.map(at_once).collect();
        }
        let drawn = self.delays.iter().cycle();
        let mut starts: Vec<_> = starts
            .zip(drawn)
            .map(|((load, worker), &delay)| (load, worker, delay))
            .collect();
        // Another one's time for each: otherwise the first always waited least.
        let waits: Vec<Duration> = starts.iter().rev().map(|start| start.2).collect();
        starts.sort_by_key(|start| start.2);
        for (start, wait) in starts.iter_mut().zip(waits) {
            start.2 = wait;
        }
        starts
    }
}

/// One load. Its own counters are in the slot of its index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlannedLoad {
    /// Name in the scenario, such as `memory` or `stress-ng`.
    pub(crate) name: String,
    pub(crate) disturbs: Vec<Disturbance>,
    pub(crate) unit: Unit,
    /// Its CPUs, ascending.
    pub(crate) cpus: Vec<u16>,
    /// Worker processes of a built-in load, or number of copies of a program.
    pub(crate) workers: u32,
    /// Slot of the first worker; the others follow.
    pub(crate) first_slot: u32,
    pub(crate) work: Work,
    /// Differences from the request.
    pub(crate) notes: Vec<String>,
    pub(crate) working_set_bytes: Option<u64>,
    /// The device that does the work, for a GPU's.
    pub(crate) device: Option<Device>,
}

/// A GPU, as `wakepath-gpu` describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Device {
    pub(crate) interface: String,
    pub(crate) name: String,
    pub(crate) driver: String,
    pub(crate) is_software: bool,
}

/// Unit that a load counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unit {
    /// Name after the amount, such as "MiB".
    pub(crate) name: String,
    /// Counter steps in one unit.
    pub(crate) steps: u64,
}

/// The worker of the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Work {
    /// Workers of this crate, all with the same job.
    BuiltIn(Job),
    /// An installed program.
    Program(Program),
}

/// An installed program and how to run it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    /// May hold [`PORT`], which is replaced by the companion's port.
    pub(crate) arguments: Vec<String>,
    /// Working directory; `None`: wakepath's.
    pub(crate) directory: Option<PathBuf>,
    /// Argument that makes it print its version, if it is known to have one.
    pub(crate) version_argument: Option<String>,
    /// Signal that makes it end in order and report.
    pub(crate) stop_signal: i32,
    /// Whether it writes stress-ng's YAML report to its standard input's file.
    pub(crate) writes_stress_ng_report: bool,
    pub(crate) companion: Option<Companion>,
}

/// A placeholder for the companion's port among a program's arguments.
pub(crate) const PORT: &str = "{port}";

/// A server on loopback that a program needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Companion {
    /// This crate's HTTP server; it writes its port to this slot.
    HttpServer {
        /// Slot for the port.
        slot: u32,
    },
    /// `iperf3 --server`.
    Iperf3Server,
}

/// Work of one process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "job", rename_all = "kebab-case")]
pub(crate) enum Job {
    /// That of a row of the built-in loads, with the number that it takes.
    Load {
        load: String,
        amount: u64,
    },
    Memory {
        bytes: u64,
        chases: bool,
    },
    MessageSender {
        address: String,
    },
    MessageReceiver {
        address: String,
    },
    Files {
        directory: PathBuf,
        bytes: u64,
    },
    /// Work of the program that has a master.
    Ethercat {
        program: PathBuf,
        period: Duration,
        bus: wakepath_ethercat::Bus,
    },
    /// Has `wakepath-gpu` work.
    Gpu {
        path: PathBuf,
        arguments: Vec<String>,
    },
    HttpServer,
    /// Becomes another program. With counters it first adds its own CPU time to its slot, so that
    /// the program does not get credit for it.
    Program {
        path: PathBuf,
        arguments: Vec<String>,
        directory: Option<PathBuf>,
    },
}

/// A job with everything that the process needs to begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Assignment {
    /// Process id of the parent, to notice when it died before the death signal was set.
    pub(crate) parent: i32,
    /// Its counters; `None` when standard output is something else.
    pub(crate) slot: Option<u32>,
    pub(crate) cpus: Vec<u16>,
    #[serde(flatten)]
    pub(crate) job: Job,
}

impl Job {
    /// The program whose worker does it.
    pub(crate) fn program(&self) -> &Path {
        match self {
            Self::Ethercat { program, .. } => program,
            _ => Path::new(THIS_PROGRAM),
        }
    }
}

impl Program {
    /// The installed `program` without arguments, for the load called `load`.
    ///
    /// # Errors
    /// [`crate::LoadError::MissingProgram`] naming `package`.
    pub(crate) fn find(
        load: &str,
        program: &str,
        package: Option<&str>,
    ) -> Result<Self, crate::LoadError> {
        Ok(Self {
            path: crate::programs::find(load, program, package)?,
            arguments: Vec::new(),
            directory: None,
            version_argument: None,
            stop_signal: libc::SIGTERM,
            writes_stress_ng_report: false,
            companion: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(delays: &[u64]) -> Plan {
        let load = |workers| PlannedLoad {
            name: "cpu".into(),
            disturbs: Vec::new(),
            unit: Unit {
                name: "rounds".into(),
                steps: 1,
            },
            cpus: vec![0],
            workers,
            first_slot: 0,
            work: Work::BuiltIn(Job::HttpServer),
            notes: Vec::new(),
            working_set_bytes: None,
            device: None,
        };
        Plan {
            loads: vec![load(2), load(1)],
            delays: delays.iter().copied().map(Duration::from_millis).collect(),
        }
    }

    #[test]
    fn drawn_times_decide_the_order_of_starts_and_none_leave_it() {
        let order = |delays| -> Vec<(usize, u32)> {
            let starts = plan(delays).starts().into_iter();
            starts.map(|(load, worker, _)| (load, worker)).collect()
        };
        assert_eq!(order(&[]), [(0, 0), (0, 1), (1, 0)]);
        assert_eq!(order(&[5, 3, 1]), [(1, 0), (0, 1), (0, 0)]);
        assert_eq!(order(&[3, 5]), [(0, 0), (1, 0), (0, 1)]);
        let waits = plan(&[5, 3, 1]).starts().into_iter().map(|start| start.2);
        let all: Duration = waits.sum();
        assert_eq!(all, Duration::from_millis(9), "each waits once");
    }
}
