//! Integer and floating-point arithmetic in registers. It touches no memory.

use crate::counters::Slot;
use std::hint::black_box;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[Disturbance::Cpu];

/// Steps of one round; well below a millisecond on any processor that runs Linux.
const STEPS: u32 = 20_000;

/// Computes until it is killed; one count per round.
pub(crate) fn run(counter: &Slot) -> ! {
    let mut state = (1_u64, 1.0_f64);
    loop {
        state = black_box(round(black_box(state)));
        counter.add(1);
    }
}

/// A linear congruential generator and Newton's iteration for a square root: integer multiplication
/// and floating-point division, which no compiler can fold away.
fn round((mut integer, mut real): (u64, f64)) -> (u64, f64) {
    for _ in 0..STEPS {
        integer = integer
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let target = (integer >> 40) as f64 + 1.0;
        real = 0.5 * (real + target / real);
    }
    (integer, real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_stays_in_finite_numbers() {
        let (integer, real) = (0..10).fold((1, 1.0), |state, _| round(state));
        assert_ne!(integer, 1);
        assert!(real.is_normal() && real > 0.0);
    }
}
