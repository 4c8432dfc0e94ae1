//! How many due times are worth one independent due time, for the bound that fails a run: the variance of
//! the misses in blocks of time, compared with that of independent misses. Chosen by its coverage in simulations
//! (`examples/coverage.rs`); `docs/concepts/evidence.md` has the table.

use crate::blocks::{Blocks, Spread};
use crate::normal::normal_quantile;
use crate::student_t_quantile;

/// Independent misses are taken for dependent ones at one block length in 50, near misses at one in
/// 700: there are more of them, and dependence shows the more clearly.
const SURPRISE: f64 = 2.054;
const SURPRISE_BY_NEAR: f64 = 3.0;
/// With fewer blocks than this the variance is not yet trusted to have stopped growing.
const FEW_BLOCKS: f64 = 16.0;
/// With fewer blocks than this Student's t would leave nothing to say.
const LEAST_FOR_T: f64 = 4.0;

/// One block length.
struct Level {
    /// Number of blocks, shorter ones counted for less: (Σn)²/Σn².
    count: f64,
    with_misses: f64,
    /// Variance of the misses over that of independent ones.
    ratio: f64,
}

impl Level {
    fn new(blocks: Blocks, missed: f64, due: f64) -> Option<Self> {
        let blocks = blocks.cut();
        let count = due * due / blocks.weights;
        // The last of two blocks may be short; without an order in time there is no block.
        if blocks.weights <= 0.0 || count < 1.95 {
            return None;
        }
        let share = missed / due;
        let squares =
            blocks.squares - 2.0 * share * blocks.products + share * share * blocks.weights;
        let independent = missed * (1.0 - share) * (1.0 - 1.0 / count);
        Some(Self {
            count,
            with_misses: blocks.with_misses as f64,
            ratio: squares / independent,
        })
    }

    /// Whether this variance is beyond chance for independent misses. Few misses that meet in a block are
    /// Poisson's, many misses in few blocks χ²'s: the less surprised of the two counts. Both tails by Wilson
    /// and Hilferty (1931).
    fn surprises(&self, missed: f64, beyond: f64) -> bool {
        let degrees = self.count - 1.0;
        let spread = 2.0 / (9.0 * degrees);
        let by_blocks = (self.ratio.cbrt() - 1.0 + spread) / spread.sqrt();
        let expected = missed * (missed - 1.0) / (2.0 * self.count);
        // Pairs of misses in one block.
        let pairs = expected + missed * (1.0 - 1.0 / self.count) * (self.ratio - 1.0) / 2.0;
        let by_pairs = || {
            let nine = 9.0 * pairs;
            (1.0 - 1.0 / nine - (expected / pairs).cbrt()) * nine.sqrt()
        };
        by_blocks > beyond && pairs > 0.0 && by_pairs() > beyond
    }
}

/// Divisor of `due` and `missed` with which the bounds for independent due times hold, at least 1. Exactly 1
/// if nothing shows that misses depend on each other.
///
/// Otherwise the largest ratio of variances over all block lengths. If it still grew with the last doublings
/// of few blocks, it is assumed to continue growing. Each is widened by (t/z)² with Student's t at
/// `confidence` for the number of blocks, or of blocks with misses if these are fewer (Korn and Graubard,
/// "Confidence intervals for proportions with small expected number of positive counts estimated from survey
/// data", 1998). Near misses, which have no confidence, are not widened: they come in longer groups than
/// misses.
pub(crate) fn dispersion(spread: &Spread, missed: u64, due: u64, confidence: Option<f64>) -> f64 {
    // One miss has nothing to depend on, and only misses say as much as none.
    if missed < 2 || missed >= due {
        return 1.0;
    }
    let (missed, due) = (missed as f64, due as f64);
    let lengths = spread.levels.iter().skip(1);
    let levels: Vec<Level> = lengths
        .map_while(|&blocks| Level::new(blocks, missed, due))
        .collect();
    let series = Level::new(spread.series, missed, due);
    let all = || levels.iter().chain(&series);
    let beyond = match confidence {
        Some(_) => SURPRISE,
        None => SURPRISE_BY_NEAR,
    };
    if !all().any(|level| level.count >= LEAST_FOR_T && level.surprises(missed, beyond)) {
        return 1.0;
    }
    let z = confidence.map(|confidence| (confidence, normal_quantile(confidence)));
    let widened = |level: &Level, ratio: f64| match z {
        Some((confidence, z)) if level.count >= LEAST_FOR_T => {
            let degrees = (level.count - 1.0).min((level.with_misses - 1.0).max(1.0));
            ratio * widening(confidence, z, degrees)
        }
        _ => ratio,
    };
    let by_length = levels.iter().enumerate().map(|(place, level)| {
        let quarter = place
            .checked_sub(2)
            .map_or(1.0, |place| levels[place].ratio);
        let growth = if level.count < FEW_BLOCKS && quarter > 1.0 {
            (level.ratio / quarter).max(1.0)
        } else {
            1.0
        };
        widened(level, level.ratio * growth)
    });
    let by_series = series.iter().map(|level| widened(level, level.ratio));
    by_length.chain(by_series).fold(1.0, f64::max)
}

/// (t/z)² at `confidence`, of which `z` is the normal quantile.
fn widening(confidence: f64, z: f64, degrees: f64) -> f64 {
    // t ≈ z + (z³ + z)/4ν (Abramowitz & Stegun 26.7.5), to three digits; the inverse is slow here.
    if degrees > 100.0 {
        return (1.0 + (z * z + 1.0) / (4.0 * degrees)).powi(2);
    }
    (student_t_quantile(confidence, degrees) / z).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widening_has_no_step_where_its_formula_changes() {
        for confidence in [0.9, 0.95, 0.999] {
            let z = normal_quantile(confidence);
            let found = [100.0, 100.1].map(|degrees| widening(confidence, z, degrees));
            assert!(
                (found[0] - found[1]).abs() < 2e-3,
                "{confidence}: {found:?}"
            );
        }
        // t of one degree is 6.3138.
        assert!((widening(0.95, normal_quantile(0.95), 1.0) - 14.734).abs() < 1e-2);
    }
}
