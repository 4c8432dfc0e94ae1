//! Runs written as a recorder writes them, assessed: what holds, what does not, and what can't be
//! told.

use serde_json::json;
use std::path::Path;
use wakepath_archive::{
    Effective, Emulator, Ending, Event, LogWriter, Obstacle, Run, RunStarted, ScenarioText,
    SegmentEnded, SegmentStarted, ThreadEnd, ThreadEnded, ThreadStarted, VirtualTime,
};
use wakepath_assess::Assessment;
use wakepath_report::{Answer, Shown, Style, ToText, to_json};
use wakepath_timeline::{DueTimes, LoadProof, Policy, Sample, SampleFlags};
use wakepath_verdict::Outcome;

const PERIOD_NS: u64 = 1_000_000;
const CYCLES: u64 = 2_000;
const WARM_UP: u64 = 10;

const SCENARIO: &str = r#"
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

const COMMAND: [&str; 6] = [
    "wakepath",
    "run",
    "made-up.toml",
    "--duration=20s",
    "--directory",
    "here",
];

/// One condition of a made-up run.
struct Segment {
    phase: &'static str,
    policy: Policy,
    samples: Vec<Sample>,
    lost: u64,
    skipped: Option<u64>,
    ended: ThreadEnd,
    load_works: bool,
    traced: bool,
}

const OTHER: Policy = Policy::Other { nice: 0 };
const FIFO: Policy = Policy::Fifo { priority: 50 };

fn due() -> DueTimes {
    DueTimes {
        start_ns: 7_000_000_000,
        period_ns: PERIOD_NS,
    }
}

/// A cycle that wakes `latency_ns` late and works for 10 µs.
fn sample(cycle: u64, latency_ns: u64) -> Sample {
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

fn clean(phase: &'static str, policy: Policy) -> Segment {
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

/// A stall of 15 ms in cycle 1000, the periods meanwhile skipped.
fn stalled(phase: &'static str, policy: Policy) -> Segment {
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

fn write(directory: &Path, segments: &[Segment], ending: Option<Ending>) {
    write_in(directory, segments, ending, None);
}

fn write_in(
    directory: &Path,
    segments: &[Segment],
    ending: Option<Ending>,
    virtual_time: Option<VirtualTime>,
) {
    write_cycles(directory, segments, ending, virtual_time, CYCLES);
}

fn write_cycles(
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
        command: COMMAND.map(String::from).into(),
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
fn write_short(directory: &Path, segments: &[Segment]) {
    write_cycles(directory, segments, Some(Ending::Complete), None, 300);
    wakepath_archive::finish(directory).unwrap();
}

fn assessed(segments: &[Segment], ending: Ending) -> Assessment {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("run");
    write(&run, segments, Some(ending));
    wakepath_archive::finish(&run).unwrap();
    Assessment::of(&Run::open(&run).unwrap()).unwrap()
}

fn everything_clean() -> Vec<Segment> {
    vec![
        clean("idle", OTHER),
        clean("idle", FIFO),
        clean("stress", OTHER),
        clean("stress", FIFO),
    ]
}

#[test]
fn a_policy_that_holds_under_every_load_passes_the_run_and_is_recommended() {
    let mut segments = everything_clean();
    segments[2] = stalled("stress", OTHER);
    let assessment = assessed(&segments, Ending::Complete);
    assert_eq!(assessment.outcome, Outcome::Passed);
    assert_eq!(
        assessment.overall.recommendation.as_ref().unwrap().policy,
        FIFO
    );
    let stalled = &assessment.conditions[2];
    assert_eq!(stalled.outcome, Outcome::Failed);
    assert_eq!(
        (stalled.cycles.scheduled, stalled.cycles.executed),
        (1990, 1975)
    );
    assert_eq!(
        (stalled.cycles.skipped, stalled.cycles.misses.longest_run),
        (15, 16)
    );
}

#[test]
fn the_table_shows_a_stall_as_the_due_times_that_it_cost() {
    let mut segments = everything_clean();
    segments[2] = stalled("stress", OTHER);
    let text = assessed(&segments, Ending::Complete).to_text(Style::default());
    let row = text
        .lines()
        .find(|line| line.contains("OTHER nice 0") && line.contains("failed"));
    let row: Vec<&str> = row.unwrap().split_whitespace().collect();
    assert_eq!(&row[3..6], ["1990", "1975", "15"], "{text}");
    assert!(text.contains("as executed"), "{text}");
    assert!(text.contains("verdict: PASSED: use FIFO 50"), "{text}");
    assert!(
        text.contains("load stress: cpu × 2: 50.0 rounds/s"),
        "{text}"
    );
    assert!(!text.contains('\x1b'), "no colour was asked for");
}

#[test]
fn the_answer_to_a_run_of_all_policies_fits_one_screen_and_begins_with_the_verdict() {
    let policies = [
        OTHER,
        Policy::Other { nice: -19 },
        Policy::RoundRobin { priority: 50 },
        Policy::RoundRobin { priority: 99 },
        FIFO,
        Policy::Fifo { priority: 99 },
        Policy::Batch { nice: 0 },
        Policy::Idle,
    ];
    let mut segments: Vec<Segment> = ["idle", "stress"]
        .into_iter()
        .flat_map(|phase| policies.map(|policy| clean(phase, policy)))
        .collect();
    segments[8] = stalled("stress", OTHER);
    let assessment = assessed(&segments, Ending::Complete);
    let answer = Answer::of(&assessment, None);
    for columns in [None, Some(80), Some(100)] {
        let text = answer.to_text(&Shown {
            style: Style {
                columns,
                ..Style::default()
            },
            recording: "wakepath-runs/made-up",
            ..Shown::default()
        });
        assert!(text.starts_with("verdict: PASSED: use "), "{text}");
        assert!(text.lines().count() <= 40, "{text}");
        // What the largest latency proves is not what a narrow terminal cuts.
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, proved) = words.split_once("with p ≤ ").unwrap();
        assert_eq!(proved.split(' ').nth(1), Some("%"), "{text}");
        let most = columns.unwrap_or(100);
        let widest = text.lines().map(wakepath_timeline::columns::width).max();
        assert!(widest <= Some(most), "{text}");
        for policy in policies {
            let row = |line: &&str| line.starts_with(&policy.to_string());
            assert_eq!(text.lines().filter(row).count(), 1, "{policy}: {text}");
        }
        let stalled = text.lines().find(|line| line.starts_with("OTHER nice 0"));
        let stalled = stalled.unwrap();
        // 16 of 1990 due times.
        for part in ["0.8 %", "15100", "failed"] {
            assert!(stalled.contains(part), "{part}: {text}");
        }
        assert!(
            text.contains("wakepath run made-up.toml --duration 1h"),
            "{text}"
        );
    }
}

#[test]
fn a_policy_that_could_not_be_measured_leaves_a_failing_run_undecided() {
    let mut segments = everything_clean();
    segments[2] = stalled("stress", OTHER);
    for number in [1, 3] {
        segments[number].samples.clear();
        segments[number].ended = ThreadEnd::Failed {
            obstacle: Obstacle::MissingRight,
            reason: "FIFO 50 needs a privilege".into(),
        };
    }
    let assessment = assessed(&segments, Ending::Complete);
    assert_eq!(assessment.not_measured.len(), 2);
    assert_eq!(assessment.outcome, Outcome::Undecided);
    assert!(
        assessment
            .to_text(Style::default())
            .contains("FIFO 50 needs a privilege")
    );
}

#[test]
fn a_load_that_did_nothing_makes_its_phase_invalid() {
    let mut segments = everything_clean();
    segments[2].load_works = false;
    segments[3].load_works = false;
    let assessment = assessed(&segments, Ending::Complete);
    assert_eq!(assessment.outcome, Outcome::Invalid);
    assert_eq!(assessment.exit_code(), 1);
    let text = assessment.to_text(Style::default());
    assert!(
        text.contains("NOT WORKING") && text.contains("no rounds were done"),
        "{text}"
    );
}

#[test]
fn lost_samples_make_a_condition_invalid() {
    let mut segments = everything_clean();
    for segment in &mut segments {
        segment.lost = 3;
    }
    assert_eq!(
        assessed(&segments, Ending::Complete).outcome,
        Outcome::Invalid
    );
}

#[test]
fn skipped_due_times_that_the_loop_counted_otherwise_make_a_condition_invalid() {
    let outcome = |skipped, ended| {
        let mut segments = everything_clean();
        segments[2] = stalled("stress", OTHER);
        segments[2].skipped = skipped;
        segments[2].ended = ended;
        let assessment = assessed(&segments, Ending::Complete);
        let reasons = assessment.conditions[2].reasons.iter();
        let reasons: Vec<_> = reasons.map(ToString::to_string).collect();
        (assessment.conditions[2].outcome, reasons)
    };
    // The stall skipped 15; a loop that didn't count is judged by its samples, as it always was.
    for known in [Some(15), None] {
        assert_eq!(outcome(known, ThreadEnd::AllCycles).0, Outcome::Failed);
    }
    for ended in [ThreadEnd::AllCycles, ThreadEnd::Stopped] {
        let (invalid, reasons) = outcome(Some(14), ended);
        assert_eq!(invalid, Outcome::Invalid);
        assert_eq!(
            reasons[0],
            "the loop counted 14 skipped due times but its samples leave out 15"
        );
    }
}

#[test]
fn a_loop_that_was_killed_is_not_passed() {
    let mut segments = everything_clean();
    for segment in &mut segments {
        segment.samples.truncate(1_500);
        segment.ended = ThreadEnd::failed("the loop's process died: signal 9");
    }
    let assessment = assessed(&segments, Ending::Complete);
    assert_eq!(assessment.outcome, Outcome::Invalid);
    assert_eq!(assessment.conditions[0].cycles.skipped_at_end, 500);
}

/// What a run says is to be done next, a line each.
fn next_steps(assessment: &Assessment) -> Vec<String> {
    let text = assessment.to_text(Style::default());
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("  next, for "));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_run_interrupted_in_its_warm_up_says_so_and_contradicts_nothing() {
    let mut segments = vec![clean("idle", OTHER)];
    segments[0].samples.truncate(4);
    segments[0].ended = ThreadEnd::Stopped;
    let assessment = assessed(&segments, Ending::Interrupted);
    assert_eq!(assessment.outcome, Outcome::Undecided);
    let reasons = assessment.conditions[0].reasons.iter();
    let reasons: Vec<String> = reasons.map(ToString::to_string).collect();
    assert_eq!(
        reasons,
        ["the run was interrupted in the warm-up: nothing was measured"]
    );
    assert_eq!(
        next_steps(&assessment),
        [
            "OTHER nice 0: the run did not get to its end; the same again: wakepath run made-up.toml \
             --duration=20s"
        ]
    );
}

/// Conditions with so few cycles that they are undecided, `misses` of them missed.
fn short(phase: &'static str, policy: Policy, misses: u64) -> Segment {
    let mut segment = clean(phase, policy);
    for (n, sample_) in (0..).zip(&mut segment.samples[100..]).take(misses as usize) {
        *sample_ = sample(100 + n, 200_000);
    }
    segment.samples.truncate(300);
    segment
}

#[test]
fn advice_is_each_policys_own_as_a_command_to_type() {
    // OTHER could pass with more due times; FIFO misses more than a longer run would excuse.
    let mut segments = vec![
        short("idle", OTHER, 0),
        short("idle", FIFO, 0),
        short("stress", OTHER, 0),
        short("stress", FIFO, 2),
    ];
    let judge = |segments: &[Segment]| {
        let directory = tempfile::tempdir().unwrap();
        let run = directory.path().join("run");
        write_short(&run, segments);
        Assessment::of(&Run::open(&run).unwrap()).unwrap()
    };
    let assessment = judge(&segments);
    assert_eq!(assessment.outcome, Outcome::Undecided);
    let steps = next_steps(&assessment);
    assert_eq!(steps.len(), 2, "{steps:?}");
    assert!(
        steps[0].starts_with("OTHER nice 0: 1 s more of each condition would decide: wakepath run made-up.toml --duration "),
        "{steps:?}"
    );
    assert!(
        !steps[0].contains("20s") && !steps[0].contains("here"),
        "{steps:?}"
    );
    assert_eq!(
        steps[1],
        "FIFO 50: with so many misses no longer run would pass (stress); see what makes cycles late: \
         wakepath run made-up.toml --duration=20s --trace"
    );
    // One policy is enough: the one that needs less is all that is advised.
    segments[3] = short("stress", FIFO, 0);
    segments[3].samples.truncate(250);
    let steps = next_steps(&judge(&segments));
    assert_eq!(steps.len(), 1, "{steps:?}");
    assert!(steps[0].starts_with("OTHER nice 0: "), "{steps:?}");
    for number in [1, 3] {
        segments[number].samples.clear();
        segments[number].ended = ThreadEnd::Failed {
            obstacle: Obstacle::MissingRight,
            reason: "FIFO 50 needs a privilege".into(),
        };
    }
    let steps = next_steps(&judge(&segments));
    assert_eq!(
        steps[1],
        "FIFO 50: a right is missing: sudo wakepath run made-up.toml --duration=20s"
    );
}

#[test]
fn a_load_that_was_gone_while_it_was_traced_is_said_beside_the_verdict() {
    let mut segments = everything_clean();
    let mut traced = clean("stress", FIFO);
    traced.traced = true;
    traced.load_works = false;
    segments.push(traced);
    let assessment = assessed(&segments, Ending::Complete);
    // The untraced segments judge, and their load worked.
    assert_eq!(assessment.outcome, Outcome::Passed);
    let text = assessment.to_text(Style::default());
    assert!(
        text.contains(
            "FIFO 50, stress, while it was traced: the load cpu did not prove its work: no rounds were \
             done"
        ),
        "{text}"
    );
}

#[test]
fn an_interrupted_run_is_judged_by_what_there_is_but_never_passed() {
    let mut segments = vec![clean("idle", OTHER)];
    segments[0].samples.truncate(1_500);
    segments[0].ended = ThreadEnd::Stopped;
    let assessment = assessed(&segments, Ending::Interrupted);
    assert_eq!(assessment.outcome, Outcome::Undecided);
    assert_eq!(assessment.conditions[0].cycles.scheduled, 1_490);
    assert_eq!(assessment.conditions[0].cycles.skipped, 0);
    assert_eq!(assessment.overall.recommendation, None);
}

#[test]
fn a_run_that_was_cut_short_is_never_passed_before_or_after_its_recovery() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("run");
    write(&run, &everything_clean(), None);
    let before = Assessment::of(&Run::open(&run).unwrap()).unwrap();
    assert_eq!(before.outcome, Outcome::Undecided);
    assert!(
        before.remarks[0].contains("wakepath recover"),
        "{:?}",
        before.remarks
    );
    wakepath_archive::recover(&run).unwrap();
    let after = Assessment::of(&Run::open(&run).unwrap()).unwrap();
    assert_eq!(after.outcome, Outcome::Undecided);
    assert!(
        after.remarks[0].contains("recovered"),
        "{:?}",
        after.remarks
    );
}

#[test]
fn virtual_time_never_passes_and_never_fails_a_criterion_and_says_what_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("run");
    let mut segments = everything_clean();
    segments[2] = stalled("stress", OTHER);
    let time = VirtualTime {
        ns_per_instruction: 2,
        seed: 7,
        cpus: 1,
        turn_ns: None,
        emulator: None,
    };
    write_in(&run, &segments, Some(Ending::Complete), Some(time.clone()));
    let emulator = Emulator {
        version: "QEMU 7.2".into(),
        arguments: vec!["qemu".into()],
        kernel: "debian:rt".into(),
        kernel_sha256: "0".repeat(64),
        kernel_package: None,
        initramfs_sha256: "1".repeat(64),
        before: Vec::new(),
        added: wakepath_archive::GuestAdditions::default(),
        started: "2026-11-22T03:00:00Z".into(),
    };
    let text = serde_json::to_string(&emulator).unwrap();
    std::fs::write(run.join(wakepath_archive::EMULATOR_NAME), text).unwrap();
    wakepath_archive::finish(&run).unwrap();
    let run = Run::open(&run).unwrap();
    assert_eq!(run.check().unwrap(), []);
    let assessment = Assessment::of(&run).unwrap();
    assert_eq!(assessment.outcome, Outcome::VirtualTime);
    assert_eq!(assessment.exit_code(), 3);
    assert!(assessment.overall.recommendation.is_none());
    for condition in &assessment.conditions {
        assert_eq!(condition.outcome, Outcome::VirtualTime);
    }
    let marked = assessment.virtual_time.as_ref().unwrap();
    assert_eq!(marked.emulator.as_ref(), Some(&emulator));

    let text = assessment.to_text(Style::default());
    let verdict = text.lines().find(|line| line.starts_with("verdict: "));
    assert_eq!(
        verdict.unwrap(),
        "verdict: VIRTUAL TIME: lengths of software paths, counted in instructions of 2 ns \
         (debian:rt, QEMU 7.2, one CPU, seed 7); no machine's latencies, and no criterion is \
         judged by them"
    );
    for word in ["passed", "PASSED", "failed", "FAILED"] {
        assert!(!text.contains(word), "{word} in\n{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&to_json(&assessment)).unwrap();
    assert_eq!(json["outcome"], "virtual-time");
    assert_eq!(json["virtual_time"]["ns_per_instruction"], 2);
    assert_eq!(json["virtual_time"]["emulator"]["kernel"], "debian:rt");
}

#[test]
fn the_json_holds_what_the_text_shows() {
    let assessment = assessed(&everything_clean(), Ending::Complete);
    let json: serde_json::Value = serde_json::from_str(&to_json(&assessment)).unwrap();
    assert_eq!(json["outcome"], "passed");
    assert_eq!(json["conditions"][0]["cycles"]["scheduled"], 1990);
    let latency = &json["conditions"][0]["cycles"]["latency_as_executed"];
    assert_eq!(
        (&latency["min"], &latency["max"]),
        (&json!(5_000), &json!(5_600))
    );
}
