//! A decimal number exactly as written, followed by a unit.
//!
//! No floating point.

use super::Complaint;

/// `digits · 10^-scale`, at most 24 digits, so that products with any unit fit 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) digits: u128,
    pub(super) scale: u32,
}

const MOST_DIGITS: usize = 24;

impl Decimal {
    /// The product with `factor` if it is a whole number. `factor` must be below 10¹⁴.
    pub(super) fn times(self, factor: u128) -> Option<u128> {
        let product = self.digits * factor;
        let divisor = 10_u128.pow(self.scale);
        product.is_multiple_of(divisor).then_some(product / divisor)
    }

    /// `self · factor / divisor` rounded to the nearest whole number, halves up, and whether that
    /// was exact. `factor` must be below 10¹⁴ and `divisor` at most 100.
    pub(super) fn times_rounded(self, factor: u128, divisor: u128) -> (u128, bool) {
        divide_rounded(self.digits * factor, 10_u128.pow(self.scale) * divisor)
    }
}

/// The quotient rounded to the nearest whole number, halves up, and whether it was exact.
pub(super) fn divide_rounded(dividend: u128, divisor: u128) -> (u128, bool) {
    let rest = dividend % divisor;
    (
        dividend / divisor + u128::from(rest >= divisor - rest && rest != 0),
        rest == 0,
    )
}

/// Splits "1.5 kHz" into 1.5 and "kHz". `example` appears in the error's advice.
pub(super) fn number_and_unit<'t>(
    text: &'t str,
    example: &str,
) -> Result<(Decimal, &'t str), Complaint> {
    let remedy = || format!("give a number and its unit, such as \"{example}\"");
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_start_matches(' '));
    if number.is_empty() {
        let problem = if text.starts_with('-') {
            "is negative"
        } else {
            "does not begin with a number"
        };
        return Err(Complaint::new(problem, remedy()));
    }
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (number, ""),
    };
    let pointed = number.contains('.');
    if whole.is_empty() || (pointed && fraction.is_empty()) || fraction.contains('.') {
        return Err(Complaint::new("is not a decimal number", remedy()));
    }
    if whole.len() + fraction.len() > MOST_DIGITS {
        return Err(Complaint::new(
            format!("has more than {MOST_DIGITS} digits"),
            remedy(),
        ));
    }
    let digits = format!("{whole}{fraction}")
        .parse::<u128>()
        .map_err(|_| Complaint::new("is not a decimal number", remedy()))?;
    Ok((
        Decimal {
            digits,
            scale: fraction.len() as u32,
        },
        unit,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_kept_exactly_as_written() {
        let (number, unit) = number_and_unit("0.10 s", "1 s").unwrap();
        assert_eq!(
            (number, unit),
            (
                Decimal {
                    digits: 10,
                    scale: 2
                },
                "s"
            )
        );
        assert_eq!(number.times(1_000), Some(100));
        assert_eq!(number.times(1), None);
    }

    #[test]
    fn halves_are_rounded_up_and_reported_as_inexact() {
        assert_eq!(divide_rounded(5, 2), (3, false));
        assert_eq!(divide_rounded(4, 3), (1, false));
        assert_eq!(divide_rounded(6, 3), (2, true));
    }

    #[test]
    fn malformed_numbers_are_refused() {
        for text in [
            "",
            ".5 s",
            "5. s",
            "1.2.3 s",
            "-4 ms",
            "ms",
            "1234567890123456789012345 s",
        ] {
            assert!(number_and_unit(text, "1 s").is_err(), "{text}");
        }
    }
}
