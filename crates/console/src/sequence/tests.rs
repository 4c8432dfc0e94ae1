use super::*;
use std::fs::File;
use std::path::Path;
use std::time::Duration;
use wakepath_archive::{
    Effective, Ending, Event, Invocation, LOG_NAME, LogWriter, MeasuringVerb, SegmentEnded,
    SegmentStarted, ThreadEnd, ThreadEnded, ThreadStarted,
};
use wakepath_timeline::{DueTimes, Policy, Sample};

/// Three runs, `1` to `3`, each of which is taken once.
struct Three {
    directory: PathBuf,
    taken: Vec<(u32, Origin, u64)>,
    ordered: Vec<u32>,
}

impl Three {
    fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            taken: Vec::new(),
            ordered: Vec::new(),
        }
    }

    fn place(&self, number: u32) -> PathBuf {
        self.directory.join(number.to_string())
    }
}

impl Plan for Three {
    type Subject = u32;

    fn next(&self) -> Option<Step<u32>> {
        let number = self.taken.len() as u32 + 1;
        (number <= 3).then(|| Step {
            subject: number,
            name: format!("run {number} of 3"),
            directory: self.place(number),
            remaining: 3 - number,
        })
    }

    fn order(&mut self, step: &Step<u32>) -> Result<OrderedRun, Failure> {
        self.ordered.push(step.subject);
        Ok(OrderedRun {
            scenario: String::new(),
            source: "three".into(),
            directory: step.directory.clone(),
            trust_directory: false,
            metrics: None,
            invocation: Invocation::new(MeasuringVerb::Check),
        })
    }

    fn take(&mut self, step: Step<u32>, run: Run, origin: Origin) -> Result<(), Failure> {
        self.taken.push((step.subject, origin, recorded(&run)));
        Ok(())
    }

    fn after_interruption(&self) -> String {
        format!("{} of 3 are measured", self.taken.len())
    }
}

/// How a run ends.
#[derive(Clone, Copy)]
enum End {
    Complete,
    /// Killed after all samples, before the conversion.
    Unconverted,
    /// Ctrl-C during the run, which ends in order.
    Interrupted,
    /// Ctrl-C after the last sample.
    InterruptedLate,
    /// Killed in the middle.
    Killed,
    /// Refused before the directory is made.
    Refused,
    /// Refused by the loop: recorded without a sample.
    RefusedByLoop,
    /// Killed between making the directory and writing.
    KilledEarly,
    /// Ended by its own decision.
    Failed,
}

/// Writes a run as a measuring process would.
struct Fake {
    ends: Vec<End>,
    is_interrupted: bool,
    remaining: Vec<u32>,
}

impl Fake {
    fn new(ends: &[End]) -> Self {
        Self {
            ends: ends.iter().rev().copied().collect(),
            is_interrupted: false,
            remaining: Vec::new(),
        }
    }
}

impl Executor for Fake {
    fn execute(&mut self, run: OrderedRun, _: &str, remaining: u32) -> io::Result<Option<String>> {
        self.remaining.push(remaining);
        let end = self.ends.pop().expect("a run that the test expects");
        self.is_interrupted = matches!(end, End::Interrupted | End::InterruptedLate);
        write(&run.directory, end);
        Ok(match end {
            End::Refused | End::RefusedByLoop | End::Failed => Some("no CPU 9".into()),
            End::Killed | End::Unconverted | End::KilledEarly => {
                Some("its process ended early".into())
            }
            End::Complete | End::Interrupted | End::InterruptedLate => None,
        })
    }

    fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }
}

const WHOLE: u64 = 100;

fn write(directory: &Path, end: End) {
    let samples = match end {
        End::Refused => return,
        End::KilledEarly => return std::fs::create_dir(directory).unwrap(),
        End::RefusedByLoop => 0,
        End::Interrupted | End::Killed | End::Failed => 40,
        End::Complete | End::Unconverted | End::InterruptedLate => WHOLE,
    };
    let due = DueTimes {
        start_ns: 5_000_000_000,
        period_ns: 1_000_000,
    };
    let policy = Policy::Fifo { priority: 80 };
    let mut log = LogWriter::create(directory).unwrap();
    let mut event = |event: Event| log.append_event(&event).unwrap();
    event(Event::RunStarted(Box::default()));
    event(Event::SegmentStarted(SegmentStarted {
        segment: 0,
        phase: "idle".into(),
        repetition: 0,
        condition: policy.to_string(),
        traced: false,
        threads: vec![ThreadStarted {
            thread: 0,
            name: "loop".into(),
            due,
            requested: policy,
            effective: Effective::default(),
            cpus: vec![1],
            first_judged_cycle: 0,
            end_cycle: WHOLE,
        }],
    }));
    let sample = |cycle| Sample {
        cycle,
        due_ns: due.due_ns(cycle),
        wake_ns: due.due_ns(cycle) + 20_000,
        end_ns: due.due_ns(cycle) + 120_000,
        ..Sample::default()
    };
    let all: Vec<Sample> = (0..samples).map(sample).collect();
    log.append_samples(0, 0, &all).unwrap();
    if matches!(end, End::Killed) {
        return;
    }
    log.append_event(&Event::SegmentEnded(SegmentEnded {
        segment: 0,
        threads: vec![ThreadEnded {
            thread: 0,
            written: samples,
            recorded: samples,
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
    log.end(match end {
        End::Interrupted => Ending::Interrupted,
        End::Failed | End::RefusedByLoop => Ending::Failed {
            reason: "no CPU 9".into(),
        },
        _ => Ending::Complete,
    })
    .unwrap();
    if !matches!(end, End::Unconverted) {
        wakepath_archive::finish(directory).unwrap();
    }
}

fn recorded(run: &Run) -> u64 {
    run.manifest.thread(0, 0).map_or(0, |of| of.recorded)
}

/// Carries the plan out once; the message if it ended before the last run.
fn attempt(directory: &Path, ends: &[End]) -> (Three, Option<String>) {
    let mut plan = Three::new(directory);
    let mut fake = Fake::new(ends);
    let ended = carry_out(&mut plan, &mut fake);
    assert!(fake.ends.is_empty(), "every run of the test is measured");
    (plan, ended.err().map(|error| error.to_string()))
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let name = |entry: io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<String> = entries
        .map(|entry| name(entry).into_string().unwrap())
        .collect();
    names.sort();
    names
}

const MEASURED: Origin = Origin::Measured;
const RESUMED: Origin = Origin::Resumed;

#[test]
fn every_run_is_measured_once_and_none_again() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("all");
    let mut plan = Three::new(&directory);
    let mut fake = Fake::new(&[End::Complete; 3]);
    carry_out(&mut plan, &mut fake).unwrap();
    assert_eq!(fake.remaining, [2, 1, 0]);
    assert_eq!(plan.taken, [1, 2, 3].map(|run| (run, MEASURED, WHOLE)));
    let (again, ended) = attempt(&directory, &[]);
    assert_eq!(ended, None);
    assert_eq!(again.taken, [1, 2, 3].map(|run| (run, RESUMED, WHOLE)));
    assert_eq!(again.ordered, [0; 0]);
    assert_eq!(names(&directory), ["1", "2", "3"]);
}

#[test]
fn a_run_that_was_cut_short_is_measured_again_and_its_samples_stay() {
    let message = |end| match end {
        End::Interrupted => "interrupted; 1 of 3 are measured",
        End::Killed => "run 2 of 3: its process ended early",
        _ => "run 2 of 3: no CPU 9",
    };
    for end in [End::Interrupted, End::Killed, End::Failed] {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path();
        let (_, ended) = attempt(directory, &[End::Complete, end]);
        assert_eq!(ended.as_deref(), Some(message(end)));
        assert_eq!(names(directory), ["1", "2"]);
        let (_, ended) = attempt(directory, &[end]);
        assert_eq!(ended.as_deref(), Some(message(end)));
        let (plan, ended) = attempt(directory, &[End::Complete, End::Complete]);
        assert_eq!(ended, None);
        assert_eq!(
            plan.taken,
            [
                (1, RESUMED, WHOLE),
                (2, MEASURED, WHOLE),
                (3, MEASURED, WHOLE)
            ]
        );
        let all = ["1", "2", "2-cut-short-1", "2-cut-short-2", "3"];
        assert_eq!(names(directory), all);
        let kept = Run::open(&directory.join("2-cut-short-2")).unwrap();
        assert_eq!(recorded(&kept), 40);
    }
}

#[test]
fn a_run_with_all_its_samples_is_not_measured_again() {
    let place = tempfile::tempdir().unwrap();
    let (plan, ended) = attempt(place.path(), &[End::InterruptedLate]);
    assert_eq!(ended.as_deref(), Some("interrupted; 0 of 3 are measured"));
    assert_eq!(plan.taken, []);
    // A process that dies during the conversion has recorded everything.
    let (plan, ended) = attempt(place.path(), &[End::Unconverted, End::Complete]);
    assert_eq!(ended, None);
    assert_eq!(
        plan.taken,
        [
            (1, RESUMED, WHOLE),
            (2, MEASURED, WHOLE),
            (3, MEASURED, WHOLE)
        ]
    );
    // So has one whose command died with it.
    let place = tempfile::tempdir().unwrap();
    write(&place.path().join("1"), End::Unconverted);
    let (plan, ended) = attempt(place.path(), &[End::Complete, End::Complete]);
    assert_eq!(ended, None);
    assert_eq!(plan.taken[0], (1, RESUMED, WHOLE));
    assert_eq!(names(place.path()), ["1", "2", "3"]);
}

#[test]
fn a_run_without_a_sample_leaves_nothing() {
    for (end, why) in [
        (End::Refused, "no CPU 9"),
        (End::RefusedByLoop, "no CPU 9"),
        (End::KilledEarly, "its process ended early"),
    ] {
        let place = tempfile::tempdir().unwrap();
        let (_, ended) = attempt(place.path(), &[end]);
        assert_eq!(ended, Some(format!("run 1 of 3: {why}")));
        assert_eq!(names(place.path()), [""; 0]);
        // One whose command was killed as well is replaced.
        write(&place.path().join("1"), end);
        let (_, ended) = attempt(place.path(), &[End::Complete; 3]);
        assert_eq!(ended, None);
        assert_eq!(names(place.path()), ["1", "2", "3"]);
    }
}

#[test]
fn an_unreadable_directory_is_set_aside() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path();
    std::fs::create_dir_all(directory.join("1")).unwrap();
    std::fs::write(directory.join("1/manifest.json"), "{}").unwrap();
    let (plan, ended) = attempt(directory, &[End::Complete; 3]);
    assert_eq!(ended, None);
    assert!(plan.taken.iter().all(|(_, origin, _)| *origin == MEASURED));
    assert_eq!(names(directory), ["1", "1-cut-short-1", "2", "3"]);
}

#[test]
fn the_next_command_waits_for_a_run_that_is_ending() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path();
    write(&directory.join("1"), End::Unconverted);
    let log = File::open(directory.join("1").join(LOG_NAME)).unwrap();
    // A writer holds its lock until it ends.
    log.lock().unwrap();
    let writer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        drop(log);
    });
    let (plan, ended) = attempt(directory, &[End::Complete, End::Complete]);
    assert_eq!(ended, None);
    assert_eq!(plan.taken[0], (1, RESUMED, WHOLE));
    writer.join().unwrap();
}
