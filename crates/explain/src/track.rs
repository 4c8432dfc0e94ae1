//! The state of one loop thread over time, from the marks that the scheduler's events leave. The CPUs'
//! activity is in `cpu`.

use crate::call::{self, Call, Entered};
use crate::cpu::Context;
use std::collections::VecDeque;
use std::sync::Arc;
use wakepath_timeline::{Left, Thread, ThreadName};

/// Something that happened to the thread.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    pub at_ns: u64,
    /// CPU on which it happened; for a waking, the waker's.
    pub cpu: u16,
    pub what: Happened,
}

impl Mark {
    /// Whether the thread left its CPU.
    pub fn is_leaving(&self) -> bool {
        matches!(self.what, Happened::Out(_) | Happened::Gone)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Happened {
    Waking {
        from: Context,
        priority: i32,
    },
    WokenUp,
    In {
        priority: i32,
    },
    Out(Left),
    /// It had its CPU for the last time that is known: the switch away from it was not recorded.
    Gone,
    /// Moved to another CPU's queue from that of this one.
    Moved {
        from_cpu: u16,
    },
    /// A timer was started with slack: for the asked time, and by when it expires at the latest.
    Slack {
        asked_ns: u64,
        until_ns: u64,
    },
    /// A page fault; `after_fork`: the thread that forked, if the kernel copies the page for that.
    Fault {
        after_fork: Option<Arc<Thread>>,
    },
    /// The page of its fault was mapped.
    Mapped,
    /// It entered the kernel by a system call.
    CallEntered(Entered),
    /// It left its call.
    CallLeft,
    /// Its calls are recorded from here on, or not any more: it may be in one.
    CallsUnknown,
    /// Events of a CPU that the thread may run on are missing.
    Lost,
    /// No events were kept from here on, for a while.
    Gap,
}

/// The thread's state between two marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Unknown,
    Sleeping,
    Blocked,
    Stopped,
    /// Off its CPU, why is unknown.
    Away,
    Runnable,
    Running(u16),
}

/// A stretch in one state, and the index of the mark that ended it, if it is in the window.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interval {
    pub from_ns: u64,
    pub to_ns: u64,
    pub state: State,
    pub ended_by: Option<usize>,
}

#[derive(Debug, Default)]
pub(crate) struct Track {
    marks: VecDeque<Mark>,
    /// State before the first mark that is kept.
    before: Option<(State, bool)>,
    /// Call that it was in then.
    call_before: Option<Entered>,
    /// Whether it was seen outside of calls then.
    was_outside_calls: bool,
    /// Its name when it last left a CPU: a new thread has that of the one that started it until it chooses its own.
    pub name: Option<ThreadName>,
}

/// As in `cpu`: a bound that no sane cycle reaches.
const MOST_MARKS: usize = 1 << 18;
/// Marks of a loop that never sleeps and always calls the kernel, among which each cycle looks for a waking.
const MOST_MARKS_LOOKED_AT: usize = 1 << 12;

impl Track {
    pub fn push(&mut self, mark: Mark) {
        if self.marks.len() == MOST_MARKS {
            let half = self.marks[MOST_MARKS / 2].at_ns;
            self.forget_before(half);
        }
        // Marks of different CPUs may come a little out of order.
        let mut at = self.marks.len();
        while at > 0 && self.marks[at - 1].at_ns > mark.at_ns {
            at -= 1;
        }
        self.marks.insert(at, mark);
    }

    pub fn marks(&self) -> &VecDeque<Mark> {
        &self.marks
    }

    /// Drops marks before an instant, and keeps the state that they led to.
    pub fn forget_before(&mut self, at_ns: u64) {
        while self.marks.front().is_some_and(|mark| mark.at_ns < at_ns) {
            if let Some(mark) = self.marks.pop_front() {
                self.was_outside_calls =
                    self.was_outside_calls && !shows_call(&mark) || mark.what == Happened::CallLeft;
                self.before = Some(follow(self.before.unwrap_or(UNKNOWN), &mark));
                self.call_before = call::follow(self.call_before.take(), &mark);
            }
        }
    }

    /// When the thread was last woken before an instant; that instant if it was not, or too long ago.
    pub fn woken_before(&self, at_ns: u64) -> u64 {
        let after = self.marks.partition_point(|mark| mark.at_ns < at_ns);
        let mut before = self.marks.range(..after).rev().take(MOST_MARKS_LOOKED_AT);
        let waking = before.find(|mark| matches!(mark.what, Happened::Waking { .. }));
        waking.map_or(at_ns, |mark| mark.at_ns)
    }

    /// The call that the thread is in at an instant.
    pub fn call_at(&self, at_ns: u64) -> Option<&Call> {
        self.entered_at(at_ns).map(|entered| &entered.call)
    }

    /// The same, with its argument.
    pub fn entered_at(&self, at_ns: u64) -> Option<&Entered> {
        call::at(&self.marks, self.call_before.as_ref(), at_ns)
    }

    /// Until when the thread asked to sleep, in the call that it sleeps in at an instant; `None` if it set no time.
    pub fn asked_until(&self, at_ns: u64) -> Option<u64> {
        let after = self.marks.partition_point(|mark| mark.at_ns <= at_ns);
        let before = self.marks.range(..after).rev();
        let is_earlier = |what: &Happened| matches!(what, Happened::In { .. } | Happened::CallLeft);
        before
            .take_while(|mark| !is_earlier(&mark.what))
            .find_map(|mark| match mark.what {
                Happened::Slack { asked_ns, .. } => Some(asked_ns),
                _ => None,
            })
    }

    /// Whether the thread had left its CPU, before an instant, by a switch that was not recorded.
    pub fn left_unseen(&self, at_ns: u64) -> bool {
        let after = self.marks.partition_point(|mark| mark.at_ns <= at_ns);
        let mut before = self.marks.range(..after).rev();
        let left = before.find(|mark| mark.is_leaving());
        left.is_some_and(|mark| mark.what == Happened::Gone)
    }

    /// Whether the thread was seen to leave a call before an instant, and to enter none since.
    pub fn is_outside_calls(&self, at_ns: u64) -> bool {
        let after = self.marks.partition_point(|mark| mark.at_ns <= at_ns);
        let mut before = self.marks.range(..after).rev();
        let call = before.find(|mark| shows_call(mark));
        call.map_or(self.was_outside_calls, |mark| {
            mark.what == Happened::CallLeft
        })
    }

    /// Instants between two others, both left out, at which the thread enters or leaves a call.
    pub fn calls_change(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = u64> {
        let first = self.marks.partition_point(|mark| mark.at_ns <= from_ns);
        let within = self.marks.range(first..);
        let within = within.take_while(move |mark| mark.at_ns < to_ns);
        within.filter_map(|mark| {
            let is_change = matches!(
                mark.what,
                Happened::CallEntered(_) | Happened::CallLeft | Happened::CallsUnknown
            );
            is_change.then_some(mark.at_ns)
        })
    }

    /// The thread's states from `from_ns` to `to_ns`, without a gap.
    pub fn between(&self, from_ns: u64, to_ns: u64) -> Vec<Interval> {
        let mut intervals = Vec::with_capacity(4);
        let (first, mut state) = self.known_at(from_ns);
        let mut at = from_ns;
        for (index, mark) in self.marks.iter().enumerate().skip(first) {
            if mark.at_ns > to_ns {
                break;
            }
            let next = follow(state, mark);
            if next.0 != state.0 && mark.at_ns >= from_ns {
                if mark.at_ns > at {
                    intervals.push(Interval {
                        from_ns: at,
                        to_ns: mark.at_ns,
                        state: state.0,
                        ended_by: Some(index),
                    });
                }
                at = mark.at_ns;
            }
            state = next;
        }
        if to_ns > at {
            intervals.push(Interval {
                from_ns: at,
                to_ns,
                state: state.0,
                ended_by: None,
            });
        }
        intervals
    }

    /// For how long the thread was ready to run between two instants, in nanoseconds.
    pub fn ready_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        self.sum_ns(from_ns, to_ns, |state| state == State::Runnable)
    }

    /// For how long the thread ran between two instants, in nanoseconds.
    pub fn ran_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        self.sum_ns(from_ns, to_ns, |state| matches!(state, State::Running(_)))
    }

    fn sum_ns(&self, from_ns: u64, to_ns: u64, is_one: impl Fn(State) -> bool) -> u64 {
        let states = self.between(from_ns, to_ns).into_iter();
        let ones = states.filter(|of| is_one(of.state));
        ones.map(|of| of.to_ns - of.from_ns).sum()
    }

    /// The last mark before an instant that determines the thread's state by itself, and the state before it,
    /// so that not all marks need to be read.
    fn known_at(&self, at_ns: u64) -> (usize, (State, bool)) {
        let after = self.marks.partition_point(|mark| mark.at_ns < at_ns);
        let says = |mark: &Mark| {
            matches!(
                mark.what,
                Happened::In { .. } | Happened::Lost | Happened::Gap
            )
        };
        match self.marks.range(..after).rposition(says) {
            Some(first) => (first, UNKNOWN),
            None => (0, self.before.unwrap_or(UNKNOWN)),
        }
    }

    /// Whether nothing is kept, and the thread has ended.
    pub fn is_forgotten(&self) -> bool {
        let ended = matches!(self.before, Some((State::Stopped, _)));
        self.marks.is_empty() && ended
    }

    /// The queues on which the thread waits from one instant to another: ends of the stretches, and the CPU;
    /// the last is that of the first switch-in. `None` without a switch-in.
    pub fn queues(&self, from_ns: u64, to_ns: u64) -> Option<Vec<(u64, u16)>> {
        let first = self.marks.partition_point(|mark| mark.at_ns < from_ns);
        let since = self.marks.range(first..);
        let mut queues = Vec::with_capacity(1);
        for mark in since {
            match mark.what {
                Happened::In { .. } => {
                    queues.push((to_ns, mark.cpu));
                    return Some(queues);
                }
                // Moves before this are the choice of a queue.
                Happened::WokenUp => queues.clear(),
                Happened::Moved { from_cpu } if mark.at_ns < to_ns => {
                    queues.push((mark.at_ns, from_cpu));
                }
                _ => {}
            }
        }
        None
    }
}

/// Whether a mark by itself shows that the thread is in a call after it, or that this is unknown.
fn shows_call(mark: &Mark) -> bool {
    matches!(
        mark.what,
        Happened::CallEntered(_)
            | Happened::CallLeft
            | Happened::CallsUnknown
            | Happened::Lost
            | Happened::Gap
    )
}

const UNKNOWN: (State, bool) = (State::Unknown, false);

/// The state after a mark. The flag is set if the thread was woken while it was still on its CPU: a thread
/// that is about to sleep then stays runnable (the kernel writes the waking first).
fn follow((state, woken): (State, bool), mark: &Mark) -> (State, bool) {
    match &mark.what {
        Happened::Waking { .. } => match state {
            State::Running(_) => (state, true),
            _ => (State::Runnable, false),
        },
        // Woken while running, and never gone: nothing has changed.
        Happened::WokenUp => (state, false),
        Happened::In { .. } => (State::Running(mark.cpu), false),
        Happened::Out(Left::Runnable) => (State::Runnable, false),
        Happened::Out(Left::Sleeping | Left::Blocked) if woken => (State::Runnable, false),
        Happened::Out(Left::Sleeping) => (State::Sleeping, false),
        Happened::Out(Left::Blocked) => (State::Blocked, false),
        Happened::Out(Left::Stopped | Left::Dead) => (State::Stopped, false),
        // Woken on its way to sleep, it stays ready.
        Happened::Gone if woken => (State::Runnable, false),
        Happened::Gone => (State::Away, false),
        Happened::Slack { .. }
        | Happened::Fault { .. }
        | Happened::Mapped
        | Happened::Moved { .. }
        | Happened::CallEntered(_)
        | Happened::CallLeft
        | Happened::CallsUnknown => (state, woken),
        Happened::Lost | Happened::Gap => UNKNOWN,
    }
}

#[cfg(test)]
mod tests;
