//! Causes as a person reads them, with the threads and interrupts that they name.

use super::{Cause, RanIn, Relation, is_stopper};
use crate::own::is_of_another;
use std::fmt;
use wakepath_timeline::{Interrupt, Thread, one_line};

/// Without a number and without a full stop.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path => f.write_str("kernel wake-up path"),
            Self::TimerDelivery => f.write_str("timer interrupt, usual delay"),
            Self::TimerSlack => f.write_str("timer slack"),
            Self::InterruptsOff(thread) => write!(
                f,
                "interrupts off in {}, or the CPU was stalled",
                Named(thread)
            ),
            Self::NothingRan => f.write_str("CPU stalled (hypervisor, firmware or hardware)"),
            Self::Interrupt(interrupt) => write!(f, "interrupt {}", InterruptName(interrupt)),
            Self::Ipi { kind, sender } => {
                write!(f, "IPI {}", InterruptName(kind))?;
                let Some(sender) = sender else { return Ok(()) };
                write!(f, " from CPU {}", sender.cpu)?;
                if let Some(thread) = &sender.thread {
                    write!(f, " by {}", Named(thread))?;
                }
                if sender.callback.is_empty() {
                    Ok(())
                } else {
                    write!(f, " ({})", one_line(&sender.callback))
                }
            }
            Self::WokenFrom(cpu) => {
                write!(
                    f,
                    "the wake-up's own interrupt from CPU {cpu}, where the timer expired"
                )
            }
            Self::SoftIrq { vector, thread } => {
                write!(f, "SoftIRQ {}", vector.name())?;
                match thread {
                    Some(thread) => write!(f, " in {}", Named(thread)),
                    None => Ok(()),
                }
            }
            Self::OtherTimer(function) => write!(f, "other timer {} first", one_line(function)),
            Self::IdleExit { state: Some(state) } => write!(f, "leaving idle state {state}"),
            Self::IdleExit { state: None } => f.write_str("leaving idle"),
            Self::Thread { thread, relation } => {
                let right = match relation {
                    Relation::MoreUrgent => "more urgent",
                    Relation::Inherits => "with a priority inherited by a lock",
                    Relation::Raised => "with a priority raised above the loop's",
                    Relation::SamePriority => "of the loop's own priority",
                    Relation::Sibling => "of the loop's own priority and process",
                    Relation::Shared | Relation::SharedAsOrdinary => "sharing the CPU",
                    Relation::AheadOfTimer => "ahead of the timer's SoftIRQ",
                };
                let what = if is_of_another(thread) { "" } else { "thread " };
                write!(f, "{what}{}, {right}", Named(thread))
            }
            Self::NotPreemptible(thread) => {
                write!(f, "{} in code that can't be preempted", Named(thread))
            }
            Self::RanOn(thread) => write!(f, "{} kept running, why is unknown", Named(thread)),
            Self::Throttled {
                budget: Some(budget),
                ..
            } => write!(f, "throttled: {budget}"),
            Self::Throttled { instead: None, .. } => {
                f.write_str("throttled: less urgent threads ran")
            }
            Self::Throttled {
                instead: Some(thread),
                ..
            } if thread.id == 0 => f.write_str("throttled: the CPU was left idle"),
            Self::Throttled {
                instead: Some(thread),
                ..
            } => {
                write!(f, "throttled: {} ran instead", Named(thread))
            }
            Self::OwnTool(thread) => write!(f, "wakepath itself: {}", Named(thread)),
            Self::Blocked(wait) => wait.fmt(f),
            Self::PageFault => f.write_str("page faults of the loop"),
            Self::PageCopy(by) => write!(f, "the loop copies pages after fork() by {}", Named(by)),
            Self::PageWait(wait) => wait.fmt(f),
            Self::Halted(halt) => halt.fmt(f),
            Self::Waker(thread) => write!(f, "woken by {}, not by its timer", Named(thread)),
            Self::OtherWaker => f.write_str("woken by an interrupt that is not its timer's"),
            Self::Frequency => f.write_str("the CPU's frequency changed"),
            Self::OwnInflation => {
                f.write_str("the loop ran for longer than usual, in its own code or system calls")
            }
            Self::UserCode(place) => {
                f.write_str("the loop's own code ran longer than usual (user code)")?;
                match place {
                    RanIn::Function(place) => write!(f, ", in {}", place.function),
                    RanIn::NotRecorded | RanIn::NotSeen => Ok(()),
                }
            }
            Self::SystemCall(call) => write!(f, "the loop's system call {call}"),
            Self::Spin(thread) => write!(
                f,
                "the loop ran until it was throttled; {} of its process was ready on its CPU, and the loop ended once \
                 that had run: perhaps a spin on what it holds",
                Named(thread)
            ),
            Self::Awaiting => f.write_str("the loop's thread waited for its next event"),
            Self::OtherWork(source) => {
                write!(f, "the loop's thread was at something else: {source}")
            }
            Self::Moved { from, to, by, then } => {
                write!(f, "moved from CPU {from} to CPU {to}")?;
                if let Some(thread) = by {
                    write!(f, " by {}", Named(thread))?;
                }
                write!(f, ": {then}")
            }
            Self::BeganLate => f.write_str(
                "the loop began late: its program was still starting when it was due (initialisation before its first sleep)",
            ),
            Self::OwnCode => f.write_str("the loop's own work"),
            Self::Overrun(because) => {
                write!(f, "the cycle before had not ended, because of: {because}")
            }
            Self::EventsLost => f.write_str("unexplained: events lost"),
            Self::NoEvents => f.write_str("unexplained: no events"),
        }
    }
}

/// A thread with its policy and priority, as far as the kernel's priority shows them.
pub(crate) struct Named<'a>(pub &'a Thread);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Thread { id, name, priority } = self.0;
        if *id == 0 && name.bytes().is_empty() {
            return f.write_str("idle");
        }
        if is_of_another(self.0) {
            f.write_str("an")?;
        }
        match id {
            0 => write!(f, "{name}")?,
            id => write!(f, "{name}-{id}")?,
        }
        match priority {
            // The kernel's own scale (include/linux/sched/prio.h); FIFO and RR look alike on it.
            _ if is_stopper(self.0) => f.write_str(" (stop class)"),
            ..0 => f.write_str(" (DEADLINE)"),
            0..=98 => write!(f, " (FIFO/RR {})", 99 - priority),
            120 => f.write_str(" (OTHER)"),
            100..=139 => write!(f, " (OTHER nice {})", priority - 120),
            _ => Ok(()),
        }
    }
}

/// An interrupt as causes name it.
pub(crate) struct InterruptName<'a>(pub &'a Interrupt);

impl fmt::Display for InterruptName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Interrupt::LocalTimer => f.write_str("local timer"),
            Interrupt::Reschedule => f.write_str("reschedule"),
            Interrupt::CallFunction => f.write_str("function call"),
            Interrupt::IrqWork => f.write_str("irq work"),
            Interrupt::Vector(name) => f.write_str(&one_line(name)),
            Interrupt::Device { number, name } => write!(f, "{number} {}", one_line(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::ThreadName;

    fn thread(id: u32, name: &str, priority: i32) -> Thread {
        let name = ThreadName::new(name.as_bytes());
        Thread { id, name, priority }
    }

    #[test]
    fn a_thread_is_named_with_its_policy_and_priority() {
        let shown = |priority| {
            let thread = thread(7, "hog", priority);
            Cause::NotPreemptible(thread).to_string()
        };
        assert!(shown(0).contains("hog-7 (FIFO/RR 99)"), "{}", shown(0));
        assert!(shown(98).contains("(FIFO/RR 1)"));
        assert!(shown(101).contains("(OTHER nice -19)"));
        assert!(shown(120).contains("hog-7 (OTHER) in"));
        assert!(shown(-1).contains("(DEADLINE)"));
    }

    #[test]
    fn a_hostile_name_shows_no_control_characters() {
        let timer = Cause::OtherTimer("a\x1b[2Jb\n".into());
        assert!(!timer.to_string().contains(char::is_control));
    }
}
