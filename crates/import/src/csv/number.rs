//! Decimal numbers as whole nanoseconds, without a detour through floating point.

use crate::Unit;

/// More digits than an instant has in any unit.
const MOST_DIGITS: usize = 30;
/// More powers of ten than lie between any two units.
const MOST_EXPONENT: i32 = 30;

/// A number in a unit, as nanoseconds; digits below a nanosecond are rounded. `None` for what is no
/// number, or too large for an instant.
pub(super) fn nanoseconds(text: &str, unit: Unit) -> Option<i64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = || whole.bytes().chain(fraction.bytes());
    if all().next().is_none() || !all().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let leading = all().take_while(|&byte| byte == b'0').count();
    if all().count() - leading > MOST_DIGITS || exponent.abs() > MOST_EXPONENT {
        return None;
    }
    let value = all().fold(0_i128, |sum, byte| sum * 10 + i128::from(byte - b'0'));
    let scale = exponent + unit.digits() - i32::try_from(fraction.len()).ok()?;
    let value = match u32::try_from(scale) {
        Ok(up) => value.checked_mul(10_i128.checked_pow(up)?)?,
        Err(_) => match 10_i128.checked_pow(scale.unsigned_abs()) {
            Some(by) => (value + by / 2) / by,
            None => 0,
        },
    };
    i64::try_from(if negative { -value } else { value }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_digit_counts_and_what_is_below_a_nanosecond_is_rounded() {
        let seconds = |text| nanoseconds(text, Unit::Seconds);
        assert_eq!(
            seconds("1732100000.123456789"),
            Some(1_732_100_000_123_456_789)
        );
        assert_eq!(seconds("-0.0000000015"), Some(-2));
        assert_eq!(seconds("1e-3"), Some(1_000_000));
        assert_eq!(nanoseconds("12.5", Unit::Microseconds), Some(12_500));
        assert_eq!(nanoseconds("+7", Unit::Nanoseconds), Some(7));
        assert_eq!(nanoseconds(".5", Unit::Milliseconds), Some(500_000));
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in [
            "", "-", ".", "x", "1.2.3", "0x10", "NaN", "inf", "1e", "1e99", "--1", "１",
        ] {
            assert_eq!(nanoseconds(text, Unit::Seconds), None, "{text}");
        }
        assert_eq!(nanoseconds("9223372037", Unit::Seconds), None);
        assert_eq!(nanoseconds(&"9".repeat(40), Unit::Nanoseconds), None);
        assert_eq!(
            nanoseconds(&format!("0.{}1", "0".repeat(60)), Unit::Seconds),
            Some(0)
        );
    }
}
