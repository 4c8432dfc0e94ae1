//! The longest stretches of each kind, composed to a bound with the most that interrupts took in any window as
//! long as the bound (theorem 8 of de Oliveira and others, ECRTS 2020), and with two terms more: the wake-up's
//! own interrupt with its timer's delay, and the way from the scheduler to the thread's first instruction.

use super::bound::{Interrupting, Sections};
use super::interference::Interference;

/// The parts of a bound, all in one unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Composition {
    /// D_POID.
    pub off: u64,
    /// D_PAIE.
    pub before_scheduler: u64,
    /// D_PSD.
    pub scheduler: u64,
    /// D_ST.
    pub switch: u64,
    /// The wake-up's own interrupt, with its timer's delay.
    pub own_interrupt: u64,
    /// From the scheduler's return to the thread's first instruction.
    pub back: u64,
    /// The most that interrupts take in any window of the bound.
    pub interference: u64,
}

impl Composition {
    /// With the most that these interrupts take in any window of the bound.
    pub fn among(self, interrupts: &Interference) -> Self {
        let own = Self {
            interference: 0,
            ..self
        }
        .bound();
        Self {
            interference: interrupts.bound(own) - own,
            ..self
        }
    }

    /// The bound.
    pub fn bound(&self) -> u64 {
        let parts = [
            self.off.max(self.switch),
            self.before_scheduler,
            self.scheduler,
            self.own_interrupt,
            self.back,
            self.interference,
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// The same as sections that give the same bound, by what a unit of its times is in nanoseconds.
    pub fn sections(&self, ns_per_unit: u64) -> Sections {
        let ns = |units: u64| units.saturating_mul(ns_per_unit);
        let once = |name: &str, units| Interrupting {
            name: name.into(),
            longest_ns: ns(units),
            distance_ns: None,
        };
        Sections {
            preemption_off_ns: ns(self.off),
            before_scheduler_ns: ns(self.before_scheduler),
            scheduler_ns: ns(self.scheduler),
            switch_ns: ns(self.switch),
            after_scheduler_ns: ns(self.back),
            interrupts: vec![
                once("the wake-up's own", self.own_interrupt),
                once("the most in any window of the bound", self.interference),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_composed_as_by_hand_and_the_same_as_sections() {
        let parts = Composition {
            off: 900,
            before_scheduler: 4,
            scheduler: 200,
            switch: 164,
            own_interrupt: 100,
            back: 80,
            interference: 0,
        };
        // 1284; both interrupts lie in a window of 1284 to 1434, which are 150 on top.
        let interrupts = Interference::new(vec![(1_200, 1_300), (2_300, 2_350)]);
        let found = parts.among(&interrupts);
        assert_eq!((found.interference, found.bound()), (150, 1_434));
        let sections = found.sections(2).latency_bound().unwrap();
        assert_eq!(sections.latency_ns, 2 * 1_434);
    }
}
