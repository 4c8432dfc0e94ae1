//! Wake-ups out of the scheduler's events: for each thread when the kernel began to wake it and
//! when it came to a CPU. Not what it was woken for, which no event tells.

use crate::due_times::{earliest, numbers};
use crate::imported::ScheduledBy;
use std::collections::BTreeMap;
use wakepath_timeline::{KernelEvent, Left, Thread, ThreadName, What};

/// Of ten times that a thread comes to a CPU, the number with its usual priority.
const USUAL_OF_TEN: u64 = 9;

/// Data about one thread from the events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Woken {
    /// Its name when it was last seen.
    pub(crate) name: ThreadName,
    /// Its priority when it last came to a CPU, as the kernel counts: 0 to 98 are real-time
    /// priorities 99 to 1. A thread may give it up before it ends.
    pub(crate) kernel_priority: i32,
    /// How often it came to a CPU with which priority, as the kernel counts.
    came_with: Vec<(i32, u64)>,
    /// When its wake-up began, and how long until it was switched in, in nanoseconds.
    pub(crate) wake_ups: Vec<(u64, u64)>,
    /// Times that it came to a CPU after sleep without an event that woke it, or was woken and
    /// never came: events that are missing.
    pub(crate) incomplete: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// Not seen yet.
    #[default]
    Unknown,
    /// On a CPU, or put off it while it could have run on.
    Ready,
    Asleep,
    /// Being woken since.
    Waking(u64),
}

fn real_time_priority(kernel_priority: i32) -> Option<u8> {
    let own = u8::try_from(kernel_priority).ok()?;
    (own < 99).then(|| 99 - own)
}

impl Woken {
    /// Whether it sleeps at the end of the trace: its last turn is whole.
    pub(crate) fn is_asleep(&self) -> bool {
        self.state == State::Asleep
    }

    /// Its real-time priority, if it has one.
    pub(crate) fn real_time_priority(&self) -> Option<u8> {
        real_time_priority(self.kernel_priority)
    }

    /// By which right it was scheduled nearly always: a thread sets its policy after it begins, and may inherit a priority.
    pub(crate) fn scheduled_by(&self) -> Option<ScheduledBy> {
        let all: u64 = self.came_with.iter().map(|(_, times)| times).sum();
        let (usual, times) = self
            .came_with
            .iter()
            .copied()
            .max_by_key(|(_, times)| *times)?;
        if times * 10 < all * USUAL_OF_TEN {
            return None;
        }
        match real_time_priority(usual) {
            Some(priority) => Some(ScheduledBy::Priority(priority)),
            None => (usual >= 100).then_some(ScheduledBy::Share),
        }
    }

    /// Its wake-ups as cycles of this period: number of the due time, and latency in nanoseconds. A
    /// gap between two wake-ups counts as the due times in it.
    pub(crate) fn cycles(&self, period_ns: u64) -> Vec<(u64, i64)> {
        let instants: Vec<u64> = self.wake_ups.iter().map(|(at_ns, _)| *at_ns).collect();
        let mut cycles: Vec<(u64, i64)> = Vec::with_capacity(self.wake_ups.len());
        for (number, (_, latency)) in numbers(&instants, period_ns)
            .into_iter()
            .zip(&self.wake_ups)
        {
            let latency = i64::try_from(*latency).unwrap_or(i64::MAX);
            let before = cycles.last().copied();
            cycles.push((number.max(earliest(before, latency, period_ns)), latency));
        }
        cycles
    }

    /// Median time from one wake-up to the next, in nanoseconds; `None` of fewer than three.
    pub(crate) fn median_interval_ns(&self) -> Option<u64> {
        let pairs = self.wake_ups.windows(2);
        let mut intervals: Vec<u64> = pairs.map(|pair| pair[1].0 - pair[0].0).collect();
        intervals.sort_unstable();
        (intervals.len() >= 2).then(|| intervals[(intervals.len() - 1) / 2])
    }
}

/// Threads by their number. `from_waking` says whether a wake-up begins with `sched_waking` rather
/// than with `sched_wakeup`, which comes when the thread is on a run queue.
pub(crate) fn threads(events: &[KernelEvent], from_waking: bool) -> BTreeMap<u32, Woken> {
    let mut threads: BTreeMap<u32, Woken> = BTreeMap::new();
    for event in events {
        match &event.what {
            What::Waking { thread, .. } if from_waking => woken(&mut threads, thread, event.at_ns),
            What::WakeUp { thread, .. } if !from_waking => woken(&mut threads, thread, event.at_ns),
            What::Switch {
                previous,
                left,
                next,
            } => {
                leaves(&mut threads, previous, *left);
                comes(&mut threads, next, event.at_ns);
            }
            _ => {}
        }
    }
    // The CPU's idle thread is never woken.
    threads.remove(&0);
    threads
}

fn known<'a>(threads: &'a mut BTreeMap<u32, Woken>, thread: &Thread) -> &'a mut Woken {
    let found = threads.entry(thread.id).or_default();
    found.name = thread.name;
    found
}

fn woken(threads: &mut BTreeMap<u32, Woken>, thread: &Thread, at_ns: u64) {
    let found = known(threads, thread);
    match found.state {
        // Woken before it slept: it runs on, and nothing is waited for.
        State::Ready => {}
        // The first of several begins the wake-up.
        State::Waking(_) => {}
        State::Asleep | State::Unknown => found.state = State::Waking(at_ns),
    }
}

fn leaves(threads: &mut BTreeMap<u32, Woken>, thread: &Thread, left: Left) {
    let found = known(threads, thread);
    // It was on a CPU while it was being woken: that it came there is missing.
    found.incomplete += u64::from(matches!(found.state, State::Waking(_)));
    found.state = match left {
        Left::Runnable => State::Ready,
        _ => State::Asleep,
    };
}

fn comes(threads: &mut BTreeMap<u32, Woken>, thread: &Thread, at_ns: u64) {
    let found = known(threads, thread);
    let mut known = found.came_with.iter_mut();
    match known.find(|(priority, _)| *priority == thread.priority) {
        Some((_, times)) => *times += 1,
        None => found.came_with.push((thread.priority, 1)),
    }
    found.kernel_priority = thread.priority;
    match found.state {
        State::Waking(since) => found.wake_ups.push((since, at_ns.saturating_sub(since))),
        State::Asleep => found.incomplete += 1,
        State::Ready | State::Unknown => {}
    }
    found.state = State::Ready;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(id: u32) -> Thread {
        Thread {
            id,
            name: ThreadName::new(b"loop"),
            priority: 19,
        }
    }

    fn event(at_ns: u64, what: What) -> KernelEvent {
        KernelEvent {
            at_ns,
            cpu: 0,
            current: 0,
            what,
        }
    }

    fn waking(at_ns: u64) -> KernelEvent {
        let (thread, target_cpu) = (thread(7), 0);
        event(at_ns, What::Waking { thread, target_cpu })
    }

    fn to(at_ns: u64, id: u32, from: u32, left: Left) -> KernelEvent {
        event(
            at_ns,
            What::Switch {
                previous: thread(from),
                left,
                next: thread(id),
            },
        )
    }

    #[test]
    fn a_wake_up_lasts_from_the_first_waking_to_the_switch_and_a_preemption_is_none() {
        let events = [
            waking(1_000),
            waking(1_200),
            to(1_500, 7, 0, Left::Runnable),
            // Preempted and back: no wake-up.
            to(1_600, 8, 7, Left::Runnable),
            to(1_700, 7, 8, Left::Sleeping),
            // Woken while it runs: it never waits.
            waking(1_750),
            to(1_800, 0, 7, Left::Sleeping),
            waking(3_000),
            to(3_040, 7, 0, Left::Runnable),
        ];
        let found = &threads(&events, true)[&7];
        assert_eq!(found.wake_ups, [(1_000, 500), (3_000, 40)]);
        assert_eq!(
            (found.incomplete, found.real_time_priority()),
            (0, Some(80))
        );
        assert_eq!(found.name, ThreadName::new(b"loop"));
    }

    #[test]
    fn what_is_missing_is_counted_and_makes_up_no_wake_up() {
        let events = [
            to(1_000, 0, 7, Left::Sleeping),
            // Its waking is missing.
            to(2_000, 7, 0, Left::Runnable),
            to(2_100, 0, 7, Left::Sleeping),
            waking(3_000),
            // Its coming is missing.
            to(3_100, 0, 7, Left::Sleeping),
            waking(4_000),
            to(4_010, 7, 0, Left::Runnable),
        ];
        let found = &threads(&events, true)[&7];
        assert_eq!(found.wake_ups, [(4_000, 10)]);
        assert_eq!(found.incomplete, 2);
    }
}
