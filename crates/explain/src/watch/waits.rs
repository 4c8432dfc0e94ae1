//! Waits of a thread within its turns, by the system call and by who ended them.

use super::sleep_call::SIGNAL_SERVED;
use super::waker::{Key, Open, Waker};
use std::sync::Arc;
use wakepath_timeline::CallArgument;

/// Maximum number of kinds of waits that are distinguished.
const MOST_KINDS: usize = 64;

/// From the end of rt_sigreturn() to the next signal that was pending, at most, in nanoseconds.
const NEXT_SIGNAL_NS: u64 = 10_000;

/// A thread's waits within its turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnWaits {
    /// The system call that it waits in, if calls are recorded.
    pub call: Option<Arc<str>>,
    /// Who ended these waits.
    pub waker: Waker,
    /// How many there were.
    pub times: u64,
    /// How long they took in all, in nanoseconds.
    pub total_ns: u64,
}

#[derive(Debug, Default)]
pub(super) struct Waits {
    call: Option<Arc<str>>,
    /// Its first argument, if that was recorded.
    argument: Option<CallArgument>,
    since_ns: Option<u64>,
    /// The call's wait so far: who ended it last, and how long it took. A thread may be woken and sleep again
    /// before what it waits for is there.
    under_way: Option<(Key, u64)>,
    /// Whether its calls are recorded, as far as was seen.
    has_calls: bool,
    /// When it last left rt_sigreturn(), in nanoseconds.
    signal_served_ns: Option<u64>,
    /// A wake-up came while the thread was awake as far as anyone saw.
    is_awake: bool,
    /// Nobody saw how some of the call's wait began.
    is_partial: bool,
    /// By call and waker: how often, and for how long in all.
    kinds: Vec<(Option<Arc<str>>, Key, u64, u64)>,
}

impl Waits {
    pub fn entered(&mut self, call: &Arc<str>, argument: Option<CallArgument>) {
        self.left();
        self.has_calls = true;
        self.call = Some(Arc::clone(call));
        self.argument = argument;
    }

    /// It leaves the call at this time.
    pub fn left_at(&mut self, at_ns: u64) {
        if self.call() == Some(SIGNAL_SERVED) {
            self.signal_served_ns = Some(at_ns);
        }
        self.left();
    }

    /// Whether the thread takes a signal for its next turn at this time: it waits for one, or has just served the one
    /// before. In mid-work a handler only takes note of it. Without recorded calls this is unknown, and taken to be so.
    pub fn takes_signal(&self, at_ns: u64) -> bool {
        let is_soon = |from_ns| at_ns.saturating_sub(from_ns) <= NEXT_SIGNAL_NS;
        !self.has_calls || self.call.is_some() || self.signal_served_ns.is_some_and(is_soon)
    }

    pub fn left(&mut self) {
        let wait = self.under_way.take().filter(|_| !self.is_partial);
        if let Some((by, ns)) = wait {
            self.count(&by, ns);
        }
        (self.call, self.argument) = (None, None);
        (self.is_awake, self.is_partial) = (false, false);
    }

    /// The thread goes to sleep.
    pub fn slept(&mut self, at_ns: u64) {
        (self.since_ns, self.is_awake) = (Some(at_ns), false);
    }

    /// It runs: woken by a timer, or by an unknown waker unless `ended` came before.
    pub fn forget(&mut self) {
        self.is_partial |= self.is_awake;
        (self.since_ns, self.is_awake) = (None, false);
    }

    /// The call that it is in.
    pub fn call(&self) -> Option<&str> {
        self.call.as_deref()
    }

    /// Its first argument, if that was recorded.
    pub fn argument(&self) -> Option<CallArgument> {
        self.argument
    }

    /// Something else than a timer woke it.
    pub fn ended(&mut self, at_ns: u64, by: &Key) {
        let Some(since_ns) = self.since_ns.take() else {
            self.is_awake = self.call.is_some();
            return;
        };
        let ns = at_ns.saturating_sub(since_ns);
        match self.call {
            Some(_) => {
                let before_ns = self.under_way.take().map_or(0, |(_, ns)| ns);
                self.under_way = Some((by.clone(), before_ns + ns));
            }
            None => self.count(by, ns),
        }
    }

    fn count(&mut self, by: &Key, ns: u64) {
        let known = self.kinds.len();
        let call = self.call.clone();
        match self.kinds.iter_mut().find(|of| of.0 == call && of.1 == *by) {
            Some((_, _, times, total_ns)) => {
                *times += 1;
                *total_ns += ns;
            }
            None if known == MOST_KINDS => {}
            None => self.kinds.push((call, by.clone(), 1, ns)),
        }
    }

    /// How long the thread was parked in all, in nanoseconds, until one of these threads woke it.
    pub fn parked_ns(&self, is_by: impl Fn(u32) -> bool) -> u64 {
        let parked = self.kinds.iter().filter(|(call, by, ..)| {
            let call = call.as_deref();
            call.is_some_and(|name| name.starts_with("futex"))
                && matches!(by, Key::Thread(id) if is_by(*id))
        });
        parked.map(|of| of.3).sum()
    }

    /// The longest in all first.
    pub fn finish(mut self, open: &Open) -> Vec<TurnWaits> {
        self.left();
        let named = |(call, by, times, total_ns)| TurnWaits {
            call,
            waker: open.named(by),
            times,
            total_ns,
        };
        let mut waits: Vec<TurnWaits> = self.kinds.into_iter().map(named).collect();
        waits.sort_by_cached_key(|of| std::cmp::Reverse(of.total_ns));
        waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits in read() from 0 on; at these times it sleeps, is woken by something and runs.
    fn read(waits: &mut Waits, sleeps: &[(Option<u64>, u64)]) {
        waits.entered(&"read".into(), None);
        for (slept_ns, woken_ns) in sleeps {
            if let Some(at_ns) = slept_ns {
                waits.slept(*at_ns);
            }
            waits.ended(*woken_ns, &Key::Thread(7));
            waits.forget();
        }
        waits.left();
    }

    fn kinds(calls: &[&[(Option<u64>, u64)]]) -> Vec<(u64, u64)> {
        let mut waits = Waits::default();
        for sleeps in calls {
            read(&mut waits, sleeps);
        }
        waits.kinds.iter().map(|of| (of.2, of.3)).collect()
    }

    #[test]
    fn a_thread_that_is_woken_and_sleeps_again_in_one_call_waits_once() {
        assert_eq!(kinds(&[&[(Some(10), 12), (Some(13), 30)]]), [(1, 19)]);
    }

    #[test]
    fn a_wait_of_which_nobody_saw_the_beginning_is_left_out() {
        let whole: &[_] = &[(Some(10), 30)];
        assert_eq!(kinds(&[whole, &[(Some(10), 12), (None, 30)]]), [(1, 20)]);
        assert_eq!(kinds(&[&[(None, 30)], whole]), [(1, 20)]);
    }
}
