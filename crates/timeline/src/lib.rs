//! The vocabulary of a measured loop: due times, samples, policies, kernel events, CPU sets.
//!
//! Also their text forms: labels, durations and counts in words, foreign text in one line, lines in
//! columns. It holds no clock, makes no system call and judges nothing. Every other room uses these
//! types, so that a live run, a recording and an import from another tool mean the same thing.
//!
//! All times are nanoseconds on `CLOCK_MONOTONIC` as `u64`; all differences are signed nanoseconds
//! as `i64`, on 32-bit targets too.

mod allowed_cpus;
mod budget;
pub mod columns;
mod control_group;
pub mod count;
mod cpu_set;
mod disturbance;
mod due;
pub mod duration;
mod event;
mod label;
mod lack;
mod line;
mod litmus;
mod load_proof;
mod measured;
mod name;
pub mod number;
mod policy;
mod process_stat;
pub mod quantity;
mod sample;
mod thread;

pub use allowed_cpus::AllowedCpus;
pub use budget::Budget;
pub use control_group::{ControlGroup, Hierarchy, NoRealTimeBudget};
pub use cpu_set::{CpuSet, CpuSetError, MOST_CPUS};
pub use disturbance::Disturbance;
pub use due::DueTimes;
pub use event::{
    Call, CallArgument, CallTarget, Interrupt, KernelEvent, Left, SoftIrq, Thread, What,
};
pub use label::condition_label;
pub use lack::Lack;
pub use line::{decoded, is_unprintable, one_line, quoted, shortened};
pub use litmus::{Enforcement, JobRelease, LitmusPlugin, LitmusTask};
pub use load_proof::{DeviceAtWork, LoadProof, Reported};
pub use measured::Measured;
pub use name::plain_name;
pub use policy::{Overrun, Policy, WakeUp};
pub use process_stat::ProcessStat;
pub use sample::{Sample, SampleFlags};
pub use thread::ThreadName;
