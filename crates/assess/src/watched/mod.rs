//! A watched program, out of its trace: what its threads did, figures of the periodic ones, and why
//! the others are not judged. How that is recorded or printed is elsewhere.

mod activity;
mod chain;
mod figures;
mod finding;
mod gaps;
mod kept_figures;
mod late_chains;
mod not_judged;
mod remark;
mod ros2;
mod sections;
mod seen;
mod timers;
mod waking;

pub use activity::{RowOf, Seen, activity, comes_without_period, rows, sleeps_for_time};
pub use chain::{ChainCause, ChainPart, ThreadChain};
pub use figures::{Figures, Watched};
pub use finding::{Finding, Together, WaitEnds};
pub use gaps::{gaps, shows_each_cycle, with_passed};
pub use kept_figures::{KeptFigures, KeptFiguresError};
pub use not_judged::NotJudged;
pub use remark::Remark;
pub use ros2::{FirstAbove, Ros2Figures, Ros2Wish};
pub use sections::{SectionRun, WatchedSection};
pub use waking::{WakerKind, WokenBy};
