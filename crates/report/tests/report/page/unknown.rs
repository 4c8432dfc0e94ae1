//! Runs of each kind that wakepath writes: every JSON form is what the schema says, and what a
//! recording does not show is unknown in every form, never 0.

use super::schema::{RESULTS, assert_valid};
use serde_json::{Value, json};
use wakepath_archive::{
    Effective, Ending, Event, Imported, LogWriter, Run, RunStarted, ScenarioText, SegmentEnded,
    SegmentStarted, ThreadEnd, ThreadEnded, ThreadHistogram, ThreadStarted,
};
use wakepath_assess::Assessment;
use wakepath_report::{Style, ToText, markdown, open_metrics, to_json};
use wakepath_timeline::{DueTimes, Lack, Policy, Sample};

const PERIOD_NS: u64 = 1_000_000;
const FIFO: Policy = Policy::Fifo { priority: 50 };
const CYCLES: u64 = 1_000;

/// A run of one thread with its own period, of this kind.
struct Kind {
    criterion: &'static str,
    imported: Option<Imported>,
    /// Whether a watched thread sleeps until due times.
    exact: bool,
    ending: Ending,
    end: ThreadEnd,
}

impl Kind {
    fn watched(criterion: &'static str, exact: bool) -> Self {
        Self {
            criterion,
            imported: Some(Imported {
                form: Imported::WATCHED.into(),
                measures: "kernel events".into(),
                lacks: vec![Lack::OwnDueTimes, Lack::Untraced],
                ..Imported::default()
            }),
            exact,
            ending: Ending::Complete,
            end: ThreadEnd::AllCycles,
        }
    }

    /// Bins of another tool.
    fn histogram() -> Self {
        Self {
            imported: Some(Imported {
                form: "cyclictest-json".into(),
                measures: "latencies".into(),
                lacks: vec![Lack::SkippedPeriods, Lack::Order, Lack::ExecutionTimes],
                histograms: vec![ThreadHistogram {
                    bins: vec![(5_000, 5_999, 990), (700_000, 700_999, 10)],
                    ..ThreadHistogram::default()
                }],
                ..Imported::default()
            }),
            ..Self::watched("latency = \"100 us\"", true)
        }
    }

    fn interrupted() -> Self {
        Self {
            imported: None,
            ending: Ending::Interrupted,
            end: ThreadEnd::Stopped,
            ..Self::watched("latency = \"100 us\"", true)
        }
    }

    /// Cycle 500 works for 5.5 periods, and the cycles due during it run right after it; cycle 700 is
    /// skipped.
    fn samples(&self, due: DueTimes) -> Vec<Sample> {
        let cycles = (0..CYCLES).filter(|cycle| !(501..=505).contains(cycle) && *cycle != 700);
        let sample = |cycle: u64| {
            let wake_ns = due.due_ns(cycle) + 20_000;
            let work_ns = if cycle == 500 { 5_500_000 } else { 50_000 };
            Sample {
                cycle,
                due_ns: due.due_ns(cycle),
                wake_ns,
                end_ns: wake_ns + work_ns,
                ..Sample::default()
            }
        };
        if self
            .imported
            .as_ref()
            .is_some_and(|of| !of.histograms.is_empty())
        {
            Vec::new()
        } else {
            cycles.map(sample).collect()
        }
    }

    fn assessment(&self) -> Assessment {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("run");
        let mut log = LogWriter::create(&directory).unwrap();
        let toml = format!(
            "name = \"kind\"\nduration = \"1 s\"\nwarm-up = \"0 ns\"\nphases = [{{ name = \"watched\" }}]\n\
             [criterion]\n{}\n[[tasks]]\nname = \"loop\"\nperiod = \"1 ms\"\npolicy = \"FIFO 50\"\n",
            self.criterion
        );
        let mut event = |event: Event| log.append_event(&event).unwrap();
        event(Event::RunStarted(Box::new(RunStarted {
            run_id: "kind".into(),
            started: "2026-11-03T10:15:00Z".into(),
            scenario: ScenarioText {
                name: "kind".into(),
                toml,
            },
            ..RunStarted::default()
        })));
        if let Some(imported) = &self.imported {
            event(Event::Imported(Box::new(imported.clone())));
        }
        let due = DueTimes {
            start_ns: 7_000_000_000,
            period_ns: PERIOD_NS,
        };
        let is_watched = self.imported.as_ref().is_some_and(Imported::is_watched);
        event(Event::SegmentStarted(SegmentStarted {
            segment: 0,
            phase: "watched".into(),
            repetition: 0,
            condition: "own".into(),
            traced: is_watched,
            threads: vec![ThreadStarted {
                thread: 0,
                name: "loop".into(),
                due,
                requested: FIFO,
                effective: Effective {
                    text: FIFO.to_string(),
                    details: json!({ "policy": FIFO, "exact": self.exact, "shows_each_cycle": false }),
                },
                cpus: vec![1],
                first_judged_cycle: 0,
                end_cycle: CYCLES,
            }],
        }));
        let samples = self.samples(due);
        let written = samples.len() as u64;
        log.append_samples(0, 0, &samples).unwrap();
        log.append_event(&Event::SegmentEnded(SegmentEnded {
            segment: 0,
            threads: vec![ThreadEnded {
                thread: 0,
                written,
                recorded: written,
                lost: 0,
                skipped: (is_watched && self.exact).then_some(CYCLES - written),
                page_faults: None,
                modules: Vec::new(),
                counters: None,
                on_a_core: None,
                ended: self.end.clone(),
            }],
            loads: Vec::new(),
        }))
        .unwrap();
        log.end(self.ending.clone()).unwrap();
        wakepath_archive::finish(&directory).unwrap();
        Assessment::new(&Run::open(&directory).unwrap()).unwrap()
    }

    /// The figures of its only condition as JSON; the whole is what the schema says.
    #[track_caller]
    fn cycles(&self) -> Value {
        let json = to_json(&self.assessment());
        assert_valid(RESULTS, &json);
        let whole: Value = serde_json::from_str(&json).unwrap();
        whole["conditions"][0]["cycles"].clone()
    }
}

#[test]
fn without_a_criterion_nothing_is_missed_or_met() {
    let kind = Kind::watched("", true);
    let cycles = kind.cycles();
    assert_eq!(
        (&cycles["misses"], &cycles["executed_late"]),
        (&Value::Null, &Value::Null)
    );
    let assessment = kind.assessment();
    assert_eq!(assessment.conditions[0].margin, None);
    let text = open_metrics(&assessment);
    assert!(!text.contains("wakepath_missed_due_times{"), "{text}");
    let table = markdown(&assessment);
    assert!(
        table.contains("not judged") && !table.contains(" 0 |"),
        "{table}"
    );
}

#[test]
fn due_times_that_passed_while_a_watched_cycle_ran_are_unseen_and_no_skipped_ones() {
    for criterion in ["", "latency = \"100 us\""] {
        let cycles = Kind::watched(criterion, true).cycles();
        assert_eq!(
            (&cycles["skipped"], &cycles["unseen"]),
            (&1.into(), &5.into())
        );
        assert_eq!(cycles["scheduled"], CYCLES - 5);
        // The skipped one alone waited, until the next.
        assert_eq!(cycles["latency_as_scheduled"]["max"], PERIOD_NS + 20_000);
    }
    let kind = Kind::watched("latency = \"100 us\"", true);
    let text = kind.assessment().to_text(Style::default());
    assert!(text.contains("≤ 6"), "{text}");
    let cycles = kind.cycles();
    // Cycle 500 itself, and the one that was skipped.
    assert_eq!(cycles["misses"]["missed"], 2);
}

#[test]
fn a_thread_that_sleeps_for_a_time_skips_nothing_that_anyone_knows_of() {
    let kind = Kind::watched("latency = \"100 us\"", false);
    let cycles = kind.cycles();
    assert_eq!(
        (&cycles["skipped"], &cycles["skipped_at_end"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        (&cycles["unseen"], &cycles["scheduled"]),
        (&6.into(), &(CYCLES - 6).into())
    );
    assert_eq!(cycles["latency_as_scheduled"]["max"], 20_000);
    let text = open_metrics(&kind.assessment());
    assert!(!text.contains("wakepath_skipped_due_times{"), "{text}");
}

#[test]
fn the_order_of_a_histogram_is_unknown() {
    let kind = Kind::histogram();
    let cycles = kind.cycles();
    assert_eq!(cycles["misses"]["missed"], 10);
    for unknown in ["longest_run", "clusters", "largest_cluster"] {
        assert_eq!(cycles["misses"][unknown], Value::Null, "{unknown}");
    }
    for unknown in ["skipped", "late_after_overrun", "work_faults", "overruns"] {
        assert_eq!(cycles[unknown], Value::Null, "{unknown}");
    }
    let text = open_metrics(&kind.assessment());
    assert!(!text.contains("wakepath_skipped_due_times{"), "{text}");
    assert!(text.contains("wakepath_missed_due_times{"), "{text}");
}

#[test]
fn an_interrupted_run_is_what_the_schema_says() {
    let cycles = Kind::interrupted().cycles();
    assert_eq!(
        (&cycles["skipped"], &cycles["unseen"]),
        (&6.into(), &0.into())
    );
}
