//! Which of a row of kernels made an instruction path longer. Pure but for the file that a bisection is
//! kept in: what carries kernels out is the verb's.

mod kept;
mod parted;
mod search;
mod text;
mod watched;

pub use kept::{Bisection, Next, Step};
pub use parted::parted;
pub use search::Turn;
pub use text::{found_text, parted_text, step_text};
pub use watched::WatchedCount;
