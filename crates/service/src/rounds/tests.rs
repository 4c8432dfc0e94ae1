use super::*;
use crate::room;
use crate::summary::summary;
use wakepath_archive::{
    Effective, Ending, Event, LogWriter, SegmentEnded, SegmentStarted, ThreadEnd, ThreadEnded,
    ThreadStarted,
};
use wakepath_scenario::PoliciesNeeded;
use wakepath_timeline::{DueTimes, Policy, Sample, SampleFlags};
use wakepath_verdict::{Judgement, Outcome, Reason};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/format-1");

fn taken(rounds: &mut Rounds, number: u32, findings: &BTreeMap<String, RoundFinding>) {
    let run = Run::open(Path::new(FIXTURE)).unwrap();
    let command = ["wakepath".to_owned()];
    rounds
        .take(&Round {
            number,
            of: 3,
            segment: &format!("round-{number:06}"),
            run: &run,
            threads: &threads_of(&run),
            findings,
            offset_ns: Some(0),
            begins: (number == 1).then_some(&command[..]),
        })
        .unwrap();
}

fn criterion() -> Criterion {
    Criterion {
        latency_ns: None,
        deadline_ns: 1_000_000,
        miss_fraction: 1.0,
        evidence: None,
        confidence: 0.95,
        consecutive_misses: None,
        outage_ns: None,
        mode_switches: 0.0,
        policies: PoliciesNeeded::Any,
    }
}

fn threads_of(run: &Run) -> BTreeMap<(u32, u16), RoundThread> {
    let mut all = BTreeMap::new();
    for segment in run.manifest.segments.iter().filter(|of| !of.traced) {
        for thread in &segment.threads {
            let of = RoundThread {
                condition: ConditionName {
                    policy: Some(thread.requested),
                    phase: segment.phase.clone(),
                    task: Some(thread.name.clone()),
                },
                criterion: criterion(),
                until: Until::WindowEnd,
            };
            all.insert((segment.segment, thread.thread), of);
        }
    }
    all
}

fn judgement_of(found: &crate::Summary, name: &str) -> Judgement {
    let mut judged = found.judged().into_iter();
    let of = judged.find(|of| of.loops.iter().any(|own| own == name));
    of.unwrap().judgement
}

/// Judged due times by the name of the loop, and their samples.
fn in_the_fixture() -> BTreeMap<String, (u64, u64)> {
    let run = Run::open(Path::new(FIXTURE)).unwrap();
    let mut all: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for segment in run.manifest.segments.iter().filter(|of| !of.traced) {
        for thread in &segment.threads {
            let own = (segment.threads.len() > 1).then_some(&thread.name[..]);
            let name = loop_name(&segment.condition, &segment.phase, own);
            let samples = run.samples(segment.segment, thread.thread).unwrap();
            let first = thread.first_judged_cycle;
            let judged = samples.iter().filter(|of| of.cycle >= first).count() as u64;
            let its = all.entry(name).or_default();
            *its = (its.0 + thread.expected - first, its.1 + judged);
        }
    }
    all
}

#[test]
fn every_due_time_of_each_round_is_counted_once_however_often_a_round_is_taken() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("rounds");
    let mut rounds = Rounds::prepare(&path, Trust::Any, 5, Some(b"{}")).unwrap();
    assert_eq!(rounds.reached().unwrap(), 0);
    // A kill between worst cycles and history has a round taken again.
    for number in [1, 1, 2] {
        taken(&mut rounds, number, &BTreeMap::new());
    }
    assert_eq!(rounds.reached().unwrap(), 2);
    let found = summary(&path).unwrap();
    assert_eq!(
        (found.rounds, found.starts, found.is_running),
        (Some((2, 3)), 1, true)
    );
    let known = in_the_fixture();
    assert_eq!(found.loops.len(), known.len());
    for (name, (due, samples)) in known {
        let of = &found.loops[&name];
        assert_eq!(
            (of.tally.scheduled(), of.tally.executed),
            (2 * due, 2 * samples),
            "{name}"
        );
        assert_eq!(of.latencies.count(), 2 * samples);
    }
    let worst = crate::read_worst(&path).unwrap();
    for cycles in worst.values() {
        let mut all: Vec<_> = cycles.iter().map(|of| (&of.segment, of.due_ns)).collect();
        all.dedup();
        assert_eq!(all.len(), 5);
    }
}

#[test]
fn a_condition_that_is_no_evidence_is_in_no_count_and_keeps_the_whole_from_passing() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("rounds");
    let mut rounds = Rounds::prepare(&path, Trust::Any, 5, Some(b"{}")).unwrap();
    let (name, (due, _)) = in_the_fixture().pop_first().unwrap();
    let why = RoundFinding::Invalid("a load did not prove its work".into());
    taken(&mut rounds, 1, &BTreeMap::from([(name.clone(), why)]));
    let first = summary(&path).unwrap();
    let judged = judgement_of(&first, &name);
    let nothing = "no due time is recorded yet";
    let only = "no evidence in 1 round: a load did not prove its work";
    let reasons: Vec<String> = judged.reasons.iter().map(ToString::to_string).collect();
    assert_eq!(reasons, [nothing, only], "no finding without due times");
    taken(&mut rounds, 2, &BTreeMap::new());
    let found = summary(&path).unwrap();
    let of = &found.loops[&name];
    assert_eq!((of.tally.scheduled(), of.rounds.invalid.0), (due, 1));
    let judged = judgement_of(&found, &name);
    assert_eq!(judged.outcome, Outcome::Undecided);
    let set_aside = |reason: &Reason| matches!(reason, Reason::RoundsSetAside { rounds: 1, last } if last.contains("did not prove"));
    assert!(judged.reasons.iter().any(set_aside), "{judged:?}");
    let failed = RoundFinding::Failed("the vehicle was lost".into());
    taken(&mut rounds, 3, &BTreeMap::from([(name.clone(), failed)]));
    let found = summary(&path).unwrap();
    assert_eq!(judgement_of(&found, &name).outcome, Outcome::Failed);
    assert!(!found.is_running, "the last round is measured");
}

/// A complete round of 1000 due times of 1 ms, with each sample changed or removed by `change`.
fn made_up_round(place: &Path, change: impl Fn(Sample) -> Option<Sample>) -> Run {
    let due = DueTimes {
        start_ns: 5_000_000_000,
        period_ns: 1_000_000,
    };
    let policy = Policy::Fifo { priority: 80 };
    let mut log = LogWriter::create(place).unwrap();
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
            end_cycle: 1_000,
        }],
    }));
    let sample = |cycle: u64| Sample {
        cycle,
        due_ns: due.due_ns(cycle),
        wake_ns: due.due_ns(cycle) + 20_000,
        end_ns: due.due_ns(cycle) + 120_000,
        ..Sample::default()
    };
    let samples: Vec<Sample> = (0..1_000).map(sample).filter_map(change).collect();
    log.append_samples(0, 0, &samples).unwrap();
    let written = samples.len() as u64;
    log.append_event(&Event::SegmentEnded(SegmentEnded {
        segment: 0,
        threads: vec![ThreadEnded {
            thread: 0,
            written,
            recorded: written,
            lost: 0,
            skipped: Some(1_000 - written),
            page_faults: None,
            modules: Vec::new(),
            counters: None,
            on_a_core: None,
            ended: ThreadEnd::AllCycles,
        }],
        loads: Vec::new(),
    }))
    .unwrap();
    log.end(Ending::Complete).unwrap();
    wakepath_archive::finish(place).unwrap();
    Run::open(place).unwrap()
}

/// Judgement over rounds that are all such runs.
fn judged_over(rounds: u32, change: fn(Sample) -> Option<Sample>) -> Judgement {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("rounds");
    let mut all = Rounds::prepare(&path, Trust::Any, 5, Some(b"{}")).unwrap();
    for number in 1..=rounds {
        let segment = format!("round-{number:06}");
        let run = made_up_round(&place.path().join(&segment), change);
        let threads = threads_of(&run).into_iter().map(|(at, of)| {
            let criterion = Criterion {
                miss_fraction: 0.1,
                outage_ns: Some(10_000_000),
                ..of.criterion
            };
            (at, RoundThread { criterion, ..of })
        });
        all.take(&Round {
            number,
            of: rounds,
            segment: &segment,
            run: &run,
            threads: &threads.collect(),
            findings: &BTreeMap::new(),
            offset_ns: Some(0),
            begins: None,
        })
        .unwrap();
    }
    let judged = summary(&path).unwrap().judged();
    assert_eq!(judged.len(), 1);
    judged.into_iter().next().unwrap().judgement
}

#[test]
fn rounds_miss_what_a_run_misses() {
    let clean = judged_over(3, Some);
    assert_eq!(clean.outcome, Outcome::Passed, "{:?}", clean.reasons);
    // 257 of 1000 exchanges without a correct answer, however early the loop was.
    let unanswered = judged_over(3, |sample| {
        let flags = if sample.cycle * 257 % 1_000 < 257 {
            SampleFlags::UNANSWERED
        } else {
            SampleFlags::default()
        };
        Some(Sample { flags, ..sample })
    });
    assert_eq!(unanswered.outcome, Outcome::Failed);
    assert_eq!(unanswered.cycles.missed(), Some(3 * 257));
    // Nothing ran for the first 12 ms; 10 ms are allowed.
    let late = judged_over(3, |sample| (sample.cycle >= 12).then_some(sample));
    assert_eq!(late.outcome, Outcome::Failed);
    let outage = |reason: &Reason| matches!(reason, Reason::OutageAbove { .. });
    assert!(late.reasons.iter().any(outage), "{:?}", late.reasons);
    // A thread of a real-time core that Linux scheduled in one cycle.
    let switched = judged_over(3, |sample| {
        let flags = match sample.cycle {
            500 => SampleFlags::MODE_SWITCH,
            _ => SampleFlags::default(),
        };
        Some(Sample { flags, ..sample })
    });
    assert_eq!(switched.outcome, Outcome::Invalid);
}

#[test]
fn rounds_and_a_program_s_service_do_not_share_a_directory() {
    let place = tempfile::tempdir().unwrap();
    let (rounds, service) = (place.path().join("rounds"), place.path().join("service"));
    drop(Rounds::prepare(&rounds, Trust::Any, 5, Some(b"{}")).unwrap());
    assert!(room::has_rounds(&rounds));
    assert!(crate::prepare(&rounds, Trust::Any).is_err());
    crate::prepare(&service, Trust::Any).unwrap();
    assert!(Rounds::prepare(&service, Trust::Any, 5, None).is_err());
    // A kill before the mark was written leaves only the plan.
    let begun = place.path().join("begun");
    std::fs::create_dir(&begun).unwrap();
    std::fs::write(begun.join(room::PLAN), "{").unwrap();
    drop(Rounds::prepare(&begun, Trust::Any, 5, Some(b"{}")).unwrap());
    assert_eq!(std::fs::read(begun.join(room::PLAN)).unwrap(), b"{}");
}
