//! The process of the measured loop.
//!
//! No terminal, disk or load shares its address space. It receives its order as one line of JSON
//! and answers with two.
//!
//! It is a library because two programs run it: `wakepath` itself, and a small program that can
//! load a controller from a shared library if wakepath is linked statically and can't.

// A terminal, a pipe or a log that is gone must not end a process that records, loads or loops: `eprintln!` panics then.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod core_latency;
mod host;
mod policies;
mod process;
mod protocol;
mod refusal;
mod work;

pub use core_latency::{CoreLatencyReply, measure_core_latency};
pub use host::{die_with, end_with, is_child_of, run_as_child, shared_memory};
pub use policies::keep_for;
pub use process::run;
pub use protocol::{
    ControllerSpec, Counted, EthercatSpec, FlightSpec, INTERFACE, LoopReply, LoopSpec,
    TableTaskSpec, ThreadEndReport, ThreadReady, ThreadSpec, VERSION, Versions, WorkSpec,
};
