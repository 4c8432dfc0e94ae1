//! One thread's activations while its events go by: three cuts through the same time. Whose events they are, and which
//! timer expires, `activations` finds.

use super::activation::{Activation, CYCLE_BEGINS, CYCLE_ENDS, ThreadActivity};
use super::expiry::{Expiry, LATEST_EXPIRY_NS, Programmed};
use super::fetches::Fetches;
use super::one_call::{self, WokenIn};
use super::pool::Awaited;
use super::sleep_call::{Asked, CutKey, SleepCalls};
use super::stints::Stints;
use super::turns::Turns;
use super::waits::Waits;
use super::waker::{Key, Open, Waker};
use super::{no_sleeps, wall_clock, within_near_row, within_row};
use crate::call::{accepts, receives};
use foldhash::HashMap;
use std::sync::Arc;
use wakepath_timeline::Left;

#[derive(Debug, Default)]
pub(super) struct Thread {
    pub(super) activity: ThreadActivity,
    pub(super) running_since: Option<u64>,
    /// Whether it sleeps and no waker has been seen.
    pub(super) asleep: bool,
    /// Whether it was woken on its way to sleep: it leaves its CPU as one that sleeps, and is ready.
    is_woken: bool,
    /// Its progress since it came to its CPU.
    since_in: SinceIn,
    pub(super) by_timers: Turns,
    pub(super) handed: Turns,
    pub(super) marked: Turns,
    /// Programmed time and expiry of the last wake-up since the last cycle between marks began.
    pub(super) last_wake_up: Option<(Option<u64>, u64)>,
    pub(super) sleeps: SleepCalls,
    pub(super) waits: Waits,
    pub(super) fetches: Fetches,
    pub(super) awaited: Awaited,
    pub(super) stints: Stints,
    pub(super) wakers: HashMap<Key, u64>,
}

/// A thread's progress since it came to its CPU.
#[derive(Debug, Default)]
enum SinceIn {
    /// No event shows it.
    #[default]
    Unknown,
    /// It came at this instant, in nanoseconds.
    Came(u64),
    /// It came at this instant, and left its system call: it is on its way to user mode.
    LeftCall(u64),
}

impl Thread {
    pub(super) fn woken_by_timer(&mut self, at_ns: u64, cpu: u16, expiry: &Expiry, thread: u32) {
        let timers = &mut self.activity.timers;
        *timers.entry(Arc::clone(&expiry.function)).or_default() += 1;
        self.sleeps.woken_by_its_timer(expiry.timer);
        let woken_in = WokenIn::new(self.waits.call());
        if woken_in == WokenIn::Events {
            self.stints.woken(at_ns);
        }
        let waits_for_next = match woken_in {
            WokenIn::Events => self.fetches.waits_for_next(),
            // A time-out of the wait that began its turn: its work is done.
            WokenIn::Futex => self.handed.is_begun_at(self.waits.argument()),
            _ => false,
        };
        if waits_for_next {
            self.handed.close();
        }
        self.begin(at_ns, cpu, expiry, thread, woken_in);
    }

    /// It was still running when its timer expired, and serves that expiry late.
    pub(super) fn serves_late(&mut self, at_ns: u64, cpu: u16, expiry: &Expiry, thread: u32) {
        self.activity.served_late += 1;
        self.begin(at_ns, cpu, expiry, thread, WokenIn::Unknown);
    }

    /// The signal of its timer came while it ran, and it has work to do first.
    pub(super) fn notes_signal(&mut self) {
        self.activity.noted += 1;
        self.by_timers.notes();
    }

    pub(super) fn begin(
        &mut self,
        at_ns: u64,
        cpu: u16,
        expiry: &Expiry,
        thread: u32,
        woken_in: WokenIn,
    ) {
        let is_on_cpu = self.woken(at_ns);
        self.last_wake_up = Some((expiry.programmed_ns(), expiry.at_ns));
        let activation = Activation {
            switched_in_ns: at_ns,
            end_ns: at_ns,
            cpu,
            woken_in,
            argument: self.waits.argument(),
            ..expiry.begins(thread)
        };
        self.awaited
            .woken(expiry.at_ns, activation.asked_at_ns, woken_in);
        self.by_timers.begin(activation, is_on_cpu);
    }

    /// It starts a timer: for a sleep, if it is in such a call.
    pub(super) fn asked(&mut self, timer: u64, programmed: Programmed) {
        let Programmed { for_ns, at_ns, .. } = programmed;
        // On another clock it is unknown whether a wake-up comes before its time.
        if for_ns.abs_diff(at_ns) >= LATEST_EXPIRY_NS {
            return;
        }
        let asked = Asked {
            timer,
            for_ns,
            at_ns,
        };
        if self.sleeps.started(asked) {
            self.by_timers.resume();
        }
        if WokenIn::new(self.waits.call()) == WokenIn::Events {
            if let Some(since_ns) = self.running_since {
                self.ran(since_ns, at_ns);
                self.running_since = Some(at_ns);
            }
            self.by_timers.waits_until(for_ns, self.waits.argument());
        }
    }

    /// Something else than its timer woke it, which ends the sleep that it may have been in: its cycle begins, early
    /// or late, unless it resumes that sleep.
    pub(super) fn out_of_sleep(&mut self, at_ns: u64, cpu: u16, by: impl FnOnce() -> CutKey) {
        let Some(asked) = self.sleeps.woken(at_ns, by) else {
            return;
        };
        let is_on_cpu = self.woken(at_ns);
        self.last_wake_up = Some((Some(asked.for_ns), at_ns));
        let activation = Activation {
            programmed_ns: Some(asked.for_ns),
            asked_at_ns: Some(asked.at_ns),
            ..woken(at_ns, cpu)
        };
        self.by_timers.begin(activation, is_on_cpu);
    }

    /// It leaves the handler of the signal that ended its wait for any event, if one did: its cycle began, early, as that
    /// ended.
    pub(super) fn signal_served(&mut self, at_ns: u64, cpu: u16) {
        let Some((asked, woken_ns)) = self.sleeps.signal_served() else {
            return;
        };
        self.last_wake_up = Some((Some(asked.for_ns), woken_ns));
        let activation = Activation {
            programmed_ns: Some(asked.for_ns),
            asked_at_ns: Some(asked.at_ns),
            woken_in: WokenIn::Events,
            expiry_ns: woken_ns,
            ..woken(self.running_since.unwrap_or(at_ns), cpu)
        };
        self.by_timers.begin_after_sleep(activation);
    }

    /// Woken by something else than a timer, which this thread caused if one did.
    pub(super) fn handed(&mut self, at_ns: u64, cpu: u16, by: Key, thread: Option<u32>) {
        self.activity.other_wake_ups += 1;
        let woken_in = WokenIn::new(self.waits.call());
        let argument = self.waits.argument();
        self.may_wait_for_others(false);
        self.waits.ended(at_ns, &by);
        let is_input = self
            .waits
            .call()
            .is_some_and(|call| receives(call) || accepts(call));
        self.by_timers.handed(at_ns, is_input);
        self.stints.handed(woken_in);
        self.fetches.woken();
        let by = thread.map_or(by, Key::Thread);
        *self.wakers.entry(by).or_default() += 1;
        let is_on_cpu = self.woken(at_ns);
        self.last_wake_up = Some((None, at_ns));
        let activation = Activation {
            woken_in,
            argument,
            woken_by: thread,
            ..woken(at_ns, cpu)
        };
        self.handed.begin(activation, is_on_cpu);
    }

    /// The thread passes one of its program's marks. A cycle is due when the thread was last woken before it.
    pub(super) fn passed(&mut self, at_ns: u64, cpu: u16, number: u16) {
        self.asleep = false;
        // The CPU is its own from here on at the latest.
        let since_ns = self.running_since.replace(at_ns).unwrap_or(at_ns);
        match number {
            CYCLE_BEGINS => {
                self.ran(since_ns, at_ns);
                let woken_at = self.last_wake_up.take();
                self.activity.unwoken += u64::from(woken_at.is_none());
                let (programmed_ns, expiry_ns) = woken_at.unwrap_or((None, at_ns));
                let activation = Activation {
                    programmed_ns,
                    expiry_ns,
                    ..woken(at_ns, cpu)
                };
                self.marked.begin(activation, true);
            }
            CYCLE_ENDS => {
                self.ran(since_ns, at_ns);
                self.marked.close();
                // What woke it within a cycle is not what the next one waits for.
                self.last_wake_up = None;
            }
            _ => self.running_since = Some(since_ns),
        }
    }

    /// Whether it is on its CPU already: what wakes a thread that is still on its way to sleep ends
    /// its turn too.
    pub(super) fn woken(&mut self, at_ns: u64) -> bool {
        self.asleep = false;
        if let Some(since) = self.running_since {
            self.ran(since, at_ns);
            self.running_since = Some(at_ns);
        }
        self.is_woken = self.running_since.is_some();
        self.is_woken
    }

    /// It leaves its system call. Between that and its first own instruction the kernel may take its CPU away: for a more
    /// urgent thread, or as its group has used up its quota (from Linux 6.18 on, the kernel stops threads without quota there).
    pub(super) fn left_call(&mut self) {
        if let SinceIn::Came(since_ns) = self.since_in {
            self.since_in = SinceIn::LeftCall(since_ns);
        }
    }

    /// An event that is not on the way to its first own instruction.
    pub(super) fn may_have_run(&mut self) {
        self.since_in = SinceIn::Unknown;
    }

    /// It is ready, or runs on. If it never left its CPU, nothing has changed.
    pub(super) fn woken_up(&mut self) {
        self.is_woken &= self.running_since.is_none();
    }

    pub(super) fn switched_in(&mut self, at_ns: u64, cpu: u16) {
        if self.asleep {
            // The rest belongs to a separate turn, whose beginning is unknown.
            self.activity.unseen_wake_ups += 1;
            self.by_timers.close();
            self.handed.close();
        }
        self.asleep = false;
        self.waits.forget();
        self.running_since = Some(at_ns);
        self.since_in = SinceIn::Came(at_ns);
        *self.activity.cpus.entry(cpu).or_default() += 1;
        self.each(|turns| turns.switched_in(at_ns, cpu));
    }

    pub(super) fn out(&mut self, at_ns: u64, left: Left) {
        let ran_since = self.running_since.take();
        if let Some(since) = ran_since {
            self.ran(since, at_ns);
        }
        let is_woken = std::mem::take(&mut self.is_woken);
        self.asleep = matches!(left, Left::Sleeping | Left::Blocked) && !is_woken;
        if self.asleep {
            self.waits.slept(at_ns);
            if left == Left::Sleeping {
                let call = WokenIn::new(self.waits.call());
                if call == WokenIn::Unknown {
                    // So does the freezer halt a thread. A page fault's wait is blocked.
                    self.by_timers.stopped();
                }
                self.by_timers.slept(at_ns, call, self.waits.argument());
            }
            self.fetches.slept();
            self.may_wait_for_others(left == Left::Sleeping);
        }
        match left {
            Left::Runnable => {
                if let SinceIn::LeftCall(since_ns) = self.since_in {
                    self.each(|turns| turns.not_begun(since_ns));
                }
                self.each(Turns::preempted);
            }
            Left::Dead if ran_since.is_some() => self.died(),
            Left::Dead => self.each(Turns::close),
            _ => {}
        }
    }

    /// It ends. Its last turn is no cycle if its program ended there, or if the thread was only woken to end.
    fn died(&mut self) {
        let call = self.waits.call();
        let exits = matches!(call, Some("exit" | "exit_group"));
        let in_call = call.is_some();
        self.by_timers.end_for_good(|of| exits || of.is_early());
        self.handed.end_for_good(|_| in_call);
        self.marked.end_for_good(|_| exits);
    }

    /// It sleeps, or did: the kernel may have recorded no switch. The calls of a new thread are recorded a little later
    /// than its switches; `in_any` counts one that is not known.
    fn may_wait_for_others(&mut self, in_any: bool) {
        let call = WokenIn::new(self.waits.call());
        if call.is_for_others() || in_any && call == WokenIn::Unknown {
            self.by_timers.waits();
        }
    }

    pub(super) fn ran(&mut self, since_ns: u64, until_ns: u64) {
        let ns = until_ns.saturating_sub(since_ns);
        self.activity.run_ns += ns;
        self.each(|turns| turns.ran(ns, until_ns));
    }

    pub(super) fn each(&mut self, mut told: impl FnMut(&mut Turns)) {
        told(&mut self.by_timers);
        told(&mut self.handed);
        told(&mut self.marked);
    }

    pub(super) fn lose(&mut self) {
        self.activity.cut_by_loss += u64::from(self.by_timers.lose());
        self.activity.handed_cut_by_loss += u64::from(self.handed.lose());
        self.activity.marked_cut_by_loss += u64::from(self.marked.lose());
        (self.running_since, self.asleep, self.is_woken) = (None, false, false);
        self.last_wake_up = None;
        self.sleeps.lose();
        self.waits.forget();
        self.waits.left();
        self.fetches.lose();
    }

    pub(super) fn finish(mut self, open: &Open) -> ThreadActivity {
        let mut wakers: Vec<(Waker, u64)> = self
            .wakers
            .into_iter()
            .map(|(key, count)| (open.named(key), count))
            .collect();
        wakers.sort_by_cached_key(|(_, count)| std::cmp::Reverse(*count));
        let mut activations = self.by_timers.ended;
        let clock_steps_ns = wall_clock::onto_monotonic(&mut activations);
        let activations = one_call::cycles(no_sleeps::cycles(activations));
        let activations = within_row::cycles(within_near_row::cycles(activations));
        ThreadActivity {
            awaits_events: one_call::are_for_any_event(&activations),
            activations,
            clock_steps_ns,
            handed: self.handed.ended,
            marked: self.marked.ended,
            wakers,
            cut_sleeps: self.sleeps.finish(open),
            waits: self.waits.finish(open),
            fetched: self.fetches.take(),
            ..self.activity
        }
    }
}

/// An activation at whose beginning a thread is woken at an instant.
fn woken(at_ns: u64, cpu: u16) -> Activation {
    Activation {
        expiry_ns: at_ns,
        switched_in_ns: at_ns,
        end_ns: at_ns,
        cpu,
        ..Activation::default()
    }
}

#[cfg(test)]
mod tests;
