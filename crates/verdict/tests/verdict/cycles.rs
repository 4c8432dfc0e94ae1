//! Every due time is accounted for, and a stall costs what it cost.

use crate::runs::*;
use wakepath_timeline::{Sample, SampleFlags};
use wakepath_verdict::{CycleRecord, Inconsistency};

/// A loop that wakes 299.999 ms late in cycle 100 and continues at the next due time.
fn stall_with_skipping() -> Vec<Sample> {
    let mut samples = clean(0..100);
    samples.push(sample(100, 299_999_000, 500));
    samples.push(sample(400, 0, 100_000));
    samples.extend(clean(401..1000));
    samples
}

#[test]
fn a_stall_of_300_ms_at_1_khz_misses_300_due_times() {
    let record = record(&criterion(), 1000, &stall_with_skipping());
    let summary = record.summary();
    assert_eq!(
        (
            summary.scheduled,
            summary.executed,
            summary.skipped.unwrap()
        ),
        (1000, 701, 299)
    );
    assert_eq!(summary.executed_late, Some(1));
    assert_eq!(summary.misses.unwrap().missed, 300);
    assert_eq!(
        summary.misses.map(|of| (of.longest_run, of.clusters)),
        Some((Some(300), Some(1)))
    );
    assert_eq!(summary.skipped_at_end.unwrap(), 0);
    // From the end of cycle 99 to the end of cycle 100.
    let outage = summary.longest_outage.unwrap();
    assert_eq!(outage.from_ns, DUE.due_ns(99) + 120_000);
    assert_eq!(outage.length_ns, 1_000_000 - 120_000 + 299_999_500);
}

#[test]
fn as_scheduled_the_stall_shows_as_300_latencies_and_as_executed_as_one() {
    let record = record(&criterion(), 1000, &stall_with_skipping());
    let scheduled = record.latency_as_scheduled().unwrap();
    assert_eq!(scheduled.count(), 1000);
    let mut expected: Vec<i64> = (1..300).map(|ms| ms * 1_000_000).collect();
    expected.push(299_999_000);
    assert_eq!(scheduled.sorted()[700..], expected);
    let executed = record.latency_as_executed().unwrap();
    assert_eq!(executed.count(), 701);
    let above = executed.sorted().iter().filter(|&&ns| ns > 500_000);
    assert_eq!(above.count(), 1);
}

#[test]
fn under_catch_up_the_same_stall_is_300_late_cycles() {
    let mut samples = clean(0..100);
    let stall_end_ns = DUE.due_ns(100) + 299_999_000;
    for cycle in 100..400 {
        let wake_ns = stall_end_ns + (cycle - 100) * 1_000;
        let mut late = sample(cycle, (wake_ns - DUE.due_ns(cycle)) as i64, 500);
        if cycle > 100 {
            late.flags = SampleFlags::DUE_ALREADY_PAST;
        }
        samples.push(late);
    }
    samples.push(sample(400, 300_000, 100_000));
    samples.extend(clean(401..1000));
    let summary = record(&criterion(), 1000, &samples).summary();
    assert_eq!(
        (
            summary.executed,
            summary.skipped.unwrap(),
            summary.executed_late.unwrap()
        ),
        (1000, 0, 300)
    );
    assert_eq!(
        (
            summary.misses.unwrap().missed,
            summary.misses.unwrap().longest_run.unwrap()
        ),
        (300, 300)
    );
    assert_eq!(summary.late_after_overrun.unwrap(), 299);
}

#[test]
fn a_loop_that_died_leaves_its_due_times_skipped() {
    let record = record(&criterion(), 1000, &clean(0..600));
    let summary = record.summary();
    assert_eq!(
        (
            summary.executed,
            summary.skipped.unwrap(),
            summary.skipped_at_end.unwrap()
        ),
        (600, 400, 400)
    );
    // At least the rest of the window: 400 ms for the first of them.
    assert_eq!(record.latency_as_scheduled().unwrap().max(), 400_000_000);
    assert_eq!(
        summary.longest_outage.unwrap().length_ns,
        401_000_000 - 120_000
    );
}

#[test]
fn a_cycle_past_the_window_tells_how_late_the_last_due_times_were() {
    let mut samples = clean(0..990);
    samples.push(sample(1200, 0, 100_000));
    let record = record(&criterion(), 1000, &samples);
    let summary = record.summary();
    assert_eq!(
        (
            summary.executed,
            summary.skipped.unwrap(),
            summary.skipped_at_end.unwrap()
        ),
        (990, 10, 0)
    );
    assert_eq!(record.latency_as_scheduled().unwrap().max(), 210_000_000);
}

#[test]
fn the_warm_up_is_never_judged() {
    let mut samples = warm_up(0..50);
    samples[10] = Sample {
        flags: SampleFlags::WARM_UP,
        ..sample(10, 900_000, 99_000)
    };
    samples.extend(clean(50..100));
    let mut record = CycleRecord::new(&criterion());
    record.add(window(50..100), &samples).unwrap();
    let summary = record.summary();
    assert_eq!(
        (
            summary.scheduled,
            summary.executed,
            summary.misses.unwrap().missed
        ),
        (50, 50, 0)
    );
    assert_eq!(summary.longest_outage.unwrap().length_ns, PERIOD_NS);
}

#[test]
fn a_stall_that_begins_in_the_warm_up_is_judged_from_the_window_on() {
    let mut samples = warm_up(0..40);
    samples.extend(clean(60..100));
    let mut record = CycleRecord::new(&criterion());
    record.add(window(50..100), &samples).unwrap();
    let summary = record.summary();
    assert_eq!(
        (
            summary.scheduled,
            summary.executed,
            summary.skipped.unwrap()
        ),
        (50, 40, 10)
    );
    assert_eq!(record.latency_as_scheduled().unwrap().max(), 10_020_000);
    assert_eq!(summary.longest_outage.unwrap().length_ns, 10_120_000);
}

#[test]
fn segments_add_up_and_misses_do_not_run_across_them() {
    let mut record = CycleRecord::new(&criterion());
    record.add(window(0..100), &clean(0..98)).unwrap();
    record.add(window(0..100), &clean(3..100)).unwrap();
    let summary = record.summary();
    assert_eq!(
        (
            summary.scheduled,
            summary.executed,
            summary.skipped.unwrap()
        ),
        (200, 195, 5)
    );
    assert_eq!(
        summary.misses.map(|of| (of.longest_run, of.clusters)),
        Some((Some(3), Some(2)))
    );
    assert_eq!(summary.threads, 1);
    assert!((summary.judged_seconds - 0.2).abs() < 1e-12);
}

#[test]
fn work_and_cpu_time_count_only_where_they_were_measured() {
    let mut samples = clean(0..10);
    samples[3].flags = SampleFlags::HAS_WORK_TIME;
    samples[3].work_ns = 70_000;
    samples[4].cpu_time_ns = 5;
    let record = record(&criterion(), 10, &samples);
    assert_eq!(record.work().unwrap().sorted(), [70_000]);
    assert_eq!(record.cpu_time(), None);
}

#[test]
fn an_early_wake_up_is_no_miss() {
    let record = record(&criterion(), 1, &[sample(0, -1_449, 5_000)]);
    assert_eq!(record.tally().misses.missed, 0);
    assert_eq!(record.latency_as_executed().unwrap().min(), -1_449);
}

#[test]
fn contradictions_in_the_samples_are_found() {
    let found = |samples: &[Sample]| {
        let mut record = CycleRecord::new(&criterion());
        let found = record.add(window(0..10), samples).unwrap_err();
        assert_eq!(record.tally().inconsistency, Some(found));
        assert_eq!(record.tally().scheduled(), 0);
        found
    };
    let two = |a, b| [a, b].map(|cycle| sample(cycle, 0, 10));
    assert_eq!(
        found(&two(4, 4)),
        Inconsistency::CycleNotIncreasing {
            previous: 4,
            cycle: 4
        }
    );
    assert_eq!(
        found(&two(4, 3)),
        Inconsistency::CycleNotIncreasing {
            previous: 4,
            cycle: 3
        }
    );
    assert_eq!(
        found(&[sample(1, 0, 1_000_500), sample(2, 0, 10)]),
        Inconsistency::WokeBeforePreviousEnd {
            cycle: 2,
            overlap_ns: 500
        }
    );
    let backwards = Sample {
        end_ns: sample(1, 0, 0).wake_ns - 7,
        ..sample(1, 0, 0)
    };
    assert_eq!(
        found(&[backwards]),
        Inconsistency::EndedBeforeWake { cycle: 1, by_ns: 7 }
    );
    let moved = Sample {
        due_ns: DUE.due_ns(1) + 1,
        ..sample(1, 5, 10)
    };
    assert!(matches!(
        found(&[moved]),
        Inconsistency::DueTimeMoved { cycle: 1, .. }
    ));
    assert!(matches!(
        found(&warm_up(0..1)),
        Inconsistency::WarmUpInsideWindow { .. }
    ));
}

#[test]
fn an_impossible_window_is_refused_instead_of_counted() {
    let mut record = CycleRecord::new(&criterion());
    assert!(record.add(window(0..u64::MAX), &[]).is_err());
    let backwards = wakepath_verdict::JudgedWindow {
        first_judged_cycle: 5,
        ..window(0..4)
    };
    assert!(record.add(backwards, &[]).is_err());
}
