//! Runs with known content, written as a recorder writes them, and their pages.

use serde_json::json;
use std::path::PathBuf;
use wakepath_archive::{
    Effective, Ending, Event, Invocation, LogWriter, Run, RunStarted, ScenarioText, SegmentEnded,
    SegmentStarted, ThreadEnd, ThreadEnded, ThreadStarted,
};
use wakepath_assess::watched::{KeptFigures, Ros2Figures, ThreadChain};
use wakepath_assess::{
    Assessment, BoundOrder, Bounds, CompareOrder, Comparison, Margin, Metric, Picture,
};
use wakepath_explain::Explanation;
use wakepath_report::{Figures, Reported, Titles, page};
use wakepath_timeline::{DueTimes, LoadProof, Policy, Sample, SampleFlags};

pub const PERIOD_NS: u64 = 1_000_000;
pub const WARM_UP: u64 = 10;
pub const OTHER: Policy = Policy::Other { nice: 0 };
pub const FIFO: Policy = Policy::Fifo { priority: 50 };

/// Contents of a made-up run.
pub struct MadeUp {
    pub name: String,
    pub note: String,
    pub command: Invocation,
    pub thread: String,
    pub load: String,
    pub cycles: u64,
    /// Threads that cycle side by side, each on a CPU of its own.
    pub threads: u16,
    /// Phase, policy, and how late each cycle woke in nanoseconds; `None` skips it.
    pub conditions: Vec<(&'static str, Policy, Late)>,
}

/// How late a cycle woke.
pub type Late = Box<dyn Fn(u64) -> Option<u64>>;

/// Around 5 µs, with a little of everything up to 6 µs.
pub fn usual(cycle: u64) -> u64 {
    5_000 + cycle.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1_000
}

impl MadeUp {
    /// Two policies, idle and under load: FIFO always in time, OTHER under load with `spikes` of
    /// cycle and latency.
    pub fn with_spikes(cycles: u64, spikes: Vec<(u64, u64)>) -> Self {
        let late = move |cycle| {
            let spike = spikes.iter().find(|(at, _)| *at == cycle);
            Some(spike.map_or(usual(cycle), |(_, latency)| *latency))
        };
        let usual = |cycle| Some(usual(cycle));
        Self {
            name: "made-up".into(),
            note: "made up".into(),
            command: Invocation::of_scenario("made-up.toml"),
            thread: "loop".into(),
            load: "cpu".into(),
            cycles,
            threads: 1,
            conditions: vec![
                ("idle", OTHER, Box::new(usual)),
                ("idle", FIFO, Box::new(usual)),
                ("stress", OTHER, Box::new(late)),
                ("stress", FIFO, Box::new(usual)),
            ],
        }
    }

    fn scenario(&self) -> String {
        let mut policies: Vec<String> = Vec::new();
        for (_, policy, _) in &self.conditions {
            let policy = format!("{:?}", policy.to_string());
            if !policies.contains(&policy) {
                policies.push(policy);
            }
        }
        format!(
            "name = \"made-up\"\nrate = \"1 kHz\"\ncycles = {}\nwarm-up = \"10 ms\"\n\
             policies = [{}]\nphases = [{{ name = \"idle\" }}, {{ name = \"stress\", loads = \
             [\"cpu\"] }}]\n[criterion]\nlatency = \"100 us\"\nmiss-fraction = \"0.5 %\"\n\
             outage = \"20 ms\"\npolicies = \"any\"\n",
            self.cycles - WARM_UP,
            policies.join(", "),
        )
        .replacen(
            "[criterion]",
            &match self.threads {
                1 => "[criterion]".to_owned(),
                threads => format!("threads = {threads}\n[criterion]"),
            },
            1,
        )
    }

    /// Writes and finishes it.
    pub fn write(&self) -> Written {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("run");
        let mut log = LogWriter::create(&directory).unwrap();
        log.append_event(&Event::RunStarted(Box::new(RunStarted {
            run_id: self.name.clone(),
            command: self.command.words(),
            invocation: Some(self.command.clone()),
            started: "2026-11-03T10:15:00Z".into(),
            notes: vec![self.note.clone()],
            scenario: ScenarioText {
                name: self.name.clone(),
                toml: self.scenario(),
            },
            ..RunStarted::default()
        })))
        .unwrap();
        for (number, (phase, policy, late)) in (0..).zip(&self.conditions) {
            let due = DueTimes {
                start_ns: 7_000_000_000 + u64::from(number) * self.cycles * PERIOD_NS,
                period_ns: PERIOD_NS,
            };
            let thread = |thread: u16| ThreadStarted {
                thread,
                name: self.thread.clone(),
                due,
                requested: *policy,
                effective: Effective {
                    text: policy.to_string(),
                    details: json!({ "policy": policy }),
                },
                cpus: vec![1 + thread],
                first_judged_cycle: WARM_UP,
                end_cycle: self.cycles,
            };
            log.append_event(&Event::SegmentStarted(SegmentStarted {
                segment: number,
                phase: (*phase).into(),
                repetition: 0,
                condition: policy.to_string(),
                traced: false,
                threads: (0..self.threads).map(thread).collect(),
            }))
            .unwrap();
            let mut written = 0;
            for first in (0..self.cycles).step_by(10_000) {
                let cycles = first..(first + 10_000).min(self.cycles);
                let samples: Vec<Sample> = cycles
                    .filter_map(|cycle| Some(sample(due, cycle, late(cycle)?)))
                    .collect();
                written += samples.len() as u64;
                for thread in 0..self.threads {
                    let cpu = 1 + thread;
                    let own: Vec<Sample> =
                        samples.iter().map(|one| Sample { cpu, ..*one }).collect();
                    log.append_samples(number, thread, &own).unwrap();
                }
            }
            let load = LoadProof {
                name: self.load.clone(),
                working: true,
                notes: vec![self.note.clone()],
                unit: "rounds".into(),
                work_done: 100.0,
                seconds: 2.0,
                workers: 2,
                ..LoadProof::default()
            };
            log.append_event(&Event::SegmentEnded(SegmentEnded {
                segment: number,
                threads: (0..self.threads)
                    .map(|thread| ThreadEnded {
                        thread,
                        written,
                        recorded: written,
                        lost: 0,
                        skipped: None,
                        page_faults: None,
                        modules: Vec::new(),
                        counters: None,
                        on_a_core: None,
                        ended: ThreadEnd::AllCycles,
                    })
                    .collect(),
                loads: if *phase == "stress" {
                    vec![load]
                } else {
                    vec![]
                },
            }))
            .unwrap();
        }
        log.end(Ending::Complete).unwrap();
        wakepath_archive::finish(&directory).unwrap();
        Written { place, directory }
    }
}

fn sample(due: DueTimes, cycle: u64, latency: u64) -> Sample {
    let due_ns = due.due_ns(cycle);
    let wake_ns = due_ns + latency;
    Sample {
        cycle,
        due_ns,
        wake_ns,
        end_ns: wake_ns + 10_000 + cycle % 500,
        cpu: 1,
        flags: if cycle < WARM_UP {
            SampleFlags::WARM_UP
        } else {
            SampleFlags::default()
        },
        ..Sample::default()
    }
}

/// Two runs of these names held against each other, the second with a late cycle more.
pub fn compared(names: [&str; 2]) -> Comparison {
    let spikes = [vec![(400, 900_000)], vec![(400, 900_000), (800, 950_000)]];
    let mut sides = names.iter().zip(spikes).map(|(name, spikes)| {
        let mut made_up = MadeUp::with_spikes(3_000, spikes);
        made_up.name = (*name).into();
        let written = made_up.write();
        let run = Run::open(&written.directory).unwrap();
        // The directory goes with `written`.
        (written, [run])
    });
    let (first, second) = (sides.next().unwrap(), sides.next().unwrap());
    let order = CompareOrder {
        margin: Margin::DEFAULT,
        metrics: Metric::ALL.to_vec(),
        force: false,
        interleaved: false,
    };
    Comparison::new(&first.1, &second.1, &order).unwrap()
}

/// A run on disk.
pub struct Written {
    place: tempfile::TempDir,
    pub directory: PathBuf,
}

/// A run's page, and what it was made of.
pub struct Reporting {
    pub file: PathBuf,
    pub run: Run,
    pub assessment: Assessment,
    pub pictures: Vec<Picture>,
    pub figures: Figures,
}

impl Written {
    /// Judges it and writes its page.
    pub fn report(&self) -> Reporting {
        Reporting::new(&self.directory, self.place.path().join("report.html"))
    }
}

impl Reporting {
    /// The page with these titles.
    pub fn page(&self, titles: &Titles) -> String {
        page(&[self.reported()], titles)
    }

    /// The run without its bounds and explanation.
    pub fn reported(&self) -> Reported<'_> {
        Reported {
            manifest: &self.run.manifest,
            assessment: &self.assessment,
            bounds: None,
            explanation: None,
            callbacks: &[],
            chains: &[],
            pictures: &self.pictures,
            figures: &self.figures,
        }
    }

    /// Judges a run and writes its page.
    pub fn new(directory: &std::path::Path, file: PathBuf) -> Self {
        let run = Run::open(directory).unwrap();
        let (assessment, pictures) = Assessment::with_pictures(&run).unwrap();
        let explanation = std::fs::read(directory.join(Explanation::FILE_NAME))
            .ok()
            .map(|bytes| serde_json::from_slice::<Explanation>(&bytes).unwrap());
        let explanation = explanation.as_ref();
        let figures = Figures::new(&assessment, &pictures, explanation);
        let bounds = Bounds::new(&run, &BoundOrder::default()).ok();
        let reported = Reported {
            manifest: &run.manifest,
            assessment: &assessment,
            bounds: bounds.as_ref(),
            explanation,
            callbacks: &Ros2Figures::kept(directory).unwrap(),
            chains: &ThreadChain::kept(directory).unwrap(),
            pictures: &pictures,
            figures: &figures,
        };
        std::fs::write(&file, page(&[reported], &Titles::default())).unwrap();
        Self {
            file,
            run,
            assessment,
            pictures,
            figures,
        }
    }
}
