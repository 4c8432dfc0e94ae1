//! Runs of observed programs compared: thread by thread, whatever other threads the program had.

use serde_json::json;
use std::path::Path;
use wakepath_archive::{
    Effective, Ending, Event, Imported, LogWriter, Run, RunStarted, ScenarioText, SegmentEnded,
    SegmentStarted, ThreadEnd, ThreadEnded, ThreadStarted,
};
use wakepath_assess::{CompareError, CompareOrder, Comparison, Margin, Metric};
use wakepath_report::{Style, comparison_in_full};
use wakepath_timeline::{DueTimes, Policy, Sample};

const MS: u64 = 1_000_000;
const CYCLES: u64 = 200;
const OTHER: Policy = Policy::Other { nice: 0 };

/// A watched thread: name in the run, own name, period in nanoseconds, whether that is one, and latency in nanoseconds.
type Seen = (&'static str, &'static str, u64, bool, u64);

fn observed(place: &Path, name: &str, form: &str, threads: &[Seen]) -> Run {
    let directory = place.join(name);
    let mut toml = format!("name = \"watch-{name}\"\nduration = \"2 s\"\nwarm-up = \"0 ns\"\n");
    toml += "phases = [{ name = \"watched\" }]\n[criterion]\n";
    for (name, _, period_ns, ..) in threads {
        toml += &format!(
            "[[tasks]]\nname = \"{name}\"\nperiod = \"{period_ns} ns\"\npolicy = \"OTHER nice 0\"\n"
        );
    }
    let mut log = LogWriter::create(&directory).unwrap();
    let started = RunStarted {
        run_id: name.into(),
        started: "2026-11-22T10:00:00Z".into(),
        scenario: ScenarioText {
            name: format!("watch-{name}"),
            toml,
        },
        ..RunStarted::default()
    };
    let event = |log: &mut LogWriter, event| log.append_event(&event).unwrap();
    event(&mut log, Event::RunStarted(Box::new(started)));
    let imported = Imported {
        form: form.into(),
        ..Imported::default()
    };
    event(&mut log, Event::Imported(Box::new(imported)));
    let numbered = || (0_u16..).zip(threads);
    let due = |period_ns: u64| DueTimes {
        start_ns: 7_000 * MS,
        period_ns,
    };
    let started = numbered().map(|(number, (name, own_name, period_ns, is_periodic, _))| {
        let details = json!({ "policy": OTHER, "own_name": own_name, "periodic": is_periodic });
        ThreadStarted {
            thread: number,
            name: (*name).into(),
            due: due(*period_ns),
            requested: OTHER,
            effective: Effective {
                text: OTHER.to_string(),
                details,
            },
            cpus: vec![0],
            first_judged_cycle: 0,
            end_cycle: CYCLES,
        }
    });
    let segment = SegmentStarted {
        traced: true,
        segment: 0,
        phase: "watched".into(),
        repetition: 0,
        condition: "program".into(),
        threads: started.collect(),
    };
    event(&mut log, Event::SegmentStarted(segment));
    for (number, (.., period_ns, _, latency_ns)) in numbered() {
        let sample = |cycle: u64| {
            let due_ns = due(*period_ns).due_ns(cycle);
            Sample {
                cycle,
                due_ns,
                wake_ns: due_ns + latency_ns,
                end_ns: due_ns + latency_ns + 1_000,
                ..Sample::default()
            }
        };
        let samples: Vec<Sample> = (0..CYCLES).map(sample).collect();
        log.append_samples(0, number, &samples).unwrap();
    }
    let ended = numbered().map(|(number, _)| ThreadEnded {
        thread: number,
        written: CYCLES,
        recorded: CYCLES,
        lost: 0,
        skipped: Some(0),
        page_faults: None,
        modules: Vec::new(),
        counters: None,
        on_a_core: None,
        ended: ThreadEnd::AllCycles,
    });
    let ended = SegmentEnded {
        segment: 0,
        threads: ended.collect(),
        loads: Vec::new(),
    };
    event(&mut log, Event::SegmentEnded(ended));
    log.end(Ending::Complete).unwrap();
    wakepath_archive::finish(&directory).unwrap();
    Run::open(&directory).unwrap()
}

fn compare(base: &[Seen], against: &[Seen]) -> Result<Comparison, CompareError> {
    compare_as(Imported::WATCHED, base, against)
}

fn compare_as(form: &str, base: &[Seen], against: &[Seen]) -> Result<Comparison, CompareError> {
    let place = tempfile::tempdir().unwrap();
    let run = |name, threads| [observed(place.path(), name, form, threads)];
    let order = CompareOrder {
        margin: Margin::Time(1_000),
        metrics: Metric::ALL.to_vec(),
        force: false,
        interleaved: false,
    };
    Comparison::new(&run("before", base), &run("after", against), &order)
}

/// Name and median latency in both runs of each thread that is compared.
fn medians(comparison: &Comparison) -> Vec<(String, i64, i64)> {
    let all = comparison.conditions.iter();
    let median = |of: &wakepath_assess::RunFigures| of.quantiles[0].value.value.unwrap();
    all.map(|of| {
        let name = of.name.task.clone().unwrap();
        (name, median(&of.base[0]), median(&of.against[0]))
    })
    .collect()
}

#[test]
fn threads_of_one_run_alone_are_left_out_and_named() {
    let base: [Seen; 3] = [
        ("robot-ust", "robot-ust", 17_653, false, 5_000),
        ("robot-2", "robot", 174_636, false, 7_000),
        ("robot", "robot", 10 * MS, true, 50_000),
    ];
    // The filter's thread has an executor of its own, and the number of the one without a period.
    let against: [Seen; 4] = [
        ("robot-2", "robot", 170 * MS, true, 9_000),
        ("robot", "robot", 10 * MS, true, 20_000),
        ("robot-3", "robot", 25_508, false, 8_000),
        ("listener", "listener", 11_000, false, 1_000),
    ];
    let comparison = compare(&base, &against).unwrap();
    assert_eq!(
        medians(&comparison),
        [
            ("robot-2".to_owned(), 7_000, 8_000),
            ("robot".to_owned(), 50_000, 20_000)
        ]
    );
    let text = comparison_in_full(&comparison, Style::default()).replace('\n', " ");
    let left_out: Vec<&String> = comparison
        .cautions
        .iter()
        .filter(|of| of.contains("left out"))
        .collect();
    let [line] = &left_out[..] else {
        panic!("{text}");
    };
    assert!(line.contains("robot-ust of "), "{line}");
    assert!(line.contains("robot-2, listener of "), "{line}");
    assert!(
        text.contains("robot-3 of ") && text.contains("is compared as robot-2 of "),
        "{text}"
    );
    // A thread without a period misses nothing by the other run's shortest period.
    assert!(comparison.conditions[1].against[0].invalid.is_empty());
}

#[test]
fn of_threads_that_are_alike_none_is_taken_for_another() {
    let worker = |name| (name, "worker", 5 * MS, true, 3_000);
    let base: [Seen; 3] = [
        worker("worker"),
        worker("worker-2"),
        ("control", "control", MS, true, 4_000),
    ];
    // Measured periods are never the same to the nanosecond.
    let against: [Seen; 2] = [
        worker("worker"),
        ("control", "control", MS + 1_234, true, 5_000),
    ];
    let comparison = compare(&base, &against).unwrap();
    assert_eq!(medians(&comparison), [("control".to_owned(), 4_000, 5_000)]);
}

#[test]
fn programs_without_a_thread_in_common_are_refused_with_the_threads_of_both() {
    let base: [Seen; 1] = [("control", "control", MS, true, 4_000)];
    let against: [Seen; 1] = [("control", "control", 2 * MS, true, 4_000)];
    let refused = compare(&base, &against).unwrap_err().to_string();
    assert!(
        refused.contains("control (1 ms) against control (2 ms)"),
        "{refused}"
    );
}

#[test]
fn timers_of_ros_2_that_were_imported_with_the_kernels_events_are_judged() {
    let base: [Seen; 1] = [("pilot 10 ms", "pilot 10 ms", 10 * MS, true, 4_000)];
    let against: [Seen; 1] = [("pilot 10 ms", "pilot 10 ms", 10 * MS, true, 6_000)];
    let comparison = compare_as("ros2", &base, &against).unwrap();
    assert_eq!(
        medians(&comparison),
        [("pilot 10 ms".to_owned(), 4_000, 6_000)]
    );
}
