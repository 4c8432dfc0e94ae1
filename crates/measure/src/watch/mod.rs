//! Watching a program that was not written for wakepath, as far as something is done: which threads
//! it has, and what a watch keeps beside its trace so that a kill takes little. What its events say
//! is computed elsewhere.

mod session;
mod target;

pub use session::{Session, plain};
pub use target::{Target, Thread, Threads};
