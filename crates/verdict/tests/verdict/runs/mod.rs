//! Builds segments of a 1 kHz loop for the tests of this crate.

use wakepath_scenario::{Criterion, PoliciesNeeded};
use wakepath_timeline::{DueTimes, Policy, Sample, SampleFlags};
use wakepath_verdict::{
    Condition, ConditionName, CycleRecord, Gaps, JudgedWindow, Judgement, Provenance, judge,
};

pub const PERIOD_NS: u64 = 1_000_000;
pub const DUE: DueTimes = DueTimes {
    start_ns: 5_000_000_000,
    period_ns: PERIOD_NS,
};
pub const FIFO: Policy = Policy::Fifo { priority: 80 };

/// Misses above 0.5 ms of latency or 1 ms of response; half a percent tolerated.
pub fn criterion() -> Criterion {
    Criterion {
        latency_ns: Some(500_000),
        deadline_ns: PERIOD_NS,
        miss_fraction: 0.005,
        evidence: None,
        confidence: 0.95,
        consecutive_misses: None,
        outage_ns: None,
        mode_switches: 0.0,
        policies: PoliciesNeeded::Any,
    }
}

pub fn sample(cycle: u64, latency_ns: i64, execution_ns: u64) -> Sample {
    let due_ns = DUE.due_ns(cycle);
    let wake_ns = due_ns.checked_add_signed(latency_ns).unwrap();
    Sample {
        cycle,
        due_ns,
        wake_ns,
        end_ns: wake_ns + execution_ns,
        ..Sample::default()
    }
}

/// Cycles of `range` that wake after 20 µs and work for 100 µs.
pub fn clean(range: std::ops::Range<u64>) -> Vec<Sample> {
    range.map(|cycle| sample(cycle, 20_000, 100_000)).collect()
}

pub fn warm_up(range: std::ops::Range<u64>) -> Vec<Sample> {
    let mut samples = clean(range);
    samples
        .iter_mut()
        .for_each(|sample| sample.flags = SampleFlags::WARM_UP);
    samples
}

pub fn window(range: std::ops::Range<u64>) -> JudgedWindow {
    JudgedWindow {
        due: DUE,
        first_judged_cycle: range.start,
        end_cycle: range.end,
        thread: 0,
        lost: 0,
        gaps: Gaps::Skipped,
    }
}

pub fn record(criterion: &Criterion, end_cycle: u64, samples: &[Sample]) -> CycleRecord {
    let mut record = CycleRecord::new(criterion);
    record.add(window(0..end_cycle), samples).unwrap();
    record
}

pub fn name(policy: Policy, phase: &str) -> ConditionName {
    ConditionName {
        policy: Some(policy),
        phase: phase.to_owned(),
        task: None,
    }
}

/// The provenance of a run in which all went well.
pub fn sound(samples: u64) -> Provenance {
    Provenance {
        written: samples,
        recorded: samples,
        ..Provenance::default()
    }
}

pub fn judged(criterion: &Criterion, end_cycle: u64, samples: &[Sample]) -> Judgement {
    judged_with(criterion, end_cycle, samples, &sound(samples.len() as u64))
}

pub fn judged_with(
    criterion: &Criterion,
    end_cycle: u64,
    samples: &[Sample],
    provenance: &Provenance,
) -> Judgement {
    let record = record(criterion, end_cycle, samples);
    let name = name(FIFO, "idle");
    judge(
        Condition {
            name: &name,
            record: &record,
            provenance,
        },
        criterion,
    )
}
