//! A made-up run of two policies in two phases, written as a recorder writes one.

use serde_json::json;
use std::path::Path;
use wakepath_archive::{
    Effective, Ending, Event, Invocation, LogWriter, Run, RunOption, RunStarted, ScenarioText,
    SegmentEnded, SegmentStarted, ThreadEnd, ThreadEnded, ThreadStarted, VirtualTime,
};
use wakepath_assess::Assessment;
use wakepath_timeline::{DueTimes, LoadProof, Policy, Sample, SampleFlags};

pub(super) const PERIOD_NS: u64 = 1_000_000;
pub(super) const CYCLES: u64 = 2_000;
pub(super) const WARM_UP: u64 = 10;

pub(super) const SCENARIO: &str = r#"
name = "made-up"
rate = "1 kHz"
cycles = 1990
warm-up = "10 ms"
policies = ["OTHER nice 0", "FIFO 50"]
[[phases]]
name = "idle"
[[phases]]
name = "stress"
loads = ["cpu"]
[criterion]
latency = "100 us"
miss-fraction = "0.5 %"
outage = "20 ms"
policies = "any"
"#;

/// The command that would have measured it.
pub(super) fn command() -> Invocation {
    Invocation::of_scenario("made-up.toml")
        .with(RunOption::Duration, "20s")
        .with(RunOption::Directory, "here")
}

/// One condition of a made-up run.
pub(super) struct Segment {
    pub(super) phase: &'static str,
    pub(super) policy: Policy,
    pub(super) samples: Vec<Sample>,
    pub(super) lost: u64,
    pub(super) skipped: Option<u64>,
    pub(super) ended: ThreadEnd,
    pub(super) load_works: bool,
    pub(super) traced: bool,
}

pub(super) const OTHER: Policy = Policy::Other { nice: 0 };
pub(super) const FIFO: Policy = Policy::Fifo { priority: 50 };

pub(super) fn due() -> DueTimes {
    DueTimes {
        start_ns: 7_000_000_000,
        period_ns: PERIOD_NS,
    }
}

/// A cycle that wakes `latency_ns` late and works for 10 µs.
pub(super) fn sample(cycle: u64, latency_ns: u64) -> Sample {
    let due_ns = due().due_ns(cycle);
    let wake_ns = due_ns + latency_ns;
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
}

pub(super) fn clean(phase: &'static str, policy: Policy) -> Segment {
    let samples = (0..CYCLES)
        .map(|cycle| sample(cycle, 5_000 + cycle % 7 * 100))
        .collect();
    Segment {
        phase,
        policy,
        samples,
        lost: 0,
        skipped: None,
        ended: ThreadEnd::AllCycles,
        load_works: true,
        traced: false,
    }
}

/// A stall of 15 ms in cycle 1000, the periods during it skipped.
pub(super) fn stalled(phase: &'static str, policy: Policy) -> Segment {
    let mut segment = clean(phase, policy);
    segment
        .samples
        .retain(|sample| !(1001..1016).contains(&sample.cycle));
    let stalled = segment
        .samples
        .iter_mut()
        .find(|sample| sample.cycle == 1000)
        .unwrap();
    *stalled = sample(1000, 15_100_000);
    segment
}

pub(super) fn write(directory: &Path, segments: &[Segment], ending: Option<Ending>) {
    write_in(directory, segments, ending, None);
}

pub(super) fn write_in(
    directory: &Path,
    segments: &[Segment],
    ending: Option<Ending>,
    virtual_time: Option<VirtualTime>,
) {
    write_cycles(directory, segments, ending, virtual_time, CYCLES);
}

pub(super) fn write_cycles(
    directory: &Path,
    segments: &[Segment],
    ending: Option<Ending>,
    virtual_time: Option<VirtualTime>,
    cycles: u64,
) {
    let mut log = LogWriter::create(directory).unwrap();
    log.append_event(&Event::RunStarted(Box::new(RunStarted {
        run_id: "made-up".into(),
        scenario: ScenarioText {
            name: "made-up".into(),
            toml: SCENARIO.into(),
        },
        command: command().words(),
        invocation: Some(command()),
        virtual_time,
        ..RunStarted::default()
    })))
    .unwrap();
    for (number, segment) in (0..).zip(segments) {
        let never_started = segment.samples.is_empty();
        log.append_event(&Event::SegmentStarted(SegmentStarted {
            traced: segment.traced,
            segment: number,
            phase: segment.phase.into(),
            repetition: 0,
            condition: segment.policy.to_string(),
            threads: vec![ThreadStarted {
                thread: 0,
                name: "loop".into(),
                due: if never_started {
                    DueTimes {
                        start_ns: 0,
                        period_ns: PERIOD_NS,
                    }
                } else {
                    due()
                },
                requested: segment.policy,
                effective: Effective {
                    text: segment.policy.to_string(),
                    details: json!({ "policy": segment.policy }),
                },
                cpus: vec![1],
                first_judged_cycle: WARM_UP,
                end_cycle: cycles,
            }],
        }))
        .unwrap();
        log.append_samples(number, 0, &segment.samples).unwrap();
        let written = segment.samples.len() as u64;
        let load = LoadProof {
            name: "cpu".into(),
            working: segment.load_works,
            reason: Some("no rounds were done".into()),
            unit: "rounds".into(),
            work_done: 100.0,
            seconds: 2.0,
            workers: 2,
            ..LoadProof::default()
        };
        log.append_event(&Event::SegmentEnded(SegmentEnded {
            segment: number,
            threads: vec![ThreadEnded {
                thread: 0,
                written,
                recorded: written,
                lost: segment.lost,
                skipped: segment.skipped,
                page_faults: None,
                modules: Vec::new(),
                counters: None,
                on_a_core: None,
                ended: segment.ended.clone(),
            }],
            loads: if segment.phase == "stress" && !never_started {
                vec![load]
            } else {
                vec![]
            },
        }))
        .unwrap();
    }
    if let Some(ending) = ending {
        log.end(ending).unwrap();
    }
}

/// As [`write`], finished, its segments planned to be as long as they are.
pub(super) fn write_short(directory: &Path, segments: &[Segment]) {
    write_cycles(directory, segments, Some(Ending::Complete), None, 300);
    wakepath_archive::finish(directory).unwrap();
}

pub(super) fn assessed(segments: &[Segment], ending: Ending) -> Assessment {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("run");
    write(&run, segments, Some(ending));
    wakepath_archive::finish(&run).unwrap();
    Assessment::new(&Run::open(&run).unwrap()).unwrap()
}

pub(super) fn everything_clean() -> Vec<Segment> {
    vec![
        clean("idle", OTHER),
        clean("idle", FIFO),
        clean("stress", OTHER),
        clean("stress", FIFO),
    ]
}
