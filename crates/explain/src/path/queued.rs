//! The part of a wake-up in which the thread is ready and waits on a CPU's queue: what ran there
//! instead, and by what right.

use super::Cut;
use crate::cause::{Cause, Relation, SentBy};
use crate::cpu::{Cpu, Doing, is_ipi};
use crate::cycle::Stretch;
use crate::track::{Happened, Interval};
use wakepath_timeline::{Thread, ThreadName};

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
        self.spans(cpu, from_ns, to_ns, |cut, from, to, span| {
            let cause = match (&span.doing, priority) {
                // It is switched in already; the event's stamp is a little earlier than the mark's.
                (Doing::Thread(thread), _) if thread.id == cut.window.thread => Cause::Path,
                (Doing::Thread(thread), Some(priority)) => {
                    cut.instead(thread, priority, from_ns, from)
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
                (Doing::Idle(_), _) if cut.was_busy(cpu, from_ns) => Cause::Throttled(nobody()),
                (Doing::Idle(state), _) => return cut.idle(cpu, (from, to), stretch, *state),
                _ => cut.cause(span, from),
            };
            cut.push(from, to, stretch, cause);
        });
    }

    /// Who ran while the loop was ready, and by what right. `ready_ns`: since when it was;
    /// `at_ns`: when the other ran.
    pub(super) fn instead(
        &self,
        thread: &Thread,
        waiting: i32,
        ready_ns: u64,
        at_ns: u64,
    ) -> Cause {
        if (self.window.is_own_tool)(thread, at_ns) {
            return Cause::OwnTool(thread.clone());
        }
        let relation = match thread.priority.cmp(&waiting) {
            std::cmp::Ordering::Less if thread.priority < 100 => Relation::MoreUrgent,
            std::cmp::Ordering::Equal if thread.priority < 100 => Relation::SamePriority,
            _ if waiting >= 100 => Relation::Shared,
            _ => {
                return match self.was_running_before(thread.id, ready_ns) {
                    true => Cause::NotPreemptible(thread.clone()),
                    // The scheduler chose it although the loop was ready.
                    false => Cause::Throttled(thread.clone()),
                };
            }
        };
        Cause::Thread {
            thread: thread.clone(),
            relation,
        }
    }

    /// Whether an interrupt of another CPU is the one that brought the thread's own wake-up to `cpu`:
    /// the first behind a waking elsewhere, not known to be sent by a third CPU.
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

/// Idle, where the scheduler chose it.
fn nobody() -> Thread {
    Thread {
        id: 0,
        name: ThreadName::default(),
        priority: 120,
    }
}
