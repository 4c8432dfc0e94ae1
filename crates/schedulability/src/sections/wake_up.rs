//! The parts of a wake-up's latency: the stretches that kept the thread waiting, and the path that every
//! wake-up takes.

use super::stretch::{Kind, Stretch};

/// The parts of a wake-up. They add up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WakeUp {
    /// When it was due, and when the thread resumed.
    pub due: u64,
    /// See `due`.
    pub woken: u64,
    /// Whether the CPU had halted when it was due.
    pub idle: bool,
    /// With something off, or in the tail of a switch, until the scheduler was called; its own interrupt
    /// left out.
    pub waited: u64,
    /// Its own interrupt: the first that ended after it was due.
    pub interrupt: u64,
    /// The scheduler, until it had returned to the thread; interrupts left out.
    pub scheduler: u64,
    /// From there to the thread's first instruction; interrupts left out.
    pub back: u64,
    /// Before the scheduler's call, with nothing off.
    pub before: u64,
    /// Other interrupts since the scheduler's call.
    pub others: u64,
    /// The rest: the timer's own delay, and what ran before its interrupt.
    pub rest: u64,
}

impl WakeUp {
    /// Of the stretches that reach beyond `due`. `instructions` is the whole latency; more than were
    /// executed if the CPU had halted and its timer was late. `None` if no scheduler returned: the thread
    /// had not slept.
    pub fn new<'a>(
        stretches: impl Iterator<Item = &'a Stretch>,
        due: u64,
        woken: u64,
        instructions: u64,
        idle: bool,
    ) -> Option<Self> {
        let own: Vec<&Stretch> = stretches.filter(|one| one.from < woken).collect();
        let of = |kind: Kind| own.iter().filter(move |stretch| stretch.kind == kind);
        let scheduler = of(Kind::Scheduler).rfind(|one| one.to <= woken)?;
        let called = scheduler.from.max(due);
        let interrupt = of(Kind::Interrupt).find(|one| one.to > due);
        let part = |from: u64, to: u64| interrupt.map_or(0, |own| own.within(from, to));
        let waiting = of(Kind::Off).chain(of(Kind::Switch));
        let waited: u64 = waiting.map(|one| one.within(due, called)).sum();
        let interrupts = |from: u64, to: u64| -> u64 {
            of(Kind::Interrupt).map(|one| one.within(from, to)).sum()
        };
        let own_interrupt = part(due, woken);
        let returned = scheduler.to;
        let before: u64 = of(Kind::BeforeScheduler)
            .map(|one| one.within(due, called))
            .sum();
        let others = interrupts(called, woken).saturating_sub(part(called, woken));
        let mut found = Self {
            due,
            woken,
            idle,
            waited: waited.saturating_sub(part(due, called)),
            interrupt: own_interrupt,
            scheduler: (returned - called).saturating_sub(interrupts(called, returned)),
            back: (woken - returned).saturating_sub(interrupts(returned, woken)),
            before,
            others,
            rest: 0,
        };
        let parts = found.waited + found.way();
        found.rest = instructions.saturating_sub(parts);
        Some(found)
    }

    /// Its time beyond waiting.
    pub fn way(&self) -> u64 {
        self.interrupt + self.thread_path() + self.others + self.rest
    }

    /// The part of its way that no interrupt lengthens: to the scheduler, through it, and back.
    pub fn thread_path(&self) -> u64 {
        self.before + self.scheduler + self.back
    }

    /// All of it.
    pub fn instructions(&self) -> u64 {
        self.waited + self.way()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(kind: Kind, from: u64, to: u64) -> Stretch {
        Stretch {
            kind,
            from,
            to,
            interrupts: 0,
            began: 0,
            ended: 0,
        }
    }

    #[test]
    fn a_wake_up_in_a_section_waits_for_its_end_without_its_own_interrupt() {
        // Due at 1000 in a section that ends at 1500, interrupted from 1010 to 1110; the scheduler is
        // called at 1504 and returns at 1704; user code at 1804.
        let stretches = [
            stretch(Kind::Interrupt, 1_010, 1_110),
            stretch(Kind::Off, 900, 1_500),
            stretch(Kind::Scheduler, 1_504, 1_704),
            stretch(Kind::Switch, 1_540, 1_704),
            stretch(Kind::Off, 1_750, 1_790),
        ];
        let found = WakeUp::new(stretches.iter(), 1_000, 1_804, 804, false).unwrap();
        assert_eq!((found.waited, found.interrupt), (400, 100));
        assert_eq!((found.scheduler, found.back, found.rest), (200, 100, 4));
        assert_eq!((found.way(), found.instructions()), (404, 804));
    }

    #[test]
    fn a_wake_up_from_idle_waits_for_the_idle_thread() {
        // Halted at 1000; its interrupt, then the idle thread until 1300. The timer was 30 ns late.
        let stretches = [
            stretch(Kind::Interrupt, 1_000, 1_200),
            stretch(Kind::Off, 1_000, 1_300),
            stretch(Kind::Scheduler, 1_300, 1_400),
        ];
        let found = WakeUp::new(stretches.iter(), 1_000, 1_450, 480, true).unwrap();
        assert_eq!((found.waited, found.interrupt, found.rest), (100, 200, 30));
        assert_eq!(found.instructions(), 480);
    }

    #[test]
    fn a_thread_that_had_not_slept_was_not_woken() {
        let off = [stretch(Kind::Off, 900, 1_500)];
        assert_eq!(WakeUp::new(off.iter(), 1_000, 1_600, 600, false), None);
    }
}
