//! A thread's sleep calls, and those ended by something other than their timer: a signal before the due time,
//! or a thaw after it. A wait for any event with a time-out is a sleep if a signal's handler ends it. Only threads whose
//! system calls are recorded have any.

use super::waker::{Key, Open, Waker};
use crate::call::waits_for_any_event;
use std::sync::Arc;

/// A sleep for nearly the same instant as the previous one resumes it, in nanoseconds: one for the remaining
/// time is asked for a little later.
pub(super) const RESUMED_NS: u64 = 200_000;
/// From reading the clock to the event of the timer it takes no longer than this, usually, in nanoseconds.
pub(super) const TO_START_NS: u64 = 20_000;

/// The call by which a signal's handler returns.
pub(super) const SIGNAL_SERVED: &str = "rt_sigreturn";

/// What ended a sleep before its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CutBy {
    /// The signal of a thread, or of a handler.
    Waker(Waker),
    /// The signal of a timer with this callback, as `setitimer` and `timer_create` start.
    Timer(Arc<str>),
}

/// Sleeps that signals ended before their time, and that the thread did not resume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutSleeps {
    /// Who sent the signals.
    pub by: CutBy,
    /// How many.
    pub times: u64,
    /// How long before its due time the thread was woken, at most, in nanoseconds.
    pub early_ns: u64,
}

/// As a sender is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CutKey {
    Waker(Key),
    Timer(Arc<str>),
}

/// A time that a thread sleeps until, on `CLOCK_MONOTONIC`, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    pub timer: u64,
    pub for_ns: u64,
    pub at_ns: u64,
}

#[derive(Debug, Default)]
pub(super) struct SleepCalls {
    is_inside: bool,
    asked: Option<Asked>,
    is_waiting: bool,
    /// The time-out of the wait for any event that it is in.
    time_out: Option<Asked>,
    /// Whether a time-out has ended such a wait.
    has_timed_out: bool,
    /// The last such wait, if something ended it before its time-out at this time, and the thread made no call since: a
    /// signal, if the next is rt_sigreturn().
    ended: Option<(Asked, CutKey, u64)>,
    /// The last sleep, if it was cut short and not asked for again yet: its due time, who cut it, and how
    /// early.
    cut: Option<(u64, CutKey, u64)>,
    cuts: Vec<(CutKey, u64, u64)>,
}

impl SleepCalls {
    /// The thread enters a call. One that the kernel resumes is a sleep only after a cut one.
    pub fn entered(&mut self, name: &str) {
        (self.asked, self.time_out) = (None, None);
        self.is_waiting = waits_for_any_event(name);
        if name != SIGNAL_SERVED {
            self.ended = None;
        }
        self.is_inside = match name {
            "clock_nanosleep" | "clock_nanosleep_time64" | "nanosleep" => true,
            "restart_syscall" => self.cut.is_some(),
            _ => false,
        };
    }

    /// It leaves its call. A cut sleep whose due time has passed by then makes no cycle early; nor does one that it
    /// resumed too late to start a timer.
    pub fn left(&mut self, at_ns: u64) {
        if self.is_inside {
            self.cut.take_if(|(for_ns, ..)| at_ns >= *for_ns);
        }
        self.lose();
    }

    /// Events are missing: the call that it is in is unknown.
    pub fn lose(&mut self) {
        (self.is_inside, self.asked) = (false, None);
        (self.is_waiting, self.time_out) = (false, None);
    }

    /// The thread leaves the handler of a signal: the wait that this ended, and when.
    pub fn signal_served(&mut self) -> Option<(Asked, u64)> {
        let (asked, by, at_ns) = self.ended.take()?;
        self.cut = Some((asked.for_ns, by, asked.for_ns - at_ns));
        Some((asked, at_ns))
    }

    /// The thread starts a timer; whether it resumes by that the sleep that was cut short.
    pub fn started(&mut self, asked: Asked) -> bool {
        match (self.is_inside, self.is_waiting) {
            (true, _) => self.asked = Some(asked),
            (_, true) => self.time_out = Some(asked),
            _ => return false,
        }
        let Some((for_ns, by, early_ns)) = self.cut.take() else {
            return false;
        };
        if for_ns.abs_diff(asked.for_ns) <= RESUMED_NS {
            return true;
        }
        match self.cuts.iter_mut().find(|(known, ..)| *known == by) {
            Some((_, times, longest_ns)) => {
                *times += 1;
                *longest_ns = early_ns.max(*longest_ns);
            }
            None => self.cuts.push((by, 1, early_ns)),
        }
        false
    }

    /// Whether this is the timer of the sleep that the thread is in, or it is in none. The signal of another one cuts a wait
    /// whose time-outs begin cycles.
    pub fn is_own_timer(&self, timer: u64, sends_signal: bool) -> bool {
        let wait = self.time_out.filter(|_| sends_signal && self.has_timed_out);
        let asked = self.asked.or(wait);
        asked.is_none_or(|asked| asked.timer == timer)
    }

    pub fn woken_by_its_timer(&mut self, timer: u64) {
        self.has_timed_out |= self.time_out.is_some_and(|of| of.timer == timer);
        (self.asked, self.time_out) = (None, None);
    }

    /// The thread is woken by something else than its timer: out of which sleep, if it was in one.
    pub fn woken(&mut self, at_ns: u64, by: impl FnOnce() -> CutKey) -> Option<Asked> {
        if let Some(asked) = self.time_out.take() {
            self.ended = (at_ns < asked.for_ns).then(|| (asked, by(), at_ns));
            return None;
        }
        let asked = self.asked.take()?;
        if at_ns < asked.for_ns {
            self.cut = Some((asked.for_ns, by(), asked.for_ns - at_ns));
        }
        Some(asked)
    }

    /// The sleeps that were cut short, the most frequent sender first.
    pub fn finish(self, open: &Open) -> Vec<CutSleeps> {
        let named = |(by, times, early_ns)| CutSleeps {
            by: match by {
                CutKey::Waker(key) => CutBy::Waker(open.named(key)),
                CutKey::Timer(function) => CutBy::Timer(function),
            },
            times,
            early_ns,
        };
        let mut cuts: Vec<CutSleeps> = self.cuts.into_iter().map(named).collect();
        cuts.sort_by_cached_key(|cut| std::cmp::Reverse(cut.times));
        cuts
    }
}
