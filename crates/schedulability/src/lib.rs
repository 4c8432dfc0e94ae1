//! Whether a set of tasks always meets its deadlines: bounds on response times by the published
//! analyses, with the overheads that were measured on a machine. Pure: no clock, no files, no
//! randomness without a seed.
//!
//! Every time is a whole number of nanoseconds. What rounds, rounds to the safe side: costs up,
//! periods and deadlines down. A sum that doesn't fit 64 bits is an error and never wraps.

mod analysis;
pub mod arithmetic;
mod arrivals;
mod bound;
mod chain;
pub mod edf;
pub mod fixed_priority;
pub mod global;
pub mod matrix;
mod method;
pub mod overheads;
mod placement;
pub mod reservation;
pub mod sched_deadline;
pub mod sections;
mod sensitivity;
pub mod simulate;
pub mod sweep;
mod task;
mod window;

pub use analysis::{
    Analysis, NotAnalysed, Outcome, Overheads, Question, Refuted, TaskAnswer, analyse, prove,
};
pub use bound::{Bound, Part, What};
pub use chain::{Chain, EndToEnd, end_to_end};
pub use method::{Method, NoSuchMethod};
pub use placement::{Fit, NotPlaced, place};
pub use sections::{Interrupting, NoSectionsBound, Sections, SectionsBound};
pub use sensitivity::{Limits, limits};
pub use task::{Arrivals, Impossible, Reservation, Server, Task};
pub use window::{Runs, Stretch, Window, worst_window};
