//! How long the sections of a recorded loop took, run by run: the shortest, the mean with its interval, the
//! 99th percentile, the largest. From the file of the segment, as far as it is whole; the sums stored with
//! it are exact.

use crate::error::AssessmentError;
use serde::Serialize;
use std::collections::BTreeMap;
use wakepath_archive::{Run, SegmentRecord, SegmentTold, ThreadRecord};
use wakepath_statistics::{Distribution, MeanInterval, batch_mean_interval};

/// Batches of the interval of the mean.
const BATCHES: u32 = 20;
const CONFIDENCE: f64 = 0.99;

/// The spread of a section's runs, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Runs that are known one by one.
    pub runs: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The mean with its 99 % interval from 20 batches; `None` of fewer than 40 runs.
    pub mean: Option<MeanInterval>,
    /// The 99th percentile; `None` of fewer than 100 runs.
    pub p99_ns: Option<u64>,
    /// The longest.
    pub max_ns: u64,
}

impl Spread {
    fn new(runs: Vec<i64>) -> Option<Self> {
        let mean = (runs.len() >= 2 * BATCHES as usize)
            .then(|| batch_mean_interval(&runs, BATCHES, CONFIDENCE))
            .flatten();
        let all = Distribution::new(runs)?;
        let rank = (all.count() * 99).div_ceil(100);
        let p99 = (all.count() >= 100).then(|| all.at_rank(rank)).flatten();
        Some(Self {
            runs: all.count(),
            min_ns: all.min().unsigned_abs(),
            mean,
            p99_ns: p99.map(i64::unsigned_abs),
            max_ns: all.max().unsigned_abs(),
        })
    }
}

/// The runs of all sections of some segments' threads, as they are asked for.
pub(crate) struct Runs<'a> {
    run: &'a Run,
    segments: BTreeMap<u32, Option<SegmentTold>>,
}

impl<'a> Runs<'a> {
    pub(crate) fn new(run: &'a Run) -> Self {
        Self {
            run,
            segments: BTreeMap::new(),
        }
    }

    /// The spread of a section over the judged time of these threads.
    pub(crate) fn spread(
        &mut self,
        threads: &[(&SegmentRecord, &ThreadRecord)],
        name: &str,
    ) -> Result<Option<Spread>, AssessmentError> {
        let mut runs = Vec::new();
        for (segment, thread) in threads {
            let number = segment.segment;
            if !self.segments.contains_key(&number) {
                // One segment at a time is held: a long run has many.
                self.segments.retain(|_, told| told.is_none());
                let told = SegmentTold::read(self.run.directory(), number)?;
                self.segments.insert(number, told);
            }
            let told = self.segments.get(&number).and_then(Option::as_ref);
            let Some(of) = told.and_then(|told| told.threads.get(&thread.thread)) else {
                continue;
            };
            let section = of.names.iter().position(|known| known == name);
            let judged = of.spans.iter().filter(|span| {
                Some(usize::from(span.section)) == section
                    && span.cycle >= thread.first_judged_cycle
            });
            runs.extend(judged.map(|span| (span.to_ns - span.from_ns) as i64));
        }
        Ok(Spread::new(runs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_runs_have_no_interval_and_no_percentile() {
        assert_eq!(Spread::new(Vec::new()), None);
        let few = Spread::new(vec![5, 3, 9]).unwrap();
        assert_eq!((few.runs, few.min_ns, few.max_ns), (3, 3, 9));
        assert_eq!((few.mean, few.p99_ns), (None, None));
        let many = Spread::new((1..=1_000).collect()).unwrap();
        assert_eq!(many.p99_ns, Some(990));
        let mean = many.mean.unwrap();
        assert!((mean.mean - 500.5).abs() < 1e-9 && mean.half_width > 0.0);
    }
}
