//! Cache-related delay of a job after a preemption or a migration.
//!
//! The time of a run through a working set after another thread ran on the CPU or the job moved to
//! another CPU, minus a warm run immediately after it on the same CPU. The synthetic method of
//! Bastoni, Brandenburg and Anderson, "Cache-Related Preemption and Migration Delays" (OSPERT
//! 2010), with runs that no prefetcher shortens. The cost of the switch itself is not included,
//! because no clock runs during it.

mod preempting;
mod scattered;

use preempting::Preempting;
use scattered::Scattered;
use wakepath_archive::{CacheRuns, CacheState, ModuleTimes};
use wakepath_rt::{affinity, clock};
use wakepath_statistics::LatencyHistogram;

/// Rounds over one working set, and their results.
pub(crate) struct CacheDelay {
    set: Scattered,
    working_set_bytes: u64,
    preempting: Preempting,
    /// The process's CPUs, before this thread was pinned.
    given: Vec<u16>,
    /// The CPUs of this thread, and the one of them that it stays on.
    home: (Vec<u16>, u16),
    /// Target of a migration; `None` if no other CPU was given.
    away: Option<u16>,
    /// Time that a cycle spends on rounds.
    share_ns: u64,
    warm: Tally,
    preempted: Tally,
    migrated: Tally,
}

#[derive(Default)]
struct Tally {
    histogram: LatencyHistogram,
    sum_ns: u64,
}

impl Tally {
    fn add(&mut self, ns: u64) {
        self.histogram.record(ns.cast_signed());
        self.sum_ns = self.sum_ns.saturating_add(ns);
    }
}

impl CacheDelay {
    /// Has all memory and the other thread.
    pub(super) fn new(bytes: u64, preempted_by: u64, period_ns: u64) -> Self {
        Self {
            set: Scattered::new(bytes),
            working_set_bytes: bytes,
            preempting: Preempting::new(preempted_by),
            given: affinity::current().unwrap_or_default(),
            home: (Vec::new(), 0),
            away: None,
            share_ns: period_ns / 5 * 4,
            warm: Tally::default(),
            preempted: Tally::default(),
            migrated: Tally::default(),
        }
    }

    /// Before the first cycle, on the thread that runs them all, with its CPUs and its policy.
    pub(super) fn begin(&mut self) {
        let home = affinity::this_cpu();
        // The furthest is the one whose caches share the least.
        let others = self.given.iter().copied().filter(|&cpu| cpu != home);
        self.away = others.max_by_key(|&cpu| cpu.abs_diff(home));
        self.home = (affinity::current().unwrap_or_default(), home);
        self.preempting.begin(home);
    }

    /// As many rounds as fit, at least one.
    pub(super) fn step(&mut self) {
        let until_ns = clock::monotonic_ns().saturating_add(self.share_ns);
        // If the move fails, the actual CPU shows it.
        let _ = affinity::pin(&[self.home.1]);
        let mut now_ns = clock::monotonic_ns();
        loop {
            let began_ns = now_ns;
            self.round();
            now_ns = clock::monotonic_ns();
            // Another one as long would not fit.
            if now_ns.saturating_add(now_ns.saturating_sub(began_ns)) >= until_ns {
                break;
            }
        }
        let _ = affinity::pin(&self.home.0);
    }

    fn round(&mut self) {
        self.set.run();
        let preempted = self.preempting.preempt();
        let (longer_ns, warm_ns) = self.set.longer_than_warm();
        if preempted && affinity::this_cpu() == self.home.1 {
            self.preempted.add(longer_ns);
            self.warm.add(warm_ns);
        }
        let Some(away) = self.away else {
            return;
        };
        let _ = affinity::pin(&[away]);
        let (longer_ns, _) = self.set.longer_than_warm();
        if affinity::this_cpu() == away {
            self.migrated.add(longer_ns);
        }
        let _ = affinity::pin(&[self.home.1]);
    }

    /// Discards the results so far.
    pub(super) fn end_warm_up(&mut self) {
        (self.warm, self.preempted, self.migrated) = Default::default();
    }

    /// The three kinds of runs.
    pub(super) fn modules(&self) -> Vec<ModuleTimes> {
        vec![
            self.module("warm run", CacheState::Warm, &self.warm),
            self.module("lost by preemption", CacheState::Preempted, &self.preempted),
            self.module("lost by migration", CacheState::Migrated, &self.migrated),
        ]
    }

    fn module(&self, name: &str, state: CacheState, tally: &Tally) -> ModuleTimes {
        let bins = tally.histogram.occupied();
        let bins = bins.map(|(low, high, count)| (low.unsigned_abs(), high.unsigned_abs(), count));
        ModuleTimes {
            name: name.into(),
            runs: tally.histogram.count(),
            sum_ns: tally.sum_ns,
            max_ns: tally.histogram.max().unwrap_or(0).unsigned_abs(),
            caches: Some(CacheRuns {
                state,
                working_set_bytes: self.working_set_bytes,
                preempting_bytes: self.preempting.bytes(),
                bins: bins.collect(),
            }),
            ..ModuleTimes::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_statistics::Quantile;

    /// 16 MiB of another thread are more than any level but the last has.
    fn measured(bytes: u64) -> CacheDelay {
        std::thread::spawn(move || {
            let mut measured = CacheDelay::new(bytes, 16 << 20, 50_000_000);
            measured.begin();
            measured.step();
            measured.end_warm_up();
            for _ in 0..10 {
                measured.step();
            }
            measured
        })
        .join()
        .unwrap()
    }

    fn median(tally: &Tally) -> i64 {
        tally.histogram.quantile(Quantile::P50).unwrap()
    }

    #[test]
    fn a_working_set_of_the_second_level_loses_more_than_an_empty_one() {
        let (empty, set) = (measured(0), measured(256 << 10));
        let lines = 4096;
        for of in [(|one| &one.preempted) as fn(&CacheDelay) -> &Tally, |one| {
            &one.migrated
        }] {
            if empty.away.is_none() && of(&set).histogram.count() == 0 {
                println!("not run: a migration needs a second CPU");
                continue;
            }
            let (nothing, lost) = (median(of(&empty)), median(of(&set)));
            assert!(lost > nothing + lines, "{lost} ns after {nothing} ns");
        }
        // A warm run takes less time than the delay: otherwise it was not warm.
        assert!(median(&set.warm) > 0 && median(&empty.warm) < median(&set.warm));
    }

    #[test]
    fn a_thread_is_moved_to_no_cpu_that_its_process_was_not_given() {
        std::thread::spawn(|| {
            let first = affinity::current().unwrap()[0];
            affinity::pin(&[first]).unwrap();
            let mut measured = CacheDelay::new(4096, 4096, 1_000_000);
            measured.begin();
            measured.step();
            let told = measured.modules();
            assert!(told[1].runs > 0 && told[2].runs == 0, "{told:?}");
            assert_eq!(affinity::current().unwrap(), [first]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn what_was_measured_before_the_end_of_the_warm_up_is_forgotten() {
        let mut measured = measured(4096);
        let told = measured.modules();
        assert_eq!(told[1].runs, told[0].runs);
        assert!(told[1].runs >= 10, "{} rounds", told[1].runs);
        let counted: u64 = told[1]
            .caches
            .iter()
            .flat_map(|of| &of.bins)
            .map(|bin| bin.2)
            .sum();
        assert_eq!(counted, told[1].runs);
        measured.end_warm_up();
        assert!(measured.modules().iter().all(|one| one.runs == 0));
    }
}
