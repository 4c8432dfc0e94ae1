//! The causes that a stretch of latency can have, and their names. Not which cause holds: that is
//! in `path` and `resolve`.

mod display;

use crate::call::Call;
use crate::halt::Halt;
use crate::page_wait::PageWait;
use crate::stacks::Place;
use crate::wait::{Source, Wait};

pub(crate) use display::{InterruptName, Named};
use std::sync::Arc;
use wakepath_timeline::{Budget, Interrupt, SoftIrq, Thread, one_line};

/// Why time passed before the loop's code ran, or while it should have run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The wake-up path's own work, which the kernel does for every wake-up.
    Path,
    /// The usual time from the due time to the timer's interrupt on this machine.
    TimerDelivery,
    /// The kernel put the wake-up off to join it with others; not for real-time policies.
    TimerSlack,
    /// An interrupt that was due was not taken while this thread was current: it had interrupts off,
    /// or the CPU was stalled, too shortly to distinguish.
    InterruptsOff(Thread),
    /// The CPU was stalled by the hypervisor, the firmware or the hardware.
    NothingRan,
    /// A device's interrupt, or a vector of the CPU.
    Interrupt(Interrupt),
    /// Another CPU interrupted this one.
    Ipi {
        /// Which kind.
        kind: Interrupt,
        /// Its sender, if seen.
        sender: Option<SentBy>,
    },
    /// The interrupt by which this CPU sent the loop's own wake-up to the loop's CPU: its timer had
    /// expired there.
    WokenFrom(u16),
    /// A SoftIRQ, in an interrupt's tail or in its own thread.
    SoftIrq {
        /// Which.
        vector: SoftIrq,
        /// The thread that ran it, if it is one for SoftIRQs.
        thread: Option<Thread>,
    },
    /// Another timer of the same interrupt came first; its callback by name.
    OtherTimer(Arc<str>),
    /// The CPU left an idle state; the timer's own delivery is in it.
    IdleExit {
        /// Number of the state, if seen.
        state: Option<u32>,
    },
    /// Another thread ran.
    Thread {
        /// Which.
        thread: Thread,
        /// By what right.
        relation: Relation,
    },
    /// A less urgent thread ran kernel code that can't be preempted.
    NotPreemptible(Thread),
    /// A less urgent thread ran on while the loop was ready, and the events don't show why.
    RanOn(Thread),
    /// The scheduler ran something less urgent, or nothing, although the loop or another real-time
    /// thread was ready: a CPU quota, real-time throttling, the fair server, or a used-up reservation.
    Throttled {
        /// What ran instead, or idle; `None` for all of them together.
        instead: Option<Thread>,
        /// The budget that was used up, if known.
        budget: Option<Budget>,
    },
    /// Wakepath's own processes.
    OwnTool(Thread),
    /// The loop was blocked: on what, as far as the events show it.
    Blocked(Box<Wait>),
    /// A page of the loop was not there.
    PageFault,
    /// The kernel copied pages that the loop wrote to, since this thread had forked.
    PageCopy(Thread),
    /// The loop waited in a page fault of its own.
    PageWait(PageWait),
    /// Someone had ordered the loop to halt.
    Halted(Halt),
    /// The loop was not woken by its timer, but by this thread.
    Waker(Thread),
    /// The loop was woken by something else than its timer, from an interrupt or SoftIRQ.
    OtherWaker,
    /// The CPU's frequency was changed while the loop's work ran.
    Frequency,
    /// The loop ran for longer than usual although nothing else did, in its own code or in system
    /// calls: calls were not recorded.
    OwnInflation,
    /// The loop's own code took longer than usual, outside of system calls.
    UserCode(RanIn),
    /// A system call of the loop took longer than usual, on the CPU.
    SystemCall(Call),
    /// The loop ran until it was throttled while this thread of its process was ready on its CPU, and ended once that
    /// had run.
    Spin(Thread),
    /// The loop's thread had nothing to do, and waited for whichever event would come first.
    Awaiting,
    /// The loop's thread served an event that is not its cycle's timer.
    OtherWork(Source),
    /// The loop had been moved to a CPU that is not its usual one, and met this cause there.
    Moved {
        /// Its usual CPU.
        from: u16,
        /// The other one.
        to: u16,
        /// Thread that set its CPUs, if seen.
        by: Option<Thread>,
        /// The cause that it met there.
        then: Box<Cause>,
    },
    /// The loop first slept until a due time after that had passed: its program was still starting.
    BeganLate,
    /// The loop's own code, as long as usual.
    OwnCode,
    /// The cycle before had not ended: a consequence, of this.
    Overrun(Box<Cause>),
    /// Events are missing: the kernel reported lost ones.
    EventsLost,
    /// Events are missing for an unknown reason: the trace began later, or ended earlier.
    NoEvents,
}

/// The function in which a loop's own code ran.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RanIn {
    /// No stacks were recorded.
    NotRecorded,
    /// Stacks were recorded, and none while it ran there.
    NotSeen,
    /// This one.
    Function(Arc<Place>),
}

/// By what right another thread ran before the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Its priority is above the loop's.
    MoreUrgent,
    /// It inherits that priority by a lock that a more urgent thread waits for.
    Inherits,
    /// It ran in user mode, and was not switched out for the loop: its priority was raised since it was switched in, by
    /// itself or by a lock.
    Raised,
    /// It has the loop's own real-time priority.
    SamePriority,
    /// It has the loop's own real-time priority, and is a thread of its process.
    Sibling,
    /// Both share the CPU's time by weight (OTHER, BATCH, IDLE).
    Shared,
    /// The same, of a loop whose policy is a real-time one, but was another at that time.
    SharedAsOrdinary,
    /// It ran while the SoftIRQ that serves the loop's timer waited. The loop's own priority has no part in that.
    AheadOfTimer,
}

/// Where an inter-processor interrupt came from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SentBy {
    /// The CPU.
    pub cpu: u16,
    /// The thread that ran there, if known.
    pub thread: Option<Thread>,
    /// The function it asked for, by name; empty where unknown.
    pub callback: Arc<str>,
}

impl Cause {
    /// The cause without what changes from one time to the next: thread numbers, and the CPU an
    /// interrupt was sent from. Causes that are equal then are counted together.
    pub fn grouped(&self) -> Self {
        let group = |thread: &Thread| Thread {
            id: 0,
            ..thread.clone()
        };
        match self {
            Self::InterruptsOff(thread) => Self::InterruptsOff(group(thread)),
            Self::NotPreemptible(thread) => Self::NotPreemptible(group(thread)),
            Self::RanOn(thread) => Self::RanOn(group(thread)),
            Self::Throttled { budget, .. } => Self::Throttled {
                instead: None,
                budget: budget.clone(),
            },
            Self::Blocked(wait) => Self::Blocked(wait.grouped(&group).into()),
            Self::Halted(halt) => Self::Halted(halt.grouped(&group)),
            Self::PageWait(wait) => wait.grouped(&group).into(),
            Self::PageCopy(thread) => Self::PageCopy(group(thread)),
            Self::OwnTool(thread) => Self::OwnTool(group(thread)),
            Self::Waker(thread) => Self::Waker(group(thread)),
            Self::Thread { thread, relation } => Self::Thread {
                thread: group(thread),
                relation: *relation,
            },
            Self::Ipi { kind, sender } => Self::Ipi {
                kind: kind.clone(),
                sender: sender.as_ref().map(|sender| SentBy {
                    cpu: sender.cpu,
                    thread: sender.thread.as_ref().map(group),
                    callback: sender.callback.clone(),
                }),
            },
            Self::SoftIrq { vector, thread } => Self::SoftIrq {
                vector: *vector,
                thread: thread.as_ref().map(group),
            },
            Self::Overrun(because) => Self::Overrun(Box::new(because.grouped())),
            Self::Spin(thread) => Self::Spin(group(thread)),
            Self::UserCode(RanIn::Function(place)) => {
                Self::UserCode(RanIn::Function(Arc::new(place.grouped())))
            }
            Self::OtherWork(Source::Thread(thread)) => {
                Self::OtherWork(Source::Thread(group(thread)))
            }
            Self::Moved { from, to, by, then } => Self::Moved {
                from: *from,
                to: *to,
                by: by.as_ref().map(group),
                then: Box::new(then.grouped()),
            },
            other => other.clone(),
        }
    }

    /// A thread as causes name it: name, number, policy.
    pub fn thread_name(thread: &Thread) -> String {
        Named(thread).to_string()
    }

    pub(crate) fn timer_name(function: &str) -> String {
        format!("timer {}", one_line(function))
    }

    pub(crate) fn interrupt_name(interrupt: &Interrupt) -> String {
        InterruptName(interrupt).to_string()
    }

    /// A short word for the kind of cause, the same in every version: what scripts sort by.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::TimerDelivery => "timer-delivery",
            Self::TimerSlack => "timer-slack",
            Self::InterruptsOff(_) => "interrupts-off",
            Self::NothingRan => "nothing-ran",
            Self::Interrupt(_) => "interrupt",
            Self::Ipi { .. } => "ipi",
            Self::WokenFrom(_) => "woken-from",
            Self::SoftIrq { .. } => "softirq",
            Self::OtherTimer(_) => "other-timer",
            Self::IdleExit { .. } => "idle-exit",
            Self::Thread { .. } => "thread",
            Self::NotPreemptible(_) => "not-preemptible",
            Self::RanOn(_) => "ran-on",
            Self::Throttled { .. } => "throttled",
            Self::OwnTool(_) => "own-tool",
            Self::Blocked(wait) => wait.kind(),
            Self::PageFault | Self::PageCopy(_) | Self::PageWait(_) => "page-fault",
            Self::Halted(halt) => halt.kind(),
            Self::Waker(_) | Self::OtherWaker => "waker",
            Self::Frequency => "frequency",
            Self::OwnInflation => "own-inflation",
            Self::UserCode(_) => "user-code",
            Self::SystemCall(_) => "system-call",
            Self::Spin(_) => "spin",
            Self::Awaiting => "awaiting",
            Self::OtherWork(_) => "other-work",
            Self::Moved { .. } => "moved",
            Self::BeganLate => "began-late",
            Self::OwnCode => "own-code",
            Self::Overrun(_) => "overrun",
            Self::EventsLost => "events-lost",
            Self::NoEvents => "no-events",
        }
    }

    /// Kind of the cause behind one that is a consequence: of an overrun, and of a move to another CPU.
    pub fn behind(&self) -> Option<&'static str> {
        match self {
            Self::Overrun(cause) | Self::Moved { then: cause, .. } => {
                Some(cause.behind().unwrap_or(cause.kind()))
            }
            _ => None,
        }
    }

    /// Whether the events say what happened.
    pub fn is_explained(&self) -> bool {
        !matches!(self, Self::EventsLost | Self::NoEvents)
    }

    /// Whether it is part of every wake-up and every cycle, and not interference.
    pub fn is_usual(&self) -> bool {
        matches!(
            self,
            Self::Path | Self::TimerDelivery | Self::OwnCode | Self::Awaiting
        )
    }
}

/// The kernel's own thread that moves threads off a CPU and stops CPUs, before every policy. Its
/// priority is that of DEADLINE threads, or as newer kernels report it that of FIFO 99; its name is fixed.
pub(crate) fn is_stopper(thread: &Thread) -> bool {
    thread.priority <= 0 && thread.name.bytes().starts_with(b"migration/")
}

/// A worker thread of the kernel. One that wakes a thread hands on what a device did, such as a serial port's bytes.
pub fn is_kernel_worker(thread: &Thread) -> bool {
    thread.name.bytes().starts_with(b"kworker/")
}

/// The thread of Java's virtual machine (HotSpot) that works while it stops all others of its program, at safepoints. Its
/// name is fixed.
pub(crate) fn stops_java(thread: &Thread) -> bool {
    thread.name.bytes() == b"VM Thread"
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::ThreadName;

    #[test]
    fn the_same_name_with_another_number_is_counted_together() {
        let of = |id| Cause::Thread {
            thread: Thread {
                id,
                name: ThreadName::new(b"stress-ng"),
                priority: 120,
            },
            relation: Relation::Shared,
        };
        assert_ne!(of(5), of(6));
        assert_eq!(of(5).grouped(), of(6).grouped());
        let nested = |id| Cause::Overrun(Box::new(of(id)));
        assert_eq!(nested(5).grouped(), nested(6).grouped());
    }
}
