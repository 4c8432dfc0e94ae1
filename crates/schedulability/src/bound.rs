//! The answer for one task: the longest response, and what it consists of.

/// A bound on the response time of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// Place of the task in the set.
    pub task: usize,
    /// No job takes longer from its due time to its end, in nanoseconds; `None`: no bound was
    /// found, since the CPU has more to do than time.
    pub response_ns: Option<u64>,
    /// Where the deadline is, in nanoseconds after the due time.
    pub deadline_ns: u64,
    /// The parts of the longest response; empty without one.
    pub made_of: Vec<Part>,
}

impl Bound {
    /// Whether every job is done by its deadline.
    pub fn holds(&self) -> bool {
        self.response_ns
            .is_some_and(|response| response <= self.deadline_ns)
    }

    /// From the longest response to the deadline, in nanoseconds; negative if it is missed.
    pub fn slack_ns(&self) -> Option<i64> {
        let deadline = i64::try_from(self.deadline_ns).ok()?;
        deadline.checked_sub(i64::try_from(self.response_ns?).ok()?)
    }
}

impl Bound {
    /// By how much the deadline is missed at most, in nanoseconds; `None`: no bound was found.
    pub fn late_ns(&self) -> Option<u64> {
        Some(self.response_ns?.saturating_sub(self.deadline_ns))
    }
}

impl Part {
    /// Its share of the response, in nanoseconds: negative for what was done before.
    pub fn signed_ns(&self) -> i128 {
        match self.what {
            What::BeforeDue => -i128::from(self.ns),
            _ => i128::from(self.ns),
        }
    }
}

/// A piece of a response time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its kind.
    pub what: What,
    /// How long it is, in nanoseconds.
    pub ns: u64,
}

/// Kinds of parts of a response time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The job's own execution, and that of earlier jobs of the same task.
    Own {
        /// Jobs that were not done when this one was due.
        earlier: u64,
    },
    /// The job sleeps.
    Suspension,
    /// Delay of the release after the due time.
    Jitter,
    /// Waiting for tasks that come after this one.
    Blocking,
    /// Jobs of another task run first.
    Preemption {
        /// Its place in the set.
        by: usize,
        /// How many of its jobs.
        jobs: u64,
    },
    /// Jobs of another task run, and all CPUs are busy: its part of that time, which is no longer than
    /// this.
    Interference {
        /// Its place in the set.
        by: usize,
    },
    /// A reservation runs first, or others' use of the CPU keeps this one's from running.
    Reservation {
        /// Its name; the task's own: its CPU time has yet to come.
        name: String,
        /// How many of its budgets; 0 for the task's own.
        budgets: u64,
    },
    /// An interrupt or another overhead runs first.
    Overhead(&'static str),
    /// Of all that, what was done before this job was due: to be taken off. The pieces count from
    /// the beginning of the window in which the job is the worst.
    BeforeDue,
}
