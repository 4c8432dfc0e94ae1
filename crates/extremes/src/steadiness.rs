//! Whether a series and its exceedances may be spoken of as if one law had drawn them: every test of
//! dependence and drift, corrected together, and the two gates that follow.

use crate::dependence::{Tested, ljung_box, median_runs};
use crate::exceedances::Exceedances;
use crate::gate::{Gate, GateName, figure, holm};
use crate::stationarity::{anderson_darling_two_sample, evenly_spread, kpss, stretch_means};

/// Lags of Ljung and Box's test.
const LAGS: usize = 10;
/// Long series are tested for a level by so many means of stretches.
const STRETCHES: usize = 20_000;
/// Family-wise level of the tests.
const LEVEL: f64 = 0.05;
/// A series of millions differs from itself beyond chance in what does not matter: it counts as
/// unsteady where its halves' distribution functions differ by this much, too,
const DISTANCE_THAT_MATTERS: f64 = 0.1;
/// or their means by this many standard deviations.
const SHIFT_THAT_MATTERS: f64 = 0.2;

/// A test that was made.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Test {
    /// Its name.
    pub name: &'static str,
    /// Of what: the series, or the largest values of its clusters of exceedances.
    pub of: &'static str,
    /// The statistic.
    pub statistic: f64,
    /// Probability where nothing depends or drifts; after Holm's correction where the test decides.
    pub p_value: f64,
    /// The size of the effect.
    pub effect: f64,
    /// What that is the size of.
    pub effect_of: &'static str,
    /// Whether it is held against the series.
    pub rejects: bool,
}

#[derive(Clone, Copy)]
struct Planned {
    name: &'static str,
    of: &'static str,
    found: Option<Tested>,
    effect_of: &'static str,
    matters_from: f64,
    gate: Option<GateName>,
}

/// All tests of a series and of its exceedances, and the gates of stationarity and dependence.
pub(crate) fn steadiness(series: &[i64], above: &Exceedances) -> (Vec<Test>, [Gate; 2]) {
    const SERIES: &str = "series";
    const CLUSTERS: &str = "exceedances";
    let values = above.values();
    let places: Vec<u64> = above.clusters.iter().map(|(place, _)| *place).collect();
    let halves = |values: &[f64]| {
        let (first, second) = values.split_at(values.len() / 2);
        let (mut first, mut second) = (first.to_vec(), second.to_vec());
        first.sort_unstable_by(f64::total_cmp);
        second.sort_unstable_by(f64::total_cmp);
        anderson_darling_two_sample(&first, &second)
    };
    let plan = |name, of, found, effect_of, matters_from, gate| Planned {
        name,
        of,
        found,
        effect_of,
        matters_from,
        gate,
    };
    let (stationary, dependent) = (Some(GateName::Stationarity), Some(GateName::Dependence));
    const CORRELATION: &str = "largest correlation";
    const SHIFT: &str = "shift of the halves, σ";
    const DISTANCE: &str = "distance of the halves";
    let planned = [
        // Told, and cured by counting clusters: no gate.
        plan(
            "Ljung–Box",
            SERIES,
            correlation(series),
            CORRELATION,
            0.0,
            None,
        ),
        plan(
            "KPSS",
            SERIES,
            level(series),
            SHIFT,
            SHIFT_THAT_MATTERS,
            stationary,
        ),
        plan(
            "Anderson–Darling, halves",
            SERIES,
            halves_of(series),
            DISTANCE,
            DISTANCE_THAT_MATTERS,
            stationary,
        ),
        plan("KPSS", CLUSTERS, kpss(&values), SHIFT, 0.0, stationary),
        plan(
            "Anderson–Darling, halves",
            CLUSTERS,
            halves(&values),
            DISTANCE,
            0.0,
            stationary,
        ),
        plan(
            "evenly spread in time",
            CLUSTERS,
            evenly_spread(&places, series.len() as u64),
            "difference of the halves",
            0.0,
            stationary,
        ),
        plan(
            "Ljung–Box",
            CLUSTERS,
            ljung_box(&values, LAGS),
            CORRELATION,
            0.0,
            dependent,
        ),
        plan(
            "runs about the median",
            CLUSTERS,
            median_runs(&values),
            "difference of the runs",
            0.0,
            dependent,
        ),
    ];
    let deciding: Vec<f64> = planned
        .iter()
        .filter(|test| test.gate.is_some())
        .filter_map(|test| test.found.map(|found| found.p_value))
        .collect();
    let mut corrected = holm(&deciding).into_iter();
    let mut tests = Vec::new();
    let mut against: Vec<(GateName, Test)> = Vec::new();
    for planned in planned {
        let Some(found) = planned.found else { continue };
        let p_value = match planned.gate {
            Some(_) => corrected.next().unwrap_or(1.0),
            None => found.p_value,
        };
        let beyond_chance = planned.gate.is_some() && p_value < LEVEL;
        let test = Test {
            name: planned.name,
            of: planned.of,
            statistic: found.statistic,
            p_value,
            effect: found.effect,
            effect_of: planned.effect_of,
            rejects: beyond_chance && found.effect >= planned.matters_from,
        };
        against.extend(planned.gate.map(|gate| (gate, test)));
        tests.push(test);
    }
    let gate = |name, cure| {
        let mine = || {
            against
                .iter()
                .filter(|(of, _)| *of == name)
                .map(|(_, test)| test)
        };
        let rejecting: Vec<&Test> = mine().filter(|test| test.rejects).collect();
        // Where all hold, the one that came nearest to rejecting.
        let nearest = mine().min_by(|a, b| a.p_value.total_cmp(&b.p_value));
        let told = match rejecting.is_empty() {
            true => nearest.into_iter().collect(),
            false => rejecting.clone(),
        };
        let told: Vec<String> = told.into_iter().map(sentence).collect();
        Gate::of(name, rejecting.is_empty(), told.join("; "), cure)
    };
    let gates = [
        gate(
            GateName::Stationarity,
            "measure again under one load and let it settle first, or judge phases that differ \
             separately",
        ),
        gate(
            GateName::Dependence,
            "measure for longer, so that a higher threshold leaves clusters that are further apart",
        ),
    ];
    (tests, gates)
}

fn sentence(test: &Test) -> String {
    format!(
        "{} of the {}: {}, p {} after Holm, {} {}",
        test.name,
        test.of,
        figure(test.statistic),
        match test.p_value > 0.0 {
            true => format!("= {}", figure(test.p_value)),
            // What no number holds is not nought.
            false => "< 1e-300".into(),
        },
        test.effect_of,
        figure(test.effect)
    )
}

fn correlation(series: &[i64]) -> Option<Tested> {
    let values: Vec<f64> = series.iter().map(|&value| value as f64).collect();
    ljung_box(&values, LAGS)
}

/// KPSS of the whole series, by means of stretches where it is long; the effect in standard
/// deviations of single values.
fn level(series: &[i64]) -> Option<Tested> {
    let found = kpss(&stretch_means(series, STRETCHES))?;
    let mean = |part: &[i64]| part.iter().map(|&v| v as f64).sum::<f64>() / part.len() as f64;
    let middle = mean(series);
    let squares: f64 = series.iter().map(|&v| (v as f64 - middle).powi(2)).sum();
    let (first, second) = series.split_at(series.len() / 2);
    let apart = (mean(first) - mean(second)).abs();
    Some(Tested {
        effect: apart / (squares / series.len() as f64).sqrt(),
        ..found
    })
}

fn halves_of(series: &[i64]) -> Option<Tested> {
    let (first, second) = series.split_at(series.len() / 2);
    let sorted = |part: &[i64]| {
        let mut part = part.to_vec();
        part.sort_unstable();
        part.into_iter()
            .map(|value| value as f64)
            .collect::<Vec<f64>>()
    };
    anderson_darling_two_sample(&sorted(first), &sorted(second))
}
