//! Collects a condition's picture from its samples, segment by segment, by the same accounting of
//! due times as the verdict's.

use super::cpus::CpuTally;
use super::worst::Worst;
use super::{
    LateCycle, Measure, Picture, Pyramid, Shape, SkippedCycles, Stretch, Violations, WorstCycle,
};
use wakepath_scenario::Criterion;
use wakepath_statistics::{Distribution, batch_mean_interval};
use wakepath_timeline::{Sample, SampleFlags};
use wakepath_verdict::{Account, ConditionName, Fate, Gap, JudgedWindow, Limits, Until};

/// Batches for the interval of the mean: enough for Student's t, few enough to be long.
const BATCHES: u32 = 20;
/// Confidence of that interval.
const CONFIDENCE: f64 = 0.99;

/// A picture in the making.
pub(crate) struct Gatherer {
    limits: Limits,
    is_judged: bool,
    period_ns: u64,
    stretches: Vec<Stretch>,
    latency: Vec<Option<i64>>,
    response: Vec<Option<i64>>,
    execution: Vec<Option<i64>>,
    violations: Violations,
    worst: Worst,
    cpus: CpuTally,
}

impl Gatherer {
    /// Without a criterion nothing is missed, and skipped due times are no violations.
    pub(crate) fn new(criterion: Option<&Criterion>) -> Self {
        Self {
            limits: criterion.map_or(Limits::default(), Limits::new),
            is_judged: criterion.is_some(),
            period_ns: 0,
            stretches: Vec::new(),
            latency: Vec::new(),
            response: Vec::new(),
            execution: Vec::new(),
            violations: Violations::default(),
            worst: Worst::default(),
            cpus: CpuTally::default(),
        }
    }

    /// Adds a segment of one thread that the verdict's record has taken without complaint.
    pub(crate) fn add(
        &mut self,
        (segment, repetition): (u32, u32),
        window: JudgedWindow,
        samples: &[Sample],
    ) {
        self.period_ns = window.due.period_ns;
        let first = window.first_judged_cycle;
        self.stretches.push(Stretch {
            first_index: self.latency.len() as u64,
            count: window.end_cycle - first,
            first_cycle: first,
            segment,
            repetition,
            thread: window.thread as u16,
        });
        for series in [&mut self.latency, &mut self.response, &mut self.execution] {
            // Growing by doubling would copy a long run's series several times.
            series.reserve_exact(samples.len());
        }
        let mut account = Account::new(self.limits);
        account.begin(window);
        let mut cpu = samples.first().map(|sample| sample.cpu);
        for sample in samples {
            // The loop waits on the CPU on which it last woke.
            cpu = (sample.cycle >= first).then_some(sample.cpu).or(cpu);
            // The verdict's record has taken them all.
            let _ = account.add(sample, |fate| self.take(fate, cpu));
        }
        account.end(Until::WindowEnd, |fate| self.take(fate, cpu));
    }

    fn take(&mut self, fate: Fate<'_>, cpu: Option<u16>) {
        match fate {
            Fate::Ran { sample, missed } => self.ran(sample, missed),
            Fate::Skipped(gap) => self.skipped(gap, cpu),
            // A due time of which nothing is known has its place, and no value.
            Fate::Unknown(gap) => (0..gap.count).for_each(|_| self.push(None, None, None)),
        }
    }

    fn push(&mut self, latency: Option<i64>, response: Option<i64>, execution: Option<i64>) {
        self.latency.push(latency);
        self.response.push(response);
        self.execution.push(execution);
    }

    fn ran(&mut self, sample: &Sample, missed: bool) {
        let index = self.latency.len() as u64;
        let (latency_ns, response_ns) = (sample.latency_ns(), sample.response_ns());
        let after_overrun = sample.flags.contains(SampleFlags::DUE_ALREADY_PAST);
        if missed && self.is_judged {
            self.violations.late.push(LateCycle {
                index,
                latency_ns,
                response_ns,
                after_overrun,
            });
        }
        self.worst.offer(WorstCycle {
            index,
            latency_ns,
            response_ns: Some(response_ns),
            skipped: 0,
            after_overrun,
            cpu: Some(sample.cpu),
        });
        self.cpus.count(sample.cpu, latency_ns);
        self.push(
            Some(latency_ns),
            Some(response_ns),
            Some(sample.execution_ns()),
        );
    }

    fn skipped(&mut self, gap: Gap, cpu: Option<u16>) {
        let skipped = SkippedCycles {
            index: self.latency.len() as u64,
            count: gap.count,
            latency_ns: gap.longest_ns(),
        };
        if self.is_judged {
            self.violations.skipped.push(skipped);
        }
        self.worst.offer(WorstCycle {
            index: skipped.index,
            latency_ns: skipped.latency_ns,
            response_ns: None,
            skipped: skipped.count,
            after_overrun: false,
            cpu: None,
        });
        for suffered_ns in gap.suffered_ns() {
            if let Some(cpu) = cpu {
                self.cpus.count(cpu, suffered_ns);
            }
            self.push(Some(suffered_ns), None, None);
        }
    }

    /// The picture, each series in at most `most_buckets`.
    pub(crate) fn finish(self, name: ConditionName, most_buckets: u64) -> Picture {
        let due_times = self.latency.len() as u64;
        let in_order: Vec<i64> = self.latency.iter().flatten().copied().collect();
        let mean = batch_mean_interval(&in_order, BATCHES, CONFIDENCE);
        drop(in_order);
        let measure = |series: Vec<Option<i64>>| {
            let pyramid = Pyramid::new(&series, most_buckets);
            let values: Vec<i64> = series.into_iter().flatten().collect();
            let shape = Distribution::new(values).as_ref().map(Shape::new);
            Measure { pyramid, shape }
        };
        // One loop that the kernel moved about is not several measured side by side.
        let threads = self.stretches.iter().map(|stretch| stretch.thread);
        let are_several = threads.clone().max() != threads.min();
        Picture {
            name,
            period_ns: self.period_ns,
            latency_limit_ns: self.limits.latency_ns,
            deadline_ns: self.limits.deadline_ns,
            due_times,
            stretches: self.stretches,
            latency: measure(self.latency),
            response: measure(self.response),
            execution: measure(self.execution),
            violations: self.violations,
            worst: self.worst.latest(),
            mean,
            cpus: if are_several {
                self.cpus.counts()
            } else {
                Vec::new()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_scenario::{KnownCpus, Scenario};
    use wakepath_timeline::DueTimes;
    use wakepath_verdict::{CycleRecord, Gaps};

    /// Due every millisecond, 2 cycles of warm-up, 12 in all: cycle 4 wakes 0.3 ms late, cycle 6
    /// 2.4 ms late with 7 and 8 skipped, and none comes after 10.
    #[test]
    fn every_missed_due_time_is_kept_as_the_verdict_counts_it() {
        let text = "name = \"a\"\nrate = \"1 kHz\"\ncycles = 10\npolicies = [\"OTHER\"]\n\
                    [criterion]\nlatency = \"100 us\"\nmiss-fraction = \"50 %\"";
        let criterion = Scenario::parse(text, "a.toml", &KnownCpus::first(1))
            .unwrap()
            .criterion;
        let due = DueTimes {
            start_ns: 1_000_000_000,
            period_ns: 1_000_000,
        };
        let sample = |cycle: u64, latency: u64| Sample {
            cycle,
            due_ns: due.due_ns(cycle),
            wake_ns: due.due_ns(cycle) + latency,
            end_ns: due.due_ns(cycle) + latency + 10_000,
            cpu: 3,
            ..Sample::default()
        };
        let late = |cycle| match cycle {
            4 => 300_000,
            6 => 2_400_000,
            _ => 5_000 + cycle,
        };
        let samples: Vec<Sample> = [0, 1, 2, 3, 4, 5, 6, 9, 10]
            .map(|cycle| sample(cycle, late(cycle)))
            .to_vec();
        let window = JudgedWindow {
            due,
            first_judged_cycle: 2,
            end_cycle: 12,
            thread: 0,
            lost: 0,
            gaps: Gaps::Skipped,
        };
        let mut record = CycleRecord::new(&criterion);
        record.add(window, &samples).unwrap();
        let mut gatherer = Gatherer::new(Some(&criterion));
        gatherer.add((7, 1), window, &samples);
        let name = ConditionName {
            policy: None,
            phase: "idle".into(),
            task: None,
        };
        let picture = gatherer.finish(name, 1_000);

        assert_eq!(picture.due_times, record.tally().scheduled());
        assert_eq!(picture.violations.count(), record.tally().misses.missed);
        let found: Vec<_> = picture
            .violations
            .late
            .iter()
            .map(|v| (v.index, v.latency_ns))
            .collect();
        assert_eq!(found, [(2, 300_000), (4, 2_400_000)]);
        let skipped = &picture.violations.skipped;
        // Cycle 9 woke 5.009 µs after its due time, 2 ms after that of cycle 7; cycle 11 never ran.
        let found: Vec<_> = skipped
            .iter()
            .map(|v| (v.index, v.count, v.latency_ns))
            .collect();
        assert_eq!(found, [(5, 2, 2_005_009), (9, 1, 1_000_000)]);
        let summary = record.latency_as_scheduled().unwrap();
        let shape = picture.latency.shape.as_ref().unwrap();
        assert_eq!((shape.count, shape.max), (summary.count(), summary.max()));
        assert_eq!(picture.worst[0].latency_ns, 2_400_000);
        assert_eq!(picture.worst[0].cpu, Some(3));
        assert_eq!(picture.place_of(9).unwrap().1, 11);
        assert_eq!(picture.place_of(10), None);
        assert_eq!(picture.stretches[0].repetition, 1);
    }
}
