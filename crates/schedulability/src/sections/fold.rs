//! Folds the stretches of one CPU into the longest of each kind, the places at which they began, the
//! interrupts, and the parts of wake-ups. It stores no events, and only a few thousand stretches.

use super::composition::Composition;
use super::events::{KernelCourse, KernelTold, interrupt_number, is_interrupt};
use super::interference::Interference;
use super::role::Role;
use super::stretch::{Kind, Stretch};
use super::variable::Variable;
use super::wake_up::WakeUp;
use std::collections::{HashMap, VecDeque};

/// Stretches that are kept for a while, to break down a wake-up.
const RECENT: usize = 1 << 14;
/// Places that sections begin at; those of more are counted together.
const PLACES: usize = 1 << 14;
/// Interrupts whose instants are kept. Of more, those that came later are in no window.
const INTERRUPTS: usize = 1 << 20;

/// An interrupt of one number, or those that told no name.
#[derive(Debug, Clone, Default)]
pub struct InterruptFound {
    /// How many, and the longest.
    pub variable: Variable,
    /// The minimum from the beginning of one to that of the next, in nanoseconds; `None` if there was only
    /// one.
    pub shortest_distance_ns: Option<u64>,
    last_ns: Option<u64>,
}

/// A wake-up of a thread whose clock is the events'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Woken {
    /// When it was due, in nanoseconds.
    pub due_ns: u64,
    /// When it resumed.
    pub woken_ns: u64,
}

/// Totals of a CPU's events. Times in nanoseconds.
#[derive(Debug, Default)]
pub struct Fold {
    /// D_POID.
    pub off: Variable,
    /// D_PAIE.
    pub before_scheduler: Variable,
    /// D_PSD.
    pub scheduler: Variable,
    /// D_ST.
    pub switch: Variable,
    /// Interrupts, by number.
    pub interrupts: HashMap<Option<u16>, InterruptFound>,
    /// The longest interrupt that woke the thread, with its timer's delay.
    pub own_interrupt_ns: u64,
    /// The longest way from the scheduler's return to the thread's first instruction.
    pub back_ns: u64,
    /// Wake-ups whose parts are known.
    pub wake_ups: u64,
    /// Events.
    pub events: u64,
    /// Times at which events were missing.
    pub holes: u64,
    /// Interrupts that came too late to be in a window.
    pub beyond: u64,
    places: HashMap<u64, Variable>,
    spans: Vec<(u64, u64)>,
    course: KernelCourse,
    recent: VecDeque<Stretch>,
    told: Vec<Stretch>,
    due: VecDeque<Woken>,
}

impl Fold {
    /// Wake-ups among the events to come, in their order.
    pub fn expect(&mut self, wake_ups: impl IntoIterator<Item = Woken>) {
        self.due.extend(wake_ups);
    }

    /// Takes the next event; `role` is as for [`KernelCourse::push`].
    pub fn push(&mut self, event: KernelTold, role: impl Fn(u64) -> Role) {
        while let Some(next) = self.due.front().copied()
            && next.woken_ns <= event.at_ns
        {
            self.due.pop_front();
            self.wake_up(next);
        }
        self.events += 1;
        self.course.push(event, role, &mut self.told);
        self.take();
    }

    /// Events are missing from here on. Wake-ups that were expected are not told any more.
    pub fn hole(&mut self) {
        self.holes += 1;
        self.end();
    }

    /// No more events for now.
    pub fn end(&mut self) {
        self.course.hole(&mut self.told);
        self.take();
        self.due.clear();
        self.recent.clear();
        for found in self.interrupts.values_mut() {
            found.last_ns = None;
        }
    }

    /// Places at which sections with something off began, the longest first, each with its longest.
    pub fn longest(&self) -> Vec<(&Variable, &Stretch)> {
        let all = self.places.values();
        let mut found: Vec<_> = all
            .filter_map(|variable| Some((variable, variable.longest.as_ref()?)))
            .collect();
        found.sort_by_cached_key(|(_, longest)| (std::cmp::Reverse(longest.net()), longest.began));
        found
    }

    /// The longest of all, composed.
    pub fn composition(&self) -> Composition {
        let parts = Composition {
            off: self.off.most(),
            before_scheduler: self.before_scheduler.most(),
            scheduler: self.scheduler.most(),
            switch: self.switch.most(),
            own_interrupt: self.own_interrupt_ns,
            back: self.back_ns,
            interference: 0,
        };
        parts.among(&Interference::new(self.spans.clone()))
    }

    fn wake_up(&mut self, woken: Woken) {
        let Woken { due_ns, woken_ns } = woken;
        let from = self.recent.partition_point(|stretch| stretch.to <= due_ns);
        let latency_ns = woken_ns.saturating_sub(due_ns);
        let stretches = self.recent.range(from..);
        if let Some(found) = WakeUp::new(stretches, due_ns, woken_ns, latency_ns, false) {
            self.wake_ups += 1;
            self.own_interrupt_ns = self.own_interrupt_ns.max(found.interrupt + found.rest);
            self.back_ns = self.back_ns.max(found.back);
        }
    }

    fn take(&mut self) {
        for stretch in std::mem::take(&mut self.told) {
            match stretch.kind {
                Kind::Off => {
                    self.off.add(&stretch);
                    self.place(&stretch);
                }
                Kind::BeforeScheduler => self.before_scheduler.add(&stretch),
                Kind::Scheduler => self.scheduler.add(&stretch),
                Kind::Switch => self.switch.add(&stretch),
                Kind::Interrupt => self.interrupt(&stretch),
            }
            if self.recent.len() == RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back(stretch);
        }
    }

    fn place(&mut self, stretch: &Stretch) {
        // Treat all interrupts as one place: the code that follows is the same.
        let began = if is_interrupt(stretch.began) {
            1
        } else {
            stretch.began
        };
        let place = if self.places.len() < PLACES || self.places.contains_key(&began) {
            began
        } else {
            0
        };
        self.places.entry(place).or_default().add(stretch);
    }

    fn interrupt(&mut self, stretch: &Stretch) {
        let found = self
            .interrupts
            .entry(interrupt_number(stretch))
            .or_default();
        found.variable.add(stretch);
        let distance = found.last_ns.map(|last| stretch.from.saturating_sub(last));
        found.shortest_distance_ns = distance.into_iter().chain(found.shortest_distance_ns).min();
        found.last_ns = Some(stretch.from);
        if self.spans.len() < INTERRUPTS {
            self.spans.push((stretch.from, stretch.to))
        } else {
            self.beyond += 1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::events::Happened::{
        self, InterruptsOff, InterruptsOn, PreemptionOff, PreemptionOn,
    };
    use super::super::transition::Class;
    use super::*;

    const CODE: u64 = 0xffff_ffff_8100_0000;
    const CALLER: u64 = CODE + 0x1000;
    const SCHEDULER: u64 = CODE + 0x2000;

    fn role(address: u64) -> Role {
        match address {
            SCHEDULER => Role::Scheduler,
            CALLER => Role::CallsScheduler,
            _ => Role::Other,
        }
    }

    fn event(at_ns: u64, letters: &str, happened: Happened) -> KernelTold {
        let class = Class {
            not_preemptible: letters.contains('n'),
            hard: letters.contains('h'),
            soft: letters.contains('s'),
            needs_scheduler: letters.contains('w'),
        };
        KernelTold {
            at_ns,
            class,
            happened,
        }
    }

    /// A section of 10 µs in which a thread's timer interrupts for 2 µs; 0.3 µs later it is scheduled, 3 µs.
    fn section(fold: &mut Fold, at: u64) {
        let all = [
            (0, "", InterruptsOff(CODE)),
            (100, "", InterruptsOn(CODE)),
            (2_000, "n", PreemptionOff(CODE + 8)),
            (5_000, "n", InterruptsOff(CODE + 16)),
            (5_100, "nh", Happened::Interrupt(7)),
            (7_000, "nw", InterruptsOn(CODE + 24)),
            (12_000, "nw", PreemptionOn(CODE + 32)),
            (12_300, "nw", PreemptionOff(CALLER)),
            (12_500, "nw", InterruptsOff(SCHEDULER)),
            (13_000, "n", Happened::Switch { to_idle: false }),
            (14_000, "n", InterruptsOn(CODE)),
            (15_300, "n", PreemptionOn(CALLER)),
            (15_600, "", InterruptsOff(CODE)),
            (15_700, "", InterruptsOn(CODE)),
        ];
        for (after, letters, happened) in all {
            fold.push(event(at + after, letters, happened), role);
        }
    }

    #[test]
    fn the_longest_of_each_kind_are_those_worked_out_by_hand() {
        let mut fold = Fold::default();
        let woken = Woken {
            due_ns: 1_000_000 + 4_500,
            woken_ns: 1_000_000 + 16_000,
        };
        fold.expect([woken]);
        section(&mut fold, 1_000_000);
        section(&mut fold, 2_000_000);
        fold.end();
        assert_eq!(
            (fold.off.most(), fold.off.longest.unwrap().length()),
            (8_000, 10_000)
        );
        assert_eq!(fold.before_scheduler.most(), 300);
        assert_eq!((fold.scheduler.most(), fold.switch.most()), (3_000, 2_800));
        let timer = &fold.interrupts[&Some(7)];
        assert_eq!((timer.variable.count, timer.variable.most()), (2, 2_000));
        assert_eq!(timer.shortest_distance_ns, Some(1_000_000));
        // Waited 5.5 µs, 2 µs its interrupt, 0.3 µs to the scheduler, 3 µs, 0.7 µs back.
        assert_eq!((fold.wake_ups, fold.back_ns), (1, 700));
        assert_eq!(fold.own_interrupt_ns, 2_000);
        let longest = fold.longest();
        assert_eq!(longest[0].1.began, CODE + 8);
        assert_eq!(longest[0].0.count, 2);
        // 8 + 0.3 + 3 + 2 + 0.7, and 2 of interrupts in any window.
        assert_eq!(fold.composition().bound(), 16_000);
    }

    #[test]
    fn what_lies_across_a_hole_is_in_no_figure() {
        let mut fold = Fold::default();
        fold.push(event(0, "", InterruptsOff(CODE)), role);
        fold.push(event(100, "", InterruptsOn(CODE)), role);
        fold.push(event(1_000, "n", PreemptionOff(CODE)), role);
        fold.hole();
        // The end of that section, and half of another, before it is certain what is off.
        fold.push(event(900_000, "n", PreemptionOn(CODE)), role);
        fold.push(event(900_100, "n", PreemptionOff(CODE)), role);
        fold.push(event(950_000, "n", InterruptsOff(CODE)), role);
        fold.push(event(950_100, "n", InterruptsOn(CODE)), role);
        fold.push(event(960_000, "n", PreemptionOn(CODE)), role);
        section(&mut fold, 1_000_000);
        fold.end();
        assert_eq!((fold.off.most(), fold.holes), (8_000, 1));
    }
}
