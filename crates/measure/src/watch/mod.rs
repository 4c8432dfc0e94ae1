//! Watching a program that was not written for wakepath, as far as something is done: which threads
//! it has, and what a watch keeps beside its trace so that a kill takes little. What its events say
//! is computed elsewhere.

mod namespace;
mod session;
mod target;

pub use namespace::{OtherNumbers, has_the_kernels_numbers};
pub use session::{Session, SessionError, plain};
pub use target::{PolicyUnread, Target, Thread, Threads};
