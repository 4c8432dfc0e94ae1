//! The part of a wake-up in which the thread sleeps: due time, timer's interrupt, expiry, waking; and
//! whether interrupts were off or the timer late where the interrupt did not come.

use super::Cut;
use super::woken::woken_by;
use crate::call::Call;
use crate::cause::{Cause, Relation, is_stopper};
use crate::cpu::{Context, Doing, Span};
use crate::cycle::{Stretch, WokenBy};
use crate::track::{Happened, Interval};
use wakepath_timeline::{Interrupt, Thread};

/// A thread that runs this long behind an interrupt's end, in nanoseconds, runs with interrupts on;
/// less is the way from one interrupt into the next.
const RAN_ON_NS: u64 = 2_000;

/// A thread under which nothing at all happened for so long, in nanoseconds, although a timer's
/// interrupt was due, did not run: no code of a kernel keeps interrupts off for anything like it.
/// The hypervisor had taken the CPU away, or its firmware.
pub(super) const STILL_NS: u64 = 1_000_000;

/// The instants that cut a wake-up into stretches, as far as the events show them.
struct Landmarks {
    interrupt_ns: Option<u64>,
    expiry_ns: Option<u64>,
    waking_ns: u64,
    cpu: u16,
    /// The thread in which the timer's SoftIRQ ran, if the timer is served by one.
    deferred: Option<Option<Thread>>,
}

impl Cut<'_> {
    /// From the due time to the waking.
    pub(super) fn asleep(&mut self, interval: &Interval) -> WokenBy {
        let mark = interval
            .ended_by
            .map(|index| &self.window.track.marks()[index]);
        let Some((mark, from)) = mark.and_then(|mark| match &mark.what {
            Happened::Waking { from, .. } => Some((mark, from)),
            _ => None,
        }) else {
            self.unexplained(interval.from_ns, interval.to_ns, Stretch::DueToInterrupt);
            return WokenBy::Unknown;
        };
        let woken = woken_by(from);
        let due_ns = self.own_sleep(interval);
        if due_ns == interval.to_ns {
            return woken;
        }
        let interval = &Interval {
            from_ns: due_ns,
            ..interval.clone()
        };
        let mut landmarks = Landmarks {
            interrupt_ns: None,
            expiry_ns: None,
            waking_ns: mark.at_ns,
            cpu: mark.cpu,
            deferred: None,
        };
        match from {
            Context::Timer {
                interrupt_ns,
                expiry_ns,
                deferred,
            } => {
                let within = |at: &u64| (interval.from_ns..=interval.to_ns).contains(at);
                landmarks.interrupt_ns = interrupt_ns.filter(within);
                landmarks.expiry_ns = Some(*expiry_ns).filter(within);
                landmarks.deferred = deferred.as_ref().map(|(_, thread)| thread.clone());
                // A timer can't have expired before it was due: an earlier stamp is a small disagreement of
                // clocks, and the stretch is empty then.
                if interrupt_ns.is_some_and(|at| at < interval.from_ns) {
                    landmarks.interrupt_ns = Some(interval.from_ns);
                }
                if *expiry_ns < interval.from_ns {
                    landmarks.expiry_ns = Some(interval.from_ns);
                }
                self.own_interrupt_ns = *interrupt_ns;
                self.own_expiry_ns = Some(*expiry_ns);
                self.own_cpu = mark.cpu;
                self.woken_at = Some((mark.cpu, mark.at_ns));
            }
            Context::Thread(_) | Context::Interrupt(_) if self.is_blocked_beyond(interval) => {
                self.blocked(interval, Stretch::DueToInterrupt);
                return woken;
            }
            Context::Thread(thread) => {
                let cause = Cause::Waker(thread.clone());
                self.push(
                    interval.from_ns,
                    interval.to_ns,
                    Stretch::DueToInterrupt,
                    cause,
                );
                return woken;
            }
            Context::Interrupt(_) => {
                let (from, to) = (interval.from_ns, interval.to_ns);
                self.push(from, to, Stretch::DueToInterrupt, Cause::OtherWaker);
                return woken;
            }
            Context::Unknown => {
                self.unexplained(interval.from_ns, interval.to_ns, Stretch::DueToInterrupt);
                return woken;
            }
        }
        self.timer_path(interval.from_ns, &landmarks);
        woken
    }

    /// A sleep of the loop's own that was to last beyond its due time: until when it lasted, of this stretch.
    fn own_sleep(&mut self, interval: &Interval) -> u64 {
        let asked_ns = self.asked_end(interval).unwrap_or(interval.from_ns);
        let call = self.window.track.call_at(interval.from_ns);
        // Outside of a sleep it may be another timer of the thread.
        let is_its_end = asked_ns <= interval.to_ns || call.is_some_and(Call::is_sleep);
        if asked_ns <= interval.from_ns || !is_its_end {
            return interval.from_ns;
        }
        let until_ns = asked_ns.min(interval.to_ns);
        self.slept(interval.from_ns, until_ns, Stretch::DueToInterrupt);
        until_ns
    }

    /// Whether the loop is still in a call that waits for something else than time, or any event.
    fn is_blocked_beyond(&self, interval: &Interval) -> bool {
        let call = self.window.track.call_at(interval.from_ns);
        call.is_some_and(|call| !call.is_sleep() && !call.is_of_timer() && !call.is_for_any_event())
    }

    fn timer_path(&mut self, due_ns: u64, landmarks: &Landmarks) {
        let expiry_ns = landmarks.expiry_ns.unwrap_or(landmarks.waking_ns);
        let interrupt_ns = landmarks.interrupt_ns.unwrap_or(expiry_ns);
        let mut at = due_ns;
        if let Some(slack_ns) = self.slack_until(due_ns) {
            let until = slack_ns.min(interrupt_ns);
            if until > at {
                self.push(at, until, Stretch::DueToInterrupt, Cause::TimerSlack);
                at = until;
            }
        }
        self.late_timer(at, interrupt_ns, landmarks.cpu);
        self.spans(
            landmarks.cpu,
            interrupt_ns,
            expiry_ns,
            |cut, from, to, span| {
                let cause = match (&span.doing, &landmarks.deferred) {
                    (Doing::Thread(thread), Some(server)) => {
                        cut.ahead_of(server.as_ref(), thread, interrupt_ns, (from, span))
                    }
                    // The SoftIRQ that expires the timer, and the thread for it, are the path itself.
                    (Doing::SoftIrq(vector, _), Some(_))
                        if *vector == wakepath_timeline::SoftIrq::HRTIMER =>
                    {
                        Cause::Path
                    }
                    _ => cut.cause(span, from),
                };
                cut.push(from, to, Stretch::InterruptToExpiry, cause);
            },
        );
        self.spans(
            landmarks.cpu,
            expiry_ns,
            landmarks.waking_ns,
            |cut, from, to, span| {
                let cause = match &span.doing {
                    Doing::Timer(_) => Cause::Path,
                    _ => cut.cause(span, from),
                };
                cut.push(from, to, Stretch::ExpiryToWaking, cause);
            },
        );
    }

    /// What ran while the SoftIRQ of the loop's timer was pending. It waits for its own thread's turn, not for the
    /// loop's.
    fn ahead_of(
        &self,
        server: Option<&Thread>,
        thread: &Thread,
        pending_ns: u64,
        at: (u64, &Span),
    ) -> Cause {
        if server.is_some_and(|server| server.id == thread.id) {
            return Cause::Path;
        }
        let waiting = server.map_or(i32::MAX, |server| server.priority);
        match self.instead(thread, waiting, pending_ns, at) {
            Cause::Thread { thread, .. } => Cause::Thread {
                thread,
                relation: Relation::AheadOfTimer,
            },
            other => other,
        }
    }

    /// From the due time, or from the end of timer slack, to the timer's interrupt.
    fn late_timer(&mut self, from_ns: u64, to_ns: u64, cpu: u16) {
        let on_ns = self.interrupts_on_until(from_ns, to_ns, cpu);
        self.spans(cpu, from_ns, to_ns, |cut, from, to, span| {
            let stretch = Stretch::DueToInterrupt;
            let cause = match &span.doing {
                Doing::Thread(_) if on_ns.is_some_and(|on_ns| to <= on_ns) => Cause::NothingRan,
                Doing::Thread(thread) => {
                    let still_ns = if cut.window.never_still {
                        to
                    } else {
                        stood_still_from(thread, span, from, to)
                    };
                    let cause = if (cut.window.is_own_tool)(thread, from) {
                        Cause::OwnTool(thread.clone())
                    } else {
                        Cause::InterruptsOff(thread.clone())
                    };
                    cut.push(from, still_ns, stretch, cause);
                    cut.push(still_ns, to, stretch, Cause::NothingRan);
                    return;
                }
                Doing::Idle(state) => return cut.idle(cpu, (from, to), stretch, *state),
                _ => cut.cause(span, from),
            };
            cut.push(from, to, stretch, cause);
        });
    }

    /// The last instant at which the CPU took interrupts and the timer's was not pending: until then the
    /// timer itself was late. Three things show it. A device's interrupt: the timer's is taken first if both
    /// are pending (its vector, or its number on Arm, is more urgent). A SoftIRQ: it begins with interrupts
    /// on. Another vector, such as an IPI, which is taken before the timer's, only if the thread ran on after
    /// it: a pending timer interrupt would have been taken at its end.
    fn interrupts_on_until(&self, from_ns: u64, to_ns: u64, cpu: u16) -> Option<u64> {
        let (mut shown, mut vector) = (None, None);
        self.window.cpus.get(usize::from(cpu))?.between(
            from_ns,
            to_ns,
            |from, to, span| match &span.doing {
                Doing::Interrupt(Interrupt::Device { .. }, _) | Doing::SoftIrq(..)
                    if from > from_ns =>
                {
                    shown = Some(from);
                }
                Doing::Interrupt(..) if from > from_ns => vector = Some(from),
                Doing::Thread(_) if to - from >= RAN_ON_NS => shown = vector.take().or(shown),
                _ => {}
            },
        );
        shown
    }

    /// Latest expiry of the timer that was started for this due time, if it is later.
    fn slack_until(&self, due_ns: u64) -> Option<u64> {
        let marks = self.window.track.marks().iter().rev();
        let mut before = marks.filter(|mark| mark.at_ns <= due_ns);
        before
            .find_map(|mark| match mark.what {
                Happened::Slack { asked_ns, until_ns } => Some((asked_ns, until_ns)),
                _ => None,
            })
            // Another timer's slack, or another clock's, is irrelevant here.
            .filter(|(asked, until)| asked.abs_diff(due_ns) < 1_000 && *until > due_ns)
            .map(|(_, until)| until)
    }
}

/// When a stall began on a CPU on which a thread was current, between two instants; `to_ns` without a stall.
/// Before its last event the thread ran.
fn stood_still_from(thread: &Thread, span: &Span, from_ns: u64, to_ns: u64) -> u64 {
    let silent_ns = span.last_ns.max(from_ns);
    // That one does keep interrupts off, for as long as CPUs are stopped.
    let still = to_ns.saturating_sub(silent_ns) >= STILL_NS && !is_stopper(thread);
    if still { silent_ns } else { to_ns }
}
