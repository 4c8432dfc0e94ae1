//! Supervises every process of a run that takes lines of JSON: starts it, reads its output on its own
//! channel, notices its end. It knows nothing of what the lines mean.

mod child;
mod conversation;

pub use child::own_executable;
pub(crate) use child::{Child, NoAnswer};
pub(crate) use conversation::Heard;
