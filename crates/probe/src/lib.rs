//! Kernel events of the measured CPUs, from our own instance of the kernel's tracer (tracefs) or, if that is
//! unavailable, from perf. It records and decodes; it explains nothing and judges nothing.
//!
//! Decoding ([`stream`]) is pure. Everything that touches the kernel's tracer is in an
//! [`Instance`], which is removed when it is dropped; one whose process was killed is removed by
//! the next start ([`remove_orphans`]).

// A terminal, a pipe or a log that is gone must not end a process that records, loads or loops: `eprintln!` panics then.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod apart;
pub mod blocking;
mod borrowed;
mod buffers;
mod choice;
mod clock_sets;
mod collect;
mod cost;
mod error;
mod events;
mod feather_trace;
mod followed;
mod instance;
mod kernel_tracer;
mod late;
mod orphans;
mod osnoise;
mod owner;
mod pages;
mod perf;
mod politeness;
mod process;
mod protocol;
mod sections;
mod self_test;
mod source;
pub mod stream;
mod symbols;
mod timerlat;
mod tracefs;
pub mod usdt;

pub use apart::Apart;
pub use buffers::{BufferChoice, BufferWish, available_memory, choose};
pub use choice::Chosen;
pub use collect::{Collector, merged};
pub use cost::EventCost;
pub use error::{ProbeError, Result};
pub use feather_trace::FeatherRecorder;
pub use instance::Instance;
pub use orphans::remove_orphans;
pub use perf::PerfRings;
pub use politeness::hurry;
pub use process::run;
pub use protocol::{Backend, Command, Ready, Reply, Setting};
pub use self_test::{SelfTest, complete_paths};
pub use source::{CpuBuffer, CpuStatistics, EventSource, Found};
pub use symbols::Symbols;
pub use tracefs::{Tracefs, may_trace};
