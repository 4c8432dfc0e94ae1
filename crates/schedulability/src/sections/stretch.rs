//! A stretch of code in which something keeps a woken thread from running, from one time to another.

/// Kinds of stretches; the letters are those of de Oliveira and others, "Demystifying the real-time Linux
/// scheduling latency" (ECRTS 2020).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Preemption or interrupts off, by other code than the scheduler's own call (D_POID).
    Off,
    /// Both on, between such a stretch and the call of the scheduler that is needed (D_PAIE).
    BeforeScheduler,
    /// Preemption off to call the scheduler, until it has returned (D_PSD).
    Scheduler,
    /// Within that, from interrupts off for the switch (D_ST).
    Switch,
    /// An interrupt.
    Interrupt,
}

/// A stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Its kind.
    pub kind: Kind,
    /// When it began.
    pub from: u64,
    /// And when it had ended.
    pub to: u64,
    /// What interrupts took in it; of an interrupt, those that came in the middle of it.
    pub interrupts: u64,
    /// The address of the instruction that it began with.
    pub began: u64,
    /// And that which ended it.
    pub ended: u64,
}

impl Stretch {
    /// How long it took, interrupts included.
    pub fn length(&self) -> u64 {
        self.to - self.from
    }

    /// What interrupts took left out.
    pub fn net(&self) -> u64 {
        self.length().saturating_sub(self.interrupts)
    }

    /// The part of it between two times.
    pub fn within(&self, from: u64, to: u64) -> u64 {
        self.to.min(to).saturating_sub(self.from.max(from))
    }
}
