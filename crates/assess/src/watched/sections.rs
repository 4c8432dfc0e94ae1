//! Sections of a watched thread, between marks that its program passes: each run in the cycle in which it began.

use serde::Serialize;
use wakepath_archive::ModuleTimes;
use wakepath_explain::watch::ThreadSections;
use wakepath_statistics::{Distribution, DistributionSummary};
use wakepath_timeline::Sample;

/// One section of one thread. Times are nanoseconds.
#[derive(Debug, Clone, Serialize)]
pub struct WatchedSection {
    /// Its name.
    pub name: String,
    /// How long its runs took.
    pub times_ns: DistributionSummary,
    /// Its runs, by their end.
    #[serde(skip)]
    pub runs: Vec<SectionRun>,
    #[serde(skip)]
    sum_ns: u64,
}

/// One run of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionRun {
    /// In which cycle it began.
    pub cycle: u64,
    /// When, in nanoseconds on `CLOCK_MONOTONIC`.
    pub from_ns: u64,
    /// When it ended.
    pub to_ns: u64,
}

impl WatchedSection {
    /// The sections that ran in these cycles, in the order of their names; and the number of runs in none of them.
    pub(super) fn new(
        marked: &ThreadSections,
        samples: &[Sample],
        names: &[String],
    ) -> (Vec<Self>, u64) {
        let mut runs: Vec<Vec<SectionRun>> = vec![Vec::new(); names.len()];
        let mut outside = 0;
        for run in &marked.runs {
            let next = samples.partition_point(|sample| sample.wake_ns <= run.from_ns);
            let sample = next.checked_sub(1).map(|at| &samples[at]);
            // What begins after a cycle's end is in no cycle.
            let sample = sample.filter(|sample| run.from_ns <= sample.end_ns);
            match (sample, runs.get_mut(usize::from(run.section))) {
                (Some(sample), Some(runs)) => runs.push(SectionRun {
                    cycle: sample.cycle,
                    from_ns: run.from_ns,
                    to_ns: run.to_ns,
                }),
                _ => outside += 1,
            }
        }
        let sections = names.iter().zip(runs).filter_map(|(name, runs)| {
            let times = runs.iter().map(|run| (run.to_ns - run.from_ns) as i64);
            Some(Self {
                name: name.clone(),
                times_ns: Distribution::new(times.collect())?.summary(),
                sum_ns: runs.iter().map(|run| run.to_ns - run.from_ns).sum(),
                runs,
            })
        });
        (sections.collect(), outside)
    }

    /// As the archive has parts that timed themselves.
    pub fn module(&self) -> ModuleTimes {
        ModuleTimes {
            name: self.name.clone(),
            runs: self.runs.len() as u64,
            sum_ns: self.sum_ns,
            max_ns: self.times_ns.max.unsigned_abs(),
            ..ModuleTimes::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_explain::watch::MarkedRun;

    #[test]
    fn a_run_is_of_the_cycle_in_which_it_began() {
        let sample = |cycle, wake_ns, end_ns| Sample {
            cycle,
            wake_ns,
            end_ns,
            ..Sample::default()
        };
        let samples = [sample(3, 100, 200), sample(5, 300, 400)];
        let run = |section, from_ns, to_ns| MarkedRun {
            section,
            from_ns,
            to_ns,
        };
        let marked = ThreadSections {
            // Before the first cycle, in it, between two, over the end of one, of a section without a name.
            runs: vec![
                run(0, 90, 95),
                run(0, 100, 120),
                run(0, 210, 220),
                run(1, 390, 450),
                run(2, 310, 320),
            ],
            unpaired: 0,
        };
        let names = ["read".to_owned(), "write".to_owned()];
        let (sections, outside) = WatchedSection::new(&marked, &samples, &names);
        assert_eq!(outside, 3);
        let told: Vec<_> = sections.iter().map(|of| (&*of.name, of.runs[0])).collect();
        let run = |cycle, from_ns, to_ns| SectionRun {
            cycle,
            from_ns,
            to_ns,
        };
        assert_eq!(
            told,
            [("read", run(3, 100, 120)), ("write", run(5, 390, 450))]
        );
        let write = sections[1].module();
        assert_eq!((write.runs, write.sum_ns, write.max_ns), (1, 60, 60));
    }
}
