//! Values above a threshold: chosen by rank, clusters counted once, ties checked. It fits nothing.

use crate::dependence::{clusters, extremal_index, run_length};
use crate::likelihood::Excesses;

/// The highest values of a series with their places, from which thresholds are chosen.
#[derive(Debug, Clone)]
pub struct Highest {
    /// Place and value, in the order of time.
    all: Vec<(u64, i64)>,
    /// The values, descending.
    descending: Vec<i64>,
    length: u64,
}

/// What exceeds one threshold.
#[derive(Debug, Clone)]
pub struct Exceedances {
    /// The threshold, in the values' unit.
    pub threshold: f64,
    /// How many values exceed it.
    pub count: u64,
    /// The extremal index: 1 over the mean size of a cluster.
    pub index: f64,
    /// Gaps up to this join exceedances to one cluster.
    pub run_length: u64,
    /// Place and largest excess over the threshold of each cluster.
    pub clusters: Vec<(u64, f64)>,
    /// Share of the clusters' values that occur more than once.
    pub ties: f64,
    /// Different values among them.
    pub distinct: usize,
    /// Step of the grid that they are on, if ties are many and it is not fine.
    pub resolution: Option<f64>,
}

/// Share of ties from which values count as rounded,
const MANY_TIES: f64 = 0.05;
/// unless the grid is finer than this share of their mean: an exact fit is then off by less than
/// 10⁻⁵ of its standard error.
const FINE: f64 = 1.0 / 200.0;

impl Highest {
    /// The `most` highest values of a series, and all that equal the last of them.
    pub fn new(series: &[i64], most: usize) -> Self {
        let most = most.min(series.len());
        let mut descending: Vec<i64> = Vec::new();
        let mut all = Vec::new();
        if most > 0 {
            let mut values = series.to_vec();
            let (_, &mut least, _) = values.select_nth_unstable_by(most - 1, |a, b| b.cmp(a));
            drop(values);
            let highest = (0_u64..).zip(series).filter(|(_, value)| **value >= least);
            all = highest.map(|(place, &value)| (place, value)).collect();
            descending = all.iter().map(|(_, value)| *value).collect();
            descending.sort_unstable_by(|a, b| b.cmp(a));
        }
        Self {
            all,
            descending,
            length: series.len() as u64,
        }
    }

    /// The largest of all.
    pub fn largest(&self) -> Option<i64> {
        self.descending.first().copied()
    }

    /// Values in the whole series.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The values above the one of rank `count + 1`: about `count` values, fewer if that one is tied. `None`
    /// if there are not as many.
    pub fn above_rank(&self, count: usize) -> Option<Exceedances> {
        self.above(*self.descending.get(count)?)
    }

    /// What exceeds a value.
    pub fn above(&self, least: i64) -> Option<Exceedances> {
        let above: Vec<(u64, i64)> = self
            .all
            .iter()
            .copied()
            .filter(|(_, value)| *value > least)
            .collect();
        if above.is_empty() {
            return None;
        }
        let places: Vec<u64> = above.iter().map(|(place, _)| *place).collect();
        let index = extremal_index(&places);
        let run_length = run_length(&places, index);
        let excesses: Vec<(u64, f64)> = above
            .iter()
            .map(|&(place, value)| (place, (value - least) as f64))
            .collect();
        let mut found = clusters(&excesses, run_length);
        let mut sorted: Vec<f64> = found.iter().map(|(_, value)| *value).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let mut different = sorted.clone();
        different.dedup();
        let ties = 1.0 - different.len() as f64 / sorted.len() as f64;
        let step = different
            .windows(2)
            .map(|two| two[1] - two[0])
            .reduce(f64::min);
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        let coarse = |step: &f64| ties > MANY_TIES && *step > FINE * mean;
        let resolution = step.filter(coarse);
        let half = resolution.unwrap_or(0.0) / 2.0;
        found.iter_mut().for_each(|(_, excess)| *excess -= half);
        Some(Exceedances {
            threshold: least as f64 + half,
            count: above.len() as u64,
            index,
            run_length,
            clusters: found,
            ties,
            distinct: different.len(),
            resolution,
        })
    }
}

impl Exceedances {
    /// The clusters' excesses in the order of time.
    pub fn values(&self) -> Vec<f64> {
        self.clusters.iter().map(|(_, excess)| *excess).collect()
    }

    /// As what is fitted.
    pub fn excesses(&self) -> Excesses {
        Excesses::new(&self.values(), self.resolution)
    }

    /// Mean excess: linear in the threshold where the tail is a generalised Pareto one (mean
    /// residual life).
    pub fn mean_excess(&self) -> f64 {
        self.values().iter().sum::<f64>() / self.clusters.len() as f64
    }
}

/// Numbers of values to exceed each threshold that is tried: falling from `most` to `least`, each about two
/// thirds of the previous one.
pub fn counts_to_try(most: usize, least: usize) -> Vec<usize> {
    let mut counts = Vec::new();
    let mut count = most as f64;
    while count >= least as f64 {
        counts.push(count as usize);
        count /= 1.5;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_a_rank_is_counted_and_ties_are_told() {
        let series: Vec<i64> = (0..1000).map(|i| (i * 7919) % 1000).collect();
        let highest = Highest::new(&series, 100);
        let found = highest.above_rank(50).unwrap();
        assert_eq!((found.count, found.threshold), (50, 949.0));
        assert_eq!((found.ties, found.resolution), (0.0, None));
        assert_eq!(highest.largest(), Some(999));
        assert!(highest.above_rank(100).is_none());

        let coarse: Vec<i64> = series.iter().map(|value| value / 20 * 20).collect();
        let found = Highest::new(&coarse, 100).above_rank(70).unwrap();
        assert!(found.ties > 0.5 && found.distinct == 3, "{found:?}");
        assert_eq!(found.resolution, Some(20.0));
        assert_eq!(found.threshold, 930.0);
        assert!(
            found
                .values()
                .iter()
                .all(|excess| [10.0, 30.0, 50.0].contains(excess))
        );
    }

    #[test]
    fn nothing_exceeds_the_largest() {
        assert!(Highest::new(&[5; 20], 10).above_rank(3).is_none());
        assert!(Highest::new(&[], 10).above_rank(0).is_none());
        assert_eq!(Highest::new(&[], 10).largest(), None);
    }

    #[test]
    fn thresholds_are_tried_from_many_to_few() {
        assert_eq!(counts_to_try(300, 50), [300, 200, 133, 88, 59]);
        assert!(counts_to_try(40, 50).is_empty());
    }
}
