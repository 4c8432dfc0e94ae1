//! Times of the loop's timed parts, summed up, and how often a part with its own rate was late.

use super::lateness::Lateness;
use wakepath_archive::ModuleTimes;

/// Adds a run of a part.
#[inline]
pub(super) fn add(times: &mut ModuleTimes, taken_ns: u64) {
    times.runs += 1;
    times.sum_ns = times.sum_ns.saturating_add(taken_ns);
    times.max_ns = times.max_ns.max(taken_ns);
    let over = times.budget_ns.is_some_and(|budget| taken_ns > budget);
    times.over_budget += u64::from(over);
}

/// Forgets the runs of a part.
pub(super) fn forget(times: &mut ModuleTimes) {
    (times.runs, times.sum_ns) = (0, 0);
    (times.max_ns, times.over_budget) = (0, 0);
}

/// The parts that a controller of the user's own reports. Nothing but `new` and `modules` allocates.
pub(super) struct Tallies {
    parts: Vec<(ModuleTimes, Option<Lateness>)>,
    period_ns: u64,
}

impl Tallies {
    /// Parts with their names, budgets and rates in a loop of this period.
    pub(super) fn new(parts: impl Iterator<Item = ModuleTimes>, period_ns: u64) -> Self {
        let with_rate = |part: ModuleTimes| {
            let lateness = part.every.map(Lateness::new);
            (part, lateness)
        };
        Self {
            parts: parts.map(with_rate).collect(),
            period_ns: period_ns.max(1),
        }
    }

    /// After the cycle whose input is of `time_ns`: how long each part ran in it, `None` for one
    /// that did not run.
    pub(super) fn note(&mut self, time_ns: u64, taken_ns: impl Iterator<Item = Option<u64>>) {
        let at = time_ns / self.period_ns;
        for ((times, lateness), taken_ns) in self.parts.iter_mut().zip(taken_ns) {
            if let Some(lateness) = lateness {
                lateness.is_due(at);
                times.late = Some(lateness.late);
                if taken_ns.is_some() {
                    lateness.ran(at);
                }
            }
            if let Some(taken_ns) = taken_ns {
                add(times, taken_ns);
            }
        }
    }

    /// The resulting times.
    pub(super) fn modules(&self) -> Vec<ModuleTimes> {
        self.parts.iter().map(|(times, _)| times.clone()).collect()
    }

    /// The warm-up is over.
    pub(super) fn end_warm_up(&mut self) {
        for (times, lateness) in &mut self.parts {
            forget(times);
            times.late = times.every.map(|_| 0);
            if let Some(lateness) = lateness {
                lateness.late = 0;
            }
        }
    }
}

/// A part as its controller describes it. A budget or a rate of 0 means none.
pub(super) fn part(name: &str, budget_ns: u64, every: u64) -> ModuleTimes {
    ModuleTimes {
        name: wakepath_timeline::shortened(name, 64),
        budget_ns: (budget_ns > 0).then_some(budget_ns),
        every: (every > 0).then_some(every),
        late: (every > 0).then_some(0),
        ..ModuleTimes::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_budgets_and_lateness_are_added_up_and_forgotten_after_the_warm_up() {
        let parts = [part("a\nb", 5, 0), part("slow", 0, 2)];
        let mut tallies = Tallies::new(parts.into_iter(), 4);
        let mut cycle = |at: u64, first, second| {
            tallies.note(4 * at, [first, second].into_iter());
            tallies.modules()
        };
        cycle(1, Some(5), None);
        cycle(2, Some(6), None);
        // Due at 2 and not run: late at 4.
        let modules = cycle(4, None, Some(9));
        let [one, other] = &modules[..] else { panic!() };
        assert_eq!(
            (one.name.as_str(), one.runs, one.sum_ns),
            ("a\u{fffd}b", 2, 11)
        );
        assert_eq!((one.max_ns, one.over_budget, one.late), (6, 1, None));
        assert_eq!((other.runs, other.over_budget, other.late), (1, 0, Some(1)));
        tallies.end_warm_up();
        let modules = tallies.modules();
        assert_eq!((modules[0].runs, modules[0].max_ns), (0, 0));
        assert_eq!((modules[1].late, modules[1].every), (Some(0), Some(2)));
    }
}
