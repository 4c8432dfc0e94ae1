//! A traced run while it is recorded: the worst cycle of each segment, told from what is new alone.

use serde_json::json;
use std::fs;
use std::path::Path;
use wakepath_archive::{
    Effective, Event, LOG_NAME, LogWriter, SegmentEnded, SegmentStarted, ThreadEnd, ThreadEnded,
    ThreadStarted, TraceDescription, TraceEnd, TraceWriter, trace_name,
};
use wakepath_assess::explanation::UnderWay;
use wakepath_timeline::{DueTimes, KernelEvent, Policy, Sample, What};

const CYCLES: u64 = 4_000;
const SEGMENTS: u32 = 30;
const LOOP: u32 = 77;

/// Bytes that this thread has read so far.
fn bytes_read() -> u64 {
    let counts = fs::read_to_string("/proc/thread-self/io").unwrap();
    let line = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
    line.unwrap().parse().unwrap()
}

fn due(segment: u32) -> DueTimes {
    DueTimes {
        start_ns: 1_000_000_000 * u64::from(segment + 1),
        period_ns: 100_000,
    }
}

/// The cycle that is latest, and by how much.
fn worst_of(segment: u32) -> (u64, u64) {
    let number = u64::from(segment);
    (100 + 97 * number % (CYCLES - 100), 30_000 + 500 * number)
}

fn samples(segment: u32) -> Vec<Sample> {
    let (worst, worst_ns) = worst_of(segment);
    let sample = |cycle| {
        let due_ns = due(segment).due_ns(cycle);
        let late_ns = if cycle == worst { worst_ns } else { 2_000 };
        Sample {
            cycle,
            due_ns,
            wake_ns: due_ns + late_ns,
            end_ns: due_ns + late_ns + 1_000,
            cpu: 1,
            ..Sample::default()
        }
    };
    (0..CYCLES).map(sample).collect()
}

fn record(log: &mut LogWriter, directory: &Path, segment: u32) {
    log.append_event(&Event::SegmentStarted(SegmentStarted {
        segment,
        phase: "idle".into(),
        repetition: segment,
        condition: "FIFO 50".into(),
        traced: true,
        threads: vec![ThreadStarted {
            thread: 0,
            name: "loop".into(),
            due: due(segment),
            requested: Policy::Fifo { priority: 50 },
            effective: Effective {
                text: "FIFO 50".into(),
                details: json!({ "thread_id": LOOP }),
            },
            cpus: vec![1],
            first_judged_cycle: 0,
            end_cycle: CYCLES,
        }],
    }))
    .unwrap();
    log.append_samples(segment, 0, &samples(segment)).unwrap();
    log.append_event(&Event::SegmentEnded(SegmentEnded {
        segment,
        threads: vec![ThreadEnded {
            thread: 0,
            written: CYCLES,
            recorded: CYCLES,
            lost: 0,
            skipped: Some(0),
            page_faults: None,
            modules: Vec::new(),
            counters: None,
            on_a_core: None,
            ended: ThreadEnd::AllCycles,
        }],
        loads: Vec::new(),
    }))
    .unwrap();
    let mut trace = TraceWriter::create(
        directory,
        &TraceDescription {
            segment,
            cpus: vec![1],
            began_ns: due(segment).start_ns - 1,
            ..TraceDescription::default()
        },
    )
    .unwrap();
    for sample in samples(segment) {
        let event = KernelEvent {
            at_ns: sample.due_ns + 100,
            cpu: 1,
            current: 0,
            what: What::TimerExpiryExit { timer: 1 },
        };
        trace.append(&event).unwrap();
    }
    let end = TraceEnd {
        ended_ns: due(segment).due_ns(CYCLES + 1),
        ..TraceEnd::default()
    };
    trace.finish(&end).unwrap();
}

/// The log as a whole after each of 30 segments would be 15 times its length, and more.
#[test]
fn the_worst_cycle_of_each_segment_is_told_and_the_log_not_read_again_for_it() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("run");
    let mut log = LogWriter::create(&directory).unwrap();
    log.append_event(&Event::RunStarted(Box::default()))
        .unwrap();
    let mut run = UnderWay::open(&directory).unwrap();
    let mut read = 0;
    for segment in 0..SEGMENTS {
        record(&mut log, &directory, segment);
        let before = bytes_read();
        let worst = run.worst_cycle(segment).unwrap().unwrap();
        read += bytes_read() - before;
        assert_eq!(worst.latency_ns, worst_of(segment).1, "segment {segment}");
    }
    let length = |name: &str| fs::metadata(directory.join(name)).unwrap().len();
    let traces: u64 = (0..SEGMENTS).map(|of| length(&trace_name(of))).sum();
    let recorded = length(LOG_NAME) + traces;
    eprintln!("{read} bytes read of {recorded}, in {SEGMENTS} looks");
    assert!(read <= 3 * recorded, "{read} bytes read of {recorded}");
    assert!(run.worst_cycle(SEGMENTS).unwrap().is_none(), "not begun");
}
