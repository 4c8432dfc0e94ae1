//! Disturbances with proof of work for the phases of a scenario.
//!
//! Starts the loads of a phase in their own processes, counts the work they really do, and leaves
//! nothing behind. It judges no loop; it only reports which load worked, how much, and which did not.
//!
//! Three kinds of process take part:
//!
//! * the measuring process calls [`Loads::start`], [`Loads::wait_until_working`],
//!   [`Loads::snapshot`] and [`Loads::stop`];
//! * its only child, the supervisor ([`supervisor::main`]), starts everything of one phase;
//! * each built-in load is a worker ([`worker::main`]), each package program a process group.
//!
//! # Clean-up after a death
//!
//! With the right to create a PID namespace the supervisor is that namespace's init. The kernel kills
//! everything in it as soon as the supervisor ends, and kills the supervisor as soon as the measuring
//! process ends, for whatever reason.
//!
//! Without that right the supervisor is a sub-reaper. It learns of the measuring process's end from
//! the end-of-file of its control socket and then kills all its descendants. The kernel kills workers
//! and programs when the supervisor dies. One case remains: a *child of a package program* outlives a
//! supervisor that was itself killed with SIGKILL, until the measuring process notices ([`Loads::stop`]
//! or dropping [`Loads`] kills it) or, if that was killed too, until the next [`reap_orphans`].
//! [`Loads::containment`] returns which of the two applies.
//!
//! Files of the built-in loads have no name, so none can remain. Package programs such as fio write
//! into a directory that is removed at the end, or by the next [`reap_orphans`] if wakepath was
//! killed.

// A terminal, a pipe or a log that is gone must not end a process that records, loads or loops: `eprintln!` panics then.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod asked;
mod capture;
mod control;
mod counters;
mod cpus;
mod disturbance;
mod ended;
mod error;
mod inherited;
mod judge;
mod kernel;
mod launch;
mod loads;
mod memory_budget;
mod offered;
mod options;
mod orphans;
mod plan;
mod process_tree;
mod programs;
mod proof;
mod resolve;
pub mod supervisor;
pub mod worker;

pub use disturbance::ethercat::bus as ethercat_bus;
pub use error::{IdleLoad, LoadError};
pub use loads::{Containment, Loads};
pub use offered::{Offered, offered};
pub use options::{Cache, Caches, StartOptions};
pub use orphans::{OWN_ENVIRONMENT_VARIABLE, reap_orphans};
pub use proof::Snapshot;
pub use wakepath_timeline::{DeviceAtWork, Disturbance, LoadProof, Reported};
