//! A permutation test over runs: how often the labels "first" and "second", dealt out anew, would
//! give means as far apart. It assumes only that runs of a block could have been swapped.

/// Runs measured under like circumstances: a pair measured in turn, or all runs where they were
/// measured in any order. Labels are dealt out anew within a block only.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// Values of the first side, one for each run.
    pub first: Vec<f64>,
    /// Values of the second side.
    pub second: Vec<f64>,
}

/// How the probabilities were found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "by", rename_all = "kebab-case"))]
pub enum Counted {
    /// Every arrangement was tried.
    Enumeration {
        /// How many there are.
        arrangements: u64,
    },
    /// Arrangements were drawn at random.
    Draws {
        /// How many.
        draws: u64,
        /// Seed of the generator: the same seed gives the same probabilities.
        seed: u64,
        /// Standard error of the two-sided probability that comes of drawing.
        standard_error: f64,
    },
}

/// The outcome of a permutation test.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Permutation {
    /// Mean of the second side less that of the first, in the values' unit.
    pub difference: f64,
    /// Probability of the second side's sum being as high as seen, or higher.
    pub p_higher: f64,
    /// As low as seen, or lower.
    pub p_lower: f64,
    /// As far from its mean over all arrangements, or farther.
    pub p_two_sided: f64,
    /// How they were found.
    pub counted: Counted,
}

/// Fisher–Pitman test of the difference of means. All arrangements are tried where there are at
/// most `enumerate_up_to`; otherwise `draws` are drawn with `seed`, the arrangement seen counted
/// among them so that no probability is 0 (Phipson & Smyth 2010). `None` where a side has no run
/// or a value is no number.
pub fn permutation_test(
    blocks: &[Block],
    enumerate_up_to: u64,
    draws: u64,
    seed: u64,
) -> Option<Permutation> {
    let all = |side: fn(&Block) -> &Vec<f64>| blocks.iter().flat_map(side).copied();
    let count = |side: fn(&Block) -> &Vec<f64>| all(side).count();
    let (m, n) = (count(|block| &block.first), count(|block| &block.second));
    if m == 0 || n == 0 || all(|b| &b.first).chain(all(|b| &b.second)).any(f64::is_nan) {
        return None;
    }
    let seen: f64 = all(|block| &block.second).sum();
    let first: f64 = all(|block| &block.first).sum();
    // Of the second side's sum over all arrangements.
    let mean: f64 = blocks
        .iter()
        .map(|block| {
            let pooled = block.first.iter().chain(&block.second).sum::<f64>();
            let size = (block.first.len() + block.second.len()).max(1) as f64;
            pooled * block.second.len() as f64 / size
        })
        .sum();
    let mut tally = Tally::new(seen, mean, first.abs() + seen.abs());
    let arrangements = blocks.iter().try_fold(1_u64, |product, block| {
        let ways = choose(block.first.len() + block.second.len(), block.second.len())?;
        product.checked_mul(ways)
    });
    let counted = match arrangements.filter(|&all| all <= enumerate_up_to) {
        Some(arrangements) => {
            let sums: Vec<Vec<f64>> = blocks.iter().map(sums_of).collect();
            enumerate(&sums, 0.0, &mut tally);
            Counted::Enumeration { arrangements }
        }
        None => {
            let mut generator = SplitMix(seed);
            tally.add(seen);
            for _ in 1..draws.max(2) {
                tally.add(
                    blocks
                        .iter()
                        .map(|block| drawn(block, &mut generator))
                        .sum(),
                );
            }
            let p = tally.far / tally.all;
            Counted::Draws {
                draws: draws.max(2),
                seed,
                standard_error: (p * (1.0 - p) / tally.all).sqrt(),
            }
        }
    };
    Some(Permutation {
        difference: seen / n as f64 - first / m as f64,
        p_higher: tally.high / tally.all,
        p_lower: tally.low / tally.all,
        p_two_sided: tally.far / tally.all,
        counted,
    })
}

/// Sums compared with the one seen. Sums of the same values in another order differ in their last
/// digits: such count as equal.
struct Tally {
    seen: f64,
    mean: f64,
    slack: f64,
    all: f64,
    high: f64,
    low: f64,
    far: f64,
}

impl Tally {
    fn new(seen: f64, mean: f64, scale: f64) -> Self {
        Self {
            seen,
            mean,
            slack: scale * 1e-12,
            all: 0.0,
            high: 0.0,
            low: 0.0,
            far: 0.0,
        }
    }

    fn add(&mut self, sum: f64) {
        let one_if = |holds: bool| f64::from(u8::from(holds));
        self.all += 1.0;
        self.high += one_if(sum >= self.seen - self.slack);
        self.low += one_if(sum <= self.seen + self.slack);
        let distance = (self.seen - self.mean).abs();
        self.far += one_if((sum - self.mean).abs() >= distance - self.slack);
    }
}

fn enumerate(sums: &[Vec<f64>], so_far: f64, tally: &mut Tally) {
    match sums.split_first() {
        None => tally.add(so_far),
        Some((block, rest)) => {
            for sum in block {
                enumerate(rest, so_far + sum, tally);
            }
        }
    }
}

/// The sum of the second side for every choice of it within a block.
fn sums_of(block: &Block) -> Vec<f64> {
    fn choose(values: &[f64], wanted: usize, so_far: f64, sums: &mut Vec<f64>) {
        match values.split_first() {
            _ if wanted == 0 => sums.push(so_far),
            Some((value, rest)) if values.len() >= wanted => {
                choose(rest, wanted - 1, so_far + value, sums);
                choose(rest, wanted, so_far, sums);
            }
            _ => {}
        }
    }
    let pooled = [block.first.as_slice(), &block.second].concat();
    let mut sums = Vec::new();
    choose(&pooled, block.second.len(), 0.0, &mut sums);
    sums
}

/// A random choice of the second side of a block: the first steps of a Fisher–Yates shuffle.
fn drawn(block: &Block, generator: &mut SplitMix) -> f64 {
    let mut pooled = [block.first.as_slice(), &block.second].concat();
    for place in 0..block.second.len() {
        let other = place + generator.below(pooled.len() - place);
        pooled.swap(place, other);
    }
    pooled[..block.second.len()].iter().sum()
}

/// C(n, k), where it fits.
fn choose(n: usize, k: usize) -> Option<u64> {
    let k = k.min(n - k) as u64;
    (0..k).try_fold(1_u64, |product, i| {
        Some(product.checked_mul(n as u64 - i)? / (i + 1))
    })
}

/// SplitMix64 (Steele, Lea & Flood 2014): small, and the same everywhere.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 … `limit` − 1; its bias, `limit` / 2⁶⁴, is nothing beside the error of drawing.
    fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison_figures::{PERMUTATION, PERMUTATION_BLOCKS};

    fn one_block(first: &[f64], second: &[f64]) -> [Block; 1] {
        [Block {
            first: first.to_vec(),
            second: second.to_vec(),
        }]
    }

    #[test]
    fn probabilities_agree_with_scipy() {
        for row in PERMUTATION {
            let taken = |part: &[f64]| -> Vec<f64> {
                part.iter()
                    .copied()
                    .filter(|value| !value.is_nan())
                    .collect()
            };
            let blocks = one_block(&taken(&row[..6]), &taken(&row[6..12]));
            let found = permutation_test(&blocks, 1_000_000, 0, 0).unwrap();
            assert!((found.difference - row[12]).abs() < 1e-9, "{found:?}");
            assert!((found.p_higher - row[13]).abs() < 1e-12, "{found:?}");
            assert!((found.p_lower - row[14]).abs() < 1e-12, "{found:?}");
            assert!((found.p_two_sided - row[15]).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn blocks_agree_with_scipys_paired_permutations() {
        for row in PERMUTATION_BLOCKS {
            let blocks: Vec<Block> = (0..6)
                .map(|i| Block {
                    first: vec![row[i]],
                    second: vec![row[6 + i]],
                })
                .collect();
            let found = permutation_test(&blocks, 1_000_000, 0, 0).unwrap();
            assert_eq!(found.counted, Counted::Enumeration { arrangements: 64 });
            assert!((found.p_higher - row[12]).abs() < 1e-12, "{found:?}");
            assert!((found.p_two_sided - row[13]).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn two_against_two_by_hand() {
        // Sums of two of {1, 2, 3, 4}: 3 4 5 5 6 7, seen 7.
        let found = permutation_test(&one_block(&[1.0, 2.0], &[3.0, 4.0]), 6, 0, 0).unwrap();
        assert!((found.p_higher - 1.0 / 6.0).abs() < 1e-15);
        assert_eq!(found.p_lower, 1.0);
        assert!((found.p_two_sided - 2.0 / 6.0).abs() < 1e-15);
        assert_eq!(found.counted, Counted::Enumeration { arrangements: 6 });
    }

    #[test]
    fn drawing_comes_close_to_counting_and_says_how_close() {
        let (first, second) = ([1.0, 4.0, 2.5, 3.0, 7.0], [4.5, 6.0, 8.0, 3.5, 9.0]);
        let exact = permutation_test(&one_block(&first, &second), 1000, 0, 0).unwrap();
        let drawn = permutation_test(&one_block(&first, &second), 10, 100_000, 7).unwrap();
        let Counted::Draws {
            standard_error,
            draws,
            seed,
        } = drawn.counted
        else {
            panic!("{drawn:?}");
        };
        assert_eq!((draws, seed), (100_000, 7));
        assert!(standard_error > 0.0 && standard_error < 0.001);
        let off = (drawn.p_two_sided - exact.p_two_sided).abs();
        assert!(off < 4.0 * standard_error, "{off} {standard_error}");
        let again = permutation_test(&one_block(&first, &second), 10, 100_000, 7).unwrap();
        assert_eq!(again, drawn);
    }

    #[test]
    fn forty_a_side_are_drawn_and_never_overflow() {
        let first: Vec<f64> = (0..40).map(f64::from).collect();
        let found = permutation_test(&one_block(&first, &first), 100_000, 1000, 1).unwrap();
        assert!(matches!(found.counted, Counted::Draws { draws: 1000, .. }));
        assert_eq!(permutation_test(&[], 10, 10, 0), None);
        assert_eq!(
            permutation_test(&one_block(&[1.0], &[f64::NAN]), 10, 10, 0),
            None
        );
    }
}
