//! Halts ordered by something else, and who ordered them. A signal or the freezer halts a thread on its way
//! back to its program, so outside of system calls; nothing else lets it sleep there.

use super::Cut;
use super::ended::ended_by;
use crate::call::Call;
use crate::cause::Cause;
use crate::cpu::{Context, Doing};
use crate::cycle::Stretch;
use crate::faults;
use crate::halt::{Halt, HaltKind, TO_STOP_NS};
use crate::track::{Happened, Interval, Mark, State, Track};
use crate::wait::{Handler, Meanwhile, Wait};
use crate::watch::WALL_CLOCK_NS;
use wakepath_timeline::{Interrupt, SoftIrq, Thread};

/// A timer's interrupt is never this late while another CPU can already wake its sleeper, in nanoseconds.
const EXPIRED_NS: u64 = 1_000_000;
/// A signal that stops a process goes from thread to thread no further than this.
const MOST_SENDERS: usize = 4;

impl Cut<'_> {
    /// The kind of halt that a stretch without the CPU is, if it is one.
    pub(super) fn halt(&self, interval: &Interval) -> Option<HaltKind> {
        let track = self.window.track;
        if interval.state == State::Stopped {
            return Some(HaltKind::Signal);
        }
        let Some(Happened::Waking { from, .. }) = ended_by(track, interval) else {
            return None;
        };
        if !self.window.calls_recorded || !track.is_outside_calls(interval.from_ns) {
            return None;
        }
        match (interval.state, from) {
            // A pager that ends a fault's wait does it in the same way, and nobody sends a signal. Linux 6.1 and later call
            // the old freezer's wait uninterruptible.
            (State::Sleeping | State::Blocked, Context::Thread(_))
                if !faults::has_just_faulted(track, interval)
                    && self.ordered_by(interval.from_ns).is_some() =>
            {
                Some(HaltKind::Freezer)
            }
            // The kernel's own time-out ends it, and no device.
            (State::Blocked, Context::Interrupt(Handler::SoftIrq(SoftIrq::TIMER))) => {
                Some(HaltKind::Memory)
            }
            _ => None,
        }
    }

    /// Whether a stretch asleep is a halt or a wait for a page, and no wait for the due time.
    pub(super) fn is_held(&self, interval: &Interval) -> bool {
        self.halt(interval).is_some() || faults::waits_for_page(self.window.track, interval)
    }

    /// Whether the loop slept on after its timer, which does not wake a frozen thread.
    pub(super) fn is_frozen_asleep(&self, interval: &Interval) -> bool {
        let asked_ns = self.asked_end(interval).unwrap_or(interval.from_ns);
        let due_ns = asked_ns.max(interval.from_ns);
        self.is_woken_out_of_sleep(interval) && interval.to_ns >= due_ns + EXPIRED_NS
    }

    /// Whether a thread ended a sleep, and not its timer.
    pub(super) fn is_woken_out_of_sleep(&self, interval: &Interval) -> bool {
        let track = self.window.track;
        let by_thread = matches!(
            ended_by(track, interval),
            Some(Happened::Waking {
                from: Context::Thread(_),
                ..
            })
        );
        let call = track.call_at(interval.from_ns);
        by_thread && call.is_some_and(Call::is_sleep)
    }

    /// The end that the loop had asked for, of a sleep in its own work that continued after it. A signal would have ended
    /// it before.
    pub(super) fn overslept(&self, interval: &Interval) -> Option<u64> {
        if !self.is_woken_out_of_sleep(interval) {
            return None;
        }
        let asked_ns = self.asked_end(interval)?;
        let asked_ns = asked_ns.max(interval.from_ns);
        (interval.to_ns >= asked_ns + EXPIRED_NS).then_some(asked_ns)
    }

    /// The end that the loop had asked for of the sleep that it is in; `None` if that is on another clock than
    /// `CLOCK_MONOTONIC`: on one that counts from 1970, or after the end that the timer itself brought.
    pub(super) fn asked_end(&self, interval: &Interval) -> Option<u64> {
        let by_timer = matches!(
            ended_by(self.window.track, interval),
            Some(Happened::Waking {
                from: Context::Timer { .. },
                ..
            })
        );
        let latest_ns = if by_timer {
            interval.to_ns
        } else {
            WALL_CLOCK_NS
        };
        let asked_ns = self.window.track.asked_until(interval.from_ns);
        asked_ns.filter(|&asked_ns| asked_ns <= latest_ns)
    }

    /// A sleep of the loop's own.
    pub(super) fn slept(&mut self, from_ns: u64, to_ns: u64, stretch: Stretch) {
        let call = self.window.track.call_at(from_ns).cloned();
        let sleep = Wait {
            place: self.place(self.window.thread, self.window.track, from_ns),
            inferred: self.window.track.left_unseen(from_ns),
            ..Wait::new(Vec::new(), Meanwhile::Slept, call)
        };
        self.push(from_ns, to_ns, stretch, Cause::Blocked(sleep.into()));
    }

    /// A sleep, and from the end that was asked for on the freezer.
    pub(super) fn frozen_from(&mut self, asked_ns: u64, interval: &Interval, stretch: Stretch) {
        self.slept(interval.from_ns, asked_ns, stretch);
        let frozen = Interval {
            from_ns: asked_ns,
            ..interval.clone()
        };
        self.halted(&frozen, stretch, HaltKind::Freezer);
    }

    pub(super) fn halted(&mut self, interval: &Interval, stretch: Stretch, kind: HaltKind) {
        let track = self.window.track;
        let by = match kind {
            HaltKind::Memory => None,
            _ => self.ordered_by(interval.from_ns),
        };
        let ended_by = match (kind, ended_by(track, interval)) {
            (HaltKind::Memory, _) => None,
            (
                _,
                Some(Happened::Waking {
                    from: Context::Thread(thread),
                    ..
                }),
            ) => Some(thread.clone()),
            _ => None,
        };
        let cause = Cause::Halted(Halt { kind, by, ended_by });
        self.push(interval.from_ns, interval.to_ns, stretch, cause);
    }

    /// The thread that sent the signal by which the loop left its CPU before an instant. Within a process threads pass
    /// it on to each other.
    fn ordered_by(&self, at_ns: u64) -> Option<Thread> {
        let window = self.window;
        let left = last_out(window.track, at_ns)?;
        let mut by = match sender_before(window.track, left)? {
            Some(waker) => waker,
            None => self.interrupted_by(window.track, left)?,
        };
        for _ in 0..MOST_SENDERS {
            if !(window.is_sibling)(&by) {
                return Some(by);
            }
            let track = window.threads.track(by.id)?;
            let before = track.marks().partition_point(|mark| mark.at_ns <= at_ns);
            by = track
                .marks()
                .range(..before)
                .rev()
                .find_map(|mark| match &mark.what {
                    Happened::Waking {
                        from: Context::Thread(thread),
                        ..
                    } => Some(thread.clone()),
                    _ => None,
                })?;
        }
        None
    }

    /// Who asked the CPU that the loop ran on for a reschedule right before it left.
    fn interrupted_by(&self, track: &Track, left: usize) -> Option<Thread> {
        let mark = &track.marks()[left];
        let cpu = self.window.cpus.get(usize::from(mark.cpu))?;
        let from_ns = mark.at_ns.saturating_sub(TO_STOP_NS);
        let mut sender = None;
        cpu.between(from_ns, mark.at_ns, |_, _, span| {
            if let Doing::Interrupt(Interrupt::Reschedule, Some(by)) = &span.doing {
                sender = by.thread.clone();
            }
        });
        sender
    }
}

/// The mark at which the thread left its CPU last; `None` if that was not recorded.
pub(super) fn last_out(track: &Track, at_ns: u64) -> Option<usize> {
    let after = track.marks().partition_point(|mark| mark.at_ns <= at_ns);
    let last = track.marks().range(..after).rposition(Mark::is_leaving)?;
    (track.marks()[last].what != Happened::Gone).then_some(last)
}

/// Who woke the thread for the last turn on its CPU before this mark, if it did nothing in it but leave its call;
/// `Some(None)` if it ran before, `None` if that is unknown.
fn sender_before(track: &Track, left: usize) -> Option<Option<Thread>> {
    for mark in track.marks().range(..left).rev() {
        match &mark.what {
            Happened::Waking {
                from: Context::Thread(thread),
                ..
            } => return Some(Some(thread.clone())),
            Happened::Waking { .. } | Happened::CallEntered(_) => return Some(None),
            Happened::Lost
            | Happened::Gap
            | Happened::CallsUnknown
            | Happened::Out(_)
            | Happened::Gone => {
                return None;
            }
            _ => {}
        }
    }
    None
}
