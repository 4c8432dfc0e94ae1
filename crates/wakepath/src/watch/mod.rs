//! Watching a program that was not written for wakepath: which threads it has, what the kernel's
//! events say of them, and a run directory of it. What a person reads is in `text`.

mod figures;
mod following;
mod record;
mod recover;
mod seen;
mod text;

pub use figures::{Figures, NotJudged, Watched, WokenBy};
pub use following::{Following, Seen};
pub use record::record;
pub use recover::{Recovered, recover};
pub use text::text;
