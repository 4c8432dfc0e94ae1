//! What changes in a kernel that decides whether a woken thread may run, and when it did.

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A place was reached that is watched.
    Arrived(u64),
    /// Interrupts went off, by the instruction there.
    InterruptsOff(u64),
    /// Interrupts were enabled.
    InterruptsOn(u64),
    /// The kernel's count of reasons not to preempt became this, by the instruction there.
    Count(Class, u64),
    /// A program's instructions follow.
    ToUser,
    /// The kernel's instructions follow, from there on.
    ToKernel(u64),
    /// The CPU halted until an interrupt.
    Halted,
    /// An interrupt, an exception or a system call was returned from.
    Returned,
}

/// The kernel's count of reasons not to preempt, as far as it matters (include/linux/preempt.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Class {
    /// There is a reason.
    pub not_preemptible: bool,
    /// An interrupt is under way.
    pub hard: bool,
    /// Softirqs are, or are held off.
    pub soft: bool,
    /// The scheduler should be called.
    pub needs_scheduler: bool,
}

/// What changed, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// When, such as the number of instructions executed until then.
    pub count: u64,
    /// What.
    pub what: What,
}
