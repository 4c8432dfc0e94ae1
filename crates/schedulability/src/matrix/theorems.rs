//! The source of each proof in the table, and the file in which its formula is.

use super::{Feature, Queue};

/// The theorem that the plain analysis of a queue relies on: sporadic tasks, deadlines within their
/// periods.
pub(super) fn plain(queue: Queue) -> (&'static str, &'static str) {
    match queue {
        Queue::FixedOnOne => (
            "Joseph and Pandya 1986; Lehoczky 1990",
            "fixed_priority/response.rs",
        ),
        Queue::FixedOnSeveral => ("Guan, Stigge, Yi and Yu 2009", "global/interference.rs"),
        Queue::EdfOnOne => (
            "Baruah, Rosier and Howell 1990; Spuri 1996",
            "edf/demand.rs",
        ),
        Queue::EdfOnSeveral => (
            "Goossens, Funk and Baruah 2003; Bertogna and Cirinei 2007",
            "global/interference.rs",
        ),
        Queue::DeadlineOnOne => (
            "as P-EDF: each job finds its last deadline in the past, so that the wake-up rule gives it \
             a new budget and deadline",
            "sched_deadline.rs",
        ),
        Queue::DeadlineOnSeveral => (
            "as G-EDF: each job finds its last deadline in the past",
            "sched_deadline.rs",
        ),
    }
}

/// The theorem that adds a feature to it, and its file.
pub(super) fn theorem(queue: Queue, feature: Feature) -> (&'static str, &'static str) {
    use Feature as F;
    let by_priority = queue.by_priority();
    match feature {
        F::Jitter if queue == Queue::FixedOnOne => {
            ("Audsley and others 1993", "fixed_priority/response.rs")
        }
        F::Jitter if queue == Queue::EdfOnOne => ("Spuri 1996", "edf/response.rs"),
        F::Jitter => (
            "releases at least T − J apart, deadlines D − J after them",
            "global/mod.rs",
        ),
        F::Offset if queue == Queue::FixedOnOne => (
            "Palencia and González Harbour 1998",
            "fixed_priority/offsets.rs",
        ),
        F::Offset => (
            "a set with offsets is one case of the set without them",
            "analysis/group/mod.rs",
        ),
        F::Burst if by_priority => ("arrival curves: Tindell 1994", "arrivals.rs"),
        F::Burst => (
            "no more jobs than with the shortest distance as period",
            "task.rs",
        ),
        F::LateDeadline if by_priority => ("Lehoczky 1990", "fixed_priority/response.rs"),
        F::LateDeadline if queue.by_kernel() => (
            "the kernel takes no deadline beyond the period: min(D, T)",
            "sched_deadline.rs",
        ),
        F::LateDeadline => ("Spuri 1996", "edf/response.rs"),
        F::Suspension if queue == Queue::FixedOnOne => (
            "Chen, Nelissen and Huang 2016: jitter R − C",
            "fixed_priority/response.rs",
        ),
        F::Suspension => (
            "sleep as execution: Liu and Anderson 2013; Chen and others 2019",
            "task.rs",
        ),
        F::Stretch if by_priority => (
            "George, Rivierre and Spuri 1996; Davis and others 2007",
            "fixed_priority/response.rs",
        ),
        F::Stretch => (
            "George, Rivierre and Spuri 1996; Baruah 2006",
            "edf/demand.rs",
        ),
        F::Blocking if by_priority => (
            "Sha, Rajkumar and Lehoczky 1990",
            "fixed_priority/response.rs",
        ),
        F::Blocking => ("Baker 1991", "edf/demand.rs"),
        F::Section => (
            "a stretch of a task after all others",
            if by_priority {
                "overheads.rs"
            } else {
                "edf/demand.rs"
            },
        ),
        F::Overheads => ("Brandenburg 2011, chapter 3", "overheads.rs"),
        F::After => ("Tindell and Clark 1994", "analysis/released.rs"),
        F::PeriodicServer => ("Shin and Lee 2003; Lipari and Bini 2003", "reservation.rs"),
        F::ConstantBandwidthServer => (
            "Abeni and Buttazzo 1998: demand at most U · t in any time t",
            "edf/servers.rs",
        ),
        F::Chain => ("Davare and others 2007", "chain.rs"),
        F::SporadicServer | F::StretchInside => ("", ""),
    }
}
