//! A watched program, out of its trace: what its threads did, figures of the periodic ones, and why
//! the others are not judged. How that is recorded or printed is elsewhere.

mod activity;
mod figures;
mod ros2;
mod sections;
mod seen;

pub use activity::{Seen, activity, rows};
pub use figures::{Figures, NotJudged, Watched, WokenBy};
pub use ros2::{Ros2Figures, Ros2Wish};
pub use sections::{SectionRun, WatchedSection};
