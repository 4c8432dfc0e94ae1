//! Switches that the kernel did not record. Some kernels leave out those away from the idle task and from some threads.
//! Every event names the thread that is current: if that is not the one that was current before, at least one switch is
//! missing between the two events of that CPU.
//!
//! Away from idle, the instant is the earliest one possible, since every thread takes precedence over idle: the CPU's
//! event before, or the new thread's own wake-up if that was later. Away from another thread, nothing shows who ran in
//! between: the new thread has the CPU from the event on that names it.

use foldhash::HashMap;
use wakepath_timeline::{KernelEvent, Left, Thread, ThreadName, What};

/// Threads that are remembered by number.
const MOST_KNOWN: usize = 1 << 14;

/// A switch that was not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntoldSwitch {
    /// The CPU.
    pub cpu: u16,
    /// Thread that was current before; 0 for idle.
    pub previous: u32,
    /// Thread that is current since.
    pub next: u32,
    /// The same by name and priority; `None` if no event has named it.
    pub thread: Option<Thread>,
    /// Instant of the CPU's last event before, in nanoseconds.
    pub last_ns: u64,
    /// The earliest possible instant, in nanoseconds.
    pub earliest_ns: u64,
    /// The latest possible instant, in nanoseconds: that of the event that names the new thread.
    pub latest_ns: u64,
}

impl UntoldSwitch {
    /// By how much its instant is uncertain, in nanoseconds.
    pub fn uncertain_ns(&self) -> u64 {
        self.latest_ns - self.earliest_ns
    }

    /// The switch as the kernel would have recorded it, at its earliest instant; `None` unless it led away from idle.
    pub fn out_of_idle(&self) -> Option<KernelEvent> {
        let next = self.thread.clone().filter(|_| self.previous == 0)?;
        Some(KernelEvent {
            at_ns: self.earliest_ns,
            cpu: self.cpu,
            current: 0,
            what: What::Switch {
                previous: Thread {
                    id: 0,
                    name: ThreadName::new(b"idle"),
                    priority: 120,
                },
                left: Left::Runnable,
                next,
            },
        })
    }
}

/// A thread that events have named.
#[derive(Debug)]
struct Known {
    thread: Thread,
    /// When it was last seen not to run.
    off_ns: u64,
}

/// A CPU as its events show it.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// Thread that is believed to be current.
    current: Option<u32>,
    /// Instant of the last event, in nanoseconds.
    last_ns: u64,
    /// Thread that its last switch left asleep and that nothing has woken since.
    left: Option<u32>,
}

/// Finds them, one event at a time.
#[derive(Debug, Default)]
pub struct Untold {
    cpus: Vec<Seen>,
    known: HashMap<u32, Known>,
    /// How many were found.
    pub count: u64,
}

impl Untold {
    /// Whether this event belongs to the switch before it, which names the old thread still: a page fault of a tracer
    /// that reads the stack of the thread that goes to sleep. Nothing else can occur there, for interrupts are off.
    pub fn is_within_switch(&self, event: &KernelEvent) -> bool {
        let cpu = self.cpus.get(usize::from(event.cpu));
        matches!(event.what, What::PageFault { .. } | What::PageMapped)
            && cpu.is_some_and(|cpu| cpu.left == Some(event.current))
    }

    /// The switch that must have come before this event, if one must. Takes every event once.
    pub fn before(&mut self, event: &KernelEvent) -> Option<UntoldSwitch> {
        let index = usize::from(event.cpu);
        if self.cpus.len() <= index {
            self.cpus.resize(index + 1, Seen::default());
        }
        let Seen {
            current: believed,
            last_ns,
            left,
        } = self.cpus[index];
        let told = match &event.what {
            What::Lost { .. } => None,
            What::Switch { previous, .. } => Some(previous.id),
            _ => Some(event.current),
        };
        let now = match &event.what {
            What::Switch { next, .. } => Some(next.id),
            _ => told,
        };
        let latest_ns = event.at_ns.max(last_ns);
        let left = match &event.what {
            What::Switch { previous, left, .. } => (*left != Left::Runnable).then_some(previous.id),
            _ => left,
        };
        self.cpus[index] = Seen {
            current: now,
            last_ns: latest_ns,
            left,
        };
        let found = believed.zip(told).filter(|(before, told)| before != told);
        let found = found.map(|(previous, next)| {
            let known = self.known.get(&next);
            let off_ns = known.map_or(0, |known| known.off_ns);
            UntoldSwitch {
                cpu: event.cpu,
                previous,
                next,
                thread: known.map(|known| known.thread.clone()),
                last_ns,
                earliest_ns: last_ns.max(off_ns).min(latest_ns),
                latest_ns,
            }
        });
        self.count += u64::from(found.is_some());
        match &event.what {
            What::Switch { previous, next, .. } => {
                self.learn(previous, event.at_ns);
                self.learn(next, event.at_ns);
            }
            What::Waking { thread, .. } | What::WakeUp { thread, .. } => {
                self.learn(thread, event.at_ns);
                for cpu in &mut self.cpus {
                    cpu.left = cpu.left.filter(|&left| left != thread.id);
                }
            }
            What::Migrate { thread, .. } => self.learn(thread, event.at_ns),
            _ => {}
        }
        found
    }

    fn learn(&mut self, thread: &Thread, off_ns: u64) {
        if self.known.len() == MOST_KNOWN {
            self.known.clear();
        }
        let thread = thread.clone();
        self.known.insert(thread.id, Known { thread, off_ns });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(cpu: u16, at_ns: u64, current: u32, what: What) -> KernelEvent {
        KernelEvent {
            at_ns,
            cpu,
            current,
            what,
        }
    }

    fn event(at_ns: u64, current: u32, what: What) -> KernelEvent {
        on(1, at_ns, current, what)
    }

    fn thread(id: u32) -> Thread {
        Thread {
            id,
            name: ThreadName::new(b"one"),
            priority: 19,
        }
    }

    fn waking(id: u32) -> What {
        let thread = thread(id);
        What::Waking {
            thread,
            target_cpu: 1,
        }
    }

    const FAULT: What = What::PageFault {
        user: true,
        copies: false,
    };

    #[test]
    fn a_thread_that_is_current_after_idle_was_switched_to_at_the_last_event() {
        let mut untold = Untold::default();
        assert_eq!(untold.before(&event(10, 0, waking(7))), None);
        let found = untold.before(&event(90, 7, FAULT)).unwrap();
        assert_eq!(found.uncertain_ns(), 80);
        let switch = found.out_of_idle().unwrap();
        assert_eq!((switch.at_ns, switch.cpu, switch.current), (10, 1, 0));
        assert!(matches!(switch.what, What::Switch { next, .. } if next == thread(7)));
        assert_eq!(untold.before(&event(95, 7, FAULT)), None);
        assert_eq!(untold.count, 1);
    }

    #[test]
    fn a_fault_within_a_switch_is_not_of_a_thread_that_came_back() {
        let mut untold = Untold::default();
        let asleep = |id| What::Switch {
            previous: thread(id),
            left: Left::Sleeping,
            next: thread(0),
        };
        untold.before(&event(10, 7, asleep(7)));
        assert!(untold.is_within_switch(&event(12, 7, FAULT)));
        assert!(!untold.is_within_switch(&event(12, 8, FAULT)));
        assert_eq!(untold.before(&event(50, 0, waking(7))), None);
        assert!(!untold.is_within_switch(&event(60, 7, FAULT)));
        assert!(untold.before(&event(60, 7, FAULT)).is_some());
    }

    #[test]
    fn a_thread_was_not_switched_to_before_another_cpu_woke_it() {
        let mut untold = Untold::default();
        untold.before(&event(10, 0, FAULT));
        untold.before(&on(0, 70, 5, waking(7)));
        let found = untold.before(&event(90, 7, FAULT)).unwrap();
        assert_eq!((found.earliest_ns, found.uncertain_ns()), (70, 20));
        assert_eq!(found.out_of_idle().unwrap().at_ns, 70);
    }

    #[test]
    fn nothing_is_made_up_where_another_thread_ran_or_events_are_lost() {
        let mut untold = Untold::default();
        untold.before(&event(10, 3, waking(7)));
        let found = untold.before(&event(20, 7, FAULT)).unwrap();
        assert_eq!((found.previous, found.out_of_idle()), (3, None));
        assert_eq!((found.last_ns, found.latest_ns), (10, 20));
        untold.before(&event(40, 0, What::Lost { count: 1 }));
        assert_eq!(untold.before(&event(50, 7, FAULT)), None);
        // A thread that no event has named has no priority either.
        untold.before(&event(60, 0, FAULT));
        let found = untold.before(&event(70, 8, FAULT)).unwrap();
        assert_eq!(
            (found.next, &found.thread, found.out_of_idle()),
            (8, &None, None)
        );
    }
}
