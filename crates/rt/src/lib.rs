//! Periodic real-time cycles for wakepath and for loops of your own: memory locked, affinity and
//! policy set in the order that works and read back, absolute due times that never move, samples
//! taken without a lock. It judges nothing and writes no file.
//!
//! [`Loop`] is a loop that `wakepath record` records: its samples go through shared memory to another
//! process, which writes them down.
//!
//! ```no_run
//! use std::time::Duration;
//! use wakepath_rt::{Loop, Preparation, log};
//!
//! Preparation::default().apply()?;
//! let mut cycles = Loop::new("attitude", Duration::from_millis(4))?;
//! let update = cycles.section("update", Some(Duration::from_micros(200)));
//! while let Some(activation) = cycles.wait() {
//!     let height = cycles.time(update, || 1.5);
//!     log!(cycles, "height {:.2} m", height);
//!     cycles.finish(activation);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Then `wakepath record --criterion 'latency 200us, miss-fraction 0.1 %' -- ./my-loop`; without it the program runs as
//! it is.
//!
//! # Features
//!
//! `serde`, off by default: settings and what is in effect can be written and read.
//!
//! # Order
//!
//! [`Preparation::apply`] does, on the calling thread: lock and prefault memory → affinity →
//! timer slack → policy **last**, so that no page fault or migration happens with real-time
//! priority; then it reads back what is in effect.
//!
//! ```no_run
//! use wakepath_rt::{Cycles, Preparation};
//! use wakepath_timeline::{DueTimes, Policy};
//!
//! let prepared = Preparation {
//!     policy: Policy::Fifo { priority: 80 },
//!     cpus: Some(vec![3]),
//!     ..Preparation::default()
//! }
//! .apply()?;
//! println!("in effect: {}", prepared.effective.policy);
//!
//! let due = DueTimes { start_ns: wakepath_rt::clock::monotonic_ns() + 10_000_000, period_ns: 4_000_000 };
//! let mut cycles = Cycles::new(due)?;
//! while let Some(activation) = cycles.wait() {
//!     // … the loop's work …
//!     let sample = cycles.finish(activation);
//!     if sample.cycle == 10_000 {
//!         break;
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// A terminal, a pipe or a log that is gone must not end a process that records, loads or loops: `eprintln!` panics then.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod affinity;
mod ahead;
pub mod announcement;
pub mod attributes;
pub mod clock;
mod cobalt;
mod core_counts;
pub mod core_latency;
mod cores;
pub mod counters;
mod cycles;
pub mod driven;
mod evl;
mod faults;
pub mod greeting;
pub mod guard;
pub mod image;
pub mod inherited;
mod litmus;
pub mod memory;
pub mod of_thread;
pub mod perf_event;
mod prepare;
pub mod recorded;
mod refusal;
pub mod ring;
pub mod said;
pub mod sections;
pub mod service;
pub mod shared;
pub mod timer_slack;
mod wait;

pub use cobalt::{CobaltAnswer, CobaltError, ask_cobalt, put_back_cobalt_affinity};
pub use core_counts::CoreCounts;
pub use cores::CoreError;
pub use cycles::{Accounting, Activation, Cycles, WorkOutcome};
pub use driven::Due;
pub use evl::EvlError;
pub use faults::PageFaults;
pub use litmus::LitmusError;
pub use prepare::{Effective, Preparation, PrepareError, Prepared, Shortfall};
pub use recorded::{Loop, LoopError};
pub use refusal::{NarrowCpuset, PolicyRefusal};
pub use said::Argument;
pub use sections::Section;
pub use service::{Recording, Service, ServiceError};
pub use wait::WaitError;
/// Behaviour of a loop when its work runs into the next due time, for [`Loop::with_overrun`].
pub use wakepath_timeline::Overrun;
/// Policy of a thread, for [`Preparation`].
pub use wakepath_timeline::Policy;

/// Writes a line to a recorded loop's log: `log!(cycles, "height {:.2} m of {}", height, name)`. It
/// compiles only if the format has a placeholder for each argument; see [`Loop::log`].
#[macro_export]
macro_rules! log {
    ($cycles:expr, $format:literal $(, $argument:expr)* $(,)?) => {{
        const { $crate::said::fits($format, <[&str]>::len(&[$(stringify!($argument)),*])) };
        $cycles.log($format, &[$($crate::Argument::from($argument)),*]);
    }};
}
