//! Finds the kernel in a row that made an instruction path longer.
//!
//! Pure except for the bisection's file; the verb runs the kernels.

mod kept;
mod parted;
mod search;
mod text;
mod watched;

pub use kept::{Bisection, Next, SeedRun, Step};
pub use parted::parted;
pub use search::Turn;
pub use text::{found_text, is_open, parted_text, step_text};
pub use watched::{FEWEST_SEEDS, WatchedCount};
