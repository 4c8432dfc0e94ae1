//! Runs with known content: every sample is a formula of its segment, thread and cycle.

use std::path::Path;

use serde_json::json;
use wakepath_archive::{
    Effective, Ending, Event, FactsTaken, Invocation, LogWriter, PlannedSegment, RunStarted,
    ScenarioText, SegmentEnded, SegmentStarted, ThreadEnd, ThreadEnded, ThreadStarted, Tool, When,
    run_id,
};
use wakepath_timeline::{DueTimes, LoadProof, Policy, Sample, SampleFlags};

pub const DUE: DueTimes = DueTimes {
    start_ns: 5_000_000_123,
    period_ns: 1_000_000,
};

/// One cycle, with every field different from 0.
pub fn sample(segment: u32, thread: u16, cycle: u64) -> Sample {
    let due_ns = DUE.due_ns(cycle);
    let mix = cycle.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(segment * 31) ^ thread as u64;
    // One wake-up in 64 is early, as under a co-kernel.
    let early = if mix.is_multiple_of(64) { 2_000 } else { 0 };
    let wake_ns = due_ns + 1_000 + mix % 8_000 - early;
    Sample {
        cycle,
        due_ns,
        wake_ns,
        end_ns: wake_ns + 20_000 + mix % 1_000,
        work_ns: 19_000 + (mix % 1_000) as u32,
        cpu_time_ns: 18_000 + (mix % 500) as u32,
        involuntary_switches: (mix % 3) as u16,
        cpu: 1 + thread,
        flags: if cycle < 10 {
            SampleFlags::WARM_UP
        } else {
            SampleFlags::HAS_WORK_TIME
        },
        reserved: 0,
    }
}

pub fn samples(segment: u32, thread: u16, cycles: std::ops::Range<u64>) -> Vec<Sample> {
    cycles.map(|cycle| sample(segment, thread, cycle)).collect()
}

pub fn run_started(segments: u32) -> Event {
    let planned = |segment| PlannedSegment {
        traced: false,
        segment,
        phase: "idle".to_owned(),
        repetition: segment,
        condition: format!("FIFO 80, idle, {segment}"),
    };
    Event::RunStarted(Box::new(RunStarted {
        run_id: run_id("2026-11-03T10:15:00Z", [0x9f, 0x3a, 0x01, 0xbc]),
        tool: Tool {
            name: "wakepath".to_owned(),
            version: "0.1.0".to_owned(),
            commit: None,
        },
        command: vec![
            "wakepath".to_owned(),
            "run".to_owned(),
            "quad-500hz".to_owned(),
        ],
        invocation: Some(Invocation::of_scenario("quad-500hz")),
        first_process: None,
        quick: None,
        started: "2026-11-03T10:15:00Z".to_owned(),
        scenario: ScenarioText {
            name: "quad".to_owned(),
            toml: "name = \"quad\"\n".to_owned(),
        },
        clock_source: "CLOCK_MONOTONIC, tsc".to_owned(),
        notes: vec!["made up".to_owned()],
        planned: (0..segments).map(planned).collect(),
        virtual_time: None,
    }))
}

pub fn segment_started(segment: u32, threads: &[u16], cycles: u64) -> Event {
    let thread = |&thread: &u16| ThreadStarted {
        thread,
        name: format!("loop-{thread}"),
        due: DUE,
        requested: Policy::Fifo { priority: 80 },
        effective: Effective {
            text: "FIFO 80".to_owned(),
            details: json!({"priority": 80}),
        },
        cpus: vec![1 + thread],
        first_judged_cycle: 10,
        end_cycle: cycles,
    };
    Event::SegmentStarted(SegmentStarted {
        traced: false,
        segment,
        phase: "idle".to_owned(),
        repetition: segment,
        condition: format!("FIFO 80, idle, {segment}"),
        threads: threads.iter().map(thread).collect(),
    })
}

pub fn segment_ended(segment: u32, threads: &[u16], cycles: u64) -> Event {
    let thread = |&thread: &u16| ThreadEnded {
        thread,
        written: cycles,
        recorded: cycles,
        lost: 0,
        skipped: Some(0),
        page_faults: None,
        modules: Vec::new(),
        counters: None,
        on_a_core: None,
        ended: ThreadEnd::AllCycles,
    };
    Event::SegmentEnded(SegmentEnded {
        segment,
        threads: threads.iter().map(thread).collect(),
        loads: vec![LoadProof {
            name: "none".into(),
            work_done: 0.1 + 0.2,
            ..LoadProof::default()
        }],
    })
}

pub fn facts(when: When) -> Event {
    Event::FactsTaken(FactsTaken {
        when,
        phase: None,
        repetition: None,
        at_ns: 4_000_000_000,
        facts: json!({"kernel": "6.12.9-rt", "largest": u64::MAX, "share": 0.3333333333333333}),
    })
}

/// Writes all of a run but its end.
pub fn write_open(directory: &Path, segments: u32, threads: &[u16], cycles: u64) -> LogWriter {
    let mut log = LogWriter::create(directory).unwrap();
    log.append_event(&run_started(segments)).unwrap();
    log.append_event(&facts(When::Before)).unwrap();
    for segment in 0..segments {
        log.append_event(&segment_started(segment, threads, cycles))
            .unwrap();
        // As a recorder does: a few samples of each thread at a time.
        for first in (0..cycles).step_by(100) {
            for &thread in threads {
                let now = samples(segment, thread, first..(first + 100).min(cycles));
                log.append_samples(segment, thread, &now).unwrap();
            }
        }
        log.append_event(&segment_ended(segment, threads, cycles))
            .unwrap();
    }
    log.append_event(&facts(When::After)).unwrap();
    log
}

/// Writes a run that ended normally; it is still a log.
pub fn write(directory: &Path, segments: u32, threads: &[u16], cycles: u64) {
    write_open(directory, segments, threads, cycles)
        .end(Ending::Complete)
        .unwrap();
}
