//! Plain numbers as text: three significant digits, shares in per cent.

use crate::count::count;

/// Three significant digits, thousands in groups: `0.0408`, `4.18`, `418`, `112 000`; below a thousandth as a power of
/// ten, `4e-4`.
pub fn three_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value:.0}");
    }
    let scientific = format!("{value:.2e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    match exponent {
        ..=-4 => format!("{}e{exponent}", without_zeros(mantissa)),
        -3..=2 => format!("{value:.*}", usize::try_from(2 - exponent).unwrap_or(0)),
        3.. => {
            let step = 10_f64.powi(exponent - 2);
            let kept = (value.abs() / step).round() * step;
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{}", count(kept as u64))
        }
    }
}

/// A share from 0 to 1 in per cent: `18.1 %`, `0.4 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", without_zeros(&three_digits(share * 100.0)))
}

fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') && !digits.contains('e') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_long_ones_groups() {
        let all = [
            0.0, 0.000_4, 0.040_8, 4.179_8, 29.95, 999.6, 1_287.0, 111_939.0, -3.204,
        ];
        assert_eq!(
            all.map(three_digits),
            [
                "0", "4e-4", "0.0408", "4.18", "29.9", "1000", "1290", "112 000", "-3.20"
            ]
        );
    }

    #[test]
    fn shares_are_per_cent_without_zeros_at_the_end() {
        let all = [0.0, 0.004, 0.181_333, -0.036, 1.0, 0.000_012, 0.999_96];
        assert_eq!(
            all.map(percent),
            [
                "0 %", "0.4 %", "18.1 %", "-3.6 %", "100 %", "0.0012 %", "100 %"
            ]
        );
    }
}
