//! Summary of the values that a loop logged, chains of topics among them: spread, exact quantiles, and the
//! share above a limit given in the name. It reads no file and judges nothing.

use serde::Serialize;
use wakepath_statistics::Quantile;

/// Maximum number of names whose values are reported for one loop.
const MOST_NAMES: usize = 64;
/// So many numbers of one loop are kept for quantiles: more than a log of 64 MiB has lines.
const MOST_KEPT: usize = 2 << 20;

/// A value over the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SaidValue {
    /// Its name.
    pub name: String,
    /// Number of values.
    pub count: u64,
    /// The smallest.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The median, by nearest rank; none if there were too many to keep.
    pub p50: Option<f64>,
    /// The 99 % quantile, by nearest rank.
    pub p99: Option<f64>,
    /// The largest.
    pub max: f64,
    /// The limit that its name ends with, as in `camera to motor <= 20000`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// How often it was above the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<u64>,
}

impl SaidValue {
    /// The share above its limit.
    pub fn missed_share(&self) -> Option<f64> {
        Some(self.missed? as f64 / self.count as f64)
    }
}

/// The values of one loop, as they come.
#[derive(Debug, Default)]
pub(crate) struct Values {
    found: Vec<(SaidValue, Vec<f64>)>,
    kept: usize,
    /// More came than are kept: there are no quantiles.
    is_beyond: bool,
}

impl Values {
    /// Another one.
    pub(crate) fn add(&mut self, name: &str, is: f64) {
        if is.is_nan() {
            return;
        }
        let at = match self.found.iter().position(|(of, _)| of.name == name) {
            Some(at) => at,
            None if self.found.len() < MOST_NAMES => {
                self.found.push((none_yet(name), Vec::new()));
                self.found.len() - 1
            }
            None => return,
        };
        let (of, all) = &mut self.found[at];
        of.count += 1;
        // A running mean: sums of large values lose the small ones.
        of.mean += (is - of.mean) / of.count as f64;
        (of.min, of.max) = (of.min.min(is), of.max.max(is));
        if let (Some(limit), Some(missed)) = (of.limit, &mut of.missed) {
            *missed += u64::from(is > limit);
        }
        if self.kept < MOST_KEPT {
            all.push(is)
        } else {
            self.is_beyond = true
        }
        self.kept += 1;
    }

    /// The results, in the order of first appearance.
    pub(crate) fn ended(self) -> Vec<SaidValue> {
        let is_beyond = self.is_beyond;
        let ended = self.found.into_iter().map(|(mut of, mut all)| {
            if !is_beyond {
                all.sort_unstable_by(f64::total_cmp);
                let at = |quantile: Quantile| {
                    let rank = quantile.rank(all.len() as u64) as usize;
                    all.get(rank.checked_sub(1)?).copied()
                };
                (of.p50, of.p99) = (at(Quantile::P50), at(Quantile::P99));
            }
            of
        });
        ended.collect()
    }
}

fn none_yet(name: &str) -> SaidValue {
    let limit = limit_in(name);
    SaidValue {
        name: name.into(),
        count: 0,
        min: f64::INFINITY,
        mean: 0.0,
        p50: None,
        p99: None,
        max: f64::NEG_INFINITY,
        limit,
        missed: limit.map(|_| 0),
    }
}

/// The limit at the end of `camera to motor <= 20000`.
fn limit_in(name: &str) -> Option<f64> {
    let (_, limit) = name.rsplit_once("<=")?;
    let limit = limit.trim().parse::<f64>().ok()?;
    limit.is_finite().then_some(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, numbers: impl IntoIterator<Item = f64>) -> SaidValue {
        let mut values = Values::default();
        for number in numbers {
            values.add(name, number);
        }
        values.ended().remove(0)
    }

    #[test]
    fn quantiles_are_values_that_were_said_by_nearest_rank() {
        // 1 to 200 in another order: 77 and 200 have no common divisor.
        let value = of("chain", (0..200).map(|n| f64::from(n * 77 % 200 + 1)));
        assert_eq!((value.count, value.min, value.max), (200, 1.0, 200.0));
        assert_eq!((value.p50, value.p99), (Some(100.0), Some(198.0)));
        assert!((value.mean - 100.5).abs() < 1e-9);
        assert_eq!((value.limit, value.missed), (None, None));
        let alone = of("chain", [7.0, f64::NAN]);
        assert_eq!(
            (alone.count, alone.p50, alone.p99),
            (1, Some(7.0), Some(7.0))
        );
    }

    #[test]
    fn what_is_above_the_limit_in_the_name_is_counted_and_what_is_on_it_is_not() {
        let value = of(
            "camera to motor <= 20000",
            [19_999.0, 20_000.0, 20_000.5, 30_000.0],
        );
        assert_eq!((value.limit, value.missed), (Some(20_000.0), Some(2)));
        assert_eq!(value.missed_share(), Some(0.5));
        for name in ["a <= b", "a <=", "a <= inf", "20000"] {
            assert_eq!(of(name, [1.0]).missed, None, "{name}");
        }
    }

    #[test]
    fn values_of_many_names_are_told_up_to_a_bound_each_by_itself() {
        let mut values = Values::default();
        for number in 0..100 {
            values.add(&format!("of {number}"), f64::from(number));
        }
        let ended = values.ended();
        assert_eq!(ended.len(), MOST_NAMES);
        assert!(
            (0_u32..)
                .zip(&ended)
                .all(|(number, of)| of.p50 == Some(f64::from(number)))
        );
    }

    #[test]
    fn beyond_what_is_kept_there_are_no_quantiles_and_the_rest_stays_right() {
        let mut values = Values {
            kept: MOST_KEPT,
            ..Values::default()
        };
        values.add("chain <= 1", 1.0);
        values.add("chain <= 1", 3.0);
        let value = values.ended().remove(0);
        assert_eq!((value.count, value.p50, value.p99), (2, None, None));
        assert_eq!((value.max, value.missed), (3.0, Some(1)));
    }
}
