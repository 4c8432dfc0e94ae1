//! What stands behind every process of a run that is spoken to in lines of JSON: starting it, hearing
//! it on a channel of its own, noticing its end. It knows nothing of what the lines mean.

mod child;
mod conversation;

pub use child::own_executable;
pub(crate) use child::{Child, NoAnswer};
pub(crate) use conversation::Heard;
