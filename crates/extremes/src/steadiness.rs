//! Tests of dependence and drift of a series and of its exceedances, and the gate of stationarity. Dependence
//! makes no gate: it lowers the number of cycles that count, and a gate would let through the runs in which
//! a slow mode happened not to show.

use crate::dependence::{Tested, ljung_box, median_runs};
use crate::exceedances::Exceedances;
use crate::gate::{Gate, GateName, figure, holm};
use crate::stationarity::{anderson_darling_two_sample, evenly_spread, kpss, stretch_means};

/// Lags of Ljung and Box's test.
const LAGS: usize = 10;
/// Long series are tested for a level by this many means of stretches.
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
    /// Probability if nothing depends or drifts; after Holm's correction if the test decides.
    pub p_value: f64,
    /// The size of the effect.
    pub effect: f64,
    /// What that is the size of.
    pub effect_of: &'static str,
    /// The series is refused because of it.
    pub rejects: bool,
}

#[derive(Clone, Copy)]
struct Planned {
    name: &'static str,
    of: &'static str,
    found: Option<Tested>,
    effect_of: &'static str,
    matters_from: f64,
    decides: bool,
}

/// All tests of a series and of its exceedances, the gate of stationarity, and a caution if clusters depend
/// on each other.
pub(crate) fn steadiness(series: &[i64], above: &Exceedances) -> (Vec<Test>, Gate, Option<String>) {
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
    let plan = |name, of, found, effect_of, matters_from, decides| Planned {
        name,
        of,
        found,
        effect_of,
        matters_from,
        decides,
    };
    const CORRELATION: &str = "largest correlation";
    const SHIFT: &str = "shift of the halves, σ";
    const DISTANCE: &str = "distance of the halves";
    let planned = [
        plan(
            "Ljung–Box",
            SERIES,
            correlation(series),
            CORRELATION,
            0.0,
            false,
        ),
        plan(
            "KPSS",
            SERIES,
            level(series),
            SHIFT,
            SHIFT_THAT_MATTERS,
            true,
        ),
        plan(
            "Anderson–Darling, halves",
            SERIES,
            halves_of(series),
            DISTANCE,
            DISTANCE_THAT_MATTERS,
            true,
        ),
        plan("KPSS", CLUSTERS, kpss(&values), SHIFT, 0.0, true),
        plan(
            "Anderson–Darling, halves",
            CLUSTERS,
            halves(&values),
            DISTANCE,
            0.0,
            true,
        ),
        plan(
            "evenly spread in time",
            CLUSTERS,
            evenly_spread(&places, series.len() as u64),
            "difference of the halves",
            0.0,
            true,
        ),
        plan(
            "Ljung–Box",
            CLUSTERS,
            ljung_box(&values, LAGS),
            CORRELATION,
            0.0,
            false,
        ),
        plan(
            "runs about the median",
            CLUSTERS,
            median_runs(&values),
            "difference of the runs",
            0.0,
            false,
        ),
    ];
    let deciding: Vec<f64> = planned
        .iter()
        .filter(|test| test.decides)
        .filter_map(|test| test.found.map(|found| found.p_value))
        .collect();
    let mut corrected = holm(&deciding).into_iter();
    let mut tests = Vec::new();
    let (mut steady, mut dependent): (Vec<Test>, Vec<Test>) = (Vec::new(), Vec::new());
    for planned in planned {
        let Some(found) = planned.found else { continue };
        let p_value = if planned.decides {
            corrected.next().unwrap_or(1.0)
        } else {
            found.p_value
        };
        let test = Test {
            name: planned.name,
            of: planned.of,
            statistic: found.statistic,
            p_value,
            effect: found.effect,
            effect_of: planned.effect_of,
            rejects: planned.decides && p_value < LEVEL && found.effect >= planned.matters_from,
        };
        if planned.decides {
            steady.push(test);
        } else if planned.of == CLUSTERS && p_value < LEVEL / 2.0 {
            dependent.push(test);
        }
        tests.push(test);
    }
    let rejecting: Vec<String> = steady
        .iter()
        .filter(|test| test.rejects)
        .map(sentence)
        .collect();
    // If all hold, the one that came nearest to rejecting.
    let nearest = steady
        .iter()
        .min_by(|a, b| a.p_value.total_cmp(&b.p_value))
        .map(sentence);
    let gate = Gate::new(
        GateName::Stationarity,
        rejecting.is_empty(),
        if rejecting.is_empty() {
            nearest.unwrap_or_default()
        } else {
            rejecting.join("; ")
        },
        "measure again under one load and let it settle first, or judge phases that differ separately",
    );
    let dependent: Vec<String> = dependent.iter().map(sentence).collect();
    let caution = (!dependent.is_empty()).then(|| {
        format!(
            "clusters of high values depend on each other ({}): fewer cycles may count than assumed",
            dependent.join("; ")
        )
    });
    (tests, gate, caution)
}

fn sentence(test: &Test) -> String {
    format!(
        "{} of the {}: {}, p {}, {} {}",
        test.name,
        test.of,
        figure(test.statistic),
        if test.p_value > 0.0 {
            format!("= {}", figure(test.p_value))
        } else {
            "< 1e-300".into()
        },
        test.effect_of,
        figure(test.effect)
    )
}

fn correlation(series: &[i64]) -> Option<Tested> {
    let values: Vec<f64> = series.iter().map(|&value| value as f64).collect();
    ljung_box(&values, LAGS)
}

/// KPSS of the whole series, by means of stretches if it is long; the effect in standard deviations of single
/// values.
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
