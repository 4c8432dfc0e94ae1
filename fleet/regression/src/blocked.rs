//! Compares two kinds of runs only within blocks in which they took turns.
//!
//! Drift from day to day is then no difference between them. Every way of exchanging runs within
//! their block is equally likely if nothing differs (Fisher 1935; Edgington & Onghena 2007,
//! Randomization tests). It knows no units.

use crate::run::RunFigures;
use serde::Serialize;
use std::collections::BTreeMap;
use wakepath_statistics::SplitMix;

/// Up to this number all exchanges are tried; beyond it, this number is drawn.
const MOST_EXCHANGES: u64 = 1 << 17;

const SEED: u64 = 51;

/// Definition of a block of a board's runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Blocks {
    /// Turns: a block ends when a kind comes back after the other one ran.
    Turns,
    /// The day, in UTC, on which they began.
    Day,
    /// One value of a fact.
    Fact(String),
}

/// A value in a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct InBlock {
    pub block: usize,
    pub is_second: bool,
    pub value: f64,
}

impl Blocks {
    /// Puts runs into blocks, in the order in which they began; `true` is of the second kind.
    /// Blocks with only one kind are left out, and so are runs without the fact.
    pub(crate) fn sorted_into(&self, runs: &[(&RunFigures, bool, f64)]) -> Vec<InBlock> {
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let mut turn = (0, Vec::new());
        let mut all = Vec::new();
        for &(run, is_second, value) in runs {
            let key = match self {
                Self::Turns => {
                    let (number, kinds) = &mut turn;
                    let comes_back = kinds.contains(&is_second) && kinds.last() != Some(&is_second);
                    // Both kinds have run, and the first begins again.
                    if comes_back {
                        *number += 1;
                        kinds.clear();
                    }
                    if kinds.last() != Some(&is_second) {
                        kinds.push(is_second);
                    }
                    number.to_string()
                }
                Self::Day => run.started.get(..10).unwrap_or(&run.started).to_owned(),
                Self::Fact(name) => match run.facts.get(name) {
                    Some(value) => value.clone(),
                    // Without the fact it can't be assigned to a block.
                    None => continue,
                },
            };
            let next = numbers.len();
            all.push(InBlock {
                block: *numbers.entry(key).or_insert(next),
                is_second,
                value,
            });
        }
        let has = |block, kind| {
            let mut runs = all.iter();
            runs.any(|run: &InBlock| run.block == block && run.is_second == kind)
        };
        let both: Vec<bool> = (0..numbers.len())
            .map(|block| has(block, true) && has(block, false))
            .collect();
        all.retain(|run| both[run.block]);
        all
    }
}

/// Result of exchanging runs within their blocks.
pub(crate) struct Exchanged {
    /// For each exchange, the shift of the second kind at which it would equal the observation;
    /// ascending.
    shifts: Vec<f64>,
    /// Exchanges that change nothing, including the observation itself.
    same: usize,
}

/// The means of a block's two sides, and how often each run is on its side after an exchange.
struct Block {
    values: Vec<f64>,
    is_second: Vec<bool>,
    weight: f64,
}

impl Block {
    /// Weighted difference of the means, second less first, and how much of a shift of the second kind is
    /// in it.
    fn difference(&self, sides: &[bool]) -> (f64, f64) {
        let (mut sums, mut shifted, mut counts) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        for (at, &side) in sides.iter().enumerate() {
            let side = usize::from(side);
            sums[side] += self.values[at];
            shifted[side] += f64::from(u8::from(self.is_second[at]));
            counts[side] += 1.0;
        }
        let difference = |of: [f64; 2]| self.weight * (of[1] / counts[1] - of[0] / counts[0]);
        (difference(sums), difference(shifted))
    }

    /// Every way to choose the runs of the second side.
    fn ways(&self) -> Vec<(f64, f64)> {
        let seconds = self.is_second.iter().filter(|&&second| second).count();
        let mut ways = Vec::new();
        let mut chosen: Vec<usize> = (0..seconds).collect();
        loop {
            let mut sides = vec![false; self.values.len()];
            chosen.iter().for_each(|&at| sides[at] = true);
            ways.push(self.difference(&sides));
            // The next combination in order.
            let last = (0..seconds)
                .rev()
                .find(|&at| chosen[at] < sides.len() - seconds + at);
            let Some(last) = last else {
                return ways;
            };
            chosen[last] += 1;
            for at in last + 1..seconds {
                chosen[at] = chosen[at - 1] + 1;
            }
        }
    }

    fn shuffled(&self, random: &mut SplitMix) -> (f64, f64) {
        let mut sides = self.is_second.clone();
        for last in (1..sides.len()).rev() {
            let other = (random.unit() * (last + 1) as f64) as usize;
            sides.swap(last, other.min(last));
        }
        self.difference(&sides)
    }

    fn count(&self) -> u64 {
        let seconds = self.is_second.iter().filter(|&&second| second).count() as u64;
        let all = self.values.len() as u64;
        let mut ways: u64 = 1;
        for at in 0..seconds {
            ways = ways.saturating_mul(all - at) / (at + 1);
            if ways > MOST_EXCHANGES {
                return u64::MAX;
            }
        }
        ways
    }
}

/// Exchanges runs in their blocks; `None` if no block has both kinds.
pub(crate) fn exchanged(runs: &[InBlock]) -> Option<Exchanged> {
    let mut blocks: BTreeMap<usize, Block> = BTreeMap::new();
    for run in runs {
        let block = blocks.entry(run.block).or_insert_with(|| Block {
            values: Vec::new(),
            is_second: Vec::new(),
            weight: 0.0,
        });
        block.values.push(run.value);
        block.is_second.push(run.is_second);
    }
    let mut all = 0.0;
    for block in blocks.values_mut() {
        let second = block.is_second.iter().filter(|&&second| second).count() as f64;
        let first = block.values.len() as f64 - second;
        // As precise as the two means are.
        block.weight = first * second / (first + second);
        all += block.weight;
    }
    if blocks.is_empty() || all <= 0.0 {
        return None;
    }
    let blocks: Vec<Block> = blocks.into_values().collect();
    let seen = |block: &Block| block.difference(&block.is_second);
    let (seen, shift) = sum(blocks.iter().map(seen));
    let ways = blocks.iter().map(Block::count);
    let ways = ways.fold(1_u64, u64::saturating_mul);
    let exchanges: Vec<(f64, f64)> = if ways <= MOST_EXCHANGES {
        let mut sums = vec![(0.0, 0.0)];
        for block in &blocks {
            let ways = block.ways();
            let with = |&(a, b): &(f64, f64)| ways.iter().map(move |(c, d)| (a + c, b + d));
            sums = sums.iter().flat_map(with).collect();
        }
        sums
    } else {
        let mut random = SplitMix::of_key(&[SEED]);
        let mut draw = |_| sum(blocks.iter().map(|block| block.shuffled(&mut random)));
        // The observed arrangement is one of them.
        (1..MOST_EXCHANGES)
            .map(&mut draw)
            .chain([(seen, shift)])
            .collect()
    };
    let mut shifts = Vec::new();
    let mut same = 0;
    for (difference, of_shift) in exchanges {
        if shift - of_shift > 1e-9 * shift {
            shifts.push((seen - difference) / (shift - of_shift))
        } else {
            same += 1
        }
    }
    shifts.sort_by(f64::total_cmp);
    Some(Exchanged { shifts, same })
}

fn sum(all: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    all.fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d))
}

/// Differences within rounding count as equal.
const ROUNDING: f64 = 1e-12;

impl Exchanged {
    fn all(&self) -> f64 {
        (self.same + self.shifts.len()) as f64
    }

    /// Probability of the observation, or a higher one, if the second kind is shifted by no more
    /// than this.
    pub(crate) fn p_above(&self, shift: f64) -> f64 {
        let as_far = self.shifts.partition_point(|one| *one <= shift + ROUNDING);
        (self.same + as_far) as f64 / self.all()
    }

    /// Probability of the observation, or a lower one, if it is shifted by no less than this.
    pub(crate) fn p_below(&self, shift: f64) -> f64 {
        let as_far = self.shifts.len() - self.shifts.partition_point(|one| *one < shift - ROUNDING);
        (self.same + as_far) as f64 / self.all()
    }

    /// Probability of a difference as large in either direction if there is none.
    pub(crate) fn p_two_sided(&self) -> f64 {
        (2.0 * self.p_above(0.0).min(self.p_below(0.0))).min(1.0)
    }

    /// The smallest that [`Self::p_two_sided`] can be.
    pub(crate) fn least_p(&self) -> f64 {
        (2.0 * self.same as f64 / self.all()).min(1.0)
    }

    /// The shift in the middle of all.
    pub(crate) fn estimate(&self) -> Option<f64> {
        let middle = self.shifts.len() / 2;
        let upper = *self.shifts.get(middle)?;
        match self.shifts.len() % 2 {
            0 => Some((self.shifts[middle - 1] + upper) / 2.0),
            _ => Some(upper),
        }
    }

    /// The shifts that are not rejected at a level on either side.
    pub(crate) fn interval(&self, level: f64) -> Option<(f64, f64)> {
        let refused = (level * self.all()).floor() as usize;
        let lower = refused.checked_sub(self.same)?;
        let upper = self.shifts.len().checked_sub(lower + 1)?;
        Some((*self.shifts.get(lower)?, *self.shifts.get(upper)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(differences: &[f64]) -> Vec<InBlock> {
        let in_block = |(block, difference): (usize, &f64)| {
            // Days that differ by far more than the kinds do.
            let of_day = (block as f64) * 100.0;
            [(false, of_day), (true, of_day + difference)].map(|(is_second, value)| InBlock {
                block,
                is_second,
                value,
            })
        };
        differences.iter().enumerate().flat_map(in_block).collect()
    }

    #[test]
    fn pairs_are_judged_by_their_signs_as_a_hand_finds() {
        // Two of 2⁵ exchanges of signs have sums as far from zero as 1 + 2 + 3 + 4 + 5.
        let found = exchanged(&pairs(&[1.0, 2.0, 3.0, 4.0, 5.0])).unwrap();
        assert!((found.p_two_sided() - 2.0 / 32.0).abs() < 1e-12);
        assert!((found.least_p() - 2.0 / 32.0).abs() < 1e-12);
        // The mean of some of the pairs, in the middle of all such means.
        assert!((found.estimate().unwrap() - 3.0).abs() < 1e-12);
        // -1 + 2 + 3 + 4 + 5 = 13: reached by 13 and 15; the same below.
        let found = exchanged(&pairs(&[-1.0, 2.0, 3.0, 4.0, 5.0])).unwrap();
        assert!((found.p_two_sided() - 4.0 / 32.0).abs() < 1e-12);
        let found = exchanged(&pairs(&[1.0, -1.0])).unwrap();
        assert!((found.p_two_sided() - 1.0).abs() < 1e-12);
        assert!(exchanged(&[]).is_none());
    }

    #[test]
    fn the_interval_holds_what_its_level_does_not_refuse() {
        let found = exchanged(&pairs(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])).unwrap();
        let (lower, upper) = found.interval(0.05).unwrap();
        assert!(found.p_above(lower - 1e-6) <= 0.05 && found.p_above(lower + 1e-6) > 0.05);
        assert!(found.p_below(upper + 1e-6) <= 0.05 && found.p_below(upper - 1e-6) > 0.05);
        // Two pairs refuse nothing at 5 %.
        assert_eq!(exchanged(&pairs(&[1.0, 2.0])).unwrap().interval(0.05), None);
    }

    #[test]
    fn larger_blocks_count_each_way_to_choose() {
        // 2 of 4 and 1 of 3: 6 · 3 ways, of which one is as high.
        let runs = [
            (0, false, 1.0),
            (0, false, 2.0),
            (0, true, 5.0),
            (0, true, 6.0),
            (1, false, 10.0),
            (1, false, 11.0),
            (1, true, 14.0),
        ];
        let runs = runs.map(|(block, is_second, value)| InBlock {
            block,
            is_second,
            value,
        });
        let found = exchanged(&runs).unwrap();
        assert!((found.p_above(0.0) - 1.0 / 18.0).abs() < 1e-12);
    }

    #[test]
    fn many_pairs_without_a_difference_are_seldom_told_apart() {
        let mut random = SplitMix::from_state(8);
        let mut told = 0;
        for _ in 0..15 {
            // More than can be tried one by one.
            let noise: Vec<f64> = (0..25).map(|_| random.unit() - 0.5).collect();
            told += usize::from(exchanged(&pairs(&noise)).unwrap().p_two_sided() < 0.05);
        }
        // 5 % of 15 is less than 1; 5 or more has a probability below 0.1 %.
        assert!(told < 5, "{told}");
    }

    #[test]
    fn turns_days_and_facts_make_blocks_and_one_kind_alone_none() {
        let run = |started: &str, room: &str| RunFigures {
            run_id: String::new(),
            started: started.to_owned(),
            is_invalid: false,
            figures: BTreeMap::new(),
            facts: BTreeMap::from([("room".to_owned(), room.to_owned())]),
        };
        let runs = [
            run("2026-11-01T1", "a"),
            run("2026-11-01T2", "b"),
            run("2026-11-02T1", "a"),
            run("2026-11-03T1", "b"),
            run("2026-11-03T2", "c"),
        ];
        let kinds = [false, true, true, false, true];
        let given: Vec<_> = runs
            .iter()
            .zip(kinds)
            .map(|(run, kind)| (run, kind, 0.0))
            .collect();
        let blocks = |by: Blocks| -> Vec<usize> {
            by.sorted_into(&given).iter().map(|run| run.block).collect()
        };
        assert_eq!(blocks(Blocks::Turns), [0, 0, 0, 1, 1]);
        assert_eq!(blocks(Blocks::Day), [0, 0, 2, 2]);
        assert_eq!(blocks(Blocks::Fact("room".to_owned())), [0, 1, 0, 1]);
        assert!(blocks(Blocks::Fact("floor".to_owned())).is_empty());
    }
}
