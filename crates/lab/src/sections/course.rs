//! Follows transitions, and tells the stretches in which a woken thread could not have run. A stretch
//! ends where at least two instructions are executed with nothing against preemption: where interrupts
//! go on, one that has waited comes before the next instruction, or (after STI) the one behind it.

use super::role::Role;
use super::stretch::{Kind, Stretch};
use super::transition::{Class, Transition, What};

/// When a kernel lets a woken thread take the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preemption {
    /// As soon as nothing is against it: PREEMPT_RT, `preempt=full`, `preempt=lazy` for real-time threads.
    Full,
    /// Where its code asks for it, and where it returns to a program.
    Voluntary,
}

/// Instructions with nothing against preemption that end no stretch.
const SHADOW: u64 = 1;

#[derive(Debug, Clone, Copy)]
struct Begun {
    from: u64,
    at: u64,
    /// Instructions of interrupts until then.
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
    /// Instructions of interrupts so far.
    interrupts: u64,
    /// A stretch that has ended, unless it goes on at once.
    ended: Option<Stretch>,
}

impl Course {
    /// Of a kernel with this kind of preemption.
    pub fn new(preemption: Preemption) -> Self {
        let nothing = Begun {
            from: u64::MAX,
            at: 0,
            interrupts: 0,
        };
        Self {
            preemption,
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
                        self.settle(count, there, told);
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
                    Some(ended) if count - ended.to <= SHADOW => {
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
        // What an interrupt does when it is over, softirqs above all, is none any more.
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

    /// The idle thread goes on its way to halt: the scheduler has returned to it, with preemption off.
    fn idle(&mut self, count: u64, there: u64, told: &mut Vec<Stretch>) {
        self.end_interrupts(count, there, told);
        self.counted_since.from = u64::MAX;
        if let Now::Scheduler { begun, switch } = self.now {
            self.end_scheduler(begun, switch, count, there, told);
            self.now = Now::Off(self.begun(count, there));
        }
    }

    /// Code that gives way if it should.
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
mod tests {
    use super::*;
    use Kind::{BeforeScheduler, Interrupt, Off, Scheduler, Switch};
    use proptest::prelude::*;

    const TIMER: u64 = 1;
    const SYSTEM_CALL: u64 = 2;
    const SCHEDULER: u64 = 3;
    const CALLER: u64 = 4;
    const IDLE: u64 = 5;
    const POINT: u64 = 6;
    const OTHER: u64 = 7;

    fn role(address: u64) -> Role {
        match address {
            TIMER => Role::Interrupt,
            SYSTEM_CALL => Role::Exception,
            SCHEDULER => Role::Scheduler,
            CALLER => Role::CallsScheduler,
            IDLE => Role::Idle,
            POINT => Role::Point,
            _ => Role::Other,
        }
    }

    /// A class by letters: n not preemptible, h hard, s soft, w the scheduler is wanted.
    fn class(letters: &str) -> Class {
        Class {
            not_preemptible: letters.contains('n'),
            hard: letters.contains('h'),
            soft: letters.contains('s'),
            needs_scheduler: letters.contains('w'),
        }
    }

    /// What is told, as kind, beginning, end and instructions of interrupts.
    fn told(preemption: Preemption, course: &[(u64, What)]) -> Vec<(Kind, u64, u64, u64)> {
        let mut of = Course::new(preemption);
        let mut told = Vec::new();
        for &(count, what) in course {
            of.push(Transition { count, what }, role, &mut told);
        }
        // A new section lets go of the one before.
        let what = What::ToKernel(OTHER);
        of.push(
            Transition {
                count: 1 << 40,
                what,
            },
            role,
            &mut told,
        );
        let told = told
            .iter()
            .map(|one| (one.kind, one.from, one.to, one.interrupts));
        told.collect()
    }

    fn count(letters: &str, by: u64) -> What {
        What::Count(class(letters), by)
    }

    #[test]
    fn an_interrupt_in_a_section_wakes_a_thread_that_the_scheduler_then_takes() {
        let course = [
            (100, count("n", OTHER)),
            (200, What::Arrived(TIMER)),
            (210, count("nh", OTHER)),
            (280, count("nhw", OTHER)),
            (290, count("nw", OTHER)),
            (300, What::InterruptsOn(OTHER)),
            (300, What::Returned),
            // The section ends, and the scheduler is called at once.
            (400, count("w", OTHER)),
            (405, count("nw", CALLER)),
            (410, What::Arrived(SCHEDULER)),
            (420, What::InterruptsOff(OTHER)),
            (450, count("n", OTHER)),
            (500, What::InterruptsOn(OTHER)),
            (510, count("", OTHER)),
        ];
        let expected = [
            (Interrupt, 200, 300, 0),
            (Off, 100, 400, 100),
            (BeforeScheduler, 400, 405, 0),
            (Scheduler, 405, 510, 0),
            (Switch, 420, 510, 0),
        ];
        assert_eq!(told(Preemption::Full, &course), expected);
    }

    #[test]
    fn softirqs_behind_an_interrupt_are_a_section_and_no_interrupt() {
        let course = [
            (100, What::ToUser),
            (200, What::ToKernel(TIMER)),
            (200, What::Arrived(TIMER)),
            (210, count("nh", OTHER)),
            (260, count("", OTHER)),
            (270, count("ns", OTHER)),
            (275, What::InterruptsOn(OTHER)),
            (400, What::InterruptsOff(OTHER)),
            (410, count("", OTHER)),
            (430, What::InterruptsOn(OTHER)),
            (430, What::Returned),
            (430, What::ToUser),
        ];
        let expected = [(Interrupt, 200, 270, 0), (Off, 200, 430, 70)];
        assert_eq!(told(Preemption::Full, &course), expected);
    }

    #[test]
    fn a_waiting_interrupt_comes_before_anything_is_free_and_prolongs_the_section() {
        // Interrupts off for 100; the next instruction's interrupt takes 50: one section of 150.
        let course = [
            (100, What::InterruptsOff(OTHER)),
            (200, What::InterruptsOn(OTHER)),
            (201, What::Arrived(TIMER)),
            (205, count("nh", OTHER)),
            (240, count("", OTHER)),
            (251, What::InterruptsOn(OTHER)),
            (251, What::Returned),
        ];
        let expected = [(Interrupt, 201, 251, 0), (Off, 100, 251, 50)];
        assert_eq!(told(Preemption::Full, &course), expected);
        // Two instructions in between, and they are two.
        let apart = course.map(|(at, what)| (if at > 200 { at + 1 } else { at }, what));
        let told = told(Preemption::Full, &apart);
        assert_eq!(told[0], (Off, 100, 200, 0));
        assert_eq!(told[2], (Off, 202, 252, 50));
    }

    #[test]
    fn the_idle_thread_ends_a_switch_and_a_halt_ends_its_section() {
        let course = [
            (0, What::InterruptsOn(OTHER)),
            (100, count("n", CALLER)),
            (110, What::Arrived(SCHEDULER)),
            (120, What::InterruptsOff(OTHER)),
            (180, What::InterruptsOn(OTHER)),
            (200, What::Arrived(IDLE)),
            (210, What::InterruptsOff(OTHER)),
            (290, What::InterruptsOn(OTHER)),
            (291, What::Halted),
            (291, What::Arrived(TIMER)),
            (300, count("nh", OTHER)),
            (360, count("n", OTHER)),
            (371, What::InterruptsOn(OTHER)),
            (371, What::Returned),
            (420, What::Arrived(SCHEDULER)),
            (430, What::InterruptsOff(OTHER)),
            (520, What::InterruptsOn(OTHER)),
            (530, count("", OTHER)),
        ];
        let expected = [
            (Scheduler, 100, 200, 0),
            (Switch, 120, 200, 0),
            (Off, 200, 291, 0),
            (Interrupt, 291, 371, 0),
            (Off, 291, 420, 80),
            (Scheduler, 420, 530, 0),
            (Switch, 430, 530, 0),
        ];
        assert_eq!(told(Preemption::Full, &course), expected);
    }

    #[test]
    fn a_kernel_that_is_not_preempted_by_itself_gives_way_at_points_and_to_programs() {
        let course = [
            (100, What::ToUser),
            (200, What::ToKernel(SYSTEM_CALL)),
            (200, What::Arrived(SYSTEM_CALL)),
            (210, What::InterruptsOn(OTHER)),
            (300, What::Arrived(POINT)),
            (310, count("n", OTHER)),
            // Not here: something is against it.
            (320, What::Arrived(POINT)),
            (330, count("", OTHER)),
            (700, What::InterruptsOff(OTHER)),
            (720, What::ToUser),
        ];
        let expected = [(Off, 200, 300, 0), (Off, 300, 720, 0)];
        assert_eq!(told(Preemption::Voluntary, &course), expected);
        let full = told(Preemption::Full, &course);
        assert_eq!(
            full,
            [(Off, 200, 210, 0), (Off, 310, 330, 0), (Off, 700, 720, 0)]
        );
    }

    #[test]
    fn a_page_fault_in_an_interrupt_does_not_end_it() {
        let course = [
            (0, What::InterruptsOn(OTHER)),
            (200, What::Arrived(TIMER)),
            (210, count("nh", OTHER)),
            (220, What::Arrived(SYSTEM_CALL)),
            (240, What::Returned),
            (280, count("", OTHER)),
            (300, What::InterruptsOn(OTHER)),
            (300, What::Returned),
        ];
        assert_eq!(told(Preemption::Full, &course)[0], (Interrupt, 200, 300, 0));
    }

    proptest! {
        /// Whatever happens: stretches of one kind never overlap, and none is shorter than its interrupts.
        #[test]
        fn stretches_never_overlap(steps in prop::collection::vec((1_u64..50, 0_usize..14), 0..200)) {
            let mut at = 0;
            let course: Vec<(u64, What)> = steps.into_iter().map(|(step, which)| {
                at += step;
                let what = [
                    What::InterruptsOff(OTHER), What::InterruptsOn(OTHER), What::ToUser,
                    What::ToKernel(SYSTEM_CALL), What::Halted, What::Returned, What::Arrived(TIMER),
                    What::Arrived(SCHEDULER), What::Arrived(IDLE), What::Arrived(POINT),
                    count("n", OTHER), count("nh", OTHER), count("w", OTHER), count("nw", CALLER),
                ][which];
                (at, what)
            }).collect();
            for preemption in [Preemption::Full, Preemption::Voluntary] {
                let told = told(preemption, &course);
                for kind in [Off, BeforeScheduler, Scheduler, Switch] {
                    let mine: Vec<_> = told.iter().filter(|one| one.0 == kind).collect();
                    for pair in mine.windows(2) {
                        prop_assert!(pair[0].2 <= pair[1].1, "{:?}", pair);
                    }
                    for (_, from, to, interrupts) in mine {
                        prop_assert!(from <= to && *interrupts <= to - from);
                    }
                }
            }
        }
    }
}
