//! Rates: "250 Hz", "1 kHz", resolved to a period in whole nanoseconds.

use super::Complaint;
use super::decimal::{divide_rounded, number_and_unit};

/// A rate resolved to the period that the loop can keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Period in nanoseconds, the nearest whole number to 1/rate.
    pub period_ns: u64,
    /// Whether the period is exactly 1/rate. 300 Hz is not: 3 333 333 ns leaves the loop 100 ns
    /// ahead of 300 Hz after each second.
    pub exact: bool,
}

/// Parses a rate in Hz or kHz.
///
/// # Errors
/// A missing or unknown unit, or a rate of zero.
pub fn parse_rate(text: &str) -> Result<Rate, Complaint> {
    let remedy = "give a rate in Hz or kHz, such as \"250 Hz\"";
    let (number, unit) = number_and_unit(text, "250 Hz")?;
    let hertz: u128 = match unit {
        "Hz" => 1,
        "kHz" => 1_000,
        "" => return Err(Complaint::new("has no unit", remedy)),
        "MHz" | "GHz" => {
            return Err(Complaint::new(
                "is above what can be measured",
                "give at most 100 kHz",
            ));
        }
        _ => {
            return Err(Complaint::new(
                "has no unit of rate after the number",
                remedy,
            ));
        }
    };
    if number.digits == 0 {
        return Err(Complaint::new("is 0, so the loop would never run", remedy));
    }
    let (period_ns, exact) = divide_rounded(
        1_000_000_000 * 10_u128.pow(number.scale),
        number.digits * hertz,
    );
    let period_ns = u64::try_from(period_ns)
        .map_err(|_| Complaint::new("has a period beyond 292 years", remedy))?;
    Ok(Rate { period_ns, exact })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rate_becomes_the_nearest_whole_period() {
        for (text, period_ns, exact) in [
            ("250 Hz", 4_000_000, true),
            ("1kHz", 1_000_000, true),
            ("2.5 kHz", 400_000, true),
            ("0.5 Hz", 2_000_000_000, true),
            ("300 Hz", 3_333_333, false),
            ("600 Hz", 1_666_667, false),
        ] {
            assert_eq!(parse_rate(text), Ok(Rate { period_ns, exact }), "{text}");
        }
    }

    #[test]
    fn a_rate_without_a_proper_unit_is_refused() {
        for text in ["250", "250 hz", "4 ms", "0 Hz", "250 MHz"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_rate_of_megahertz_is_above_what_can_be_measured() {
        let refused = parse_rate("10MHz").unwrap_err().to_string();
        assert!(refused.contains("above what can be measured"), "{refused}");
        assert!(refused.contains("100 kHz"), "{refused}");
    }

    proptest! {
        #[test]
        fn the_period_is_within_half_a_nanosecond_of_the_rate(hertz in 1_u64..100_000) {
            let rate = parse_rate(&format!("{hertz} Hz")).unwrap();
            let error = (rate.period_ns * hertz).abs_diff(1_000_000_000);
            prop_assert!(2 * error <= hertz);
            prop_assert_eq!(rate.exact, error == 0);
        }
    }
}
