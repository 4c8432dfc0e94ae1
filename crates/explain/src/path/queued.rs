//! The part of a wake-up in which the thread is ready and waits on a CPU's queue: what ran there
//! instead, and by what right.

use super::Cut;
use super::asleep::STILL_NS;
use crate::cause::{Cause, Relation, SentBy};
use crate::cpu::{Cpu, Doing, Span, is_ipi};
use crate::cycle::Stretch;
use crate::holds::Given;
use crate::track::{Happened, Interval};
use wakepath_timeline::{Budget, Interrupt, Thread, ThreadName};

/// An interrupt that another CPU sends is taken within this, in nanoseconds, unless something holds
/// it up: the way to the CPU, a hypervisor's included.
const DELIVERY_NS: u64 = 20_000;
/// A running thread without any event for so long, in nanoseconds, means that its CPU was stalled:
/// two ticks of the slowest kernel (100 Hz) are missing, and code that only forbids preemption takes
/// them.
const SILENT_NS: u64 = 25_000_000;

/// A thread that is let go runs within this, in nanoseconds, unless others have its CPU: the callback and an interrupt
/// for the other CPU.
const LET_GO_NS: u64 = 1_000_000;

/// Since when a CPU has known that it is to leave its thread.
#[derive(Clone, Copy)]
enum Asked {
    /// It took an interrupt then, after the waking, or woke the thread itself.
    At {
        at_ns: u64,
        /// Whether that was the interrupt by which another CPU asks.
        by_reschedule: bool,
    },
    /// No such interrupt was seen.
    Never,
}

impl Cut<'_> {
    /// Ready to run, and something else runs.
    pub(super) fn runnable(&mut self, interval: &Interval, stretch: Stretch) {
        let Some(queues) = self.window.track.queues(interval.from_ns, interval.to_ns) else {
            self.unexplained(interval.from_ns, interval.to_ns, stretch);
            return;
        };
        let mut from_ns = interval.from_ns;
        for (to_ns, cpu) in queues {
            self.queued(cpu, from_ns, to_ns, stretch);
            from_ns = to_ns;
        }
    }

    /// Ready to run on a CPU's queue.
    fn queued(&mut self, cpu: u16, from_ns: u64, to_ns: u64, stretch: Stretch) {
        if cpu != self.own_cpu {
            // What interrupts this CPU is not the interrupt that woke the thread on that one.
            self.own_interrupt_ns = None;
        }
        let priority = self.priority_at(to_ns);
        let from_ns = self.out_of_budget(cpu, (from_ns, to_ns), priority, stretch);
        let asked = self.asked(cpu, from_ns, to_ns);
        let throttled = self.was_throttled(cpu, from_ns, to_ns);
        let raised = match asked {
            Asked::At { at_ns, .. } => self.was_in_user(cpu, at_ns, to_ns),
            Asked::Never => false,
        };
        self.spans(cpu, from_ns, to_ns, |cut, from, to, span| {
            let cause = match (&span.doing, priority) {
                // It is switched in already; the event's stamp is a little earlier than the mark's.
                (Doing::Thread(thread), _) if thread.id == cut.window.thread => Cause::Path,
                (Doing::Thread(thread), Some(priority)) => {
                    let cause = cut.instead(thread, priority, from_ns, (from, span));
                    match (cause, span.hold.given) {
                        (Cause::NotPreemptible(_), Given::Unknown) if throttled => {
                            cut.throttled(thread, priority, span.hold.given)
                        }
                        (Cause::NotPreemptible(_), _) => {
                            return cut.ran_on(thread, (from, to), span, (asked, raised), stretch);
                        }
                        (cause, _) => cause,
                    }
                }
                (Doing::Thread(_), None) => Cause::NoEvents,
                (Doing::Interrupt(interrupt, sender), _)
                    if is_ipi(interrupt)
                        && cut.brings_wake_up(cpu, span.from_ns, sender.as_ref()) =>
                {
                    cut.sent_wake_up_ns = Some(span.from_ns);
                    Cause::WokenFrom(cut.own_cpu)
                }
                // Idle was entered although the loop was ready.
                (Doing::Idle(_), Some(priority))
                    if cut.was_busy(cpu, from_ns)
                        || (to - from >= STILL_NS
                            && cut.window.budgets.explains_idle(priority)) =>
                {
                    cut.throttled(&nobody(), priority, span.hold.given)
                }
                (Doing::Idle(state), _) => return cut.idle(cpu, (from, to), stretch, *state),
                _ => cut.cause(span, from),
            };
            cut.push(from, to, stretch, cause);
        });
    }

    /// Throttled, with the budget if the events show it, or a thread of this priority can have run out of one alone. Of a
    /// known budget only a thread of the loop's own process matters that ran instead.
    fn throttled(&self, instead: &Thread, priority: i32, given: Given) -> Cause {
        let budget = match given {
            Given::ByFairServer if (0..100).contains(&priority) => Some(&Budget::FairServer),
            _ => self.window.budgets.of_priority(priority),
        };
        let is_shown = budget.is_none() || (self.window.is_sibling)(instead);
        Cause::Throttled {
            instead: is_shown.then(|| instead.clone()),
            budget: budget.cloned(),
        }
    }

    /// The part of a wait in which the thread's group had used up its budget, pushed as such; the instant at which it
    /// ends. Any of these shows it: the thread ran as soon as the quota was filled up; it waited until then, and the
    /// program had used up the quota, or the group was stopped in most periods; its CPU idled although the thread was ready.
    fn out_of_budget(
        &mut self,
        cpu: u16,
        (from_ns, to_ns): (u64, u64),
        priority: Option<i32>,
        stretch: Stretch,
    ) -> u64 {
        let budgets = self.window.budgets;
        // A DEADLINE thread is let go by a timer of its own, while any other may run.
        if let Some(priority) = priority.filter(|priority| *priority < 0) {
            let filled_up = self.window.reservations.last_in(from_ns, to_ns);
            let let_go = filled_up.filter(|at_ns| to_ns - at_ns <= LET_GO_NS);
            let until_ns = let_go.unwrap_or(from_ns);
            let cause = self.throttled(&nobody(), priority, Given::Unknown);
            self.push(from_ns, until_ns, stretch, cause);
            return until_ns;
        }
        let is_ordinary = |priority: &i32| *priority >= 100;
        let (Some(priority), Some(quota)) = (priority.filter(is_ordinary), &budgets.quota) else {
            return from_ns;
        };
        let refills = self.window.refills;
        let used_up = || {
            let before = refills.last_in(0, from_ns);
            before
                .is_some_and(|refill_ns| quota.is_used_up(self.program_ran_ns(refill_ns, from_ns)))
        };
        let is_let_go = |at_ns: &u64| quota.is_usual || to_ns - at_ns <= LET_GO_NS || used_up();
        let let_go = refills.last_in(from_ns, to_ns).filter(is_let_go);
        let idled = self.idled_until(cpu, from_ns, to_ns);
        let until_ns = let_go.max(idled).unwrap_or(from_ns);
        let cause = self.throttled(&nobody(), priority, Given::Unknown);
        self.push(from_ns, until_ns, stretch, cause);
        until_ns
    }

    /// CPU time of all the program's threads between two instants, in nanoseconds.
    fn program_ran_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        let is_of_program =
            |thread: u32| thread == self.window.thread || (self.window.is_of_program)(thread);
        let all = self.window.threads.all();
        let own = all.filter(|(thread, _)| is_of_program(*thread));
        own.map(|(_, track)| track.ran_ns(from_ns, to_ns)).sum()
    }

    /// The end of the last time in a wait that the CPU idled, for longer than leaving an idle state takes.
    fn idled_until(&self, cpu: u16, from_ns: u64, to_ns: u64) -> Option<u64> {
        let mut until_ns = None;
        let cpu = self.window.cpus.get(usize::from(cpu))?;
        cpu.between(from_ns, to_ns, |from_ns, to_ns, span| {
            if matches!(span.doing, Doing::Idle(_)) && to_ns - from_ns >= STILL_NS {
                until_ns = Some(to_ns);
            }
        });
        until_ns
    }

    /// Who ran while the loop was ready, and by what right. `ready_ns`: since when it was; then the
    /// instant when the other ran, and its span.
    pub(super) fn instead(
        &self,
        thread: &Thread,
        waiting: i32,
        ready_ns: u64,
        (at_ns, span): (u64, &Span),
    ) -> Cause {
        if (self.window.is_own_tool)(thread, at_ns) {
            return Cause::OwnTool(thread.clone());
        }
        let inherits = span.hold.inherits && thread.priority <= waiting;
        let relation = match thread.priority.cmp(&waiting) {
            _ if inherits && thread.priority < 100 => Relation::Inherits,
            std::cmp::Ordering::Less if thread.priority < 100 => Relation::MoreUrgent,
            std::cmp::Ordering::Equal if thread.priority < 100 => {
                if (self.window.is_sibling)(thread) {
                    Relation::Sibling
                } else {
                    Relation::SamePriority
                }
            }
            _ if waiting >= 100 && self.window.is_real_time => Relation::SharedAsOrdinary,
            _ if waiting >= 100 => Relation::Shared,
            _ => {
                // The scheduler chose it although the loop, or one like it, was ready.
                let is_chosen = span.hold.given.is_over_others() && waiting >= 0;
                return if !is_chosen && self.was_running_before(thread.id, ready_ns) {
                    Cause::NotPreemptible(thread.clone())
                } else {
                    self.throttled(thread, waiting, span.hold.given)
                };
            }
        };
        Cause::Thread {
            thread: thread.clone(),
            relation,
        }
    }

    /// A less urgent thread that ran before the loop was ready, and ran on. In user mode the first
    /// interrupt that the CPU takes after the waking would preempt it, so from there on it is in the
    /// kernel, with preemption off, or more urgent than when it was switched in. Before, the CPU can't have known of the
    /// waking.
    fn ran_on(
        &mut self,
        thread: &Thread,
        (from_ns, to_ns): (u64, u64),
        span: &Span,
        (asked, raised): (Asked, bool),
        stretch: Stretch,
    ) {
        let ns = to_ns - from_ns;
        let may_stall = !self.window.never_still;
        match asked {
            Asked::At { at_ns, .. } if from_ns >= at_ns && span.hold.given == Given::Unknown => {
                let cause = Cause::RanOn(thread.clone());
                self.push(from_ns, to_ns, stretch, cause);
            }
            // Left in a call, it may still have work in the kernel to do.
            Asked::At { at_ns, .. } if from_ns >= at_ns && (raised || span.hold.in_user) => {
                let cause = match to_ns - at_ns {
                    ..DELIVERY_NS => Cause::Path,
                    _ if raised => Cause::Thread {
                        thread: thread.clone(),
                        relation: Relation::Raised,
                    },
                    _ => Cause::RanOn(thread.clone()),
                };
                self.push(from_ns, to_ns, stretch, cause);
            }
            Asked::At { at_ns, .. } if from_ns >= at_ns => {
                let silent_ns = span.last_ns.clamp(from_ns, to_ns);
                let until_ns = if may_stall && to_ns - silent_ns >= SILENT_NS {
                    silent_ns
                } else {
                    to_ns
                };
                let cause = Cause::NotPreemptible(thread.clone());
                self.push(from_ns, until_ns, stretch, cause);
                self.push(until_ns, to_ns, stretch, Cause::NothingRan);
            }
            Asked::At {
                by_reschedule: true,
                ..
            } => {
                let cause = match ns {
                    ..DELIVERY_NS => Cause::Path,
                    STILL_NS.. if may_stall => Cause::NothingRan,
                    _ => Cause::InterruptsOff(thread.clone()),
                };
                self.push(from_ns, to_ns, stretch, cause);
            }
            Asked::At { .. } | Asked::Never => {
                let cause = match ns {
                    ..DELIVERY_NS => Cause::Path,
                    _ => Cause::RanOn(thread.clone()),
                };
                self.push(from_ns, to_ns, stretch, cause);
            }
        }
    }

    /// Whether a CPU was given to something less urgent while the loop was on its queue.
    fn was_throttled(&self, cpu: u16, from_ns: u64, to_ns: u64) -> bool {
        let mut found = false;
        if let Some(cpu) = self.window.cpus.get(usize::from(cpu)) {
            cpu.between(from_ns, to_ns, |at_ns, _, span| {
                found |= at_ns > from_ns && span.hold.given.is_over_others();
            });
        }
        found
    }

    /// Whether the thread that ran on reached user mode after the CPU knew of the loop: it entered a call or faulted
    /// there. On the way to user mode it would have been switched out for a more urgent thread.
    fn was_in_user(&self, cpu: u16, asked_ns: u64, to_ns: u64) -> bool {
        let (mut may_be, mut found) = (false, false);
        let mut ran_on = None;
        if let Some(cpu) = self.window.cpus.get(usize::from(cpu)) {
            cpu.between(asked_ns, to_ns, |_, _, span| {
                if let Doing::Thread(thread) = &span.doing
                    && *ran_on.get_or_insert(thread.id) == thread.id
                {
                    found |= may_be && !span.hold.in_user;
                    may_be = span.hold.in_user;
                }
            });
        }
        found
    }

    /// Since when a CPU has known of the loop that waits on its queue between two instants.
    fn asked(&self, cpu: u16, from_ns: u64, to_ns: u64) -> Asked {
        let marks = self.window.track.marks().iter().rev();
        let mut before = marks.filter(|mark| mark.at_ns <= from_ns);
        let waking = before.find(|mark| matches!(mark.what, Happened::Waking { .. }));
        if waking.is_some_and(|mark| mark.cpu == cpu) {
            return Asked::At {
                at_ns: from_ns,
                by_reschedule: false,
            };
        }
        let mut asked = Asked::Never;
        if let Some(cpu) = self.window.cpus.get(usize::from(cpu)) {
            cpu.between(from_ns, to_ns, |at_ns, _, span| {
                if let (Asked::Never, Doing::Interrupt(which, _)) = (asked, &span.doing) {
                    asked = Asked::At {
                        at_ns,
                        by_reschedule: *which == Interrupt::Reschedule,
                    };
                }
            });
        }
        asked
    }

    /// Whether another CPU's interrupt is the one that brought the thread's own wake-up to `cpu`: the first
    /// after a waking elsewhere, not known to be sent by a third CPU.
    fn brings_wake_up(&self, cpu: u16, entry_ns: u64, sender: Option<&SentBy>) -> bool {
        let Some((woken_on, waking_ns)) = self.woken_at else {
            return false;
        };
        cpu != woken_on
            && entry_ns >= waking_ns
            && self.sent_wake_up_ns.is_none_or(|first| first == entry_ns)
            && sender.is_none_or(|sender| sender.cpu == woken_on)
    }

    /// Whether a thread was current just before an instant; at the instant itself the switch may
    /// have been made.
    fn was_running_before(&self, thread: u32, at_ns: u64) -> bool {
        let before_ns = at_ns.saturating_sub(1);
        let running = |cpu: &Cpu| {
            cpu.at(before_ns)
                .is_some_and(|span| span.current == Some(thread))
        };
        self.window.cpus.iter().any(running)
    }

    /// Whether something other than idle was current on a CPU just before an instant.
    fn was_busy(&self, cpu: u16, at_ns: u64) -> bool {
        let before_ns = at_ns.saturating_sub(1);
        let span = self
            .window
            .cpus
            .get(usize::from(cpu))
            .and_then(|cpu| cpu.at(before_ns));
        span.is_some_and(|span| span.current.is_some_and(|id| id != 0))
    }

    /// The loop's priority when it was next switched in or last woken.
    fn priority_at(&self, until_ns: u64) -> Option<i32> {
        let mut found = None;
        for mark in self.window.track.marks() {
            if let Happened::Waking { priority, .. } | Happened::In { priority } = mark.what {
                found = Some(priority);
            }
            if mark.at_ns >= until_ns && found.is_some() {
                break;
            }
        }
        found
    }
}

/// Idle, if the scheduler chose it.
fn nobody() -> Thread {
    Thread {
        id: 0,
        name: ThreadName::default(),
        priority: 120,
    }
}
