//! How threads have their CPUs: in user mode or in the kernel, with their own priority or one that they inherit.

use foldhash::HashMap;
use wakepath_timeline::{KernelEvent, Left, What};

/// How a thread has its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Hold {
    /// How it was given the CPU.
    pub given: Given,
    /// Whether its priority is one that it inherits by a lock.
    pub inherits: bool,
    /// Whether it runs in user mode, or in the kernel on the way there.
    pub in_user: bool,
}

/// How a thread was given its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Given {
    /// The switch to it was not seen.
    #[default]
    Unknown,
    /// No more urgent FIFO or RR thread was ready, as far as was seen.
    Rightly,
    /// A more urgent FIFO or RR thread stayed ready: by throttling or by the fair server.
    OverAnother,
    /// By the fair server, before FIFO and RR threads.
    ByFairServer,
}

impl Given {
    /// Whether more urgent FIFO and RR threads that are ready stay so.
    pub fn is_over_others(self) -> bool {
        matches!(self, Self::OverAnother | Self::ByFairServer)
    }
}

/// A page fault without I/O takes less than this, in nanoseconds.
const FAULT_NS: u64 = 1_000_000;

/// Where a thread whose system calls are recorded runs.
#[derive(Debug, Clone, Copy)]
enum Mode {
    User,
    Call,
    Fault { since_ns: u64 },
}

/// All threads.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    modes: HashMap<u32, Mode>,
    /// The few threads that inherit a priority, with their own.
    inherit: Vec<(u32, i32)>,
}

impl Holds {
    /// Takes the next event: how the thread that is current after it has the CPU.
    pub fn event(&mut self, event: &KernelEvent, given: Given) -> Hold {
        self.takes(event);
        let current = match &event.what {
            What::Switch { next, .. } => next.id,
            _ => event.current,
        };
        Hold {
            given,
            inherits: self.inherit.iter().any(|(thread, _)| *thread == current),
            in_user: match self.modes.get(&current) {
                Some(Mode::User) => true,
                Some(Mode::Fault { since_ns }) => event.at_ns > since_ns + FAULT_NS,
                Some(Mode::Call) | None => false,
            },
        }
    }

    /// A thread gets this priority by a lock, or its own again. Whether it is another than its own.
    pub fn inherits(&mut self, thread: u32, before: i32, priority: i32) -> bool {
        let known = self.inherit.iter().find(|(of, _)| *of == thread);
        let own = known.map_or(before, |(_, own)| *own);
        self.inherits_no_more(thread);
        let inherits = priority < own;
        if inherits {
            self.inherit.push((thread, own));
        }
        inherits
    }

    fn inherits_no_more(&mut self, thread: u32) {
        self.inherit.retain(|(of, _)| *of != thread);
    }

    fn takes(&mut self, event: &KernelEvent) {
        let since_ns = event.at_ns;
        match &event.what {
            What::Lost { .. } => *self = Self::default(),
            What::Switch {
                previous,
                left: Left::Dead,
                ..
            } => {
                self.modes.remove(&previous.id);
                self.inherits_no_more(previous.id);
            }
            What::SystemCallEntry { .. } => {
                self.modes.insert(event.current, Mode::Call);
            }
            What::SystemCallExit => {
                self.modes.insert(event.current, Mode::User);
            }
            // In a call they are a part of it.
            What::PageFault { user: true, .. } => {
                if let Some(mode @ Mode::User) = self.modes.get_mut(&event.current) {
                    *mode = Mode::Fault { since_ns };
                }
            }
            What::PageMapped => {
                if let Some(mode @ Mode::Fault { .. }) = self.modes.get_mut(&event.current) {
                    *mode = Mode::User;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(holds: &mut Holds, at_ns: u64, what: What) -> Hold {
        let event = KernelEvent {
            at_ns,
            cpu: 0,
            current: 7,
            what,
        };
        holds.event(&event, Given::Unknown)
    }

    #[test]
    fn a_thread_is_in_user_mode_between_its_calls_and_after_its_faults() {
        let mut holds = Holds::default();
        let fault = || What::PageFault {
            user: true,
            copies: false,
        };
        let call = || What::SystemCallEntry {
            name: "write".into(),
            argument: None,
        };
        let steps = [
            // Its calls are not known to be recorded.
            (fault(), false),
            (What::PageMapped, false),
            (call(), false),
            (fault(), false),
            (What::PageMapped, false),
            (What::SystemCallExit, true),
            (fault(), false),
            (What::PageMapped, true),
            (fault(), false),
        ];
        for (number, (what, in_user)) in steps.into_iter().enumerate() {
            let hold = seen(&mut holds, number as u64, what);
            assert_eq!(hold.in_user, in_user, "{number}");
        }
        assert!(seen(&mut holds, 2_000_000, What::IdleExit).in_user);
        assert!(!seen(&mut holds, 2_000_001, What::Lost { count: 1 }).in_user);
    }

    #[test]
    fn a_thread_inherits_until_it_has_its_own_priority_again() {
        let mut holds = Holds::default();
        let mut changes = |before, priority| holds.inherits(7, before, priority);
        assert_eq!(
            [(79, 29), (29, 9), (9, 29), (29, 79), (79, 79)].map(|(a, b)| changes(a, b)),
            [true, true, true, false, false]
        );
    }
}
