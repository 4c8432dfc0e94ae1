//! Made-up runs, assessed: held, not held, and unknown.

use crate::made_up::*;
use wakepath_archive::{Emulator, Ending, Obstacle, Run, ThreadEnd, VirtualTime};
use wakepath_assess::Assessment;
use wakepath_report::{Style, ToText, to_json};
use wakepath_verdict::Outcome;

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
    // One stall of 16 due times in 1990: its frequency is anyone's guess.
    assert_eq!(stalled.outcome, Outcome::Undecided);
    assert_eq!(
        (stalled.cycles.scheduled, stalled.cycles.executed),
        (1990, 1975)
    );
    assert_eq!(
        (
            stalled.cycles.skipped,
            stalled.cycles.misses.and_then(|of| of.longest_run)
        ),
        (Some(15), Some(16))
    );
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
        assert_eq!(outcome(known, ThreadEnd::AllCycles).0, Outcome::Undecided);
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
    assert_eq!(assessment.conditions[0].cycles.skipped_at_end, Some(500));
}

#[test]
fn what_goes_wrong_while_it_is_traced_keeps_a_run_from_passing_and_is_named() {
    let traced = |change: fn(&mut Segment)| {
        let mut segments = everything_clean();
        let mut traced = clean("stress", FIFO);
        traced.traced = true;
        change(&mut traced);
        segments.push(traced);
        assessed(&segments, Ending::Complete)
    };
    assert_eq!(traced(|_| ()).outcome, Outcome::Passed);
    type Change = fn(&mut Segment);
    let wrong: [(Change, &str); 4] = [
        (
            |of| of.load_works = false,
            "the load cpu did not prove its work: no rounds were done",
        ),
        (
            |of| {
                of.samples.truncate(1_500);
                of.ended = ThreadEnd::died("the loop's process died: signal 9");
            },
            "the loop's process died: signal 9",
        ),
        (|of| of.lost = 7, "7 of 2007 samples were lost"),
        (
            |of| {
                of.samples.clear();
                of.ended = ThreadEnd::died("the loop's process died before it was ready");
            },
            "died before it was ready",
        ),
    ];
    for (change, named) in wrong {
        let assessment = traced(change);
        assert_eq!(assessment.outcome, Outcome::Invalid, "{named}");
        let text = assessment.to_text(Style::default());
        let json = to_json(&assessment);
        let line = text.lines().find(|line| line.contains(named));
        let line = line.unwrap_or_else(|| panic!("{named}: {text}"));
        assert!(line.contains("while it was traced"), "{line}");
        assert!(json.contains("while-traced"), "{json}");
    }
}

#[test]
fn an_interrupted_run_is_judged_by_what_there_is_but_never_passed() {
    let mut segments = vec![clean("idle", OTHER)];
    segments[0].samples.truncate(1_500);
    segments[0].ended = ThreadEnd::Stopped;
    let assessment = assessed(&segments, Ending::Interrupted);
    assert_eq!(assessment.outcome, Outcome::Undecided);
    assert_eq!(assessment.conditions[0].cycles.scheduled, 1_490);
    assert_eq!(assessment.conditions[0].cycles.skipped, Some(0));
    assert_eq!(assessment.overall.recommendation, None);
}

#[test]
fn a_run_that_was_cut_short_is_never_passed_before_or_after_its_recovery() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("run");
    write(&run, &everything_clean(), None);
    let before = Assessment::new(&Run::open(&run).unwrap()).unwrap();
    assert_eq!(before.outcome, Outcome::Undecided);
    let named = |of: &Assessment, part| of.remarks.iter().any(|remark| remark.contains(part));
    assert!(named(&before, "wakepath recover"), "{:?}", before.remarks);
    wakepath_archive::recover(&run).unwrap();
    let after = Assessment::new(&Run::open(&run).unwrap()).unwrap();
    assert_eq!(after.outcome, Outcome::Undecided);
    assert!(named(&after, "recovered"), "{:?}", after.remarks);
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
    let assessment = Assessment::new(&run).unwrap();
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
         (debian:rt, QEMU 7.2, one CPU, seed 7); not a machine's latencies, and no criterion is \
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
