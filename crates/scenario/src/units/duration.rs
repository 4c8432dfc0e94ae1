//! Times: "400 µs", "4ms", "1.5 s", "10 min". Whole nanoseconds or refused; never rounded.

use super::Complaint;
use super::decimal::number_and_unit;

/// Shortest period of a loop that is accepted, in nanoseconds.
pub(crate) const SHORTEST_PERIOD_NS: u64 = 10_000;
/// Longest period of a loop that is accepted, in nanoseconds.
pub(crate) const LONGEST_PERIOD_NS: u64 = 100_000_000_000;

/// Longest time that can be written: about 292 years, the range of a signed difference.
const LONGEST_NS: u128 = i64::MAX as u128;

/// Parses a time with its unit (ns, µs or us, ms, s, min or m, h) as whole nanoseconds.
///
/// # Errors
/// A missing or unknown unit, a fraction of a nanosecond, or a time beyond 292 years.
pub fn parse_duration(text: &str) -> Result<u64, Complaint> {
    let (number, unit) = number_and_unit(text, "4 ms")?;
    let unit_ns: u128 = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" | "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "" => {
            let remedy = "give ns, µs, ms, s, min or h after the number, as in \"4 ms\"";
            return Err(Complaint::new("has no unit", remedy));
        }
        _ => {
            let remedy = "give a time in ns, µs, ms, s, min or h, such as \"4 ms\"";
            return Err(Complaint::new(
                "has no unit of time after the number",
                remedy,
            ));
        }
    };
    let ns = number.times(unit_ns).ok_or_else(|| {
        Complaint::new(
            "is not a whole number of nanoseconds",
            "give fewer decimals",
        )
    })?;
    if ns > LONGEST_NS {
        return Err(Complaint::new(
            "is longer than 292 years",
            "give a shorter time",
        ));
    }
    Ok(ns as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wakepath_timeline::duration::{exact, exact_ascii};

    #[test]
    fn times_are_read_with_every_unit() {
        for (text, ns) in [
            ("4ms", 4_000_000),
            ("400 us", 400_000),
            ("400 µs", 400_000),
            ("400 μs", 400_000),
            ("1.5 s", 1_500_000_000),
            ("10 min", 600_000_000_000),
            ("1m", 60_000_000_000),
            ("2 h", 7_200_000_000_000),
            ("0.001 us", 1),
            ("0 ns", 0),
            ("0.1 s", 100_000_000),
        ] {
            assert_eq!(parse_duration(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn times_without_a_proper_unit_are_refused() {
        for text in [
            "4",
            "4 Hz",
            "4 MS",
            "4 M",
            "4 mins",
            "0.5 ns",
            "1e3 us",
            "300 000 000 h",
            "999999999 h",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_written_time_is_read_back_exactly(ns in 0..=i64::MAX as u64) {
            prop_assert_eq!(parse_duration(&exact(ns)), Ok(ns));
            prop_assert_eq!(parse_duration(&exact_ascii(ns)), Ok(ns));
        }

        #[test]
        fn any_text_is_read_or_refused_without_panic(text in "\\PC{0,50}") {
            let _ = parse_duration(&text);
        }
    }
}
