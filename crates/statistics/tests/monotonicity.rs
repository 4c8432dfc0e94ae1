//! The effect of one further due time on the bounds, whatever came before it.

use proptest::prelude::*;
use wakepath_statistics::{MissClusters, MissTally, NearMiss};

const CONFIDENCE: f64 = 0.95;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Came {
    Met,
    Near(NearMiss),
    Missed,
}

fn tally(history: &[Came]) -> MissTally {
    let mut misses = MissClusters::new(10);
    for came in history {
        match came {
            Came::Met => misses.push(false),
            Came::Near(used) => misses.push_near_miss(*used),
            Came::Missed => misses.push(true),
        }
    }
    misses.tally()
}

/// Stretches of due times that came to the same, long ones mostly met.
fn histories() -> impl Strategy<Value = Vec<Came>> {
    let stretch = prop_oneof![
        5 => (Just(Came::Met), 1_usize..400),
        2 => (Just(Came::Missed), 1_usize..4),
        1 => (Just(Came::Missed), 1_usize..40),
        1 => (Just(Came::Near(NearMiss::PastHalf)), 1_usize..30),
        1 => (Just(Came::Near(NearMiss::PastThreeQuarters)), 1_usize..30),
    ];
    let stretches = proptest::collection::vec(stretch, 1..40);
    stretches.prop_map(|stretches| {
        let each = stretches.into_iter();
        each.flat_map(|(came, times)| std::iter::repeat_n(came, times))
            .collect()
    })
}

/// Misses that come alone.
fn lone_misses() -> impl Strategy<Value = Vec<Came>> {
    let gaps = proptest::collection::vec(30_usize..400, 2..30);
    gaps.prop_map(|gaps| {
        let each = gaps.into_iter();
        each.flat_map(|gap| {
            let met = std::iter::repeat_n(Came::Met, gap);
            met.chain([Came::Missed])
        })
        .collect()
    })
}

/// Misses close to each other in a stretch, few or none in the next.
fn uneven() -> impl Strategy<Value = Vec<Came>> {
    let stretch = prop_oneof![
        2 => (1_usize..40, 1_usize..30),
        1 => (40_usize..4000, 1_usize..4),
    ];
    let stretches = proptest::collection::vec(stretch, 1..12);
    stretches.prop_map(|stretches| {
        let each = stretches.into_iter();
        each.flat_map(|(gap, misses)| {
            let met = std::iter::repeat_n(Came::Met, gap);
            let one = met.chain([Came::Missed]).collect::<Vec<_>>();
            std::iter::repeat_n(one, misses).flatten()
        })
        .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// PASSED requires an upper bound within the criterion. A further miss that can't lower the bound can't
    /// make a run pass that did not pass without it.
    #[test]
    fn a_further_miss_passes_no_run(
        mut history in prop_oneof![histories(), uneven(), lone_misses()],
        places in proptest::collection::vec(any::<prop::sample::Index>(), 1..8),
        parallel in 1_u64..4,
        confidence in prop_oneof![Just(CONFIDENCE), 0.9..0.999_f64],
    ) {
        let mut before = tally(&history).upper_bound(confidence, parallel);
        for place in places {
            let place = place.index(history.len());
            history[place] = Came::Missed;
            let after = tally(&history).upper_bound(confidence, parallel);
            let seen: Vec<_> = history.iter().enumerate().filter(|(_, came)| **came != Came::Met).collect();
            prop_assert!(
                after >= before * (1.0 - 1e-9),
                "{before} {after} at {place} of {}: {seen:?}",
                history.len()
            );
            before = after;
        }
    }
}

proptest! {
    /// FAILED requires a lower bound above the criterion, PASSED an upper bound within it: no criterion is
    /// below the one and above the other.
    #[test]
    fn a_further_miss_turns_no_failed_run_into_a_passed_one(
        mut history in histories(),
        place in any::<prop::sample::Index>(),
        parallel in 1_u64..4,
    ) {
        let place = place.index(history.len());
        let before = tally(&history).lower_bound(CONFIDENCE, parallel);
        history[place] = Came::Missed;
        let after = tally(&history).upper_bound(CONFIDENCE, parallel);
        prop_assert!(after > before, "{before} {after}");
    }

    #[test]
    fn a_further_due_time_that_is_met_turns_no_passed_run_into_a_failed_one(
        mut history in histories(),
        place in any::<prop::sample::Index>(),
        parallel in 1_u64..4,
    ) {
        let place = place.index(history.len());
        let before = tally(&history).upper_bound(CONFIDENCE, parallel);
        history.insert(place, Came::Met);
        let after = tally(&history).lower_bound(CONFIDENCE, parallel);
        prop_assert!(after < before, "{before} {after}");
    }

    /// Unless something shows dependence, each miss raises both bounds and each due time met lowers them.
    #[test]
    fn bounds_of_independent_misses_go_with_them(
        mut history in lone_misses(),
        place in any::<prop::sample::Index>(),
    ) {
        let place = place.index(history.len());
        let before = tally(&history);
        let was = history[place];
        history[place] = Came::Missed;
        let missed = tally(&history);
        history[place] = was;
        history.insert(place, Came::Met);
        let met = tally(&history);
        let bounds = |tally: &MissTally| {
            (tally.lower_bound(CONFIDENCE, 1), tally.upper_bound(CONFIDENCE, 1))
        };
        let independent = |tally: &MissTally| {
            bounds(tally) == bounds(&MissTally::without_order(tally.missed, tally.due))
        };
        prop_assume!(was != Came::Missed && [&before, &missed, &met].into_iter().all(independent));
        let [before, missed, met] = [before, missed, met].map(|tally| bounds(&tally));
        prop_assert!(missed.0 > before.0 && missed.1 > before.1);
        prop_assert!(met.0 <= before.0 && met.1 < before.1);
    }

    /// Without any miss, a further one passes no run.
    #[test]
    fn the_first_miss_passes_no_run(due in 2_usize..5000, place in any::<prop::sample::Index>()) {
        let mut history = vec![Came::Met; due];
        let before = tally(&history).upper_bound(CONFIDENCE, 1);
        history[place.index(due)] = Came::Missed;
        prop_assert!(tally(&history).upper_bound(CONFIDENCE, 1) > before);
    }
}

/// With it the near misses are the misses again; they must not count for less then.
#[test]
fn the_last_near_miss_that_becomes_a_miss_lowers_nothing() {
    let mut history = vec![Came::Met; 100_000];
    for place in (0..200).map(|number| number * 500) {
        history[place] = Came::Missed;
    }
    for number in 0..100 {
        history[50_001 + 4 * number] = Came::Missed;
    }
    for used in [NearMiss::PastHalf, NearMiss::PastThreeQuarters] {
        history[50_201] = Came::Near(used);
        let before = tally(&history).upper_bound(CONFIDENCE, 1);
        history[50_201] = Came::Missed;
        let after = tally(&history).upper_bound(CONFIDENCE, 1);
        assert!(after >= before, "{before} with {used:?}, {after} without");
    }
}
