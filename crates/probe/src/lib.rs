//! Kernel events of the measured CPUs, from an instance of the kernel's tracer (tracefs) of our
//! own. It records and decodes; it explains nothing and judges nothing.
//!
//! Decoding ([`stream`]) is pure. Everything that touches the kernel's tracer is in an
//! [`Instance`], which is removed when it is dropped; one whose process was killed is removed by
//! the next start ([`remove_orphans`]).

mod buffers;
mod collect;
mod cost;
mod error;
mod instance;
mod late;
mod orphans;
mod owner;
mod process;
mod protocol;
mod self_test;
pub mod stream;
mod symbols;
mod tracefs;

pub use buffers::{BufferChoice, BufferWish, available_memory, choose};
pub use collect::{Collector, merged};
pub use cost::EventCost;
pub use error::{ProbeError, Result};
pub use instance::{CpuStatistics, Instance};
pub use orphans::remove_orphans;
pub use process::run;
pub use protocol::{Command, Ready, Reply, Setting};
pub use self_test::{SelfTest, complete_paths};
pub use symbols::Symbols;
pub use tracefs::Tracefs;
