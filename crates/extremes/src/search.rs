//! The largest value and the zero of functions of one variable. All that is fitted here is brought
//! down to these: no optimiser of several variables is needed.

/// The maximum of a function with only one, and its value there. Starts at `start`, steps outwards until the
/// maximum is between two points, then narrows down to `tolerance` by Brent's method (Brent 1973, chapter 5).
/// At −∞ the function is not defined; `None` when it is not finite at the start or rises without end.
pub(crate) fn largest(
    f: &mut impl FnMut(f64) -> f64,
    start: f64,
    step: f64,
    tolerance: f64,
) -> Option<(f64, f64)> {
    const GROWTH: f64 = 1.8;
    const MOST_STEPS: usize = 60;
    let at_start = f(start);
    if !at_start.is_finite() {
        return None;
    }
    let (mut left, mut right) = (start - step, start + step);
    let (mut at_left, mut at_right) = (f(left), f(right));
    let (mut middle, mut at_middle) = (start, at_start);
    let mut step = step;
    for _ in 0..MOST_STEPS {
        let falls = |value: f64| value.is_nan() || value < at_middle;
        if falls(at_left) && falls(at_right) {
            return Some(brent(f, (left, middle, right), at_middle, tolerance));
        }
        step *= GROWTH;
        if falls(at_left) {
            (left, middle, at_middle) = (middle, right, at_right);
            at_left = f64::NEG_INFINITY;
            right = middle + step;
            at_right = f(right);
        } else {
            (right, middle, at_middle) = (middle, left, at_left);
            at_right = f64::NEG_INFINITY;
            left = middle - step;
            at_left = f(left);
        }
    }
    None
}

fn brent(
    f: &mut impl FnMut(f64) -> f64,
    (mut low, best, mut high): (f64, f64, f64),
    at_best: f64,
    tolerance: f64,
) -> (f64, f64) {
    const GOLDEN: f64 = 0.381_966_011_250_105;
    let (mut x, mut second, mut third) = (best, best, best);
    let (mut at_x, mut at_second, mut at_third) = (at_best, at_best, at_best);
    let (mut moved, mut moved_before) = (0.0_f64, 0.0_f64);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        let least = tolerance * x.abs() + tolerance;
        if (x - middle).abs() <= 2.0 * least - 0.5 * (high - low) {
            break;
        }
        let mut golden = true;
        if moved_before.abs() > least {
            let r = (x - second) * (at_x - at_third);
            let q = (x - third) * (at_x - at_second);
            let mut p = (x - third) * q - (x - second) * r;
            let mut q = 2.0 * (q - r);
            if q > 0.0 {
                p = -p;
            }
            q = q.abs();
            let before = moved_before;
            moved_before = moved;
            if p.is_finite()
                && p.abs() < (0.5 * q * before).abs()
                && p > q * (low - x)
                && p < q * (high - x)
            {
                moved = p / q;
                let next = x + moved;
                if next - low < 2.0 * least || high - next < 2.0 * least {
                    moved = if x < middle { least } else { -least };
                }
                golden = false;
            }
        }
        if golden {
            moved_before = if x < middle { high - x } else { low - x };
            moved = GOLDEN * moved_before;
        }
        let next = if moved.abs() >= least {
            x + moved
        } else {
            x + least.copysign(moved)
        };
        let at_next = f(next);
        if at_next >= at_x {
            if next < x {
                high = x;
            } else {
                low = x;
            }
            (third, at_third) = (second, at_second);
            (second, at_second) = (x, at_x);
            (x, at_x) = (next, at_next);
        } else {
            if next < x {
                low = next;
            } else {
                high = next;
            }
            if at_next >= at_second || second == x {
                (third, at_third) = (second, at_second);
                (second, at_second) = (next, at_next);
            } else if at_next >= at_third || third == x || third == second {
                (third, at_third) = (next, at_next);
            }
        }
    }
    (x, at_x)
}

/// The zero of a function that is positive at `low` and not positive at `high`, to `tolerance` of its size:
/// regula falsi with halving (Illinois; Dowell and Jarratt 1971), and bisection if that gives no number.
pub(crate) fn crossing(
    f: &mut impl FnMut(f64) -> f64,
    mut low: f64,
    mut high: f64,
    tolerance: f64,
) -> f64 {
    let (mut at_low, mut at_high) = (f(low), f(high));
    let mut kept = 0_i8;
    for _ in 0..200 {
        if (high - low).abs() <= tolerance * (low.abs() + high.abs()) * 0.5 {
            break;
        }
        let cut = (low * at_high - high * at_low) / (at_high - at_low);
        let inside = cut > low.min(high) && cut < low.max(high);
        let next = if inside {
            cut
        } else {
            f64::midpoint(low, high)
        };
        let at_next = f(next);
        if at_next > 0.0 {
            (low, at_low) = (next, at_next);
            if kept == 1 {
                at_high *= 0.5;
            }
            kept = 1;
        } else {
            (high, at_high) = (next, at_next);
            if kept == -1 {
                at_low *= 0.5;
            }
            kept = -1;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_value_is_found_from_far_off() {
        let mut f = |x: f64| -(x - 3.0).powi(4) - (x - 3.0).powi(2) + 7.0;
        for start in [-40.0, 2.9, 3.0, 55.0] {
            let (at, value) = largest(&mut f, start, 0.5, 1e-9).unwrap();
            assert!((at - 3.0).abs() < 1e-6, "{at}");
            assert!((value - 7.0).abs() < 1e-12);
        }
    }

    #[test]
    fn what_rises_without_end_or_is_nowhere_has_no_largest() {
        assert_eq!(largest(&mut |x| x, 0.0, 1.0, 1e-9), None);
        assert_eq!(largest(&mut |_| f64::NEG_INFINITY, 0.0, 1.0, 1e-9), None);
    }

    #[test]
    fn an_edge_of_the_domain_is_no_obstacle() {
        let mut f = |x: f64| {
            if x <= 0.0 {
                f64::NEG_INFINITY
            } else {
                x.ln() - x
            }
        };
        let (at, _) = largest(&mut f, 5.0, 3.0, 1e-10).unwrap();
        assert!((at - 1.0).abs() < 1e-5, "{at}");
    }

    #[test]
    fn a_crossing_is_found_in_either_direction() {
        let root = crossing(&mut |x: f64| 2.0 - x * x, 0.0, 9.0, 1e-13);
        assert!((root - 2.0_f64.sqrt()).abs() < 1e-12, "{root}");
        let root = crossing(&mut |x: f64| (x - 1.0).exp() - 1.0, 40.0, -3.0, 1e-13);
        assert!((root - 1.0).abs() < 1e-12, "{root}");
    }
}
