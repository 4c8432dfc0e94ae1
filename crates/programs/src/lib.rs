//! Programs of others: where they are looked for, and with which rights their code runs. It starts
//! none and knows none by name.

mod place;
pub mod rights;
mod trust;

pub use place::{NotFound, command, find, may_run, to_start};
