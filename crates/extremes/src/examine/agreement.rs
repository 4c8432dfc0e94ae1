//! Whether what was estimated agrees with what else is known: with higher thresholds, with the largest
//! values of blocks, with the half of the run that was held out.

use super::LEVEL;
use super::tails::Tails;
use crate::blocks::{BlockFit, block_maxima};
use crate::exceedances::Exceedances;
use crate::gate::{Gate, GateName, figure};
use crate::level::Level;
use crate::likelihood::Excesses;
use crate::limit_laws::{normal_two_sided, poisson_at_least};

/// By how much two methods may differ.
const AGREEMENT: f64 = 1.25;

/// The shape at each higher threshold against the chosen one's: of nested samples the variance of
/// the difference is the difference of the variances, (1 + ξ)²/n each (Hausman 1978; Smith 1987).
pub(super) fn stability(tails: &Tails, chosen: usize) -> Gate {
    let of = |place: usize| {
        let tried = &tails.tried[place];
        (tried.fit.pareto.shape, tried.above.clusters.len() as f64)
    };
    let (shape, count) = of(chosen);
    let higher: Vec<f64> = (chosen + 1..tails.tried.len())
        .filter_map(|place| {
            let (other, fewer) = of(place);
            let variance = (1.0 + shape).powi(2) * (1.0 / fewer - 1.0 / count);
            (variance > 0.0).then(|| (other - shape) / variance.sqrt())
        })
        .collect();
    let worst = higher.iter().copied().fold(
        0.0_f64,
        |worst, z| if z.abs() > worst.abs() { z } else { worst },
    );
    let p_value = (normal_two_sided(worst) * higher.len() as f64).min(1.0);
    let shapes = (chosen..tails.tried.len()).map(|place| of(place).0);
    let (least, most) = shapes.fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, most), shape| (least.min(shape), most.max(shape)),
    );
    Gate::of(
        GateName::Stability,
        p_value >= LEVEL,
        format!(
            "ξ from {} to {} over {} thresholds; the furthest is {} standard errors off, p = {}",
            figure(least),
            figure(most),
            higher.len() + 1,
            figure(worst.abs()),
            figure(p_value)
        ),
        "measure for longer: the tail changes with the threshold",
    )
}

/// Bound by largest values of blocks, the blocks, and the fit's shape.
pub(super) fn blocks(
    series: &[i64],
    clusters: usize,
    exceed: f64,
    root: f64,
    largest: f64,
) -> Option<(f64, usize, f64)> {
    /// Blocks with fewer exceedances than this on average are often without any: their largest
    /// values are then not the tail's.
    const EXCEEDANCES_OF_A_BLOCK: usize = 4;
    const BLOCKS: (usize, usize) = (30, 500);
    let count = (clusters / EXCEEDANCES_OF_A_BLOCK).clamp(BLOCKS.0, BLOCKS.1);
    let size = series.len() / count.max(1);
    let maxima = block_maxima(series, size);
    let fit = BlockFit::of(&maxima)?;
    let of_a_block = -((-exceed).ln_1p() * size as f64).exp_m1();
    let bound = fit.level_bound(of_a_block, root * root / 2.0, true)?;
    Some((bound.max(largest), maxima.len(), fit.distribution.shape))
}

pub(super) fn agreement(bound: f64, by_blocks: Option<(f64, usize, f64)>) -> Gate {
    const CURE: &str = "measure for longer, until both methods say the same";
    let Some((other, count, shape)) = by_blocks else {
        let finding = "the largest values of blocks have no fit with a bound";
        return Gate::failed(GateName::Blocks, finding, CURE);
    };
    let ratio = bound.max(other) / bound.min(other);
    Gate::of(
        GateName::Blocks,
        ratio <= AGREEMENT,
        format!(
            "largest values of {count} blocks: ξ = {}, their bound is {} times the tail's",
            figure(shape),
            figure(other / bound)
        ),
        CURE,
    )
}

/// The first half's bound for a level that the second should exceed five times at most.
pub(super) fn held_out(series: &[i64], above: &Exceedances, root: f64) -> Gate {
    const EXPECTED: f64 = 5.0;
    const CURE: &str = "measure again: what the first half promised the second did not keep";
    let half = series.len() as u64 / 2;
    let early: Vec<f64> = above
        .clusters
        .iter()
        .filter(|(place, _)| *place < half)
        .map(|(_, excess)| *excess)
        .collect();
    let excesses = Excesses::new(&early, above.resolution);
    let bound = excesses.fit().and_then(|fit| {
        let level = Level {
            excesses: &excesses,
            fit,
            cycles: half,
            exceed: EXPECTED / half as f64,
        };
        level.upper_bound(root)
    });
    let Some(bound) = bound else {
        return Gate::failed(
            GateName::HeldOut,
            "the first half has no fit with a bound",
            CURE,
        );
    };
    let late = above.clusters.iter().filter(|(place, _)| *place >= half);
    let beyond = late.filter(|(_, excess)| *excess > bound).count() as u64;
    let p_value = poisson_at_least(beyond, EXPECTED);
    Gate::of(
        GateName::HeldOut,
        p_value >= 0.01,
        format!(
            "the second half exceeds the first half's bound {}, at most {EXPECTED} times expected, \
             p = {}",
            match beyond {
                1 => "once".to_owned(),
                times => format!("{times} times"),
            },
            figure(p_value)
        ),
        CURE,
    )
}
