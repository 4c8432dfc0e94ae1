//! Carrying a scenario out: the recorder is started, phases follow each other, loads run through their
//! phases, one loop's process after the other is measured. Nothing is judged here; the results are in the run
//! directory afterwards.
//!
//! Every process that receives commands (loop, recorder, probe) has its own supervisor and channel. A state
//! machine that reads no clock decides when to stop a loop or to declare it dead.

// A terminal, a pipe or a log that is gone must not end a process that records, loads or loops: `eprintln!` panics then.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod cache_allocation;
mod controllers;
mod core_latency;
mod course;
mod error;
mod interrupt;
mod litmus_plugin;
mod load_proofs;
mod loop_process;
mod measurement;
mod observer;
mod own_group;
mod own_processes;
mod own_program;
mod plan;
mod program;
pub mod recorder;
mod recording;
mod segment;
mod stacks;
mod supervisor;
mod thread_records;
mod tracing;
pub mod watch;
mod work;

pub use controllers::{ControllerError, load_controllers};
pub use error::{MeasureError, NotTraced};
pub use interrupt::Interrupt;
pub use litmus_plugin::{PluginError, put_back_litmus_plugin};
pub use measurement::{Measurement, SCRATCH};
pub use observer::Observer;
pub use own_program::{AnnouncedLoop, Discovered, NoLoops, loops_of, within};
pub use plan::{Condition, HostCpus, PhaseRun, Plan, Segment};
pub use recorder::{LiveFigures, LivePlace, LiveTally, LiveThread, WITHIN_NS};
pub use supervisor::own_executable;
pub use tracing::{Watching, traced_cpus};
