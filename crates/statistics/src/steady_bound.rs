//! An upper bound on the miss probability that holds where misses depend on each other, and that no
//! further miss lowers. Chosen by its coverage in simulations (`examples/coverage.rs`).
//!
//! It is the largest of several bounds for blocks of each length. Each of them uses counts that a further
//! miss can't lower (misses, pairs of misses in one block, the most in one block), less what chance gives
//! to independent misses. That rises with further misses, so that each bound allows for misses that would
//! be left out. `docs/concepts/evidence.md` has the table, `tests/monotonicity.rs` the property.

use crate::binomial::miss_upper_bound;
use crate::blocks::{Blocks, Spread};
use crate::normal::normal_quantile;
use crate::special::beta_tails;

/// Standard deviations of the pairs of independent misses that are put down to chance.
const CHANCE: f64 = 2.5;
/// Weight of further pairs: few groups were seen, and longer blocks would have more.
const PAIRS: f64 = 2.0;
/// Most chance pairs added by a miss that makes one more pair: the bound stays the same.
const STEEP: f64 = 0.5 + 0.5 / PAIRS;
/// With fewer blocks, pairs of a few misses by chance rise faster with each miss than the bound.
const LEAST_FOR_PAIRS: f64 = 64.0;
/// Fewer blocks are not enough.
const LEAST: f64 = 16.0;
/// Groups as large as the largest that might have come as well, at 95 %.
const UNSEEN_GROUPS: f64 = 20.0;
/// A group of misses against one of near misses.
const LONGER: f64 = 3.0;
/// Share of runs in which independent near misses may have a larger group than expected.
const SURPRISE: f64 = 0.1;

/// Counts of a run, and the bound's confidence.
pub(crate) struct Seen {
    pub missed: f64,
    pub due: f64,
    pub confidence: f64,
    /// Series that may be hit together.
    pub parallel: f64,
}

/// Blocks of one length.
struct Level {
    /// Number of blocks, shorter ones counted for less: (Σn)²/Σn². No miss changes it.
    count: f64,
    pairs: f64,
    with_one: f64,
    largest: f64,
}

impl Seen {
    /// Where due times and misses count as one for each `unit`.
    fn bound(&self, unit: f64) -> f64 {
        let unit = unit.max(1.0) * self.parallel;
        miss_upper_bound(self.missed / unit, self.due / unit, self.confidence)
    }

    /// By how the misses of `spread` come together.
    pub fn by_misses(&self, spread: &Spread) -> f64 {
        let alone = self.bound(1.0);
        if self.missed < 2.0 || self.missed >= self.due {
            return alone;
        }
        let z = normal_quantile(self.confidence).max(0.0);
        // Times three or so at 95 %: the bound on one event, or on none.
        let one = miss_upper_bound(1.0, self.due, self.confidence) * self.due;
        let none = -(1.0 - self.confidence).ln();
        let least_for_pairs = (1.2 * PAIRS * one * one * self.parallel)
            .max(LEAST_FOR_PAIRS)
            .max(self.due.sqrt() / 4.0);
        let (mut unit, mut event, mut groups) = (1.0_f64, 0.0_f64, 0.0_f64);
        for level in self.levels(spread, self.missed) {
            let mean = self.missed / level.count;
            let beyond = (level.largest - 1.0 - mean - 3.0 * mean.sqrt()).max(0.0);
            let weight = (UNSEEN_GROUPS * none / 3.0 * self.parallel).min(level.slowest(1.5));
            groups = groups.max(weight * beyond);
            if level.count < least_for_pairs {
                continue;
            }
            let all = self.missed;
            // With less than that, a further miss could take more from the bound than it adds.
            let least = self.parallel * (z * PAIRS * all / level.count).powi(2);
            let pairs = level.pairs - level.by_chance(all);
            let weighted = Level::weighted(all, pairs).unwrap_or(0.0).max(least);
            // Beyond that it is less than one event.
            unit = unit.max((weighted / all).min(all / self.parallel));
            // Misses alone in their block are left out as far as that leaves more: a further one must not
            // make a group less of a surprise.
            let together = all - level.with_one;
            let middle = level.steepest().clamp(together, all);
            for misses in [together, middle, level.most_by_chance().min(all)] {
                let pairs = level.pairs - level.by_chance_at_most(misses);
                event = event.max(Level::weighted(misses, pairs).unwrap_or(0.0));
            }
        }
        let by_groups = (self.missed + groups) / self.due;
        let by_event = match event > 0.0 {
            // As if one event of this size had been seen.
            true => {
                let size = (event * self.parallel).sqrt();
                miss_upper_bound(1.0, self.due / size, self.confidence)
            }
            false => 0.0,
        };
        let by_unit = if unit > 1.0 { self.bound(unit) } else { alone };
        alone.max(by_unit).max(by_event).max(by_groups).min(1.0)
    }

    /// By how `count` misses and near misses of `spread` come together: misses would come so too.
    ///
    /// A further miss raises what chance gives; so the largest block is also taken against the near misses
    /// without any miss. In between the bound is convex in the misses left out, and never larger.
    pub fn by_near_misses(&self, spread: &Spread, count: f64) -> f64 {
        let none = -(1.0 - self.confidence).ln() * self.parallel;
        let mut bound = 0.0_f64;
        for level in self.levels(spread, count) {
            for (near, missed) in [(count, self.missed), (count - self.missed, 0.0)] {
                let beyond = level.largest - level.largest_by_chance(near);
                if beyond > 0.0 {
                    bound = bound.max(missed + none * (1.0 + LONGER * beyond));
                }
            }
        }
        (bound / self.due).min(1.0)
    }

    fn levels<'a>(&self, spread: &'a Spread, missed: f64) -> impl Iterator<Item = Level> + 'a {
        let (due, least) = (self.due, LEAST.max(self.due.sqrt() / 16.0));
        let lengths = spread.levels.iter().skip(1).chain([&spread.series]);
        lengths
            .filter_map(move |&blocks| Level::new(blocks, missed, due))
            .filter(move |level| level.count >= least)
    }
}

impl Level {
    fn new(blocks: Blocks, missed: f64, due: f64) -> Option<Self> {
        let blocks = blocks.cut();
        // Without an order in time there is no block.
        (blocks.weights > 0.0).then(|| Self {
            count: due * due / blocks.weights,
            pairs: (blocks.squares - missed) / 2.0,
            with_one: blocks.with_one as f64,
            largest: blocks.largest as f64,
        })
    }

    /// Pairs of `missed` independent misses in one block, nearly always at most.
    fn by_chance(&self, missed: f64) -> f64 {
        let mean = missed * missed / (2.0 * self.count);
        mean + CHANCE * mean.sqrt()
    }

    /// The most of `near` independent near misses in one block: Bernstein's inequality, over all blocks.
    fn largest_by_chance(&self, near: f64) -> f64 {
        let mean = near / self.count;
        let tail = (self.count / SURPRISE).ln();
        1.0 + mean + (2.0 * mean * tail).sqrt() + tail / 3.0
    }

    /// By how much a further miss raises [`Self::by_chance`].
    fn slope(&self, missed: f64) -> f64 {
        missed / self.count + CHANCE / (2.0 * self.count).sqrt()
    }

    /// The same, but a miss that joins another raises it by no more than the pair that it makes.
    fn by_chance_at_most(&self, missed: f64) -> f64 {
        let bend = self.bend();
        if missed > bend {
            self.by_chance(bend) + STEEP * (missed - bend)
        } else {
            self.by_chance(missed)
        }
    }

    fn bend(&self) -> f64 {
        (self.count * (STEEP - self.slope(0.0))).max(0.0)
    }

    /// The number of misses to which [`Self::by_chance_at_most`] gives all pairs that there are.
    fn most_by_chance(&self) -> f64 {
        let bend = self.bend();
        let beyond = self.pairs - self.by_chance(bend);
        if beyond > 0.0 {
            bend + beyond / STEEP
        } else {
            let root = (CHANCE * CHANCE + 4.0 * self.pairs.max(0.0)).sqrt();
            (2.0 * self.count).sqrt() * (root - CHANCE) / 2.0
        }
    }

    /// The number of misses at which a further lone one adds to [`Self::weighted`] what it takes from the pairs.
    fn steepest(&self) -> f64 {
        (self.count * (0.5 / PAIRS - self.slope(0.0))).max(0.0)
    }

    /// Misses and weighted pairs beyond chance, if there are any: the variance that the bound allows for.
    fn weighted(missed: f64, pairs: f64) -> Option<f64> {
        (pairs > -1e-9 && missed > 0.0).then(|| missed + 2.0 * PAIRS * pairs.max(0.0))
    }

    /// A weight for the largest block with which a further miss elsewhere never lowers the bound, where
    /// chance gives it `deviations` standard deviations.
    fn slowest(&self, deviations: f64) -> f64 {
        1.0 / (1.0 / self.count + deviations / self.count.sqrt())
    }
}

/// Due times that count as one where the bound on `missed` of `due` is `bound`.
pub(crate) fn worth(missed: f64, due: f64, bound: f64, confidence: f64) -> f64 {
    let reached = |unit: f64| {
        let (events, effective) = (missed / unit, due / unit);
        beta_tails(events + 1.0, effective - events, bound).1 >= 1.0 - confidence
    };
    if due <= 0.0 || missed >= due || bound <= miss_upper_bound(missed, due, confidence) {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, due.ln());
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if reached(f64::exp(middle)) {
            high = middle
        } else {
            low = middle
        }
    }
    high.exp()
}
