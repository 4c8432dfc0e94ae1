//! Switches out of idle that the kernel did not record. Some kernels omit them on some CPUs: the idle task
//! was current, a thread was woken, and the next event names that thread as current. Only the switch to it
//! can have happened in between, since every thread takes precedence over idle; only its instant is unknown.
//! It is assumed to be that of the previous event, so that the unknown time counts as the thread's and not as
//! idle. Other contradictions are left as they are: `cpu` treats them as missing events.

use std::collections::HashMap;
use wakepath_timeline::{KernelEvent, Left, Thread, ThreadName, What};

/// Threads that are remembered by number.
const MOST_KNOWN: usize = 1 << 14;

/// Finds them, one event at a time.
#[derive(Debug, Default)]
pub struct Untold {
    /// Thread that is believed to be current on each CPU, and the instant of its last event.
    cpus: Vec<(Option<u32>, u64)>,
    known: HashMap<u32, Thread>,
    /// How many were found.
    pub count: u64,
}

impl Untold {
    /// The switch that must have come before this event, if one must. Takes every event once.
    pub fn before(&mut self, event: &KernelEvent) -> Option<KernelEvent> {
        let index = usize::from(event.cpu);
        if self.cpus.len() <= index {
            self.cpus.resize(index + 1, (None, 0));
        }
        let (believed, last_ns) = self.cpus[index];
        let told = match &event.what {
            What::Lost { .. } => None,
            What::Switch { previous, .. } => Some(previous.id),
            _ => Some(event.current),
        };
        let now = match &event.what {
            What::Switch { next, .. } => Some(next.id),
            _ => told,
        };
        self.cpus[index] = (now, event.at_ns.max(last_ns));
        match &event.what {
            What::Switch { previous, next, .. } => {
                self.learn(previous);
                self.learn(next);
            }
            What::Waking { thread, .. } | What::WakeUp { thread, .. } => self.learn(thread),
            _ => {}
        }
        let next = told.filter(|&told| believed == Some(0) && told != 0)?;
        let next = self.known.get(&next)?.clone();
        self.count += 1;
        Some(KernelEvent {
            at_ns: last_ns,
            cpu: event.cpu,
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

    fn learn(&mut self, thread: &Thread) {
        if self.known.len() == MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(thread.id, thread.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at_ns: u64, current: u32, what: What) -> KernelEvent {
        KernelEvent {
            at_ns,
            cpu: 1,
            current,
            what,
        }
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

    const FAULT: What = What::PageFault { user: true };

    #[test]
    fn a_thread_that_is_current_after_idle_was_switched_to_at_the_last_event() {
        let mut untold = Untold::default();
        assert_eq!(untold.before(&event(10, 0, waking(7))), None);
        let found = untold.before(&event(90, 7, FAULT)).unwrap();
        assert_eq!((found.at_ns, found.cpu, found.current), (10, 1, 0));
        assert!(matches!(found.what, What::Switch { next, .. } if next == thread(7)));
        assert_eq!(untold.before(&event(95, 7, FAULT)), None);
        assert_eq!(untold.count, 1);
    }

    #[test]
    fn nothing_is_made_up_where_another_thread_ran_or_events_are_lost() {
        let mut untold = Untold::default();
        untold.before(&event(10, 3, waking(7)));
        assert_eq!(untold.before(&event(20, 7, FAULT)), None);
        untold.before(&event(30, 0, FAULT));
        untold.before(&event(40, 0, What::Lost { count: 1 }));
        assert_eq!(untold.before(&event(50, 7, FAULT)), None);
        // A thread that no event has named has no priority either.
        untold.before(&event(60, 0, FAULT));
        assert_eq!(untold.before(&event(70, 8, FAULT)), None);
        assert_eq!(untold.count, 0);
    }
}
