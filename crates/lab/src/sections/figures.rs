//! Evaluates a condition's non-preemptible stretches.
//!
//! Reports the longest of each kind, the wait of a wake-up due at any time, the composed bound, and
//! whether the samples stay below the sweep and the sweep below the bound.

use super::ledger::Ledger;
use super::sweep::Sweep;
use wakepath_schedulability::sections::{
    Composition, Interference, Kind, Sections, Variable, WakeUp,
};

/// Part of a run in which a loop ran under one policy and one set of loads. Times in instructions.
#[derive(Debug, Clone, Default)]
pub struct Span {
    /// Executed when its first cycle began, and when its last one ended.
    pub from: u64,
    /// See `from`.
    pub to: u64,
    /// Time that passed in it, in instructions, idle time included.
    pub passed: u64,
    /// Its wake-ups, in their order.
    pub wake_ups: Vec<WakeUp>,
    /// Latencies of all cycles that count, in their order.
    pub latencies: Vec<u64>,
}

/// The figures of a condition. Times in instructions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Figures {
    /// D_POID.
    pub off: Variable,
    /// D_PAIE.
    pub before_scheduler: Variable,
    /// D_PSD.
    pub scheduler: Variable,
    /// D_ST.
    pub switch: Variable,
    /// Interrupts.
    pub interrupts: Variable,
    /// Wake-ups whose parts are known.
    pub wake_ups: usize,
    /// The median interrupt that woke the loop, and the longest delay of its timer. An interrupt that took
    /// longer did so for other timers, which are in `interference`.
    pub own_interrupt: u64,
    /// The longest way from the scheduler's return to the loop's first instruction.
    pub back: u64,
    /// The path of a wake-up that nothing delays: the median of its own interrupt with its timer's delay,
    /// and the longest way through the scheduler to the loop.
    pub path: u64,
    /// The latencies at all instants.
    pub sweep: Sweep,
    /// What interrupts take at most in a window of the bound.
    pub interference: u64,
    /// The bound.
    pub bound: u64,
    /// The largest latency sampled; cycles that count.
    pub sampled: u64,
    /// See `sampled`.
    pub cycles: usize,
    /// The cycle, from 1, that came within 10 % of the sweep's largest.
    pub within_tenth: Option<usize>,
}

impl Figures {
    /// Of a condition's spans.
    pub fn new(ledger: &Ledger, spans: &[Span]) -> Self {
        let all = |kind: Kind| {
            spans
                .iter()
                .flat_map(move |span| ledger.between(kind, span.from, span.to))
        };
        let wake_ups = || spans.iter().flat_map(|span| &span.wake_ups);
        let most = |part: fn(&WakeUp) -> u64| wake_ups().map(part).max().unwrap_or(0);
        let latencies = || spans.iter().flat_map(|span| &span.latencies);
        let mut found = Self {
            off: Variable::new(all(Kind::Off)),
            before_scheduler: Variable::new(all(Kind::BeforeScheduler)),
            scheduler: Variable::new(all(Kind::Scheduler)),
            switch: Variable::new(all(Kind::Switch)),
            interrupts: Variable::new(all(Kind::Interrupt)),
            wake_ups: wake_ups().count(),
            own_interrupt: median(wake_ups().map(|one| one.interrupt)) + most(|one| one.rest),
            back: most(|one| one.back),
            path: median(wake_ups().map(|one| one.interrupt + one.rest))
                + most(WakeUp::thread_path),
            sampled: latencies().copied().max().unwrap_or(0),
            cycles: latencies().count(),
            ..Self::default()
        };
        found.sweep = sweep(ledger, spans, found.path);
        let interrupts = all(Kind::Interrupt).map(|one| (one.from, one.to));
        let interference = Interference::new(interrupts.collect());
        let composed = found.composition().among(&interference);
        found.interference = composed.interference;
        found.bound = composed.bound();
        let near = found.largest() - found.largest() / 10;
        found.within_tenth = latencies().position(|one| *one >= near).map(|at| at + 1);
        found
    }

    /// The largest latency that a wake-up due at any instant would have had.
    pub fn largest(&self) -> u64 {
        self.sweep.longest()
    }

    /// Due times until one within 10 % of the largest is to be expected, as its instants are distributed.
    pub fn expected_cycles(&self) -> Option<u64> {
        let near = self.largest() - self.largest() / 10;
        let instants = self.sweep.later_than(near.saturating_sub(1));
        (instants > 0).then(|| self.sweep.instants().div_ceil(instants))
    }

    /// What `wakepath bound --sections` composes to the same bound.
    pub fn sections(&self, ns_per_instruction: u64) -> Sections {
        self.composition().sections(ns_per_instruction)
    }

    fn composition(&self) -> Composition {
        Composition {
            off: self.off.most(),
            before_scheduler: self.before_scheduler.most(),
            scheduler: self.scheduler.most(),
            switch: self.switch.most(),
            own_interrupt: self.own_interrupt,
            back: self.back,
            interference: self.interference,
        }
    }

    /// What contradicts what, in a sentence each; none where sampled ≤ sweep ≤ bound.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.sampled > self.largest() {
            faults.push(format!(
                "a cycle was {} instructions late, and no instant of the sweep is above {}: something \
                 else than a section held the loop up, such as a thread of its priority",
                self.sampled,
                self.largest()
            ));
        }
        if self.largest() > self.bound {
            faults.push(format!(
                "the sweep's largest is {} instructions, above the bound of {}: the composition lacks \
                 something",
                self.largest(),
                self.bound
            ));
        }
        faults
    }
}

/// The upper median; 0 of none.
fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    let middle = values.len() / 2;
    if values.is_empty() {
        0
    } else {
        *values.select_nth_unstable(middle).1
    }
}

/// Latencies of a wake-up due at any instant. A stretch in which the loop was woken is followed by that
/// wake-up's own path, whose interrupt is not part of the wait; any other stretch by the undisturbed
/// `path`. Instants in which the loop was being woken already have that wake-up's latency.
fn sweep(ledger: &Ledger, spans: &[Span], path: u64) -> Sweep {
    let mut found = Vec::new();
    let (mut all, mut idle, mut idle_latency) = (0, 0, 0);
    for span in spans {
        let stretches = [Kind::Off, Kind::Switch];
        let stretches = stretches
            .into_iter()
            .flat_map(|kind| ledger.between(kind, span.from, span.to));
        for stretch in stretches {
            let later = span
                .wake_ups
                .partition_point(|one| one.woken <= stretch.from);
            found.push(match span.wake_ups.get(later) {
                Some(one) if one.due <= stretch.from => (0, one.instructions()),
                Some(one) if one.due < stretch.to => {
                    let own = one.interrupt.min(stretch.to - one.due);
                    (stretch.length() - own, one.way())
                }
                _ => (stretch.length(), path),
            });
        }
        all += span.passed;
        idle += span.passed.saturating_sub(span.to - span.from);
        let from_idle = span.wake_ups.iter().filter(|one| one.idle);
        let from_idle = from_idle.map(WakeUp::instructions);
        idle_latency = from_idle.fold(idle_latency, u64::max);
    }
    Sweep::new(found, all, (idle, idle_latency), path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_schedulability::sections::Stretch;

    fn stretch(kind: Kind, from: u64, length: u64, interrupts: u64) -> Stretch {
        Stretch {
            kind,
            from,
            to: from + length,
            interrupts,
            began: 0,
            ended: 0,
        }
    }

    /// A section of 600 from 1000 on, in which the loop was due at 1200: its interrupt took 100, the
    /// scheduler 200, the way back 80. A longer section of 900 came when it was not due.
    fn condition() -> (Ledger, Span) {
        let mut ledger = Ledger::default();
        let all = [
            stretch(Kind::Interrupt, 1_200, 100, 0),
            stretch(Kind::Off, 1_000, 600, 100),
            stretch(Kind::BeforeScheduler, 1_600, 4, 0),
            stretch(Kind::Scheduler, 1_604, 200, 0),
            stretch(Kind::Switch, 1_640, 164, 0),
            stretch(Kind::Off, 1_820, 30, 0),
            stretch(Kind::Off, 5_000, 900, 0),
            stretch(Kind::Interrupt, 8_000, 50, 0),
            stretch(Kind::Off, 8_000, 50, 50),
        ];
        all.into_iter().for_each(|one| ledger.push(one));
        let wake_up = WakeUp::new(ledger.since(1_200), 1_200, 1_884, 684, false).unwrap();
        let span = Span {
            from: 0,
            to: 10_000,
            passed: 10_000,
            wake_ups: vec![wake_up],
            latencies: vec![684],
        };
        (ledger, span)
    }

    #[test]
    fn figures_are_those_worked_out_by_hand() {
        let (ledger, span) = condition();
        let found = Figures::new(&ledger, &[span]);
        assert_eq!(found.off.most(), 900);
        assert_eq!(
            (found.before_scheduler.most(), found.switch.most()),
            (4, 164)
        );
        assert_eq!((found.scheduler.most(), found.back), (200, 80));
        // Waited 300, its own interrupt 100, 4 on the way, 200, 80.
        assert_eq!((found.own_interrupt, found.path), (100, 384));
        assert_eq!(found.sampled, 684);
        // 900 + 384. Not swept: what began when it was being woken.
        assert_eq!(found.largest(), 1_284);
        assert_eq!(found.sweep.waiting(), 500 + 900 + 50);
        // 900 + 4 + 200 + 100 + 80 = 1284, and 100 of interrupts in any such window.
        assert_eq!((found.interference, found.bound), (100, 1_384));
        assert!(found.faults().is_empty());
        assert_eq!(found.within_tenth, None);
        // 1156 or more: a wait of 772 or more, at 129 instants of 10 000.
        assert_eq!(found.expected_cycles(), Some(10_000_u64.div_ceil(129)));
        let composed = found.sections(2).latency_bound().unwrap();
        assert_eq!(composed.latency_ns, 2 * 1_384);
    }

    /// A section of 160 000 in each of 8000 periods, somewhere else in each, and the loop due in the middle
    /// of each period. No cycle is above any instant, and the worst of all comes within 1 %.
    #[test]
    fn of_8000_cycles_none_is_above_any_instant_and_the_planted_section_is_found() {
        const PERIOD: u64 = 1_000_000;
        const PLANTED: u64 = 160_000;
        let mut ledger = Ledger::default();
        let (mut wake_ups, mut place) = (Vec::new(), 1_u64);
        for number in 0..8_000 {
            place = place
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let from = number * PERIOD + (place >> 33) % (PERIOD - PLANTED - 1_000);
            let due = number * PERIOD + PERIOD / 2;
            let planted = |interrupts| stretch(Kind::Off, from, PLANTED + interrupts, interrupts);
            let is_hit = (from + 1..from + PLANTED).contains(&due);
            if from + PLANTED <= due {
                ledger.push(planted(0));
            }
            ledger.push(stretch(Kind::Interrupt, due, 100, 0));
            let ended = if is_hit {
                ledger.push(planted(100));
                from + PLANTED + 100
            } else {
                ledger.push(stretch(Kind::Off, due, 100, 100));
                due + 100
            };
            ledger.push(stretch(Kind::BeforeScheduler, ended, 4, 0));
            ledger.push(stretch(Kind::Scheduler, ended + 4, 200, 0));
            let woken = ended + 284;
            let of = WakeUp::new(ledger.since(due), due, woken, woken - due, false);
            wake_ups.push(of.unwrap());
            if from >= due {
                ledger.push(stretch(Kind::Off, from.max(woken + 1), PLANTED, 0));
            }
        }
        let latencies: Vec<u64> = wake_ups.iter().map(WakeUp::instructions).collect();
        let span = Span {
            from: 0,
            to: 8_000 * PERIOD,
            passed: 8_000 * PERIOD,
            wake_ups,
            latencies: latencies.clone(),
        };
        let found = Figures::new(&ledger, &[span]);
        assert!(found.faults().is_empty(), "{:?}", found.faults());
        assert!(latencies.iter().all(|one| *one <= found.largest()));
        // The section, the interrupt, and 284 to the loop: the interrupt counts once.
        assert_eq!(found.largest(), PLANTED + 384);
        assert!(found.largest() - found.sampled <= found.largest() / 100);
        assert!(found.bound - found.largest() <= found.largest() / 100);
    }

    /// A storm: an interrupt of 3600 runs other timers, and the loop's own timer expires 100 into it. All
    /// other wake-ups take 384.
    #[test]
    fn the_interrupt_of_a_storm_counts_once() {
        let mut ledger = Ledger::default();
        let mut wake_ups = Vec::new();
        for number in 0..3_u64 {
            let from = 20_000 * number;
            let (due, length) = match number {
                1 => (from + 100, 3_600),
                _ => (from, 100),
            };
            ledger.push(stretch(Kind::Interrupt, from, length, 0));
            ledger.push(stretch(Kind::Off, from, length, length));
            let called = from + length + 4;
            ledger.push(stretch(Kind::BeforeScheduler, called - 4, 4, 0));
            ledger.push(stretch(Kind::Scheduler, called, 200, 0));
            let woken = called + 280;
            let taken = woken - due;
            wake_ups.push(WakeUp::new(ledger.since(due), due, woken, taken, false).unwrap());
        }
        let latencies: Vec<u64> = wake_ups.iter().map(WakeUp::instructions).collect();
        assert_eq!(latencies, [384, 3_784, 384]);
        let span = Span {
            from: 0,
            to: 60_000,
            passed: 60_000,
            wake_ups,
            latencies,
        };
        let found = Figures::new(&ledger, &[span]);
        assert_eq!((found.path, found.sampled), (384, 3_784));
        // Due when the storm's interrupt began: 100 earlier than the cycle that was sampled.
        assert_eq!(found.largest(), 3_884);
        // Its own 100, 284 through the scheduler, and the storm's 3600 once, as interference.
        assert_eq!(found.bound, 384 + 3_600);
        assert!(found.faults().is_empty());
    }

    #[test]
    fn a_latency_above_the_sweep_is_a_fault_and_said() {
        let (ledger, mut span) = condition();
        span.latencies.push(20_000);
        let faults = Figures::new(&ledger, &[span]).faults();
        assert_eq!(faults.len(), 1);
        assert!(faults[0].starts_with("a cycle was 20000 instructions late"));
    }
}
