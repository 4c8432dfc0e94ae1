//! Where a loop's thread was, and who put it there. The scheduler moves any thread with several CPUs, which is no
//! cause of anything; a change of its CPUs (`sched_setaffinity`, a cpuset) is.

use crate::cause::is_stopper;
use crate::cpu::Context;
use foldhash::HashMap;
use std::collections::VecDeque;
use wakepath_timeline::{AllowedCpus, KernelEvent, Sample, Thread, What};

/// Who had the kernel's stopper thread of each CPU run, by its number: the stopper takes a running thread off a CPU
/// that it may not use any more.
#[derive(Debug, Default)]
pub(crate) struct Stoppers(HashMap<u32, Option<Thread>>);

impl Stoppers {
    /// Takes an event; `context`: where a thread that it wakes is woken.
    pub fn event(&mut self, event: &KernelEvent, context: impl FnOnce() -> Context) {
        if let What::Waking { thread, .. } = &event.what
            && is_stopper(thread)
        {
            let by = match context() {
                Context::Thread(by) if by.id != 0 => Some(by),
                _ => None,
            };
            self.0.insert(thread.id, by);
        }
    }

    /// Who had a migration made, if a stopper made it.
    pub fn mover(&self, event: &KernelEvent) -> Option<&Thread> {
        self.0.get(&event.current)?.as_ref()
    }
}

/// A change of CPUs is in effect this long after its call began, in nanoseconds.
const EFFECT_NS: u64 = 1_000_000;

/// A thread's order to put a loop on other CPUs.
#[derive(Debug, Clone)]
struct Order {
    at_ns: u64,
    by: Thread,
    /// The stopper moves ordinary threads to balance the load as well: its waker moved one only if that may not use its
    /// usual CPU.
    is_sure: bool,
}

/// One stay of a loop's thread on a CPU.
#[derive(Debug, Clone)]
struct Stay {
    from_ns: u64,
    cpu: u16,
    order: Option<Order>,
}

/// The stays of a loop's thread that its next cycles need, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Placement {
    stays: VecDeque<Stay>,
    /// Not followed by the thread yet: it may sleep.
    pending: Option<Order>,
    /// CPUs that it may use, by when that was seen.
    allowed: Vec<AllowedCpus>,
}

/// A cycle's stays, and the CPUs that its thread might use.
#[derive(Debug, Clone, Default)]
pub(crate) struct Placed {
    stays: Vec<Stay>,
    allowed: Option<Vec<u16>>,
}

/// Someone's change of a thread's CPUs, because of which it was on a CPU that is not its usual one.
pub(crate) struct Move {
    pub to: u16,
    /// `None` if the events don't show who.
    pub by: Option<Thread>,
}

impl Placement {
    pub fn new(allowed: Vec<AllowedCpus>) -> Self {
        Self {
            allowed,
            ..Self::default()
        }
    }

    /// A thread set this one's CPUs by a call; its own call makes the place its own choice.
    pub fn set_by(&mut self, at_ns: u64, by: Option<&Thread>, own: u32) {
        let by = by.filter(|by| by.id != own);
        self.pending = by.map(|by| Order {
            at_ns,
            by: by.clone(),
            is_sure: true,
        });
    }

    /// A thread's name as it leaves its CPU: one that has executed another program has that one's name only then.
    pub fn named(&mut self, thread: &Thread) {
        let orders = self.stays.iter_mut().filter_map(|of| of.order.as_mut());
        for order in orders.chain(&mut self.pending) {
            if order.by.id == thread.id {
                order.by.name.clone_from(&thread.name);
            }
        }
    }

    /// It is on this CPU, or on its queue. `mover`: who had the stopper move it there.
    pub fn at(&mut self, at_ns: u64, cpu: u16, mover: Option<&Thread>, thread: &Thread) {
        let is_there = self.stays.back().is_some_and(|stay| stay.cpu == cpu);
        let by_stopper = || {
            let by = mover.filter(|by| by.id != thread.id)?.clone();
            let is_sure = thread.priority < 100;
            Some(Order { at_ns, by, is_sure })
        };
        if is_there {
            // Its CPUs may be under change; if they are not, the order changed nothing.
            let is_new = |order: &mut Order| at_ns < order.at_ns + EFFECT_NS;
            self.pending = self.pending.take_if(is_new);
            return;
        }
        let order = self.pending.take().or_else(by_stopper);
        self.stays.push_back(Stay {
            from_ns: at_ns,
            cpu,
            order,
        });
    }

    /// Forgets what cycles from an instant on don't need.
    pub fn forget_before(&mut self, at_ns: u64) {
        while self.stays.get(1).is_some_and(|next| next.from_ns < at_ns) {
            self.stays.pop_front();
        }
    }

    /// The part that a cycle needs.
    pub fn in_cycle(&self, sample: &Sample) -> Placed {
        let (from_ns, to_ns) = (sample.due_ns.min(sample.wake_ns), sample.end_ns);
        let after = self.stays.partition_point(|stay| stay.from_ns <= to_ns);
        let first = self.stays.partition_point(|stay| stay.from_ns <= from_ns);
        let stays = self.stays.range(first.saturating_sub(1)..after);
        let seen = self.allowed.partition_point(|of| of.seen_ns <= to_ns);
        let allowed = seen.checked_sub(1).map(|last| &self.allowed[last]);
        Placed {
            stays: stays.cloned().collect(),
            allowed: allowed.map(|of| of.cpus.clone()),
        }
    }
}

impl Placed {
    /// The change of the thread's CPUs that explains why it was elsewhere than at home until an instant. Who wakes a
    /// thread moves it to its new CPU only after its waking.
    pub fn moved(&self, home: u16, until_ns: u64) -> Option<Move> {
        let mut before = self.stays.iter().rev();
        let stay = before.find(|stay| stay.from_ns < until_ns)?;
        self.order_of(stay, home)
    }

    /// The change that ended a stay at home, at an instant.
    pub fn leaves(&self, home: u16, from_ns: u64, to_ns: u64) -> Option<Move> {
        let mut stays = self.stays.iter();
        let stay = stays.find(|stay| from_ns < stay.from_ns && stay.from_ns <= to_ns)?;
        self.order_of(stay, home)
    }

    fn order_of(&self, stay: &Stay, home: u16) -> Option<Move> {
        if stay.cpu == home {
            return None;
        }
        let is_closed = self
            .allowed
            .as_ref()
            .is_some_and(|cpus| !cpus.contains(&home));
        let by = match &stay.order {
            Some(order) if order.is_sure || is_closed => Some(order.by.clone()),
            _ if is_closed => None,
            _ => return None,
        };
        Some(Move { to: stay.cpu, by })
    }
}
