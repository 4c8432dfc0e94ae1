//! Earliest deadline first on one CPU: SCHED_DEADLINE with each thread on a CPU of its own root
//! domain, or any EDF scheduler. Exact for sporadic tasks that neither block nor suspend.

mod demand;
mod response;
mod servers;

pub use demand::{DemandTask, Verdict, demand_holds, demand_holds_behind};
pub use response::{Worst, made_of, responses, worst_jobs};
pub(crate) use response::{blocking_ns, jobs_due_by};
pub(crate) use servers::Servers;
