//! Variance of a time over groups of conditions measured together: the variance of the groups' mixture, split
//! into one cause's share, another's additional share, and the rest. It knows no causes.

/// Count, mean and variance of some values, added one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moments {
    count: u64,
    sum: i128,
    squares: u128,
}

impl Moments {
    /// Adds a value. Sums are whole numbers, so that no order of adding matters.
    pub fn add(&mut self, value: i64) {
        self.count += 1;
        self.sum += i128::from(value);
        self.squares += u128::from(value.unsigned_abs()).pow(2);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; 0 without any.
    pub fn mean(&self) -> f64 {
        match self.count {
            0 => 0.0,
            count => self.sum as f64 / count as f64,
        }
    }

    /// Mean squared distance from the mean, Σ(x − x̄)²/n.
    pub fn variance(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        // n·Σx² − (Σx)², whole as long as it fits: no difference of large and nearly equal floats.
        let count = u128::from(self.count);
        let square = self.sum.unsigned_abs().checked_pow(2);
        let exact = self
            .squares
            .checked_mul(count)
            .zip(square)
            .and_then(|(all, square)| all.checked_sub(square));
        match exact {
            Some(exact) => exact as f64 / (self.count as f64).powi(2),
            None => (self.squares as f64 / self.count as f64 - self.mean().powi(2)).max(0.0),
        }
    }
}

/// Shares of a variance, which add up to 1. A cause that works against the other can have less than none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceShares {
    /// Of what varies within a condition, and among those without either cause.
    pub within: f64,
    /// Of the first cause.
    pub first: f64,
    /// Of what the second adds to it, and of what makes its conditions differ.
    pub second: f64,
}

/// Splits the variance of a mixture of three groups of equal weight: conditions without a cause, with the first, and
/// with the first and the second. Conditions of a group weigh equally too.
///
/// The mean of a group is m₀, m₀ + a or m₀ + a + b: with x₁ and x₂ for the causes, y = m₀ + a·x₁ + b·x₂ + rest. The
/// first one's share is a·cov(x₁, y) = a²·2⁄9 + a·b⁄9, the second's b·cov(x₂, y) = b²·2⁄9 + a·b⁄9, of the variance
/// of y (Pratt, Dividing the indivisible, 1987): a second cause that adds nothing has no share, whatever the
/// first makes. Variance among the conditions of one group is that group's.
///
/// `None` where a group is empty or nothing varies.
pub fn variance_shares(
    without: &[Moments],
    first: &[Moments],
    both: &[Moments],
) -> Option<VarianceShares> {
    let [without, first, both] = [without, first, both].map(Group::new);
    let (without, first, both) = (without?, first?, both?);
    let (a, b) = (first.mean - without.mean, both.mean - first.mean);
    let shared = a * b / 9.0;
    let within = (without.within + first.within + both.within + without.among) / 3.0;
    let of_first = a * a * 2.0 / 9.0 + shared + first.among / 3.0;
    let of_second = b * b * 2.0 / 9.0 + shared + both.among / 3.0;
    let all = within + of_first + of_second;
    (all > 0.0).then(|| VarianceShares {
        within: within / all,
        first: of_first / all,
        second: of_second / all,
    })
}

/// Conditions of one kind.
struct Group {
    mean: f64,
    /// Mean variance within a condition.
    within: f64,
    /// Variance among their means.
    among: f64,
}

impl Group {
    fn new(conditions: &[Moments]) -> Option<Self> {
        if conditions.is_empty() || conditions.iter().any(|one| one.count == 0) {
            return None;
        }
        let count = conditions.len() as f64;
        let mean = |of: &dyn Fn(&Moments) -> f64| conditions.iter().map(of).sum::<f64>() / count;
        let all = mean(&Moments::mean);
        Some(Self {
            mean: all,
            within: mean(&Moments::variance),
            among: mean(&|one| (one.mean() - all).powi(2)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(values: &[i64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|&value| moments.add(value));
        moments
    }

    #[test]
    fn mean_and_variance_are_those_by_hand_and_exact_far_from_zero() {
        let some = moments(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((some.count(), some.mean(), some.variance()), (8, 5.0, 4.0));
        let far = 1_000_000_000_000;
        assert_eq!(moments(&[far, far + 2]).variance(), 1.0);
        assert_eq!(Moments::default().variance(), 0.0);
    }

    #[test]
    fn the_shares_are_those_of_the_mixture() {
        // Two values in each condition, the second cause at two strengths.
        let without = [moments(&[90, 110])];
        let first = [moments(&[140, 160])];
        let both = [moments(&[300, 320]), moments(&[500, 520])];
        let shares = variance_shares(&without, &first, &both).unwrap();
        // The mixture with its weights, by the definition of variance.
        let weighted = [
            (90.0, 1.0 / 6.0),
            (110.0, 1.0 / 6.0),
            (140.0, 1.0 / 6.0),
            (160.0, 1.0 / 6.0),
            (300.0, 1.0 / 12.0),
            (320.0, 1.0 / 12.0),
            (500.0, 1.0 / 12.0),
            (520.0, 1.0 / 12.0),
        ];
        let mean: f64 = weighted.iter().map(|(value, weight)| value * weight).sum();
        let all: f64 = weighted
            .iter()
            .map(|(value, weight)| weight * (value - mean).powi(2))
            .sum();
        assert!((shares.within * all - 100.0).abs() < 1e-9, "{shares:?}");
        // a = 50, b = 260: 2500·2⁄9 + 13000⁄9.
        assert!(
            (shares.first * all - 18_000.0 / 9.0).abs() < 1e-9,
            "{shares:?}"
        );
        let sum = shares.within + shares.first + shares.second;
        assert!((sum - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_cause_that_adds_nothing_has_no_share_and_two_that_fight_have_none() {
        let (low, high) = ([moments(&[10, 12])], [moments(&[50, 52])]);
        let shares = variance_shares(&low, &high, &high).unwrap();
        assert_eq!(shares.second, 0.0);
        assert!(shares.first > 0.99, "{shares:?}");
        let shares = variance_shares(&low, &low, &high).unwrap();
        assert_eq!(shares.first, 0.0);
        // The second takes back a quarter of what the first made.
        let middle = [moments(&[40, 42])];
        let shares = variance_shares(&low, &high, &middle).unwrap();
        assert!(shares.second < 0.0 && shares.first > 0.9, "{shares:?}");
        assert_eq!(variance_shares(&low, &[], &high), None);
        let still = [moments(&[7, 7])];
        assert_eq!(variance_shares(&still, &still, &still), None);
    }
}
