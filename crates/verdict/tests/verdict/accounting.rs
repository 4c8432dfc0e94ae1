//! Identities that hold for any run.

use crate::runs::*;
use proptest::prelude::*;
use wakepath_scenario::Criterion;
use wakepath_timeline::Sample;
use wakepath_verdict::Outcome;

/// What becomes of each due time: met, late or skipped.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Met,
    Late,
    Skipped,
}

fn fates(most: usize) -> impl Strategy<Value = Vec<Fate>> {
    let fate = |met, late, skipped| prop_oneof![met => Just(Fate::Met), late => Just(Fate::Late), skipped => Just(Fate::Skipped)];
    let rates = prop_oneof![
        Just((1000, 1, 1)),
        Just((100, 1, 1)),
        Just((5, 2, 3)),
        Just((1, 0, 0))
    ];
    rates.prop_flat_map(move |(met, late, skipped)| {
        proptest::collection::vec(fate(met, late, skipped), 1..most)
    })
}

fn samples(fates: &[Fate]) -> Vec<Sample> {
    (0..)
        .zip(fates)
        .filter_map(|(cycle, fate)| match fate {
            Fate::Met => Some(sample(cycle, 20_000, 100_000)),
            Fate::Late => Some(sample(cycle, 600_000, 100_000)),
            Fate::Skipped => None,
        })
        .collect()
}

fn criteria() -> impl Strategy<Value = Criterion> {
    let fraction = prop_oneof![Just(0.0), Just(0.005), Just(0.05), Just(0.3)];
    let consecutive = prop_oneof![Just(None), Just(Some(0)), Just(Some(3))];
    let outage = prop_oneof![Just(None), Just(Some(1_700_000)), Just(Some(4_000_000))];
    (fraction, consecutive, outage).prop_map(|(miss_fraction, consecutive_misses, outage_ns)| {
        Criterion {
            miss_fraction,
            consecutive_misses,
            outage_ns,
            evidence: Some(0.01),
            ..criterion()
        }
    })
}

fn outcome(criterion: &Criterion, fates: &[Fate]) -> Outcome {
    judged(criterion, fates.len() as u64, &samples(fates)).outcome
}

/// Failed, then undecided, then passed.
fn goodness(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Passed => 2,
        Outcome::Undecided => 1,
        Outcome::Failed => 0,
        Outcome::Invalid | Outcome::VirtualTime | Outcome::NotJudged => {
            unreachable!("these runs are sound, and judged")
        }
    }
}

proptest! {
    #[test]
    fn every_due_time_is_executed_or_skipped_and_has_one_latency(fates in fates(3000)) {
        let samples = samples(&fates);
        let record = record(&criterion(), fates.len() as u64, &samples);
        let summary = record.summary();
        let number = |fate| fates.iter().filter(|&&other| other == fate).count() as u64;
        prop_assert_eq!(summary.scheduled, fates.len() as u64);
        prop_assert_eq!(summary.scheduled, summary.executed + summary.skipped.unwrap());
        prop_assert_eq!(summary.skipped.unwrap(), number(Fate::Skipped));
        prop_assert_eq!(summary.executed_late, Some(number(Fate::Late)));
        prop_assert_eq!(summary.misses.unwrap().due, summary.scheduled);
        prop_assert_eq!(summary.misses.unwrap().missed, summary.executed_late.unwrap() + summary.skipped.unwrap());
        prop_assert_eq!(record.latency_as_scheduled().unwrap().count(), summary.scheduled);
        let executed = summary.latency_as_executed.map_or(0, |latency| latency.count);
        prop_assert_eq!(executed, summary.executed);
    }

    #[test]
    fn splitting_a_run_into_segments_changes_no_count(fates in fates(500), at in 0.0..1.0_f64) {
        let samples = samples(&fates);
        let (count, at) = (fates.len() as u64, (fates.len() as f64 * at) as u64);
        let whole = record(&criterion(), count, &samples).summary();
        let mut record = wakepath_verdict::CycleRecord::new(&criterion());
        let (first, second): (Vec<_>, Vec<_>) = samples.into_iter().partition(|s| s.cycle < at);
        record.add(window(0..at), &first).unwrap();
        record.add(window(at..count), &second).unwrap();
        let parts = record.summary();
        prop_assert_eq!(parts.executed, whole.executed);
        prop_assert_eq!(parts.skipped, whole.skipped);
        prop_assert_eq!(parts.missed(), whole.missed());
        prop_assert_eq!(parts.response, whole.response);
    }

    // The places of misses show how much they mean: one more can make a bound less or more certain.
    // It can't turn one answer into the other.
    #[test]
    fn a_further_miss_never_makes_a_failed_condition_pass(
        fates in fates(3000), criterion in criteria(), which in 0.0..1.0_f64, at_end in any::<bool>(),
    ) {
        let before = outcome(&criterion, &fates);
        let mut worse = fates;
        let index = (worse.len() as f64 * which) as usize;
        // A late output shortens the outage after it.
        let miss = match criterion.outage_ns {
            Some(_) => Fate::Skipped,
            None => Fate::Late,
        };
        match at_end {
            true => worse.push(miss),
            false if worse[index] == Fate::Met => worse[index] = miss,
            false => worse[index] = Fate::Skipped,
        }
        prop_assert!(before != Outcome::Failed || outcome(&criterion, &worse) != Outcome::Passed);
    }

    #[test]
    fn a_first_miss_never_improves_an_outcome(
        count in 1..3000_usize, criterion in criteria(), which in 0.0..1.0_f64,
    ) {
        let mut fates = vec![Fate::Met; count];
        let before = outcome(&criterion, &fates);
        fates[(count as f64 * which) as usize] = Fate::Skipped;
        prop_assert!(goodness(outcome(&criterion, &fates)) <= goodness(before));
    }

    #[test]
    fn further_clean_cycles_never_fail_a_condition(
        fates in fates(2000), criterion in criteria(), further in 1..500_usize,
    ) {
        let before = outcome(&criterion, &fates);
        let mut more = fates;
        more.extend(std::iter::repeat_n(Fate::Met, further));
        let after = outcome(&criterion, &more);
        prop_assert!(before != Outcome::Passed || after != Outcome::Failed);
    }
}
