//! Whole-number arithmetic that never wraps and never rounds to the unsafe side: sums that overflow are an
//! error; utilizations are exact fractions if they fit and otherwise rounded up.

use crate::task::{Impossible, Task};
use std::cmp::Ordering;

/// Nanoseconds added; an overflow is an error.
pub(crate) fn sum(a: u64, b: u64) -> Result<u64, Impossible> {
    a.checked_add(b).ok_or(Impossible::Overflow)
}

/// Nanoseconds times a count; an overflow is an error.
pub(crate) fn times(count: u64, ns: u64) -> Result<u64, Impossible> {
    count.checked_mul(ns).ok_or(Impossible::Overflow)
}

/// Fractional bits of [`Share`].
const BITS: u32 = 62;

/// A share of a CPU's time as a fixed-point number. Each constructor names its direction of rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Share(u128);

impl Share {
    /// One whole CPU.
    pub const ONE: Self = Self(1 << BITS);

    /// `part / whole`, rounded up. `whole` must not be 0.
    pub fn up(part: u64, whole: u64) -> Self {
        Self((u128::from(part) << BITS).div_ceil(u128::from(whole)))
    }

    /// `part / whole`, rounded down.
    pub fn down(part: u64, whole: u64) -> Self {
        Self((u128::from(part) << BITS) / u128::from(whole))
    }

    /// This and another.
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The remainder after subtracting another, at least 0.
    pub fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// So many times this.
    pub fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(u128::from(count)))
    }

    /// The product with another, rounded up. Both at most 2.
    pub fn times_share_up(self, other: Self) -> Self {
        Self((self.0 * other.0).div_ceil(1 << BITS))
    }

    /// So many nanoseconds' share of this, rounded up.
    pub fn of_up(self, ns: u64) -> u64 {
        let product = self.0.saturating_mul(u128::from(ns)).div_ceil(1 << BITS);
        u64::try_from(product).unwrap_or(u64::MAX)
    }

    /// Nanoseconds divided by this share, rounded up; an overflow or a share of 0 is an error.
    pub(crate) fn divides_up(self, ns: u64) -> Result<u64, Impossible> {
        if self.0 == 0 {
            return Err(Impossible::Overflow);
        }
        let quotient = (u128::from(ns) << BITS).div_ceil(self.0);
        u64::try_from(quotient).map_err(|_| Impossible::Overflow)
    }

    /// As a floating-point number, for people.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / Self::ONE.0 as f64
    }
}

/// Utilization of tasks, rounded up.
pub fn utilization<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Share {
    tasks.into_iter().fold(Share::default(), |sum, task| {
        sum.plus(Share::up(task.execution_ns, task.period_ns()))
    })
}

/// How the sum of `execution / period` compares with 1, exactly where the common denominator fits
/// 128 bits; otherwise by [`Share`], whose sum is rounded up.
pub(crate) fn against_one(parts: impl Iterator<Item = (u64, u64)> + Clone) -> Ordering {
    exactly_against_one(parts.clone()).unwrap_or_else(|| {
        let total = parts.fold(Share::default(), |sum, (part, whole)| {
            sum.plus(Share::up(part, whole))
        });
        total.cmp(&Share::ONE)
    })
}

fn exactly_against_one(parts: impl Iterator<Item = (u64, u64)>) -> Option<Ordering> {
    let (mut above, mut below) = (0_u128, 1_u128);
    for (part, whole) in parts {
        let (part, whole) = (u128::from(part), u128::from(whole));
        let shared = greatest_common_divisor(below, whole);
        let factor = whole / shared;
        above = above
            .checked_mul(factor)?
            .checked_add(part.checked_mul(below / shared)?)?;
        below = below.checked_mul(factor)?;
    }
    Some(above.cmp(&below))
}

/// Euclid's; of 0 and a number the number.
pub(crate) fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_thirds_are_one_and_not_more() {
        let thirds = [(1, 3), (1, 3), (1, 3)];
        assert_eq!(against_one(thirds.into_iter()), Ordering::Equal);
        let more = [(1, 3), (1, 3), (1, 3), (1, u64::MAX)];
        assert_eq!(against_one(more.into_iter()), Ordering::Greater);
    }

    #[test]
    fn periods_without_a_common_denominator_are_rounded_up() {
        let primes = [
            9_007_199_254_740_881_u64,
            9_007_199_254_740_847,
            9_007_199_254_740_761,
        ];
        let parts = primes.map(|prime| (prime / 3 - 1_000_000, prime));
        assert_eq!(against_one(parts.into_iter()), Ordering::Less);
        let parts = primes.map(|prime| (prime / 3 + 1, prime));
        assert_eq!(against_one(parts.into_iter()), Ordering::Greater);
    }

    #[test]
    fn shares_round_as_they_say() {
        assert!(Share::up(1, 3) > Share::down(1, 3));
        assert_eq!(Share::down(1, 2), Share::up(1, 2));
        assert_eq!(Share::up(1, 3).of_up(3), 2, "a hair above a third");
        assert_eq!(Share::down(1, 2).divides_up(5), Ok(10));
        assert_eq!(Share::default().divides_up(1), Err(Impossible::Overflow));
    }
}
