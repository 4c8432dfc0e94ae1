//! The activations of threads that were not written for wakepath, from kernel events alone: when a
//! timer or another thread woke them, how long they ran, with which period. Pure: it reads no file and no clock, and
//! says nothing of causes.

mod activation;
mod activations;
mod rhythm;
mod row;
mod turns;
mod waker;

pub use activation::{Activation, ThreadActivity};
pub use activations::Activations;
pub use rhythm::{NotPeriodic, Rhythm};
pub use row::{Row, row};
pub use waker::Waker;
