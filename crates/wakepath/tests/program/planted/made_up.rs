//! Runs of random shape that pass, as a recorder writes them, and what may be changed in them before they are
//! written.

use super::Random;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use wakepath_archive::{
    Effective, Ending, Event, FactsTaken, LogWriter, PlannedSegment, RunStarted, ScenarioText,
    SegmentEnded, SegmentStarted, SegmentTraced, ThreadEnd, ThreadEnded, ThreadStarted,
    TracingSetUp, When,
};
use wakepath_directory::{Directory, Faults, Trust};
use wakepath_machine::{Facts, Reading};
use wakepath_timeline::{DueTimes, LoadProof, Policy, Sample, SampleFlags};

pub const WARM_UP: u64 = 10;
const PERIOD_NS: u64 = 1_000_000;

/// A segment as it is to be written.
#[derive(Clone)]
pub struct Segment {
    pub phase: &'static str,
    pub repetition: u32,
    pub policy: Policy,
    pub traced: bool,
    pub samples: Vec<Sample>,
    pub written: u64,
    pub lost: u64,
    pub ended: ThreadEnd,
    pub effective: Option<Policy>,
    pub load_works: bool,
    pub has_trace: bool,
}

/// A run as it is to be written.
pub struct MadeUp {
    pub cycles: u64,
    pub segments: Vec<Segment>,
    /// Left out of what is written, though they were planned.
    pub left_out: Vec<usize>,
    /// The clock source at each look at the machine.
    pub clocks: Vec<&'static str>,
    pub looks_after: bool,
    pub ending: Option<Ending>,
    policies: Vec<Policy>,
    phases: Vec<&'static str>,
    pub needed: &'static str,
}

const POLICIES: [Policy; 3] = [
    Policy::Fifo { priority: 50 },
    Policy::Other { nice: 0 },
    Policy::RoundRobin { priority: 30 },
];

impl MadeUp {
    pub fn random(random: &mut Random) -> Self {
        let policies = POLICIES[..=random.below(3)].to_vec();
        let phases = ["stress", "idle"][..=random.below(2)].to_vec();
        let repetitions = 1 + random.below(2) as u32;
        let cycles = WARM_UP + 1_200 + random.below(300) as u64;
        let mut segments = Vec::new();
        let is_traced = random.below(4) > 0;
        for &phase in &phases {
            for repetition in 0..repetitions {
                for &policy in &policies {
                    segments.push(Segment::clean(phase, repetition, policy, cycles, random));
                }
            }
            for &policy in policies.iter().filter(|_| is_traced) {
                let clean = Segment::clean(phase, repetitions, policy, cycles, random);
                segments.push(Segment {
                    traced: true,
                    ..clean
                });
            }
        }
        let mut made = Self {
            cycles,
            segments,
            left_out: Vec::new(),
            clocks: Vec::new(),
            looks_after: true,
            ending: Some(Ending::Complete),
            policies,
            phases,
            needed: ["any", "every"][random.below(2)],
        };
        made.clocks = vec!["tsc"; 2 + 2 * made.segments.len()];
        made
    }

    /// Two conditions for each of `policies` policies, idle and under load.
    pub fn of_policies(policies: u8, cycles: u64, random: &mut Random) -> Self {
        let policies = (50..50 + policies).map(|priority| Policy::Fifo { priority });
        let policies: Vec<Policy> = policies.collect();
        let phases = vec!["stress", "idle"];
        let mut segments = Vec::new();
        for &phase in &phases {
            for &policy in &policies {
                segments.push(Segment::clean(phase, 0, policy, cycles, random));
            }
        }
        Self {
            cycles,
            clocks: vec!["tsc"; 2 + 2 * segments.len()],
            segments,
            left_out: Vec::new(),
            looks_after: true,
            ending: Some(Ending::Complete),
            policies,
            phases,
            needed: "any",
        }
    }

    fn scenario(&self) -> String {
        let names: Vec<String> = self.policies.iter().map(ToString::to_string).collect();
        let mut text = format!(
            "name = \"planted\"\nrate = \"1 kHz\"\ncycles = {}\nwarm-up = \"10 ms\"\npolicies = {:?}\n",
            self.cycles - WARM_UP,
            names
        );
        for phase in &self.phases {
            text += &format!("[[phases]]\nname = \"{phase}\"\n");
            if *phase == "stress" {
                text += "loads = [\"cpu\"]\n";
            }
        }
        text + &format!(
            "[criterion]\nlatency = \"100 us\"\nmiss-fraction = \"1 %\"\npolicies = \"{}\"\n",
            self.needed
        )
    }

    /// Writes it as far as the disk lets it, each event whatever became of those before it, as a measuring process
    /// that hears of nothing would.
    pub fn write(&self, directory: &Path, faults: Option<Arc<Faults>>) {
        let directory = Directory::make(directory, Trust::Any).unwrap();
        let directory = match faults {
            Some(faults) => directory.with_faults(faults),
            None => directory,
        };
        let Ok(mut log) = LogWriter::create_in(&directory) else {
            return;
        };
        let mut clocks = self.clocks.iter();
        let mut look = |when, segment: Option<&Segment>| {
            let mut facts = Facts::default();
            let clock = clocks.next().copied().unwrap_or("tsc");
            let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
            facts.varying.clock_source.current = Reading::found(clock.to_owned(), path);
            Event::FactsTaken(FactsTaken {
                when,
                phase: segment.map(|of| of.phase.to_owned()),
                repetition: segment.map(|of| of.repetition),
                at_ns: 0,
                facts: serde_json::to_value(facts).unwrap(),
            })
        };
        let _ = log.append_event(&self.started());
        if self.segments.iter().any(|of| of.traced) {
            let set_up = TracingSetUp::default();
            let _ = log.append_event(&Event::TracingSetUp(set_up));
        }
        let _ = log.append_event(&look(When::Before, None));
        for (number, segment) in self.segments.iter().enumerate() {
            if self.left_out.contains(&number) {
                continue;
            }
            let (at, number) = (number as u64, number as u32);
            let _ = log.append_event(&look(When::Before, Some(segment)));
            let _ = log.append_event(&segment.started(number, due(at), self.cycles));
            for some in segment.samples.chunks(500) {
                let some: Vec<Sample> = some.iter().map(|of| moved(of, at)).collect();
                let _ = log.append_samples(number, 0, &some);
            }
            let _ = log.append_event(&segment.ended(number));
            if segment.traced && segment.has_trace {
                let _ = log.append_event(&Event::SegmentTraced(SegmentTraced {
                    segment: number,
                    ..SegmentTraced::default()
                }));
            }
            let _ = log.append_event(&look(When::After, Some(segment)));
        }
        if self.looks_after {
            let _ = log.append_event(&look(When::After, None));
        }
        if let Some(ending) = &self.ending {
            let _ = log.end(ending.clone());
        }
    }

    fn started(&self) -> Event {
        let planned = (0..).zip(&self.segments);
        let planned = planned.map(|(segment, of)| PlannedSegment {
            segment,
            phase: of.phase.to_owned(),
            repetition: of.repetition,
            condition: of.policy.to_string(),
            traced: of.traced,
        });
        Event::RunStarted(Box::new(RunStarted {
            run_id: "planted".into(),
            command: vec!["wakepath".into(), "run".into()],
            started: "2026-01-01T00:00:00Z".into(),
            scenario: ScenarioText {
                name: "planted".into(),
                toml: self.scenario(),
            },
            planned: planned.collect(),
            ..RunStarted::default()
        }))
    }
}

/// When the cycles of a segment are due: one after another.
fn due(segment: u64) -> DueTimes {
    DueTimes {
        start_ns: 7_000_000_000 + segment * 5_000_000_000,
        period_ns: PERIOD_NS,
    }
}

fn moved(sample: &Sample, segment: u64) -> Sample {
    let by = segment * 5_000_000_000;
    Sample {
        due_ns: sample.due_ns + by,
        wake_ns: sample.wake_ns + by,
        end_ns: sample.end_ns + by,
        ..*sample
    }
}

impl Segment {
    fn clean(
        phase: &'static str,
        repetition: u32,
        policy: Policy,
        cycles: u64,
        random: &mut Random,
    ) -> Self {
        let sample = |cycle| {
            let due_ns = due(0).due_ns(cycle);
            let wake_ns = due_ns + 2_000 + random.below(5_000) as u64;
            Sample {
                cycle,
                due_ns,
                wake_ns,
                end_ns: wake_ns + 10_000,
                flags: if cycle < WARM_UP {
                    SampleFlags::WARM_UP
                } else {
                    SampleFlags::default()
                },
                ..Sample::default()
            }
        };
        Self {
            phase,
            repetition,
            policy,
            traced: false,
            samples: (0..cycles).map(sample).collect(),
            written: cycles,
            lost: 0,
            ended: ThreadEnd::AllCycles,
            effective: Some(policy),
            load_works: true,
            has_trace: true,
        }
    }

    /// Cuts it off before this cycle, as its loop counts it.
    pub fn cut_at(&mut self, cycle: usize, ended: ThreadEnd) {
        self.samples.truncate(cycle);
        self.written = cycle as u64;
        self.ended = ended;
    }

    fn started(&self, number: u32, due: DueTimes, cycles: u64) -> Event {
        Event::SegmentStarted(SegmentStarted {
            segment: number,
            phase: self.phase.into(),
            repetition: self.repetition,
            condition: self.policy.to_string(),
            traced: self.traced,
            threads: vec![ThreadStarted {
                thread: 0,
                name: "loop".into(),
                due,
                requested: self.policy,
                effective: Effective {
                    text: self.policy.to_string(),
                    details: match self.effective {
                        Some(policy) => json!({ "policy": policy }),
                        None => json!({}),
                    },
                },
                cpus: vec![0],
                first_judged_cycle: WARM_UP,
                end_cycle: cycles,
            }],
        })
    }

    fn ended(&self, number: u32) -> Event {
        let load = LoadProof {
            name: "cpu".into(),
            working: self.load_works,
            reason: (!self.load_works).then(|| "no rounds were done".into()),
            unit: "rounds".into(),
            work_done: 100.0,
            seconds: 2.0,
            workers: 1,
            ..LoadProof::default()
        };
        Event::SegmentEnded(SegmentEnded {
            segment: number,
            threads: vec![ThreadEnded {
                thread: 0,
                written: self.written,
                recorded: self.written,
                lost: self.lost,
                skipped: Some(0),
                page_faults: None,
                modules: Vec::new(),
                counters: None,
                on_a_core: None,
                ended: self.ended.clone(),
            }],
            loads: match self.phase {
                "stress" => vec![load],
                _ => Vec::new(),
            },
        })
    }
}
