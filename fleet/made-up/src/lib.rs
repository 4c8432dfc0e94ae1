//! Generates runs with known content, as `wakepath run` leaves them, of imaginary boards.
//!
//! For tests and benchmarks. Every latency is a formula of the run's seed, so that an answer can be
//! computed without reading the run.

mod sealed;

pub use sealed::{SEALED, seal_run, trust_file};
use serde_json::json;
use std::path::Path;
use wakepath_archive::{
    Effective, Ending, Event, FactsTaken, LogWriter, PlannedSegment, RunStarted, ScenarioText,
    SegmentEnded, SegmentStarted, ThreadEnd, ThreadEnded, ThreadStarted, Tool, When,
};
use wakepath_machine::{Facts, FrequencyPolicy, Reading};
use wakepath_statistics::SplitMix;
use wakepath_timeline::{DueTimes, Policy, Sample, SampleFlags};

/// Due times of every run: 1 kHz.
pub const DUE: DueTimes = DueTimes {
    start_ns: 5_000_000_123,
    period_ns: 1_000_000,
};

/// Cycles of the warm-up.
pub const WARM_UP: u64 = 10;

const SCENARIO: &str = r#"name = "made-up"
period = "1 ms"
work = "nothing"
cycles = CYCLES
repetitions = 1
warm-up = "10 ms"
policies = [{ policy = "fifo", priority = 80 }]

[criterion]
latency = "LIMIT"
deadline = "1 ms"
miss-fraction = 0.01
confidence = 0.95
policies = "any"

[[phases]]
name = "idle"
loads = []
"#;

/// A run to generate.
#[derive(Debug, Clone)]
pub struct MadeUp {
    /// Its name.
    pub run_id: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Governor of its CPUs.
    pub governor: String,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// Seed of its latencies.
    pub seed: u64,
    /// Added to each latency, in nanoseconds.
    pub slower_by_ns: i64,
    /// Judged due times.
    pub cycles: u64,
    /// Threads.
    pub threads: u16,
}

impl MadeUp {
    /// Judged due times for a pass; fewer are too little evidence for this criterion.
    pub const PASSES: u64 = 60_000;

    /// The run of a number: 1000 judged due times on one thread.
    pub fn number(number: u64) -> Self {
        let (day, minute) = (1 + number / 1440 % 28, number % 1440);
        let time = format!("{:02}:{:02}", minute / 60, minute % 60);
        Self {
            run_id: format!("2026-{number:08}"),
            kernel: "6.12.9-rt".to_owned(),
            governor: "performance".to_owned(),
            started: format!("2026-11-{day:02}T{time}:00Z"),
            seed: number,
            slower_by_ns: 0,
            cycles: 1000,
            threads: 1,
        }
    }

    /// The latency of a cycle; `None` if it is skipped. Usually some microseconds, one in 50 more,
    /// one in 500 beyond 100 µs; one due time in 251 is skipped.
    pub fn latency_ns(&self, thread: u16, cycle: u64) -> Option<i64> {
        let seed = self
            .seed
            .wrapping_mul(0x9e37_79b9)
            .wrapping_add(cycle << 8 | u64::from(thread));
        let drawn = SplitMix::from_state(seed).bits();
        if drawn % 251 == 3 && cycle >= WARM_UP {
            return None;
        }
        let base = 2_000 + (drawn >> 40) as i64 % 3_000;
        let tail = match drawn % 500 {
            0 => 100_000 + (drawn >> 20) as i64 % 50_000,
            1..10 => (drawn >> 20) as i64 % 20_000,
            _ => 0,
        };
        Some(base + tail + self.slower_by_ns)
    }

    /// The samples of a thread, warm-up included.
    pub fn samples(&self, thread: u16) -> Vec<Sample> {
        let sample = |cycle| {
            let latency = self.latency_ns(thread, cycle)?;
            let due_ns = DUE.due_ns(cycle);
            let wake_ns = due_ns.wrapping_add_signed(latency);
            Some(Sample {
                cycle,
                due_ns,
                wake_ns,
                end_ns: wake_ns + 20_000 + cycle % 97,
                cpu: thread,
                flags: if cycle < WARM_UP {
                    SampleFlags::WARM_UP
                } else {
                    SampleFlags::default()
                },
                ..Sample::default()
            })
        };
        (0..WARM_UP + self.cycles).filter_map(sample).collect()
    }

    /// Writes the run into a new directory.
    ///
    /// # Panics
    /// If it can't be written.
    pub fn write(&self, directory: &Path) {
        let mut log = LogWriter::create(directory).expect("a directory of the test's own");
        let mut append = |event: &Event| log.append_event(event).expect("a disk with room");
        append(&self.started());
        append(&self.facts(When::Before));
        append(&self.segment_started());
        for thread in 0..self.threads {
            let samples = self.samples(thread);
            for some in samples.chunks(512) {
                log.append_samples(0, thread, some)
                    .expect("a disk with room");
            }
        }
        let mut append = |event: &Event| log.append_event(event).expect("a disk with room");
        append(&self.segment_ended());
        append(&self.facts(When::After));
        log.end(Ending::Complete).expect("a disk with room");
        wakepath_archive::finish(directory).expect("a log that was just written");
    }

    fn started(&self) -> Event {
        let toml = SCENARIO
            .replace("CYCLES", &self.cycles.to_string())
            .replace("LIMIT", "100 us");
        Event::RunStarted(Box::new(RunStarted {
            first_process: None,
            run_id: self.run_id.clone(),
            tool: Tool {
                name: "wakepath".to_owned(),
                version: "0.1.0".to_owned(),
                commit: None,
            },
            command: vec!["wakepath".to_owned(), "run".to_owned()],
            invocation: None,
            quick: None,
            started: self.started.clone(),
            scenario: ScenarioText {
                name: "made-up".to_owned(),
                toml,
            },
            clock_source: "CLOCK_MONOTONIC, tsc".to_owned(),
            notes: Vec::new(),
            planned: vec![PlannedSegment {
                segment: 0,
                phase: "idle".to_owned(),
                repetition: 0,
                condition: "FIFO 80".to_owned(),
                traced: false,
            }],
            virtual_time: None,
        }))
    }

    fn facts(&self, when: When) -> Event {
        let mut facts = Facts::default();
        facts.fixed.kernel.release =
            Reading::found(self.kernel.clone(), "/proc/sys/kernel/osrelease");
        let governor = self.governor.clone();
        let policy = FrequencyPolicy {
            governor: Reading::found(governor, "/sys/scaling_governor"),
            ..FrequencyPolicy::default()
        };
        facts.varying.frequency.policies = vec![policy];
        facts.varying.clock_source.current =
            Reading::found("tsc".to_owned(), "/sys/current_clocksource");
        Event::FactsTaken(FactsTaken {
            when,
            phase: None,
            repetition: None,
            at_ns: 4_000_000_000,
            facts: serde_json::to_value(facts).expect("facts have string keys"),
        })
    }

    fn segment_started(&self) -> Event {
        let policy = Policy::Fifo { priority: 80 };
        let thread = |thread| ThreadStarted {
            thread,
            name: format!("loop-{thread}"),
            due: DUE,
            requested: policy,
            effective: Effective {
                text: policy.to_string(),
                details: json!({"policy": policy}),
            },
            cpus: vec![thread],
            first_judged_cycle: WARM_UP,
            end_cycle: WARM_UP + self.cycles,
        };
        Event::SegmentStarted(SegmentStarted {
            segment: 0,
            phase: "idle".to_owned(),
            repetition: 0,
            condition: "FIFO 80".to_owned(),
            traced: false,
            threads: (0..self.threads).map(thread).collect(),
        })
    }

    fn segment_ended(&self) -> Event {
        let thread = |thread| {
            let written = self.samples(thread).len() as u64;
            ThreadEnded {
                thread,
                written,
                recorded: written,
                lost: 0,
                skipped: Some(WARM_UP + self.cycles - written),
                page_faults: None,
                modules: Vec::new(),
                counters: None,
                on_a_core: None,
                ended: ThreadEnd::AllCycles,
            }
        };
        Event::SegmentEnded(SegmentEnded {
            segment: 0,
            threads: (0..self.threads).map(thread).collect(),
            loads: Vec::new(),
        })
    }
}
