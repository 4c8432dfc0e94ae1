//! Sections on one CPU from the kernel's own events: events in, stretches out. The events are those of
//! `preemptirq` with `sched_switch`, `cpu_idle`, and those that mark the handling of an interrupt. For
//! kernels that can be preempted wherever nothing disables it; others have sections that no event shows.
//!
//! An event that ends a section is recorded just before its end, one that begins it just after its
//! beginning: a reported section contains the kernel's own recording, and is longer than an untraced one.

use super::course::{Course, Preemption};
use super::role::Role;
use super::stretch::{Kind, Stretch};
use super::transition::{Class, Transition, What};

/// An interrupt that comes within a microsecond of a section's end has waited for it: what lies between is the
/// recording of that end.
const PENDING_NS: u64 = 1_000;

/// Placeholders for addresses that no kernel has.
const SCHEDULER: u64 = 1;
const IDLE: u64 = 2;
const INTERRUPT: u64 = 0x1_0000;
/// An interrupt whose handler told no name.
const NAMELESS: u16 = u16::MAX;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// Interrupts went off, by the code there.
    InterruptsOff(u64),
    /// They are about to be enabled.
    InterruptsOn(u64),
    /// Preemption went off, by the code there.
    PreemptionOff(u64),
    /// It is about to be enabled.
    PreemptionOn(u64),
    /// An interrupt of this number is being handled.
    Interrupt(u16),
    /// Another thread resumes, the idle one or not.
    Switch {
        /// The idle one.
        to_idle: bool,
    },
    /// The idle thread is about to halt the CPU.
    IdleEntry,
    /// It resumes.
    IdleExit,
}

/// An event, with the state that it was recorded in. Of its class `not_preemptible` is what the kernel's own
/// count says, without the recording's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelTold {
    /// When, in nanoseconds.
    pub at_ns: u64,
    /// The state.
    pub class: Class,
    /// What happened.
    pub happened: Happened,
}

/// Whether the CPU halts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halting {
    No,
    /// The idle thread reported it, then, and nothing came since.
    Since(u64),
}

/// Follows the events of one CPU.
#[derive(Debug)]
pub struct KernelCourse {
    /// `None` after a hole, until it is certain what is off.
    course: Option<Course>,
    class: Class,
    /// Interrupts were disabled: by an interrupt, if the next event is in one.
    held: Option<(u64, u64)>,
    /// Of the interrupt under way.
    number: u16,
    to_idle: bool,
    halting: Halting,
}

impl Default for KernelCourse {
    fn default() -> Self {
        Self {
            course: None,
            class: Class::default(),
            held: None,
            number: NAMELESS,
            to_idle: false,
            halting: Halting::No,
        }
    }
}

impl KernelCourse {
    /// Events are missing from here on: sections under way are in no figure.
    pub fn hole(&mut self, told: &mut Vec<Stretch>) {
        let before = std::mem::take(self);
        if let Some(course) = before.course {
            course.finish(told);
        }
    }

    /// Takes the next event; `role` says what there is at an address, [`Role::Scheduler`] anywhere in the
    /// scheduler itself. Stretches that have ended go into `told`.
    pub fn push(&mut self, event: KernelTold, role: impl Fn(u64) -> Role, told: &mut Vec<Stretch>) {
        if self.course.is_none() && !self.begin(&event) {
            return;
        }
        let already = told.len();
        self.follow(event, &role, told);
        for stretch in &mut told[already..] {
            if stretch.kind == Kind::Interrupt {
                stretch.began = INTERRUPT + u64::from(self.number);
            }
        }
        if told[already..]
            .iter()
            .any(|one| one.kind == Kind::Interrupt)
        {
            self.number = NAMELESS;
        }
    }

    /// Begins as soon as it is certain that nothing was off until now, or that the CPU halts.
    fn begin(&mut self, event: &KernelTold) -> bool {
        let Class {
            not_preemptible,
            hard,
            soft,
            ..
        } = event.class;
        let not_preemptible = match event.happened {
            Happened::InterruptsOff(_) if !not_preemptible && !hard && !soft => false,
            Happened::IdleEntry => true,
            _ => return false,
        };
        self.course = Some(Course::with_pending(Preemption::Full, PENDING_NS));
        self.class = Class {
            not_preemptible,
            ..event.class
        };
        if not_preemptible {
            // Never told: the CPU halts at once.
            let mut nothing = Vec::new();
            self.give(
                event.at_ns,
                What::Count(self.class, 0),
                &|_| Role::Other,
                &mut nothing,
            );
        }
        true
    }

    fn follow(&mut self, event: KernelTold, role: &impl Fn(u64) -> Role, told: &mut Vec<Stretch>) {
        let KernelTold {
            at_ns,
            class,
            happened,
        } = event;
        self.let_go(class.hard, happened, role, told);
        // The recorded count can be that of a moment before or after: events show when it changed.
        let (not_preemptible, by) = match happened {
            Happened::PreemptionOff(by) => (true, by),
            Happened::PreemptionOn(by) => (false, by),
            _ => (self.class.not_preemptible, 0),
        };
        let is_over = matches!(happened, Happened::PreemptionOn(_));
        let class = Class {
            not_preemptible,
            hard: class.hard && !is_over,
            soft: class.soft && !is_over,
            ..class
        };
        if class != self.class {
            self.class = class;
            self.give(at_ns, What::Count(class, by), role, told);
        }
        match happened {
            Happened::InterruptsOff(by) => {
                self.held = Some((at_ns, by));
                self.halting = Halting::No;
            }
            Happened::InterruptsOn(by) => {
                self.give(at_ns, What::InterruptsOn(by), role, told);
                match self.halting {
                    Halting::Since(_) => self.give(at_ns, What::Halted, role, told),
                    Halting::No if self.to_idle => {
                        self.give(at_ns, What::Arrived(IDLE), role, told);
                        self.to_idle = false;
                    }
                    Halting::No => {}
                }
                self.halting = Halting::No;
            }
            Happened::Interrupt(number) if self.number == NAMELESS => self.number = number,
            Happened::Switch { to_idle } => self.to_idle = to_idle,
            Happened::IdleEntry => {
                if self.to_idle {
                    self.give(at_ns, What::Arrived(IDLE), role, told);
                    self.to_idle = false;
                }
                self.halting = Halting::Since(at_ns);
            }
            Happened::IdleExit => {
                // It halted with interrupts off: none came in before.
                if let Halting::Since(since_ns) = self.halting {
                    self.give(since_ns, What::Halted, role, told);
                }
                self.halting = Halting::No;
                self.give(at_ns, What::Count(self.class, 0), role, told);
            }
            Happened::Interrupt(_) | Happened::PreemptionOff(_) | Happened::PreemptionOn(_) => {}
        }
    }

    /// Now it is known by what interrupts went off.
    fn let_go(
        &mut self,
        hard: bool,
        next: Happened,
        role: &impl Fn(u64) -> Role,
        told: &mut Vec<Stretch>,
    ) {
        let Some((at_ns, by)) = self.held.take() else {
            return;
        };
        let came_in = hard && !self.class.hard || matches!(next, Happened::Interrupt(_));
        if came_in {
            self.number = NAMELESS;
            self.give(at_ns, What::Arrived(INTERRUPT), role, told);
            return;
        }
        if role(by) == Role::Scheduler {
            self.give(at_ns, What::Arrived(SCHEDULER), role, told);
        }
        self.give(at_ns, What::InterruptsOff(by), role, told);
    }

    fn give(
        &mut self,
        count: u64,
        what: What,
        role: &impl Fn(u64) -> Role,
        told: &mut Vec<Stretch>,
    ) {
        let role = |address| match address {
            SCHEDULER => Role::Scheduler,
            IDLE => Role::Idle,
            INTERRUPT => Role::Interrupt,
            // The scheduler's own code counts as a caller, too: it calls itself.
            address => match role(address) {
                Role::Scheduler => Role::CallsScheduler,
                other => other,
            },
        };
        if let Some(course) = &mut self.course {
            course.push(Transition { count, what }, role, told);
        }
    }
}

/// The number of the interrupt that a stretch is, or began with; `None` if it had no name.
pub fn interrupt_number(stretch: &Stretch) -> Option<u16> {
    let number = stretch.began.checked_sub(INTERRUPT)?;
    u16::try_from(number)
        .ok()
        .filter(|number| *number != NAMELESS)
}

/// Whether a stretch's beginning or end denotes an interrupt instead of an address.
pub fn is_interrupt(began_or_ended: u64) -> bool {
    (INTERRUPT..=INTERRUPT + u64::from(NAMELESS)).contains(&began_or_ended)
}

#[cfg(test)]
mod tests;
