//! What needs no likelihood: L-moments with the tail that they give, a second estimate beside the
//! first, and the coefficient of variation, which tells the class of a tail.

use crate::dependence::Tested;
use crate::limit_laws::normal_two_sided;
use crate::pareto::Pareto;

/// The first L-moments of a sample (Hosking 1990).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LMoments {
    /// λ₁, the mean.
    pub mean: f64,
    /// λ₂, half the mean difference of two values.
    pub scale: f64,
    /// τ₃, skewness between −1 and 1.
    pub skewness: f64,
}

impl LMoments {
    /// Unbiased, of ascending values. `None` for fewer than three or where all are one.
    pub fn of(sorted: &[f64]) -> Option<Self> {
        let count = sorted.len() as f64;
        if sorted.len() < 3 {
            return None;
        }
        let (mut b0, mut b1, mut b2) = (0.0, 0.0, 0.0);
        for (place, value) in sorted.iter().enumerate() {
            let rank = place as f64;
            b0 += value;
            b1 += value * rank / (count - 1.0);
            b2 += value * rank * (rank - 1.0) / ((count - 1.0) * (count - 2.0));
        }
        let (b0, b1, b2) = (b0 / count, b1 / count, b2 / count);
        let scale = 2.0 * b1 - b0;
        (scale > 0.0).then_some(Self {
            mean: b0,
            scale,
            skewness: (6.0 * b2 - 6.0 * b1 + b0) / scale,
        })
    }

    /// The tail above a threshold of 0 with these moments: ξ = 2 − λ₁/λ₂, σ = λ₁(1 − ξ) (Hosking
    /// and Wallis 1987).
    pub fn pareto(&self) -> Pareto {
        let shape = 2.0 - self.mean / self.scale;
        Pareto {
            scale: self.mean * (1.0 - shape),
            shape,
        }
    }
}

/// The coefficient of variation of excesses, 1/√(1 − 2ξ) of a generalised Pareto tail, against the
/// 1 of an exponential one: √n (CV − 1) is standard normal there. The effect is |CV − 1|. It tells
/// of the tail's class and never makes ξ zero. `None` for fewer than two or where all are one.
pub fn tail_class(excesses: &[f64]) -> Option<Tested> {
    let count = excesses.len() as f64;
    let mean = excesses.iter().sum::<f64>() / count;
    let squares: f64 = excesses.iter().map(|y| (y - mean).powi(2)).sum();
    if excesses.len() < 2 || squares.is_nan() || squares <= 0.0 {
        return None;
    }
    let variation = (squares / (count - 1.0)).sqrt() / mean;
    let statistic = count.sqrt() * (variation - 1.0);
    Some(Tested {
        statistic,
        p_value: normal_two_sided(statistic),
        effect: (variation - 1.0).abs(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::PORT_PIRIE;
    use crate::random::Random;

    #[test]
    fn the_sea_levels_of_port_pirie_have_their_published_moments() {
        let mut sorted = PORT_PIRIE;
        sorted.sort_by(f64::total_cmp);
        let found = LMoments::of(&sorted).unwrap();
        assert!((found.mean - 3.980_615).abs() < 1e-6, "{found:?}");
        assert!((found.scale - 0.134_644).abs() < 1e-6, "{found:?}");
        assert!((found.skewness - 0.137_433).abs() < 1e-6, "{found:?}");
        assert_eq!(LMoments::of(&[1.0; 9]), None);
    }

    #[test]
    fn moments_give_a_tail_back_and_the_variation_its_class() {
        for shape in [-0.3, 0.0, 0.2] {
            let truth = Pareto { scale: 4.0, shape };
            let mut random = Random::stream(5, 0);
            let mut drawn: Vec<f64> = (0..50_000).map(|_| truth.draw(&mut random)).collect();
            drawn.sort_by(f64::total_cmp);
            let found = LMoments::of(&drawn).unwrap().pareto();
            assert!((found.shape - shape).abs() < 0.02, "{found:?}");
            assert!((found.scale - 4.0).abs() < 0.1, "{found:?}");
            let class = tail_class(&drawn).unwrap();
            let variation = 1.0 + class.effect.copysign(class.statistic);
            assert!(
                (variation - 1.0 / (1.0 - 2.0 * shape).sqrt()).abs() < 0.06,
                "{class:?}"
            );
            assert_eq!(class.p_value < 0.01, shape != 0.0, "{class:?}");
        }
        assert_eq!(tail_class(&[1.0; 9]), None);
    }
}
