//! A watched program, out of its trace: what its threads did, figures of the periodic ones, and why
//! the others are not judged. How that is recorded or printed is elsewhere.

mod activity;
mod chain;
mod figures;
mod finding;
mod gaps;
mod late_chains;
mod not_judged;
mod remark;
mod ros2;
mod ros2_file;
mod sections;
mod seen;
mod waking;

pub use activity::{RowOf, Seen, activity, comes_without_period, rows, sleeps_for_time};
pub use chain::{ChainCause, ChainPart, ThreadChain};
pub use figures::{Figures, Watched};
pub use finding::{Finding, Together};
pub use gaps::{gaps, shows_each_cycle};
pub use not_judged::NotJudged;
pub use remark::Remark;
pub use ros2::{FirstAbove, Ros2Figures, Ros2Wish};
pub use ros2_file::{Ros2File, Ros2FileError};
pub use sections::{SectionRun, WatchedSection};
pub use waking::{WakerKind, WokenBy};
