//! Other programs: the search for them, and the rights that they run with.
//!
//! It starts none and knows none by name.

mod place;
pub mod rights;
mod trust;

pub use place::{NotFound, command, companion, find, may_run, to_start};
