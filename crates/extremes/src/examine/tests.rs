//! Series with known answers: healthy, drifting, with a slow mode, coarse, in clusters, too short.

use super::*;
use crate::pareto::Pareto;
use crate::random::Random;

fn question(exceed: f64) -> Question {
    Question {
        exceed,
        confidence: 0.95,
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
        .map(|_| {
            if random.unit() < 0.05 {
                20_000 + tail.draw(&mut random) as i64
            } else {
                10_000 + (random.unit() * 10_000.0) as i64
            }
        })
        .collect()
}

fn failing(examined: &Examined) -> Vec<GateName> {
    examined.failed().map(|gate| gate.name).collect()
}

#[test]
fn a_run_too_short_by_a_factor_has_its_largest_value_that_many_times_further_out() {
    let series = healthy(3, 30_000);
    let found = examined(&series, 2e-5);
    assert_eq!(failing(&found), [], "{:#?}", found.gates);
    let Answer::Extended(extended) = found.answer else {
        panic!("{found:#?}");
    };
    let mut sorted = series.clone();
    sorted.sort_unstable();
    let (median, largest) = (sorted[15_000], sorted[29_999]);
    let times = found.observed.exceeded_at_most.unwrap() / 2e-5;
    assert!(times > 4.9 && times < 9.0, "{times}");
    let bound = median as f64 + times * (largest - median) as f64;
    let by_hand = Extended {
        bound,
        median,
        times,
    };
    assert_eq!(extended, by_hand);
}

#[test]
fn the_largest_value_is_the_bound_from_exactly_the_probability_that_it_proves() {
    let series = healthy(3, 30_000);
    let proved = examined(&series, 1e-3).observed.exceeded_at_most.unwrap();
    assert_eq!(examined(&series, proved).answer, Answer::Observed);
    let found = examined(&series, proved * 0.999);
    assert!(matches!(found.answer, Answer::Extended(one) if one.times < 1.002));
}

#[test]
fn a_level_beyond_reach_and_a_run_too_short_are_refused_with_a_cure() {
    let series = healthy(3, 30_000);
    let found = examined(&series, 1e-6);
    assert_eq!(failing(&found), [GateName::Reach]);
    let cure = found.failed().next().and_then(|gate| gate.cure.clone());
    let cure = cure.unwrap();
    let asked = cure.split("--exceed ").nth(1).unwrap().parse().unwrap();
    assert!(matches!(examined(&series, asked).answer, Answer::Extended(one) if one.times > 9.0));
    let cycles: f64 = cure.split(' ').nth(1).unwrap().parse().unwrap();
    assert!((cycles - 299_573.0).abs() < 2.0, "{cure}");

    let found = examined(&healthy(3, 200), 1e-4);
    assert_eq!(failing(&found), [GateName::Count]);
    assert_eq!(found.answer, Answer::Refused);
}

/// Largest of five neighbours, exponential: θ = 0.2, and any one cycle exceeds −ln(1 − (1 − p)) = −ln p.
fn moving_largest(seed: u64, count: usize) -> Vec<i64> {
    let mut random = Random::stream(seed, 0);
    let noise: Vec<f64> = (0..count + 4).map(|_| random.unit()).collect();
    noise
        .windows(5)
        .map(|five| {
            let largest = five.iter().copied().fold(0.0, f64::max);
            (-10_000.0 * (-largest.powi(5)).ln_1p()) as i64
        })
        .collect()
}

#[test]
fn levels_are_those_of_any_one_cycle_though_clusters_count_once() {
    let exceed = 2e-5;
    let truth = -10_000.0 * f64::ln(exceed);
    let levels: Vec<f64> = (0..20)
        .map(|seed| tails(&moving_largest(seed, 60_000), &question(exceed))[0].level / truth)
        .collect();
    let mean = levels.iter().sum::<f64>() / levels.len() as f64;
    // Counted per cluster it would be 1 + ln 0.2/ln(1/p) = 0.85.
    assert!((0.95..1.1).contains(&mean), "{mean}");
}

#[test]
fn a_mode_seen_a_few_times_moves_the_bound_and_refuses_nothing() {
    let usual = healthy(3, 30_000);
    let mut series = usual.clone();
    for (number, place) in (0..).zip([3_000, 9_500, 14_000, 21_000, 22_500, 28_000]) {
        series[place] = 60_000 + 40_000 * number;
    }
    let bound = |series: &[i64]| match examined(series, 3e-5).answer {
        Answer::Extended(extended) => extended.bound,
        other => panic!("{other:?}"),
    };
    assert!(bound(&series) > 4.0 * bound(&usual));
}

#[test]
fn bursts_that_show_at_the_very_top_only_count_once() {
    let mut series = healthy(3, 30_000);
    for burst in [4_000, 17_000] {
        for (number, value) in (0..).zip(&mut series[burst..burst + 10]) {
            *value = 200_000 + 1_000 * number;
        }
    }
    let found = examined(&series, 1e-3).observed;
    assert!(found.extremal_index < 0.5, "{found:?}");
}

#[test]
fn a_series_that_drifts_or_jumps_is_refused() {
    let mut series = healthy(3, 30_000);
    let half = series.len() / 2;
    series[half..].iter_mut().for_each(|value| *value += 5_000);
    for exceed in [1e-6, 1e-3] {
        let found = examined(&series, exceed);
        assert!(failing(&found).contains(&GateName::Stationarity));
        assert_eq!(found.observed.exceeded_at_most, None);
    }
    // A level out of reach takes nothing from what the largest value proves.
    let steady = examined(&healthy(3, 30_000), 1e-9);
    assert_eq!(failing(&steady), [GateName::Reach]);
    assert!(steady.observed.exceeded_at_most.is_some());
}

#[test]
fn values_of_a_coarse_clock_have_a_bound() {
    let rounded: Vec<i64> = healthy(3, 30_000)
        .iter()
        .map(|value| value / 5_000 * 5_000)
        .collect();
    let found = examined(&rounded, 2e-5);
    assert!(matches!(found.answer, Answer::Extended(_)), "{found:#?}");
}

#[test]
fn clusters_count_once_and_make_the_run_worth_less() {
    let alone = healthy(3, 30_000);
    let together: Vec<i64> = alone
        .windows(4)
        .map(|some| *some.iter().max().unwrap())
        .collect();
    let (alone, together) = (examined(&alone, 1e-6), examined(&together, 1e-6));
    assert!(alone.observed.extremal_index > 0.5, "{:?}", alone.observed);
    assert!(
        together.observed.extremal_index < 0.4,
        "{:?}",
        together.observed
    );
    let [together, alone] = [together, alone].map(|found| found.observed.exceeded_at_most.unwrap());
    assert!(together > 2.0 * alone);
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
    assert!(gate.cure.as_ref().unwrap().contains("clusters"), "{gate:?}");
    assert!(!found.tests.is_empty(), "whether it drifts is told too");
}
