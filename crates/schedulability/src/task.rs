//! Input of the analysis: a task with its times in whole nanoseconds, and the checks for impossible ones.
//! The source of the times (a file, a recorded run) is unknown here.

/// One task: a sequence of jobs, each of which has to be done by its deadline.
///
/// All times are nanoseconds. A job is *due* at most once every `period_ns`, is released up to
/// `jitter_ns` later, and must be done `deadline_ns` after it was due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its name; unique in a set.
    pub name: String,
    /// The most CPU time that a job takes, without interrupts.
    pub execution_ns: u64,
    /// How its jobs arrive.
    pub arrivals: Arrivals,
    /// From a job's due time to its deadline.
    pub deadline_ns: u64,
    /// The longest that a job's release lags behind its due time.
    pub jitter_ns: u64,
    /// The longest that tasks that come after this one run while a job of it, or of a task before it,
    /// waits: locks, beyond non-preemptive stretches and the kernel's sections.
    pub blocking_ns: u64,
    /// The longest that a job sleeps between its start and its end.
    pub suspension_ns: u64,
    /// The longest stretch of a job that can't be preempted. As long as the execution: the job
    /// can't be preempted at all.
    pub non_preemptive_ns: u64,
    /// Memory that a job works on, in bytes: reloaded after a preemption.
    pub working_set_bytes: u64,
    /// The greater number first, as SCHED_FIFO has it.
    pub priority: u32,
    /// The CPU that it is pinned to; `None`: any, or not decided yet.
    pub cpu: Option<u16>,
    /// When its first job is due, on a clock that all tasks with an offset share: strictly
    /// periodic, not only sporadic. `None`: nothing is known of it.
    pub offset_ns: Option<u64>,
    /// The task whose every job's end releases a job of this one; its times count from that
    /// task's due times. `None`: a timer or an interrupt of its own releases it.
    pub after: Option<String>,
    /// CPU time set aside, of which alone it runs; `None`: it competes for all of the CPU.
    pub reservation: Option<Reservation>,
    /// SCHED_DEADLINE's runtime, if it should differ from the execution with its overheads.
    pub runtime_ns: Option<u64>,
}

/// CPU time set aside for some tasks: at least a budget in each period, and at most that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// Its name; the same for all tasks in it, like everything else here.
    pub name: String,
    /// How its budget comes back.
    pub server: Server,
    /// CPU time in each period, in nanoseconds.
    pub budget_ns: u64,
    /// Its period, in nanoseconds.
    pub period_ns: u64,
    /// Among the other tasks of its CPU: the greater number first.
    pub priority: u32,
    /// The CPU that it is on; `None`: any, or not decided yet.
    pub cpu: Option<u16>,
}

/// How a reservation's budget comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// At every period's start, and what is not used is gone (an idling periodic server).
    Periodic,
    /// One period after its use began (Sprunt, Sha and Lehoczky 1989): no analysis takes it.
    Sporadic,
    /// A constant-bandwidth server, as SCHED_DEADLINE has it for one thread (Abeni and Buttazzo
    /// 1998).
    ConstantBandwidth,
}

/// How often jobs come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrivals {
    /// One in each period of this many nanoseconds, or less often.
    Sporadic(u64),
    /// The shortest time in which 2, 3, 4 … jobs can come: the first entry is for two. Further
    /// jobs are as far apart as the list repeated. Ascending; the last is above 0.
    Distances(Vec<u64>),
}

impl Task {
    /// A task with the deadline at the end of its period and nothing else: no jitter, no blocking.
    pub fn new(name: impl Into<String>, execution_ns: u64, period_ns: u64) -> Self {
        Self {
            name: name.into(),
            execution_ns,
            arrivals: Arrivals::Sporadic(period_ns),
            deadline_ns: period_ns,
            jitter_ns: 0,
            blocking_ns: 0,
            suspension_ns: 0,
            non_preemptive_ns: 0,
            working_set_bytes: 0,
            priority: 0,
            cpu: None,
            offset_ns: None,
            after: None,
            reservation: None,
            runtime_ns: None,
        }
    }

    /// The shortest time between jobs in the long run, rounded down: with a list of distances,
    /// its length divided by the jobs that come in it.
    pub fn period_ns(&self) -> u64 {
        match &self.arrivals {
            Arrivals::Sporadic(period_ns) => *period_ns,
            Arrivals::Distances(list) => list
                .last()
                .map_or(0, |last| last / list.len().max(1) as u64),
        }
    }

    /// The shortest time between two jobs, for analyses that know nothing else; 0 where two can
    /// come at once.
    pub fn closest_ns(&self) -> u64 {
        match &self.arrivals {
            Arrivals::Sporadic(period_ns) => *period_ns,
            Arrivals::Distances(list) => list.first().copied().unwrap_or(0),
        }
    }

    /// Execution and suspension together: a job's response without interference.
    pub fn alone_ns(&self) -> u64 {
        self.execution_ns.saturating_add(self.suspension_ns)
    }

    /// Checks whether the task is possible on its own.
    ///
    /// # Errors
    /// Names the impossible value and the reason.
    pub fn check(&self) -> Result<(), Impossible> {
        let task = || self.name.clone();
        let period_ns = self.period_ns();
        if let Arrivals::Distances(list) = &self.arrivals
            && (list.is_empty() || list.windows(2).any(|two| two[0] > two[1]))
        {
            return Err(Impossible::Distances { task: task() });
        }
        if period_ns == 0 {
            return Err(Impossible::NoPeriod { task: task() });
        }
        if self.execution_ns == 0 {
            return Err(Impossible::NoExecution { task: task() });
        }
        if self.alone_ns() > self.deadline_ns {
            return Err(Impossible::DeadlineBelowExecution {
                task: task(),
                alone_ns: self.alone_ns(),
                deadline_ns: self.deadline_ns,
            });
        }
        if self.non_preemptive_ns > self.execution_ns {
            return Err(Impossible::NonPreemptive { task: task() });
        }
        if let Some(reservation) = &self.reservation
            && (reservation.budget_ns == 0 || reservation.budget_ns > reservation.period_ns)
        {
            return Err(Impossible::Reservation {
                reservation: reservation.name.clone(),
            });
        }
        Ok(())
    }
}

fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// Why there can be no such set of tasks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// No execution time.
    #[error("{task}: execution is 0; give the most CPU time that a job takes")]
    NoExecution {
        /// Its name.
        task: String,
    },
    /// No period.
    #[error("{task}: period is 0; give the shortest time between two jobs")]
    NoPeriod {
        /// Its name.
        task: String,
    },
    /// Distances that fall.
    #[error("{task}: distances must not fall, and there must be one; the first is for two jobs")]
    Distances {
        /// Its name.
        task: String,
    },
    /// A job can't meet its deadline even alone.
    #[error(
        "{task}: a job takes {} ms and must be done within {} ms; give a later deadline or less execution",
        milliseconds(*alone_ns),
        milliseconds(*deadline_ns)
    )]
    DeadlineBelowExecution {
        /// Its name.
        task: String,
        /// Execution and suspension of a job.
        alone_ns: u64,
        /// Its deadline.
        deadline_ns: u64,
    },
    /// A non-preemptive stretch longer than the job.
    #[error("{task}: the non-preemptive stretch is longer than the execution that it is part of")]
    NonPreemptive {
        /// Its name.
        task: String,
    },
    /// A budget that no period holds.
    #[error("{reservation}: its budget must be above 0 and at most its period")]
    Reservation {
        /// Its name.
        reservation: String,
    },
    /// Several jobs at once, for an analysis that has no answer to that.
    #[error(
        "{task}: two jobs can come at once, which only the analysis of fixed priorities on one CPU \
         can take; give a shortest distance above 0"
    )]
    Burst {
        /// Its name.
        task: String,
    },
    /// Two tasks of one priority on one CPU.
    #[error(
        "{first} and {second} both have priority {priority} on one CPU; \
         give each task its own priority"
    )]
    SamePriority {
        /// One of them.
        first: String,
        /// The other.
        second: String,
        /// Their common priority.
        priority: u32,
    },
    /// Interrupts take all of the CPU.
    #[error(
        "timer ticks and release interrupts alone take the whole CPU; nothing is left for tasks"
    )]
    NothingLeft,
    /// Times too long for their sums.
    #[error("the times are too long to be added up in nanoseconds (64 bits); give shorter ones")]
    Overflow,
}
