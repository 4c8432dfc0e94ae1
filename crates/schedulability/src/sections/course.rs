//! Follows transitions and reports the stretches in which a woken thread could not have run. A stretch ends
//! after more than a unit of time in which preemption is possible (instructions: two are executed): after
//! interrupts are enabled, a pending one arrives before the next instruction, or (after STI) after it.

use super::role::Role;
use super::stretch::{Kind, Stretch};
use super::transition::{Class, Transition, What};

/// When a kernel lets a woken thread take the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preemption {
    /// As soon as nothing is against it: PREEMPT_RT, `preempt=full`, `preempt=lazy` for real-time threads.
    Full,
    /// If its code asks for it, and on return to user space.
    Voluntary,
}

/// One unit of time in which preemption is possible ends no stretch: after interrupts are enabled, the next
/// instruction is executed before any arrives.
const SHADOW: u64 = 1;

#[derive(Debug, Clone, Copy)]
struct Begun {
    from: u64,
    at: u64,
    /// What interrupts had taken until then.
    interrupts: u64,
}

/// An interrupt or an exception under way.
#[derive(Debug, Clone, Copy)]
struct Span {
    begun: Begun,
    is_interrupt: bool,
    /// Whether the kernel has counted it as an interrupt, and no longer does.
    counted: bool,
    left: bool,
}

#[derive(Debug, Clone, Copy)]
enum Now {
    Free,
    Off(Begun),
    Scheduler { begun: Begun, switch: Option<Begun> },
}

/// Where a kernel stands.
#[derive(Debug)]
pub struct Course {
    preemption: Preemption,
    /// An interrupt that comes so soon after a stretch has waited for its end.
    pending: u64,
    now: Now,
    off: bool,
    user: bool,
    halted: bool,
    class: Class,
    /// Where the count became other than nought.
    counted_since: Begun,
    /// Since when nothing is against preemption though the scheduler is needed.
    needed_since: Option<u64>,
    /// The same, when what is under way began.
    needed_before: Option<u64>,
    spans: Vec<Span>,
    /// What interrupts have taken so far.
    interrupts: u64,
    /// A stretch that has ended, unless it continues at once.
    ended: Option<Stretch>,
}

impl Course {
    /// Of a kernel with this kind of preemption.
    pub fn new(preemption: Preemption) -> Self {
        Self::with_pending(preemption, SHADOW)
    }

    /// For sources that report the end of a stretch early: an interrupt within `pending` of it was already
    /// pending, and continues the same stretch.
    pub fn with_pending(preemption: Preemption, pending: u64) -> Self {
        let nothing = Begun {
            from: u64::MAX,
            at: 0,
            interrupts: 0,
        };
        Self {
            preemption,
            pending: pending.max(SHADOW),
            now: Now::Free,
            off: false,
            user: false,
            halted: false,
            class: Class::default(),
            counted_since: nothing,
            needed_since: None,
            needed_before: None,
            spans: Vec::new(),
            interrupts: 0,
            ended: None,
        }
    }

    /// Takes the next transition; `role` says what there is at an address. Stretches that have ended go
    /// into `told`, those of one kind in their order.
    pub fn push(
        &mut self,
        transition: Transition,
        role: impl Fn(u64) -> Role,
        told: &mut Vec<Stretch>,
    ) {
        let Transition { count, what } = transition;
        let mut at = 0;
        match what {
            What::InterruptsOff(by) => {
                let begun = self.begun(count, by);
                // Not what an interrupt does in the midst of it.
                let own = !self.off && self.spans.iter().all(|span| !span.is_interrupt);
                if let (Now::Scheduler { switch, .. }, true) = (&mut self.now, own) {
                    switch.get_or_insert(begun);
                }
                (self.off, at) = (true, by);
            }
            What::InterruptsOn(by) => {
                let over = |span: &Span| span.is_interrupt && (span.left || !span.counted);
                self.end_interrupt(count, by, told, over);
                (self.off, at) = (false, by);
            }
            What::Count(class, by) => {
                at = by;
                self.count(class, count, by, &role, told);
            }
            What::ToUser => {
                self.end_interrupts(count, 0, told);
                (self.user, self.off) = (true, false);
            }
            What::ToKernel(from) => {
                (self.user, self.off, at) = (false, true, from);
            }
            What::Halted => {
                // What follows is another stretch, however soon an interrupt comes.
                self.end_interrupts(count, 0, told);
                self.halted = true;
                self.settle(count, 0, told);
                told.extend(self.ended.take());
                self.halted = false;
                return;
            }
            What::Returned => self.end_interrupt(count, 0, told, |_| true),
            What::Arrived(there) => {
                at = there;
                match role(there) {
                    Role::Interrupt => {
                        (self.off, self.user) = (true, false);
                        self.settle_within(self.pending, count, there, told);
                        self.enter(count, there, true);
                    }
                    Role::Exception => {
                        (self.off, self.user) = (true, false);
                        self.enter(count, there, false);
                    }
                    Role::Scheduler => self.scheduler(count, there, told),
                    Role::Idle => self.idle(count, there, told),
                    Role::Point => self.point(count, there, told),
                    Role::CallsScheduler | Role::Other => {}
                }
            }
        }
        self.settle(count, at, told);
    }

    /// The input has ended: report a stretch that has ended, not one in progress.
    pub fn finish(mut self, told: &mut Vec<Stretch>) {
        told.extend(self.ended.take());
    }

    fn begun(&self, from: u64, at: u64) -> Begun {
        Begun {
            from,
            at,
            interrupts: self.interrupts,
        }
    }

    fn stretch(&self, kind: Kind, begun: Begun, to: u64, ended: u64) -> Stretch {
        Stretch {
            kind,
            from: begun.from,
            to,
            interrupts: self.interrupts - begun.interrupts,
            began: begun.at,
            ended,
        }
    }

    fn is_free(&self) -> bool {
        let nothing_against = !self.off && !self.class.not_preemptible;
        self.user || self.halted || (nothing_against && self.preemption == Preemption::Full)
    }

    /// Begins and ends what begins and ends with the state as it is.
    fn settle(&mut self, count: u64, at: u64, told: &mut Vec<Stretch>) {
        self.settle_within(SHADOW, count, at, told);
    }

    /// Likewise; a stretch that begins within `gap` of the last end continues it.
    fn settle_within(&mut self, gap: u64, count: u64, at: u64, told: &mut Vec<Stretch>) {
        let free = self.is_free();
        if free {
            self.counted_since.from = u64::MAX;
            // Whatever the kernel says of it: an interrupt that can be preempted is none.
            self.end_interrupts(count, at, told);
        }
        match self.now {
            Now::Free if !free => {
                let mut begun = self.begun(count, at);
                match self.ended.take() {
                    Some(ended) if count - ended.to <= gap => {
                        begun = Begun {
                            from: ended.from,
                            at: ended.began,
                            interrupts: begun.interrupts - ended.interrupts,
                        };
                    }
                    ended => told.extend(ended),
                }
                self.now = Now::Off(begun);
                self.needed_before = self.needed_since.take();
            }
            Now::Off(begun) if free => {
                self.ended = Some(self.stretch(Kind::Off, begun, count, at));
                self.now = Now::Free;
            }
            Now::Scheduler { begun, switch } => {
                let returned = !self.off && !self.class.not_preemptible;
                if free || returned {
                    self.end_interrupts(count, at, told);
                    self.end_scheduler(begun, switch, count, at, told);
                    self.now = Now::Free;
                    self.settle(count, at, told);
                }
            }
            Now::Free | Now::Off(_) => {}
        }
        if matches!(self.now, Now::Free) && self.class.needs_scheduler && !self.user {
            self.needed_since.get_or_insert(count);
        }
    }

    fn end_scheduler(
        &mut self,
        begun: Begun,
        switch: Option<Begun>,
        count: u64,
        at: u64,
        told: &mut Vec<Stretch>,
    ) {
        told.push(self.stretch(Kind::Scheduler, begun, count, at));
        told.extend(switch.map(|from| self.stretch(Kind::Switch, from, count, at)));
    }

    fn count(
        &mut self,
        class: Class,
        count: u64,
        by: u64,
        role: &impl Fn(u64) -> Role,
        told: &mut Vec<Stretch>,
    ) {
        if let Some(span) = self.spans.last_mut() {
            span.counted |= class.hard;
            span.left |= span.counted && !class.hard;
        }
        // Once an interrupt has ended, the work it leaves, mostly softirqs, is no longer part of it.
        let more = (class.soft && !self.class.soft)
            || (class.not_preemptible && !self.class.not_preemptible);
        if more {
            self.end_interrupt(count, by, told, |span| span.is_interrupt && span.left);
        }
        if class.not_preemptible && !self.class.not_preemptible {
            self.counted_since = match role(by) {
                Role::CallsScheduler => {
                    self.end_interrupts(count, by, told);
                    self.begun(count, by)
                }
                _ => Begun {
                    from: u64::MAX,
                    ..self.counted_since
                },
            };
        }
        self.class = class;
    }

    fn enter(&mut self, count: u64, there: u64, is_interrupt: bool) {
        let begun = self.begun(count, there);
        self.spans.push(Span {
            begun,
            is_interrupt,
            counted: false,
            left: false,
        });
    }

    fn end_interrupts(&mut self, count: u64, at: u64, told: &mut Vec<Stretch>) {
        while !self.spans.is_empty() {
            self.end_interrupt(count, at, told, |_| true);
        }
    }

    /// Ends the innermost one, if it is over.
    fn end_interrupt(
        &mut self,
        count: u64,
        at: u64,
        told: &mut Vec<Stretch>,
        is_over: impl Fn(&Span) -> bool,
    ) {
        if self.spans.last().is_some_and(is_over)
            && let Some(span) = self.spans.pop()
            && span.is_interrupt
        {
            let stretch = self.stretch(Kind::Interrupt, span.begun, count, at);
            self.interrupts += stretch.net();
            told.push(stretch);
        }
    }

    /// The scheduler itself begins. Its call began where preemption was put off for it.
    fn scheduler(&mut self, count: u64, there: u64, told: &mut Vec<Stretch>) {
        self.end_interrupts(count, there, told);
        let here = self.begun(count, there);
        let begun = match self.counted_since.from {
            from if self.class.not_preemptible && from <= count => self.counted_since,
            _ => here,
        };
        // A call is used once: the scheduler may call itself again.
        self.counted_since.from = u64::MAX;
        match self.now {
            Now::Off(off) if off.from < begun.from => {
                let stretch = Stretch {
                    to: begun.from,
                    interrupts: begun.interrupts - off.interrupts,
                    ..self.stretch(Kind::Off, off, count, begun.at)
                };
                told.push(stretch);
            }
            // It calls itself again before anything was free.
            Now::Scheduler {
                begun: before,
                switch,
            } => {
                let kinds = [(Kind::Scheduler, Some(before)), (Kind::Switch, switch)];
                for (kind, of) in kinds {
                    let of = of.filter(|of| of.from < begun.from);
                    told.extend(of.map(|of| Stretch {
                        interrupts: begun.interrupts - of.interrupts,
                        ..self.stretch(kind, of, begun.from, there)
                    }));
                }
            }
            Now::Free | Now::Off(_) => {}
        }
        told.extend(self.ended.take());
        let needed = match self.now {
            Now::Off(off) if off.from < begun.from => None,
            Now::Off(_) => self.needed_before,
            Now::Free => self.needed_since,
            Now::Scheduler { .. } => None,
        };
        self.needed_since = None;
        if let Some(since) = needed.filter(|since| *since < begun.from) {
            let waited = self.begun(since, begun.at);
            told.push(Stretch {
                to: begun.from,
                interrupts: 0,
                ..self.stretch(Kind::BeforeScheduler, waited, count, begun.at)
            });
        }
        self.now = Now::Scheduler {
            begun,
            switch: self.off.then_some(here),
        };
    }

    /// The idle thread is about to halt: the scheduler has returned to it, with preemption off.
    fn idle(&mut self, count: u64, there: u64, told: &mut Vec<Stretch>) {
        self.end_interrupts(count, there, told);
        self.counted_since.from = u64::MAX;
        if let Now::Scheduler { begun, switch } = self.now {
            self.end_scheduler(begun, switch, count, there, told);
            self.now = Now::Off(self.begun(count, there));
        }
    }

    /// Code that can be preempted here if needed.
    fn point(&mut self, count: u64, there: u64, told: &mut Vec<Stretch>) {
        if self.off || self.class.not_preemptible {
            return;
        }
        self.end_interrupts(count, there, told);
        if let Now::Off(begun) = self.now {
            told.push(self.stretch(Kind::Off, begun, count, there));
            self.now = Now::Off(self.begun(count, there));
        }
    }
}

#[cfg(test)]
mod tests;
