//! The role of a place in a kernel's code for a section. The caller, which has the kernel's symbols, maps
//! addresses to roles.

/// What there is at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// An interrupt comes in, a non-maskable one included.
    Interrupt,
    /// An exception or a system call does.
    Exception,
    /// The scheduler itself begins.
    Scheduler,
    /// Code that puts preemption off to call it.
    CallsScheduler,
    /// The idle thread begins its way to halt.
    Idle,
    /// Code that yields where the kernel is not preempted by itself.
    Point,
    /// Nothing that matters.
    Other,
}
