//! Messages between the measuring process and the loop's process, one line of JSON each.

use serde::{Deserialize, Serialize};
use wakepath_archive::{CountersRead, ModuleTimes, Obstacle, ThreadEnd};
use wakepath_flight::Trajectory;
use wakepath_rt::counters::Counts;
use wakepath_rt::{Accounting, CoreCounts, Effective, PageFaults, Preparation, Shortfall};
use wakepath_timeline::{Overrun, WakeUp};

/// Version of wakepath, which both sides must have.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Version of the controller interface: the number in `wakepath_controller.h`.
pub const INTERFACE: u32 = crate::work::INTERFACE;

/// A placeholder for this very file: two builds of one version whose messages differ don't take each
/// other for the same.
pub const WORDING: u64 = fingerprint(include_bytes!("protocol.rs"));

/// FNV-1a, 64 bits (Fowler, Noll, Vo): http://www.isthe.com/chongo/tech/comp/fnv.
const fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    hash
}

/// Versions that both sides must share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// wakepath's version.
    pub wakepath: String,
    /// Version of the controller interface; `None` if the other wakepath doesn't report it.
    pub interface: Option<u32>,
    /// Version of the messages.
    pub wording: Option<u64>,
}

impl Versions {
    /// This side's.
    pub fn own() -> Self {
        Self {
            wakepath: VERSION.into(),
            interface: Some(INTERFACE),
            wording: Some(WORDING),
        }
    }

    /// Difference between the loop's program, which has these, and a wakepath with `theirs`.
    pub(crate) fn apart_from(&self, theirs: &Self) -> Option<String> {
        let number = |number: Option<u32>| number.map_or("none".into(), |n| n.to_string());
        let what = if self.wakepath != theirs.wakepath {
            let (ours, theirs) = (&self.wakepath, &theirs.wakepath);
            format!("has version {ours} and wakepath has {theirs}")
        } else if self.interface != theirs.interface {
            let (ours, theirs) = (number(self.interface), number(theirs.interface));
            format!(
                "has version {ours} of the controller interface and wakepath has version {theirs}"
            )
        } else if self.wording != theirs.wording {
            "is another build than wakepath, and they would misunderstand each other".into()
        } else {
            return None;
        };
        Some(format!(
            "the loop's program {what}; install it and wakepath together"
        ))
    }
}

/// The one key that is read before all others.
#[derive(Deserialize)]
pub(crate) struct LoopSpecVersion {
    pub(crate) versions: Versions,
}

/// The order, sent once on standard input.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LoopSpec {
    /// Those of the measuring process: a host program left over from another wakepath is refused
    /// before it misunderstands the rest.
    pub versions: Versions,
    /// The threads; thread `n` writes to ring `n`.
    pub threads: Vec<ThreadSpec>,
    /// From the moment all threads are ready to the first due time, in nanoseconds.
    pub lead_ns: u64,
    /// CPU time in microseconds that a FIFO or RR thread can use without sleeping before the guard
    /// stops it.
    pub guard_us: u64,
}

/// One thread of the loop.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ThreadSpec {
    /// Name of the thread, as the kernel shows it too (cut to 15 bytes there).
    pub name: String,
    /// Period in nanoseconds.
    pub period_ns: u64,
    /// Memory, affinity, timer slack, policy.
    pub preparation: Preparation,
    /// Its work in each cycle.
    pub work: WorkSpec,
    /// How it is woken.
    pub wake_up: WakeUp,
    /// Behaviour when work runs into the next due time.
    pub overrun: Overrun,
    /// Values to read in addition to the clock.
    pub accounting: Accounting,
    /// Whether hardware counters are read around the work.
    pub counters: bool,
    /// Cycles before it are warm-up.
    pub first_judged_cycle: u64,
    /// One past the last due time.
    pub end_cycle: u64,
}

/// A thread's work in each cycle, as the scenario resolved it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WorkSpec {
    /// Nothing.
    Nothing,
    /// Reads and writes this number of bytes.
    WorkingSet {
        /// Bytes touched in each cycle.
        bytes: u64,
    },
    /// Computes for this amount of CPU time.
    Busy {
        /// CPU time of each cycle, in nanoseconds.
        ns: u64,
    },
    /// Computes, then appends a record to a file.
    Log {
        /// CPU time of each cycle before the record, in nanoseconds.
        ns: u64,
        /// Bytes of each record.
        bytes: u64,
        /// Directory of the file.
        directory: String,
    },
    /// Measures a job's cache-related delay.
    CacheDelay {
        /// The working set, in bytes.
        bytes: u64,
        /// Bytes that the preempting thread reads and writes.
        preempted_by: u64,
    },
    /// Exchanges process data with an EtherCAT bus.
    Ethercat(EthercatSpec),
    /// A controller in a simulated flight.
    Flight(FlightSpec),
    /// Whatever a program of the user's own does in the loop of this thread's name.
    Program {
        /// The program and its arguments.
        command: Vec<String>,
    },
}

/// An EtherCAT bus, and how long an answer is waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EthercatSpec {
    /// How long a cycle waits, in nanoseconds; `None`: half of the period.
    pub timeout_ns: Option<u64>,
    /// The devices.
    pub bus: wakepath_ethercat::Bus,
}

/// A controller in a simulated flight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlightSpec {
    /// The text of the vehicle's file.
    pub vehicle: String,
    /// The trajectory to follow.
    pub trajectory: Trajectory,
    /// Bytes read and written in each cycle in addition to the controller.
    pub working_set: u64,
    /// The controller.
    pub controller: ControllerSpec,
}

/// Kinds of controllers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ControllerSpec {
    /// The controller of `wakepath-flight`.
    BuiltIn,
    /// The controller of `wakepath-flight`, and after it the tasks of a table.
    Tasks {
        /// The tasks.
        tasks: Vec<TableTaskSpec>,
    },
    /// One from a shared library.
    Library {
        /// Its path.
        library: String,
        /// Text for its `init`.
        settings: String,
        /// Expected SHA-256 of the file, in hexadecimal digits.
        sha256: Option<String>,
    },
    /// One from a Python file.
    Python {
        /// Its path.
        file: String,
        /// The interpreter whose Python runs it; `None`: the usual one.
        interpreter: Option<String>,
        /// Text for its constructor.
        settings: String,
        /// Expected SHA-256 of the file, in hexadecimal digits.
        sha256: Option<String>,
    },
}

/// A task of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableTaskSpec {
    /// Its name.
    pub name: String,
    /// How often it shall run, as a period in nanoseconds.
    pub period_ns: u64,
    /// Longest time that a run should take, in nanoseconds.
    pub budget_ns: u64,
    /// The lowest number runs first.
    pub priority: u32,
    /// Rounds of arithmetic in each run.
    pub rounds: u64,
    /// Bytes read and written in each run.
    pub bytes: u64,
}

impl LoopSpec {
    /// The controller's file, if it has one: a statically linked program can load neither a shared
    /// library nor Python's.
    pub fn library(&self) -> Option<&str> {
        self.threads.iter().find_map(|thread| match &thread.work {
            WorkSpec::Flight(FlightSpec {
                controller:
                    ControllerSpec::Library { library: file, .. } | ControllerSpec::Python { file, .. },
                ..
            }) => Some(file.as_str()),
            _ => None,
        })
    }

    /// Whether a thread needs an EtherCAT master.
    pub fn needs_master(&self) -> bool {
        self.threads
            .iter()
            .any(|thread| matches!(thread.work, WorkSpec::Ethercat(_)))
    }

    /// The program of the user's own, with its arguments, whose loops these threads are.
    pub fn program(&self) -> Option<&[String]> {
        self.threads.iter().find_map(|thread| match &thread.work {
            WorkSpec::Program { command } => Some(&command[..]),
            _ => None,
        })
    }
}

/// From the loop's process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopReply {
    /// All threads are ready and wait for cycle 0.
    Ready {
        /// Due time of cycle 0 of all threads, in nanoseconds on `CLOCK_MONOTONIC`.
        start_ns: u64,
        /// Settings in effect for each thread.
        threads: Vec<ThreadReady>,
    },
    /// A thread could not be prepared: nothing was run.
    CannotRun {
        /// The obstacle.
        obstacle: Obstacle,
        /// One line: the missing thing and how to get it.
        reason: String,
    },
    /// All threads have ended.
    Ended {
        /// Reasons, and each thread's own counts.
        threads: Vec<ThreadEndReport>,
    },
}

/// A thread that is ready.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ThreadReady {
    /// The kernel's number of the thread, which identifies its events.
    pub thread_id: u32,
    /// Settings in effect, read back.
    pub effective: Effective,
    /// Differences from the request.
    pub shortfalls: Vec<Shortfall>,
    /// Reason why requested hardware counters are missing.
    pub no_counters: Option<String>,
}

/// A thread that has ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ThreadEndReport {
    /// Why.
    pub why: ThreadEnd,
    /// Page faults in the loop after the warm-up.
    pub page_faults: PageFaults,
    /// Hardware counts of the work after the warm-up, if requested and available.
    pub counted: Option<Counted>,
    /// Counts of its real-time core after the warm-up.
    pub on_a_core: Option<CoreCounts>,
    /// Parts of the work that timed themselves, after the warm-up.
    pub modules: Vec<ModuleTimes>,
}

/// Hardware counts of the work of several cycles.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Counted {
    /// Number of cycles.
    pub cycles: u64,
    /// Their sum.
    pub sum: Counts,
}

impl Counted {
    /// Adds one cycle's counts.
    #[inline]
    pub(crate) fn add(&mut self, counts: Counts) {
        self.cycles += 1;
        self.sum.cycles += counts.cycles;
        self.sum.instructions += counts.instructions;
        self.sum.misses += counts.misses;
    }
}

impl From<Counted> for CountersRead {
    fn from(counted: Counted) -> Self {
        Self::Counted {
            cycles: counted.cycles,
            cpu_cycles: counted.sum.cycles,
            instructions: counted.sum.instructions,
            last_level_misses: counted.sum.misses,
        }
    }
}
