//! One turn of a thread, and all that is seen of one. Types only.

use super::one_call::WokenIn;
use super::pool::Pool;
use super::sleep_call::CutSleeps;
use super::waits::TurnWaits;
use super::waker::Waker;
use std::collections::BTreeMap;
use std::sync::Arc;
use wakepath_timeline::CallArgument;

/// One turn of a thread: woken by a timer, or by something else, until it sleeps for the last time
/// before the next such wake-up. Or from one mark of its program to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Activation {
    /// Time for which the thread had programmed its timer, in nanoseconds on `CLOCK_MONOTONIC`; `None` if
    /// that was not seen or is on another clock.
    pub programmed_ns: Option<u64>,
    /// The same in nanoseconds on a clock that counts from 1970, if it is on one.
    pub wall_ns: Option<u64>,
    /// When the thread itself programmed the timer, in nanoseconds on `CLOCK_MONOTONIC`; `None`
    /// where another did, or that was not seen.
    pub asked_at_ns: Option<u64>,
    /// Address of the timer, if it outlives the sleep as a timerfd's does.
    pub timer: Option<u64>,
    /// When the timer's callback began, or the wake-up by something else, in nanoseconds on
    /// `CLOCK_MONOTONIC`.
    pub expiry_ns: u64,
    /// When the thread was switched in, in nanoseconds on `CLOCK_MONOTONIC`; if it did not sleep before, when
    /// it asked for its timer. Between marks: when it passed the first.
    pub switched_in_ns: u64,
    /// When it left its CPU for the last time, in nanoseconds on `CLOCK_MONOTONIC`.
    pub end_ns: u64,
    /// Time on a CPU, in nanoseconds.
    pub run_ns: u64,
    /// Time for which it slept within the turn until something else than a timer woke it, in nanoseconds.
    pub waited_ns: u64,
    /// Of that, in a call that takes data from a descriptor.
    pub input_ns: u64,
    /// How often it was taken off its CPU although it could have run on.
    pub preemptions: u32,
    /// Signals of its timer within it, of which the thread only took note: it serves them later, without a call that shows
    /// when.
    pub noted: u32,
    /// CPU that it woke on.
    pub cpu: u16,
    /// The call in which it was woken.
    pub woken_in: WokenIn,
    /// That call's first argument, if it was recorded.
    pub argument: Option<CallArgument>,
    /// Number of the thread that woke it, also by what it sent over the network of this machine.
    pub woken_by: Option<u32>,
    /// Its end and its time on a CPU, both in nanoseconds, when it first waited for any event, a lock or a condition;
    /// `None` if it did not.
    pub first_wait: Option<(u64, u64)>,
    /// Its last wait for any event with a time-out, of those with the earliest.
    pub timed_wait: Option<TimedWait>,
}

/// A wait with a time-out within a turn. In nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedWait {
    /// Until when it was to last, on `CLOCK_MONOTONIC`.
    pub for_ns: u64,
    /// As [`Activation::end_ns`], if the turn had ended there.
    pub end_ns: u64,
    /// As [`Activation::run_ns`].
    pub run_ns: u64,
}

impl Activation {
    /// Whether it was woken before the time for which it had programmed its timer.
    pub(super) fn is_early(&self) -> bool {
        self.programmed_ns
            .is_some_and(|for_ns| self.expiry_ns < for_ns)
    }

    /// What began as another turn is a part of this one.
    pub(super) fn go_on(&mut self, of: &Self) {
        self.end_ns = self.end_ns.max(of.end_ns);
        self.run_ns += of.run_ns;
        self.waited_ns += of.waited_ns;
        self.input_ns += of.input_ns;
        self.preemptions += of.preemptions;
        self.noted += of.noted;
    }
}

/// Whether a timer with this callback is still there when a sleep is over, as one on a sleeper's stack is not.
pub(super) fn outlives_sleep(function: &str) -> bool {
    function != "hrtimer_wakeup" && !is_tick(function)
}

/// Whether a timer with this callback sends a signal, and is started again when the thread takes that.
pub(super) fn sends_signal(function: &str) -> bool {
    ["it_real_fn", "posix_timer_fn"].contains(&function)
}

/// The tick wakes threads on others' behalf.
pub(super) fn is_tick(function: &str) -> bool {
    function.starts_with("tick_")
}

/// What begins a thread's turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BegunBy {
    /// A timer that wakes it.
    Timer,
    /// Something else that wakes it, such as a thread that hands it data.
    Other,
    /// Marks in its own program, [`CYCLE_BEGINS`] and [`CYCLE_ENDS`].
    Marks,
}

/// Number of the mark at which a cycle begins.
pub const CYCLE_BEGINS: u16 = 0;
/// Number of the mark at which it ends.
pub const CYCLE_ENDS: u16 = 1;

/// Observations of one thread.
#[derive(Debug, Clone, Default)]
pub struct ThreadActivity {
    /// Its whole activations by timers, in order.
    pub activations: Vec<Activation>,
    /// Its whole activations by something else, in order: another cut through the same time.
    pub handed: Vec<Activation>,
    /// When it took an item without having to wait for it, in nanoseconds, in order: it entered the call in which it was
    /// last woken, and left it without sleep.
    pub fetched: Vec<u64>,
    /// Its whole cycles between its program's own marks, in order; empty if it passed none.
    pub marked: Vec<Activation>,
    /// Of those, the ones before which the thread was not woken: it ran on.
    pub unwoken: u64,
    /// Wake-ups by something else than a timer.
    pub other_wake_ups: u64,
    /// Who those came from, and how often, most often first.
    pub wakers: Vec<(Waker, u64)>,
    /// Activations by timers that began without sleep: the timer had expired in the previous one, and the
    /// thread asked for it then. Served late, but not lost.
    pub served_late: u64,
    /// All of [`Activation::noted`].
    pub noted: u64,
    /// Switch-ins of a sleeping thread whose wake-up was not seen: it came from a CPU that is not
    /// traced.
    pub unseen_wake_ups: u64,
    /// Switch-ins that the kernel did not record.
    pub untold_switches: u64,
    /// By how much the instant of one of them is uncertain at most, in nanoseconds.
    pub untold_switch_ns: u64,
    /// Activations by timers that are left out because events are missing in them.
    pub cut_by_loss: u64,
    /// Likewise, by something else.
    pub handed_cut_by_loss: u64,
    /// Likewise, between marks.
    pub marked_cut_by_loss: u64,
    /// When it started a thread or a process, in nanoseconds, in order.
    pub started_ns: Vec<u64>,
    /// Time on a CPU in all, in nanoseconds.
    pub run_ns: u64,
    /// The kernel's priorities that it was switched in with, and how often: more than one if it changes its
    /// policy, or inherits a priority by a lock.
    pub priorities: BTreeMap<i32, u64>,
    /// CPUs that it ran on, and how often it was switched in there.
    pub cpus: BTreeMap<u16, u64>,
    /// Callbacks of the timers that woke it, and how often.
    pub timers: BTreeMap<Arc<str>, u64>,
    /// By how much the clock that counts from 1970 was set, in nanoseconds, each time that was seen.
    pub clock_steps_ns: Vec<i64>,
    /// When, at the latest, in nanoseconds on `CLOCK_MONOTONIC`, if that is known: in the same order.
    pub clock_set_ns: Vec<u64>,
    /// Sleeps that signals ended before their time, the most frequent sender first.
    pub cut_sleeps: Vec<CutSleeps>,
    /// Whether its timers wake it in waits for any event, so that the next event may come first.
    pub awaits_events: bool,
    /// The threads with which it takes turns at waiting for the program's timers.
    pub pool: Option<Pool>,
    /// Waits that something else than a timer ended, the longest in all first.
    pub waits: Vec<TurnWaits>,
}

impl ThreadActivity {
    /// Whether the timers that wake it outlive its sleeps, as a timerfd's do. Each of its turns is then a
    /// wait for one, and the timer reports how often it had expired before: no turn is without an event. A signal is no wait
    /// if the thread only takes note of it.
    pub fn is_by_lasting_timers(&self) -> bool {
        let all: u64 = self.timers.values().sum();
        let timers = self.timers.iter();
        let lasting = timers.filter(|(function, _)| outlives_sleep(function));
        self.noted == 0 && lasting.map(|(_, count)| count).sum::<u64>() * 2 > all
    }
}
