//! The level with its bound from the tail above the threshold chosen, behind the gates of the fit.

use super::LEVEL;
use super::agreement::{agreement, blocks, held_out, stability};
use super::said::{Answer, Estimate, Examined, Question};
use super::tails::{Tails, threshold};
use crate::gate::{Gate, GateName, figure};
use crate::goodness::distances;
use crate::level::{approaches_its_limit, shape_bound};
use crate::limit_laws::normal_quantile;
use crate::resample::Resampling;

/// With fewer clusters than this there is a caution.
const ENOUGH_CLUSTERS: usize = 100;
/// A bound this many times the largest value seen is no statement about this machine.
const MOST_TIMES_LARGEST: f64 = 3.0;
/// Shapes at and beyond which bounds by likelihood do not hold.
const SHAPES: (f64, f64) = (-0.5, 0.5);

/// The gates of the tail, and the estimate behind them.
pub(super) fn estimate(
    series: &[i64],
    tails: &Tails,
    question: &Question,
    examined: &mut Examined,
) {
    let Some(chosen) = threshold(tails, question, examined) else {
        return;
    };
    let tried = &tails.tried[chosen];
    let level = tails.level(chosen, question.exceed);
    let clusters = tried.above.clusters.len();
    if clusters < ENOUGH_CLUSTERS {
        examined.cautions.push(format!(
            "{clusters} clusters exceed the threshold; below {ENOUGH_CLUSTERS} the bound is rough"
        ));
    }
    let resampling = Resampling {
        draws: question.draws,
        seed: question.seed,
        resolution: tried.above.resolution,
    };
    let resampled = resampling.of(&level, true);
    let mut sorted = tried.above.values();
    sorted.sort_by(f64::total_cmp);
    let seen = distances(&sorted, &tried.fit.pareto);
    let (a2, w2) = resampled.probabilities(seen);
    examined.tails[chosen].anderson_darling = (seen.anderson_darling, Some(a2));
    examined.gates.push(Gate::of(
        GateName::Fit,
        a2 >= LEVEL,
        format!(
            "A² = {}, p = {}; W² = {}, p = {}, by {} resamples fitted anew",
            figure(seen.anderson_darling),
            figure(a2),
            figure(seen.cramer_von_mises),
            figure(w2),
            question.draws
        ),
        "the tail is no single one, such as of two causes: measure for longer, and look at the \
         worst cycles with wakepath explain",
    ));
    examined.gates.push(stability(tails, chosen));
    let alpha = 1.0 - question.confidence;
    let normal = normal_quantile(alpha);
    let drop = normal * normal / 2.0;
    let shape = (
        shape_bound(&tried.excesses, tried.fit, drop, false),
        shape_bound(&tried.excesses, tried.fit, drop, true),
    );
    let fitted = tried.fit.pareto.shape;
    examined.gates.push(Gate::of(
        GateName::Shape,
        fitted > SHAPES.0 && shape.1 < SHAPES.1,
        format!(
            "ξ = {}, one-sided bounds {} and {}; {} < ξ and an upper bound below {} are needed",
            figure(fitted),
            figure(shape.0),
            figure(shape.1),
            SHAPES.0,
            SHAPES.1
        ),
        "measure for longer: more exceedances narrow the shape down",
    ));
    // Calibrated where the draws tell more than the normal law, and never to a lower bound than its.
    let root = resampled
        .root(alpha)
        .map_or(normal, |root| root.min(normal));
    let bound_above = |place: usize| {
        let above = tails.level(place, question.exceed).upper_bound(root)?;
        Some(tails.tried[place].above.threshold + above)
    };
    let bounds: Vec<f64> = (chosen..tails.tried.len())
        .filter_map(bound_above)
        .collect();
    let higher = (chosen..tails.tried.len())
        .find(|place| 2 * tails.tried[*place].above.clusters.len() <= clusters)
        .filter(|_| approaches_its_limit(fitted, clusters as f64))
        .and_then(bound_above);
    let own = bound_above(chosen).map(|own| higher.map_or(own, |higher| own.max(higher)));
    let Some(bound) = own else {
        examined.gates.push(Gate::failed(
            GateName::Size,
            "no level is too high for this tail",
            "measure for longer",
        ));
        return;
    };
    let largest = examined.observed.largest as f64;
    let bound = bound.max(largest);
    let by_blocks = blocks(series, clusters, question.exceed, root, largest);
    examined.gates.push(agreement(bound, by_blocks));
    examined.gates.push(Gate::of(
        GateName::Size,
        bound <= MOST_TIMES_LARGEST * largest,
        format!(
            "the bound is {} times the largest value observed",
            figure(bound / largest)
        ),
        "measure for longer, until the level asked for is nearer to what was seen",
    ));
    examined.gates.push(held_out(series, &tried.above, normal));
    if examined.failed().next().is_some() {
        return;
    }
    let ends = |pick: fn(f64, f64) -> f64| bounds.iter().copied().fold(bound, pick).max(largest);
    examined.answer = Answer::Estimated(Box::new(Estimate {
        tail: examined.tails[chosen].clone(),
        level: tried.above.threshold + level.estimate(),
        bound,
        over_thresholds: (ends(f64::min), ends(f64::max)),
        by_blocks: by_blocks.map_or(f64::NAN, |(bound, ..)| bound),
        shape,
        root,
    }));
}
