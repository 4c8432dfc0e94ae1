//! The states of all threads over the window, and each CPU's queue of ready threads: the evidence
//! for chains of waits and for throttling.

use crate::cpu::Context;
use crate::fair_server::FairServers;
use crate::holds::Given;
use crate::thread_calls::ThreadCalls;
use crate::track::{Happened, Mark, Track};
use crate::untold::UntoldSwitch;
use foldhash::HashMap;
use std::collections::BTreeSet;
use wakepath_timeline::{KernelEvent, Left, What};

/// Marks of all threads that are kept, about 100 MB; beyond it all are forgotten, and waits in that
/// window are unknown.
const MOST_MARKS: usize = 1 << 20;

/// So few marks are kept, whatever their age.
const FEW_MARKS: usize = 1 << 14;

#[derive(Debug, Default)]
pub(crate) struct Threads {
    pub calls: ThreadCalls,
    tracks: HashMap<u32, Track>,
    marks: usize,
    /// Marks at which old ones are next looked for.
    forget_at: usize,
    queues: Queues,
    fair_servers: FairServers,
}

/// Ready threads by CPU.
#[derive(Debug, Default)]
struct Queues {
    /// Each thread's CPU and priority.
    places: HashMap<u32, (u16, i32)>,
    /// By CPU: priority and number, the most urgent first.
    ready: HashMap<u16, BTreeSet<(i32, u32)>>,
}

impl Threads {
    /// Takes an event at the instant that its CPU's row has for it. `context`: where a thread that
    /// it wakes is woken.
    pub fn event(&mut self, event: &KernelEvent, at_ns: u64, context: impl FnOnce() -> Context) {
        let cpu = event.cpu;
        match &event.what {
            What::Waking { thread, .. } => {
                let priority = thread.priority;
                let from = context();
                self.mark(thread.id, at_ns, cpu, Happened::Waking { from, priority });
            }
            What::WakeUp { thread, target_cpu } => {
                self.mark(thread.id, at_ns, cpu, Happened::WokenUp);
                self.queues.join(thread.id, *target_cpu, thread.priority);
            }
            What::Migrate {
                thread,
                from_cpu,
                to_cpu,
            } => {
                let from_cpu = *from_cpu;
                self.mark(thread.id, at_ns, cpu, Happened::Moved { from_cpu });
                if self.queues.leave(thread.id) {
                    self.queues.join(thread.id, *to_cpu, thread.priority);
                }
            }
            What::Switch {
                previous,
                left,
                next,
            } => {
                self.mark(previous.id, at_ns, cpu, Happened::Out(*left));
                if let Some(track) = self.tracks.get_mut(&previous.id) {
                    track.name = Some(previous.name);
                }
                let priority = next.priority;
                self.mark(next.id, at_ns, cpu, Happened::In { priority });
                match left {
                    Left::Runnable if previous.id != 0 => {
                        self.queues.join(previous.id, cpu, previous.priority);
                    }
                    _ => {
                        self.queues.leave(previous.id);
                    }
                }
                self.queues.leave(next.id);
            }
            What::Lost { .. } => self.clear(),
            _ => {}
        }
    }

    /// Takes a switch that was not recorded, and that is not one out of idle.
    pub fn untold(&mut self, untold: &UntoldSwitch) {
        let UntoldSwitch { cpu, previous, .. } = *untold;
        self.mark(previous, untold.last_ns, cpu, Happened::Gone);
        if let Some(next) = &untold.thread {
            let priority = next.priority;
            self.mark(next.id, untold.latest_ns, cpu, Happened::In { priority });
            self.queues.leave(next.id);
        }
    }

    /// How a switch gives its CPU away; unknown of any other event.
    pub fn given(&mut self, event: &KernelEvent) -> Given {
        let What::Switch {
            previous,
            left,
            next,
        } = &event.what
        else {
            self.fair_servers.event(event);
            return Given::Unknown;
        };
        let ready = self.queues.ready.get(&event.cpu);
        let real_time = ready.map(|ready| ready.range((0, 0)..(100, 0)));
        let mut others = real_time.into_iter().flatten();
        let other = others.find(|(_, id)| *id != next.id);
        let kept = (*left == Left::Runnable && (0..100).contains(&previous.priority))
            .then_some(previous.priority);
        let mut ready = other.map(|(priority, _)| *priority).into_iter().chain(kept);
        let is_over_another = ready.any(|ready| ready < next.priority);
        self.fair_servers.given(event.cpu, next, is_over_another)
    }

    /// A thread, which may be ready, has another priority from now on.
    pub fn inherits(&mut self, thread: u32, priority: i32) {
        if let Some((cpu, _)) = self.queues.places.get(&thread).copied() {
            self.queues.join(thread, cpu, priority);
        }
    }

    /// All of which anything is known, by their numbers.
    pub fn all(&self) -> impl Iterator<Item = (u32, &Track)> {
        self.tracks.iter().map(|(thread, track)| (*thread, track))
    }

    pub fn track(&self, thread: u32) -> Option<&Track> {
        self.tracks.get(&thread)
    }

    /// Nothing that was true is known to be true any more.
    pub fn clear(&mut self) {
        self.tracks.clear();
        self.calls.clear();
        self.marks = 0;
        self.queues = Queues::default();
        self.fair_servers = FairServers::default();
    }

    /// Drops marks before an instant, once there are many: each is looked at a few times at most.
    pub fn forget_before(&mut self, at_ns: u64) {
        if self.marks < self.forget_at {
            return;
        }
        self.tracks.retain(|_, track| {
            track.forget_before(at_ns);
            !track.is_forgotten()
        });
        self.calls.forget_before(at_ns);
        // A track counts as a mark, so that many short-lived threads are no exception.
        let marks = self.tracks.values().map(|track| track.marks().len() + 1);
        self.marks = marks.sum();
        self.forget_at = (2 * self.marks).max(FEW_MARKS);
    }

    fn mark(&mut self, thread: u32, at_ns: u64, cpu: u16, what: Happened) {
        if thread == 0 {
            return;
        }
        if self.marks == MOST_MARKS {
            self.tracks.clear();
            self.marks = 0;
        }
        self.marks += 1;
        let track = self.tracks.entry(thread).or_default();
        track.push(Mark { at_ns, cpu, what });
    }
}

impl Queues {
    fn join(&mut self, thread: u32, cpu: u16, priority: i32) {
        self.leave(thread);
        self.places.insert(thread, (cpu, priority));
        self.ready
            .entry(cpu)
            .or_default()
            .insert((priority, thread));
    }

    /// Whether it was on a queue.
    fn leave(&mut self, thread: u32) -> bool {
        let Some((cpu, priority)) = self.places.remove(&thread) else {
            return false;
        };
        if let Some(ready) = self.ready.get_mut(&cpu) {
            ready.remove(&(priority, thread));
        }
        true
    }
}
