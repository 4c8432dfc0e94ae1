//! A watched program, out of its trace: what its threads did, figures of the periodic ones, and why
//! the others are not judged. How that is recorded or printed is elsewhere.

mod activity;
mod figures;
mod sections;
mod seen;

pub use activity::{Seen, activity, rows};
pub use figures::{Figures, NotJudged, Watched, WokenBy};
pub use sections::{SectionRun, WatchedSection};
