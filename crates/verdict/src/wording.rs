//! Numbers as a person reads them, rounded so that they never contradict the comparison they were
//! part of: upper bounds up, lower bounds down.

pub use wakepath_timeline::count::{count, counted};
use wakepath_timeline::duration::apart_from;
pub use wakepath_timeline::duration::rounded as duration;

/// A measured time next to its limit, which is shown by [`duration`]: in plain nanoseconds if it would read the same
/// otherwise.
pub(crate) fn duration_against(nanoseconds: i64, limit: i64) -> String {
    let text = apart_from(nanoseconds, limit);
    if nanoseconds != limit && text == duration(limit) {
        format!("{} ns", count(nanoseconds.unsigned_abs()))
    } else {
        text
    }
}

/// A share from 0 to 1 as a percentage to the nearest two digits: `0.3 %`; below 0.001 % as a
/// power of ten.
pub fn fraction(value: f64) -> String {
    rounded(value, 2, f64::round)
}

/// A confidence in per cent, with two digits of what is missing from certainty: `95 %`, `99.67 %`.
pub fn confidence(value: f64) -> String {
    let missing = significant(1.0 - value, 2, f64::round) * 100.0;
    let decimals = (1 - missing.max(1e-9).log10().floor() as i32).max(0) as usize;
    let text = format!("{:.decimals$}", 100.0 - missing);
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{text} %")
}

/// A share given by the user, with as many digits as it has.
pub(crate) fn exact_fraction(value: f64) -> String {
    rounded(value, 12, f64::round)
}

/// An upper bound, rounded up, with digits enough to stay on its side of `limit`.
pub fn upper_fraction(value: f64, limit: f64) -> String {
    on_its_side(value, limit, f64::ceil)
}

/// A lower bound, rounded down, with digits enough to stay on its side of `limit`.
pub(crate) fn lower_fraction(value: f64, limit: f64) -> String {
    on_its_side(value, limit, f64::floor)
}

fn on_its_side(value: f64, limit: f64, round: fn(f64) -> f64) -> String {
    let digits = (2..12)
        .find(|&digits| {
            (significant(value, digits, round) > limit * (1.0 + 1e-13)) == (value > limit)
        })
        .unwrap_or(12);
    rounded(value, digits, round)
}

fn significant(value: f64, digits: i32, round: fn(f64) -> f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let scale = 10_f64.powi(digits - 1 - value.log10().floor() as i32);
    // Decimal fractions are not binary ones: 0.0022 · 10⁴ must not be rounded up to 23.
    let scaled = value * scale;
    let whole = scaled.round();
    (if (scaled - whole).abs() < 1e-9 * scaled {
        whole
    } else {
        round(scaled)
    }) / scale
}

fn rounded(value: f64, digits: i32, round: fn(f64) -> f64) -> String {
    let value = significant(value, digits, round);
    if value <= 0.0 {
        return "0 %".to_owned();
    }
    if value >= 1.0 {
        return "100 %".to_owned();
    }
    // Adding a hair keeps 0.001 from having the exponent −4.
    let exponent = (value * (1.0 + 1e-12)).log10().floor() as i32;
    let trimmed = |text: String| {
        let text = if text.contains('.') {
            text.trim_end_matches('0')
        } else {
            &text
        };
        text.trim_end_matches('.').to_owned()
    };
    if exponent < -5 {
        let mantissa = trimmed(format!(
            "{:.*}",
            digits as usize - 1,
            value * 10_f64.powi(-exponent)
        ));
        let superscript: String = exponent
            .abs()
            .to_string()
            .bytes()
            .map(|digit| {
                ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][usize::from(digit - b'0')]
            })
            .collect();
        let power = format!("10⁻{superscript}");
        return if mantissa == "1" {
            power
        } else {
            format!("{mantissa}·{power}")
        };
    }
    let decimals = (digits - 3 - exponent).max(0) as usize;
    format!("{} %", trimmed(format!("{:.decimals$}", value * 100.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_never_reads_as_the_limit_that_it_is_not() {
        assert_eq!(duration_against(300_000_001, 300_000_000), "300 000 001 ns");
        assert_eq!(duration_against(12_345_678, 4_000_000), "12.3 ms");
    }

    #[test]
    fn shares_read_as_percentages_and_small_ones_as_powers_of_ten() {
        assert_eq!(fraction(0.0), "0 %");
        assert_eq!(fraction(0.003), "0.3 %");
        assert_eq!(fraction(0.123_4), "12 %");
        assert_eq!(fraction(1.0), "100 %");
        assert_eq!(fraction(2.5e-4), "0.025 %");
        assert_eq!(fraction(1e-5), "0.001 %");
        assert_eq!(fraction(1e-6), "10⁻⁶");
        assert_eq!(fraction(3.2e-7), "3.2·10⁻⁷");
        assert_eq!(exact_fraction(0.005), "0.5 %");
        assert_eq!(exact_fraction(0.95), "95 %");
        assert_eq!(exact_fraction(0.999), "99.9 %");
    }

    #[test]
    fn a_confidence_has_the_digits_that_tell_it_from_certainty() {
        let all = [0.95, 1.0 - 0.05 / 15.0, 0.99, 0.9995, 0.5, 1.0];
        let wanted = ["95 %", "99.67 %", "99 %", "99.95 %", "50 %", "100 %"];
        assert_eq!(all.map(confidence), wanted);
    }

    #[test]
    fn bounds_stay_on_their_side_of_the_limit() {
        assert_eq!(upper_fraction(0.002_176, 0.005), "0.22 %");
        assert_eq!(upper_fraction(0.004_51, 0.004_55), "0.451 %");
        assert_eq!(upper_fraction(0.005, 0.005), "0.5 %");
        assert_eq!(lower_fraction(0.005_04, 0.005), "0.504 %");
        assert_eq!(lower_fraction(0.009_7, 0.005), "0.97 %");
    }

    #[test]
    fn counts_are_grouped_from_five_digits() {
        assert_eq!(count(1375), "1375");
        assert_eq!(count(2_995_731), "2 995 731");
        assert_eq!(counted(1, "miss", "misses"), "1 miss");
    }
}
