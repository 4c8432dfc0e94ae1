//! An EtherCAT master for loads and loops: process data exchanged by the calling thread.
//!
//! It doesn't interpret faults, and it commands no device: outputs of real ones stay zero.
//!
//! The master is `ethercrab`, without its standard library: its futures are polled here, and its
//! frames sent and received here, in one thread. No executor and no second thread takes part, so
//! that the measurement is of the loop's own wake-up, the kernel's network stack and the bus.

// A terminal, a pipe or a log that is gone must not end a process that records, loads or loops: `eprintln!` panics then.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod drive;
mod master;

pub use master::start;
