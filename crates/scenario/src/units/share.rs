//! Shares: "0.5 %" of all due times, and times given in terms of the period ("10 %",
//! "3 periods").

use super::decimal::number_and_unit;
use super::{Complaint, parse_duration};

/// Reads "0.5 %" as 0.005, correctly rounded from the decimal as written.
pub(crate) fn parse_share(text: &str) -> Result<f64, Complaint> {
    let remedy = "give a share such as \"0.5 %\" or 0.005";
    let (number, unit) = number_and_unit(text, "0.5 %")?;
    if unit != "%" {
        return Err(Complaint::new("is not a share", remedy));
    }
    // Moving the decimal point in the text rounds once, whereas dividing would round twice.
    format!("{}e-{}", number.digits, number.scale + 2)
        .parse::<f64>()
        .map_err(|_| Complaint::new("is not a share", remedy))
}

/// Reads a time ("400 µs"), a share of the period ("10 %") or a number of periods ("3 periods")
/// as nanoseconds; the last two are rounded to the nearest nanosecond.
pub(crate) fn parse_of_period(text: &str, period_ns: u64) -> Result<u64, Complaint> {
    let remedy = "give a time, a share of the period or a number of periods, such as \"400 µs\", \
                  \"10 %\" or \"3 periods\"";
    let (number, unit) =
        number_and_unit(text, "10 %").map_err(|c| Complaint::new(c.problem, remedy))?;
    let divisor = match unit {
        "%" => 100,
        "period" | "periods" => 1,
        "" => return Err(Complaint::new("has no unit", remedy)),
        _ => {
            let is_time = ["ns", "us", "µs", "μs", "ms", "s", "min", "m", "h"].contains(&unit);
            return if is_time {
                parse_duration(text)
            } else {
                Err(Complaint::new("is neither a time nor a share", remedy))
            };
        }
    };
    let (ns, _) = number.times_rounded(u128::from(period_ns), divisor);
    u64::try_from(ns)
        .ok()
        .filter(|ns| *ns <= i64::MAX as u64)
        .ok_or_else(|| Complaint::new("is longer than 292 years", remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_the_nearest_number_to_the_decimal() {
        assert_eq!(parse_share("0.5 %"), Ok(0.005));
        assert_eq!(parse_share("0.3%"), Ok(0.003));
        assert_eq!(parse_share("0 %"), Ok(0.0));
        assert!(parse_share("0.5").is_err());
    }

    #[test]
    fn times_can_be_given_in_terms_of_the_period() {
        assert_eq!(parse_of_period("10 %", 4_000_000), Ok(400_000));
        assert_eq!(parse_of_period("3 periods", 4_000_000), Ok(12_000_000));
        assert_eq!(parse_of_period("1 period", 4_000_000), Ok(4_000_000));
        assert_eq!(parse_of_period("33.3 %", 3_333_333), Ok(1_110_000));
        assert_eq!(parse_of_period("400 us", 1), Ok(400_000));
        for text in [
            "10",
            "3 cycles",
            "10 Hz",
            "999999999999999999999999 periods",
        ] {
            assert!(parse_of_period(text, 100_000_000_000).is_err(), "{text}");
        }
    }
}
