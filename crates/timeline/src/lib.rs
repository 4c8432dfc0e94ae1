//! The vocabulary of a measured loop: due times, samples and scheduling policies.
//! It holds no clock, makes no system call and judges nothing; every other room speaks in its
//! words, so that a live run, a recording and an import from another tool mean the same thing.
//!
//! All instants are nanoseconds on `CLOCK_MONOTONIC` as `u64`; all differences are signed
//! nanoseconds as `i64`, on 32-bit targets too.

mod due;
mod policy;
mod sample;

pub use due::DueTimes;
pub use policy::{Overrun, Policy, WakeUp};
pub use sample::{Sample, SampleFlags};
