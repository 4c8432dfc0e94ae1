//! Display of a measurement under way: a live view on a terminal, plain lines elsewhere. Both go to
//! standard error; standard output is for the result.

mod follower;
mod history;
mod lines;
mod live;
mod plain;
mod remaining;
mod side_by_side;
mod standing;
mod stopping;
mod table;

pub use follower::{Follower, Part, PhaseFacts};
pub use lines::clock;
pub use live::LiveView;
pub use standing::{Lines, Row, Shared, Standing, Time, Totals, Worst};
pub use stopping::{Stopped, Stopping};

use wakepath_measure::Plan;
use wakepath_timeline::CpuSet;

/// The measurement in one line.
fn headline(plan: &Plan) -> String {
    let segments = plan.segments().count();
    let cpus = CpuSet::from(&plan.loop_cpus[..]);
    let plural = if segments == 1 { "" } else { "s" };
    format!("{segments} segment{plural}, loop on CPU {cpus}")
}
