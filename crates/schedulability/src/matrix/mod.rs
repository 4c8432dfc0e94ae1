//! Which features of a set are analysed together under which policy: the one table from which sets
//! are admitted to an analysis or refused, and from which the reference page is made.

mod dispatch;
mod page;
mod theorems;

pub use dispatch::Refusal;
pub(crate) use dispatch::{chain_refusal, refusal};
pub use page::page;

use crate::method::Method;

/// Tasks that share one queue of ready jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Queue {
    /// Fixed priorities on one CPU.
    FixedOnOne,
    /// Fixed priorities on several CPUs.
    FixedOnSeveral,
    /// Earliest deadline first on one CPU.
    EdfOnOne,
    /// Earliest deadline first on several CPUs.
    EdfOnSeveral,
    /// SCHED_DEADLINE in a root domain of one CPU.
    DeadlineOnOne,
    /// SCHED_DEADLINE in a root domain of several CPUs.
    DeadlineOnSeveral,
}

impl Queue {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::FixedOnOne,
        Self::FixedOnSeveral,
        Self::EdfOnOne,
        Self::EdfOnSeveral,
        Self::DeadlineOnOne,
        Self::DeadlineOnSeveral,
    ];

    /// The queue of this number of CPUs under a policy.
    pub fn new(method: Method, cpus: u16) -> Self {
        match (method, cpus) {
            (Method::PartitionedFixedPriority, _) | (Method::GlobalFixedPriority, 1) => {
                Self::FixedOnOne
            }
            (Method::GlobalFixedPriority, _) => Self::FixedOnSeveral,
            (Method::Deadline(_), 1) => Self::DeadlineOnOne,
            (Method::Deadline(_), _) => Self::DeadlineOnSeveral,
            (Method::PartitionedEdf, _) | (_, 1) => Self::EdfOnOne,
            _ => Self::EdfOnSeveral,
        }
    }

    /// Its name in the reference.
    pub fn name(self) -> &'static str {
        match self {
            Self::FixedOnOne => "P-FP",
            Self::FixedOnSeveral => "G-FP",
            Self::EdfOnOne => "P-EDF",
            Self::EdfOnSeveral => "G-EDF, C-EDF",
            Self::DeadlineOnOne => "SCHED_DEADLINE, one CPU",
            Self::DeadlineOnSeveral => "SCHED_DEADLINE, several CPUs",
        }
    }

    fn several(self) -> bool {
        matches!(
            self,
            Self::FixedOnSeveral | Self::EdfOnSeveral | Self::DeadlineOnSeveral
        )
    }

    fn by_kernel(self) -> bool {
        matches!(self, Self::DeadlineOnOne | Self::DeadlineOnSeveral)
    }

    fn by_priority(self) -> bool {
        matches!(self, Self::FixedOnOne | Self::FixedOnSeveral)
    }
}

/// Features beyond sporadic tasks with deadlines within their periods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// Releases after the due time.
    Jitter,
    /// First due times on a shared clock.
    Offset,
    /// Arrivals by a list of distances.
    Burst,
    /// A deadline after the next due time.
    LateDeadline,
    /// Sleep inside a job.
    Suspension,
    /// A stretch of a job outside reservations that can't be preempted.
    Stretch,
    /// Waiting for tasks of lower priority.
    Blocking,
    /// Kernel sections that can't be preempted.
    Section,
    /// Costs of interrupts, switches and caches.
    Overheads,
    /// A task released by the end of another task's job.
    After,
    /// A reservation with a periodic server.
    PeriodicServer,
    /// A reservation with a constant-bandwidth server.
    ConstantBandwidthServer,
    /// A reservation with a sporadic server.
    SporadicServer,
    /// A stretch inside a reservation that can't be preempted.
    StretchInside,
    /// A bound from end to end.
    Chain,
}

impl Feature {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Jitter,
        Self::Offset,
        Self::Burst,
        Self::LateDeadline,
        Self::Suspension,
        Self::Stretch,
        Self::Blocking,
        Self::Section,
        Self::Overheads,
        Self::After,
        Self::PeriodicServer,
        Self::ConstantBandwidthServer,
        Self::SporadicServer,
        Self::StretchInside,
        Self::Chain,
    ];

    /// Its name in messages and in the reference: the key that introduces it, if there is one.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jitter => "jitter",
            Self::Offset => "offset",
            Self::Burst => "distances",
            Self::LateDeadline => "a deadline beyond the period",
            Self::Suspension => "suspension",
            Self::Stretch => "non-preemptive",
            Self::Blocking => "blocking",
            Self::Section => "section",
            Self::Overheads => "overheads",
            Self::After => "after",
            Self::PeriodicServer => "a periodic server",
            Self::ConstantBandwidthServer => "a constant-bandwidth server",
            Self::SporadicServer => "a sporadic server",
            Self::StretchInside => "non-preemptive in a reservation",
            Self::Chain => "a chain",
        }
    }
}

/// An entry of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// The analysis bounds it.
    Proved,
    /// The set is refused.
    Refused(Why),
}

/// Why a feature or a pair of features is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// Blocking at each wake-up.
    #[error(
        "a job that sleeps can be blocked again each time it wakes, and the number of its sleeps is \
         unknown; leave out one of the two"
    )]
    BlockedAgain,
    /// Costs of each wake-up.
    #[error(
        "each wake-up costs an interrupt and switches, and the number of sleeps is unknown; leave \
         out the overheads or the sleep"
    )]
    WakeUpCosts,
    /// The kernel's wake-up rule.
    #[error(
        "the kernel may postpone a thread's deadline at each wake-up, and the number of sleeps is \
         unknown; split the task at its sleeps, or pin it under P-FP or P-EDF"
    )]
    Postponed,
    /// Global tests without blocking.
    #[error(
        "on several CPUs a job can be blocked again each time it is preempted, and no test for that \
         is built in; pin the tasks, or leave it out"
    )]
    BlockedOnSeveral,
    /// Global tests without several pending jobs of one task.
    #[error(
        "the tests for several CPUs need sporadic jobs with deadlines within the period; pin the \
         tasks, or give a period and a deadline within it"
    )]
    Constrained,
    /// Releases by other tasks.
    #[error("only P-FP analyses tasks that release each other; give it a period")]
    ReleasedByPriority,
    /// Releases by other tasks and reservations.
    #[error(
        "tasks that release each other are not analysed next to reservations; give it a period"
    )]
    ReleasedNextToServer,
    /// Sporadic servers.
    #[error(
        "published replenishment rules for sporadic servers do not all bound what tasks in the \
         server get (Stanovich and others 2010), and none is built in; give server = \"periodic\""
    )]
    Replenishment,
    /// Constant bandwidth without deadlines.
    #[error(
        "a constant-bandwidth server has a deadline and no priority; give server = \"periodic\", or \
         policy = \"P-EDF\" or \"SCHED_DEADLINE\""
    )]
    NoDeadline,
    /// Constant bandwidth on several CPUs.
    #[error(
        "its budgets that begin at a wake-up are not sporadic jobs, and no test for several CPUs \
         is built in for them; give one CPU (`cluster = 1`)"
    )]
    NoServerTest,
    /// SCHED_DEADLINE has one kind of server.
    #[error(
        "SCHED_DEADLINE has constant-bandwidth servers only; give server = \"constant-bandwidth\""
    )]
    KernelServer,
    /// Wake-ups inside a constant-bandwidth server.
    #[error(
        "a thread in a constant-bandwidth server wakes more often than its budget comes back, and \
         the cost of these wake-ups is not bounded here; leave out the overheads, or give \
         server = \"periodic\" under P-EDF"
    )]
    ServerWakeUps,
    /// Locks and constant-bandwidth servers.
    #[error(
        "a server that waits for a lock keeps its deadline, and no bound for that is built in; \
         leave out one of the two"
    )]
    ServerLocks,
    /// Overheads of servers that migrate.
    #[error(
        "the switches of a server that moves between CPUs are not bounded here; pin the tasks, or \
         leave out the overheads"
    )]
    ServerMoves,
    /// Stretches inside a reservation.
    #[error(
        "a stretch that can't be preempted outlasts the budget and blocks tasks outside the \
         reservation; take the task out of the reservation, or leave out `non-preemptive`"
    )]
    Outlasts,
    /// Bursts in a chain.
    #[error(
        "a task that comes by distances need not come again at all, so that its values have no \
         bound; give it a period, or take it out of the chain"
    )]
    NeedNotCome,
}

/// A feature by itself.
pub fn alone(queue: Queue, feature: Feature) -> Cell {
    use Feature as F;
    let why = match feature {
        F::Burst if queue.several() => Some(Why::Constrained),
        F::LateDeadline if queue.several() && !queue.by_kernel() => Some(Why::Constrained),
        F::Suspension if queue.by_kernel() => Some(Why::Postponed),
        F::Stretch | F::Blocking | F::Section if queue.several() => Some(Why::BlockedOnSeveral),
        F::After if queue != Queue::FixedOnOne => Some(Why::ReleasedByPriority),
        F::PeriodicServer if queue.by_kernel() => Some(Why::KernelServer),
        F::ConstantBandwidthServer if queue.by_priority() => Some(Why::NoDeadline),
        F::ConstantBandwidthServer if queue.several() => Some(Why::NoServerTest),
        F::SporadicServer => Some(Why::Replenishment),
        F::StretchInside => Some(Why::Outlasts),
        _ => None,
    };
    why.map_or(Cell::Proved, Cell::Refused)
}

/// Two features in one queue, in either order; the same twice: the feature by itself.
pub fn pair(queue: Queue, one: Feature, other: Feature) -> Cell {
    use Feature as F;
    let (first, second) = (one.min(other), one.max(other));
    for feature in [first, second] {
        if let refused @ Cell::Refused(_) = alone(queue, feature) {
            return refused;
        }
    }
    let why = match (first, second) {
        (F::Suspension, F::Stretch | F::Blocking | F::Section) => Some(Why::BlockedAgain),
        (F::Suspension, F::Overheads) => Some(Why::WakeUpCosts),
        (F::Suspension, F::ConstantBandwidthServer) => Some(Why::Postponed),
        (F::Blocking, F::ConstantBandwidthServer) => Some(Why::ServerLocks),
        (F::Overheads, F::ConstantBandwidthServer) => Some(Why::ServerWakeUps),
        (F::Overheads, F::PeriodicServer) if queue.several() => Some(Why::ServerMoves),
        (F::After, F::PeriodicServer) => Some(Why::ReleasedNextToServer),
        (F::Burst, F::Chain) => Some(Why::NeedNotCome),
        _ => None,
    };
    why.map_or(Cell::Proved, Cell::Refused)
}
