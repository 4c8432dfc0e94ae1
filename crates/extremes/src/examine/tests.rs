//! Series with known answers: healthy, drifting, of two modes, coarse, in clusters, too short.

use super::*;
use crate::pareto::Pareto;
use crate::random::Random;

fn question(exceed: f64) -> Question {
    Question {
        exceed,
        confidence: 0.95,
        seed: 1,
        draws: 199,
    }
}

fn examined(series: &[i64], exceed: f64) -> Examined {
    let provenance = Gate::passed(GateName::Provenance, "made up");
    examine(series, provenance, &question(exceed)).unwrap()
}

/// A body of 10 µs and a tail of shape −0.1 on one value in twenty.
fn healthy(seed: u64, count: usize) -> Vec<i64> {
    let tail = Pareto {
        scale: 4_000.0,
        shape: -0.1,
    };
    let mut random = Random::stream(seed, 0);
    (0..count)
        .map(|_| match random.unit() < 0.05 {
            true => 20_000 + tail.draw(&mut random) as i64,
            false => 10_000 + (random.unit() * 10_000.0) as i64,
        })
        .collect()
}

fn failing(examined: &Examined) -> Vec<GateName> {
    examined.failed().map(|gate| gate.name).collect()
}

#[test]
fn a_healthy_series_gets_a_bound_that_is_above_the_largest_and_near_the_truth() {
    let series = healthy(3, 30_000);
    let found = examined(&series, 1e-6);
    assert_eq!(failing(&found), [], "{:#?}", found.gates);
    let Answer::Estimated(estimate) = &found.answer else {
        panic!("{found:#?}");
    };
    let truth = 20_000.0
        + Pareto {
            scale: 4_000.0,
            shape: -0.1,
        }
        .at_hazard((0.05_f64 / 1e-6).ln());
    assert!(estimate.bound >= found.observed.largest as f64);
    assert!(
        estimate.bound > truth * 0.97 && estimate.bound < truth * 1.6,
        "{estimate:#?} {truth}"
    );
    assert!(estimate.level <= estimate.bound);
    let (low, high) = estimate.over_thresholds;
    assert!(low <= estimate.bound && estimate.bound <= high);
    assert_eq!(
        found,
        examined(&series, 1e-6),
        "the same seed says the same"
    );
}

#[test]
fn what_the_run_is_long_enough_for_needs_no_theory() {
    let found = examined(&healthy(3, 30_000), 1e-3);
    assert_eq!(found.answer, Answer::Observed);
    assert!(found.tails.is_empty());
    assert!(found.observed.exceeded_at_most < 1e-3);
}

#[test]
fn a_level_beyond_reach_and_a_run_too_short_are_refused_with_a_cure() {
    let found = examined(&healthy(3, 30_000), 1e-9);
    assert_eq!(failing(&found), [GateName::Reach]);
    assert!(
        found
            .failed()
            .next()
            .unwrap()
            .cure
            .as_ref()
            .unwrap()
            .contains("cycles")
    );
    let found = examined(&healthy(3, 200), 1e-4);
    assert_eq!(failing(&found), [GateName::Count]);
    assert_eq!(found.answer, Answer::Refused);
}

#[test]
fn a_series_that_drifts_or_jumps_is_refused() {
    let mut series = healthy(3, 30_000);
    let half = series.len() / 2;
    series[half..].iter_mut().for_each(|value| *value += 5_000);
    assert!(failing(&examined(&series, 1e-6)).contains(&GateName::Stationarity));
    assert!(failing(&examined(&series, 1e-3)).contains(&GateName::Stationarity));
}

#[test]
fn two_modes_of_which_one_is_rare_are_no_single_tail() {
    let mut series = healthy(3, 30_000);
    series
        .iter_mut()
        .step_by(400)
        .for_each(|value| *value += 400_000);
    let found = examined(&series, 1e-6);
    assert_eq!(found.answer, Answer::Refused, "{found:#?}");
}

#[test]
fn coarse_values_are_fitted_as_intervals_or_refused() {
    let rounded = |step: i64| -> Vec<i64> {
        healthy(3, 30_000)
            .iter()
            .map(|value| value / step * step)
            .collect()
    };
    let found = examined(&rounded(500), 1e-6);
    assert!(
        !failing(&found).contains(&GateName::Discreteness),
        "{:#?}",
        found.gates
    );
    if let Answer::Estimated(estimate) = &found.answer {
        assert!(estimate.bound < 80_000.0, "{estimate:#?}");
    }
    let found = examined(&rounded(5_000), 1e-6);
    assert!(
        failing(&found).contains(&GateName::Discreteness),
        "{:#?}",
        found.gates
    );
}

#[test]
fn clusters_count_once_and_make_the_run_worth_less() {
    let alone = healthy(3, 30_000);
    let together: Vec<i64> = alone
        .windows(4)
        .map(|some| *some.iter().max().unwrap())
        .collect();
    let (alone, together) = (examined(&alone, 1e-6), examined(&together, 1e-6));
    assert!(alone.observed.extremal_index > 0.85);
    assert!(
        together.observed.extremal_index < 0.4,
        "{:?}",
        together.observed
    );
    assert!(together.observed.exceeded_at_most > 2.0 * alone.observed.exceeded_at_most);
}

#[test]
fn a_failed_provenance_refuses_whatever_the_figures() {
    let provenance = Gate::failed(GateName::Provenance, "3 samples lost", "measure again");
    let found = examine(&healthy(3, 30_000), provenance, &question(1e-3)).unwrap();
    assert_eq!(found.answer, Answer::Refused);
    assert_eq!(failing(&found), [GateName::Provenance]);
}

#[test]
fn constants_and_nothing_break_nothing() {
    let found = examined(&[7; 5_000], 1e-6);
    assert_eq!(failing(&found), [GateName::Count]);
    let provenance = Gate::passed(GateName::Provenance, "");
    assert_eq!(examine(&[], provenance, &question(1e-6)), None);
}

#[test]
fn high_values_in_few_bunches_are_refused_with_what_would_cure_that() {
    let mut series = healthy(3, 30_000);
    for bunch in [4_000, 25_000] {
        let late = &mut series[bunch..bunch + 200];
        late.iter_mut().for_each(|value| *value += 90_000);
    }
    let found = examined(&series, 1e-6);
    let gate = found.failed().next().unwrap();
    assert_eq!(gate.name, GateName::Count);
    assert!(gate.finding.contains("come in 2 clusters"), "{gate:?}");
    assert!(gate.cure.as_ref().unwrap().contains("bunches"), "{gate:?}");
    assert!(!found.tests.is_empty(), "whether it drifts is told too");
}
