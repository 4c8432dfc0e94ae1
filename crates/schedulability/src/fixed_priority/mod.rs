//! Fixed priorities on one CPU: SCHED_FIFO with each thread pinned. The longest response of each
//! task, exact for sporadic tasks that neither block nor suspend.
//!
//! Lehoczky, "Fixed priority scheduling of periodic task sets with arbitrary deadlines" (RTSS 1990),
//! with release jitter (Audsley et al., 1993) and a last stretch that can't be preempted (Davis,
//! Burns, Bril and Lukkien, 2007).

mod assignment;
mod offsets;
mod quick;
mod response;

pub use assignment::{Unassignable, assign};
pub use offsets::responses_with_offsets;
pub use quick::{QuickTask, Windows};
pub use response::{Interference, responses};
pub(crate) use response::{blocking_ns, distinct, last_stretch_ns};
