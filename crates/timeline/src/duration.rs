//! Durations as text: exact, rounded, in three digits, long, and as figures of a table column with a unit.
//!
//! It parses nothing.

/// Exactly, in the largest of s, ms, µs and ns that is not larger than the time: `1.5 ms`. For
/// values that a user chose.
pub fn exact(ns: u64) -> String {
    exactly(ns, "µs")
}

/// As [`exact`], in ASCII for files: `400 us`.
pub fn exact_ascii(ns: u64) -> String {
    exactly(ns, "us")
}

fn exactly(ns: u64, micro: &str) -> String {
    let (unit_ns, decimals, unit) = match ns {
        1_000_000_000.. => (1_000_000_000, 9, "s"),
        1_000_000.. => (1_000_000, 6, "ms"),
        1_000.. => (1_000, 3, micro),
        _ => return format!("{ns} ns"),
    };
    let fraction = format!("{:0decimals$}", ns % unit_ns);
    match fraction.trim_end_matches('0') {
        "" => format!("{} {unit}", ns / unit_ns),
        fraction => format!("{}.{fraction} {unit}", ns / unit_ns),
    }
}

/// To a thousandth of the suitable unit: `834 ns`, `12.3 µs`, `-1.449 µs`, `1.25 s`. For periods
/// and other lengths that are compared to more than three digits.
pub fn rounded(ns: i64) -> String {
    let text = thousandths(ns);
    let Some((digits, unit)) = text
        .split_once(' ')
        .filter(|(digits, _)| digits.contains('.'))
    else {
        return text;
    };
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits} {unit}")
}

/// As [`rounded`], with all of its decimals, for figures below each other: `12.300 µs`.
pub fn thousandths(ns: i64) -> String {
    // 999.9996 ms is 1 s, not 1000 ms.
    let unit = match ns.unsigned_abs() {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => Unit::Micros,
        1_000_000..999_999_500 => Unit::Millis,
        _ => Unit::Seconds,
    };
    format!("{} {}", unit.figure(ns, 3), unit.name())
}

/// Three significant digits in the suitable unit: `834 ns`, `38.6 µs`, `4.00 ms`. For every measured time in a
/// sentence or a list.
pub fn three_digits(ns: i64) -> String {
    let size = ns.unsigned_abs();
    let step = step_of(size);
    let kept = (size / step + u64::from(size % step * 2 >= step)) * step;
    in_three_digits(i64::try_from(kept).unwrap_or(i64::MAX) * ns.signum())
}

/// As [`three_digits`], never below the time: for upper bounds.
pub fn three_digits_up(ns: u64) -> String {
    let step = step_of(ns);
    let kept = ns.div_ceil(step).saturating_mul(step);
    in_three_digits(i64::try_from(kept).unwrap_or(i64::MAX))
}

/// As [`three_digits`], never above the time: for lower bounds.
pub fn three_digits_down(ns: i64) -> String {
    match ns {
        0.. => {
            let size = ns.unsigned_abs();
            let kept = size - size % step_of(size);
            in_three_digits(i64::try_from(kept).unwrap_or(i64::MAX))
        }
        _ => format!("-{}", three_digits_up(ns.unsigned_abs())),
    }
}

/// The unit in the last of a time's first three digits.
fn step_of(ns: u64) -> u64 {
    10_u64.pow(ns.checked_ilog10().unwrap_or(0).saturating_sub(2))
}

/// A time that has three digits or fewer, in its unit.
fn in_three_digits(kept: i64) -> String {
    let (unit, per_unit) = match kept.unsigned_abs() {
        0..1_000 => return format!("{kept} ns"),
        1_000..1_000_000 => (Unit::Micros, 1_000),
        1_000_000..1_000_000_000 => (Unit::Millis, 1_000_000),
        _ => (Unit::Seconds, 1_000_000_000),
    };
    let decimals = match kept.unsigned_abs() / per_unit {
        0..10 => 2,
        10..100 => 1,
        _ => 0,
    };
    format!("{} {}", unit.figure(kept, decimals), unit.name())
}

/// As [`rounded`], of a length, which has no sign.
pub fn length(ns: u64) -> String {
    rounded(i64::try_from(ns).unwrap_or(i64::MAX))
}

/// A measured time next to the limit that it broke: three digits, or more if those would read as the limit.
pub fn apart_from(ns: i64, limit_ns: i64) -> String {
    let text = three_digits(ns);
    if text == three_digits(limit_ns) {
        rounded(ns)
    } else {
        text
    }
}

/// A waiting time in at most two units, rounded up: `42 s`, `5 min 37 s`, `2 h 5 min`, `34 days 18
/// h`.
pub fn long(seconds: f64) -> String {
    const STEPS: [(u64, &str, u64, &str); 3] = [
        (60, "min", 1, "s"),
        (3_600, "h", 60, "min"),
        (86_400, "days", 3_600, "h"),
    ];
    let seconds = seconds.max(0.0).ceil() as u64;
    // A minute and a half is easily read in seconds, a day and a half in hours.
    let step = match seconds {
        0..120 => return format!("{seconds} s"),
        120..7_200 => STEPS[0],
        7_200..172_800 => STEPS[1],
        _ => STEPS[2],
    };
    let (unit, name, smaller, its_name) = step;
    let of_smaller = seconds.div_ceil(smaller);
    let per_unit = unit / smaller;
    match of_smaller % per_unit {
        0 => format!("{} {name}", of_smaller / per_unit),
        rest => format!("{} {name} {rest} {its_name}", of_smaller / per_unit),
    }
}

/// The unit of a column: it appears once in the title and not after each figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// µs.
    Micros,
    /// ms.
    Millis,
    /// s.
    Seconds,
}

impl Unit {
    /// Its name in the title.
    pub fn name(self) -> &'static str {
        match self {
            Self::Micros => "µs",
            Self::Millis => "ms",
            Self::Seconds => "s",
        }
    }

    /// Nanoseconds in this unit, for scales and sums.
    pub fn amount(self, ns: f64) -> f64 {
        ns / match self {
            Self::Micros => 1e3,
            Self::Millis => 1e6,
            Self::Seconds => 1e9,
        }
    }

    /// Whole nanoseconds as a figure with `decimals` decimals, halves rounded away from zero in
    /// decimal arithmetic, so that a time reads the same everywhere.
    pub fn figure(self, ns: i64, decimals: usize) -> String {
        let digits = match self {
            Self::Micros => 3_usize,
            Self::Millis => 6,
            Self::Seconds => 9,
        };
        let Some(dropped) = digits.checked_sub(decimals) else {
            return self.figure_of(ns as f64, decimals);
        };
        let step = 10_u64.pow(dropped as u32);
        let steps = ns.unsigned_abs() / step + u64::from(ns.unsigned_abs() % step * 2 >= step);
        let per_unit = 10_u64.pow(decimals as u32);
        let sign = if ns < 0 && steps > 0 { "-" } else { "" };
        match decimals {
            0 => format!("{sign}{steps}"),
            _ => format!("{sign}{}.{:0decimals$}", steps / per_unit, steps % per_unit),
        }
    }

    /// A mean or another fraction of nanoseconds as a figure with `decimals` decimals.
    pub fn figure_of(self, ns: f64, decimals: usize) -> String {
        format!("{:.decimals$}", self.amount(ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_below_each_other_have_as_many_decimals_or_digits_each() {
        let all = [999, 14_900_000, 18_995_400, 19_000_000, -1_449, 999_999_600];
        assert_eq!(
            all.map(thousandths),
            [
                "999 ns",
                "14.900 ms",
                "18.995 ms",
                "19.000 ms",
                "-1.449 µs",
                "1.000 s"
            ]
        );
        let all = [
            0,
            834,
            5_000,
            38_641,
            44_034_512,
            999_600,
            4_200_000,
            -4_204_000,
            1_250_000_000,
            123_400_000_000,
        ];
        assert_eq!(
            all.map(three_digits),
            [
                "0 ns", "834 ns", "5.00 µs", "38.6 µs", "44.0 ms", "1.00 ms", "4.20 ms",
                "-4.20 ms", "1.25 s", "123 s"
            ]
        );
    }

    #[test]
    fn bounds_are_rounded_to_their_side() {
        assert_eq!(three_digits_up(329_001), "330 µs");
        assert_eq!(three_digits_up(330_000), "330 µs");
        assert_eq!(three_digits_up(999_001), "1.00 ms");
        assert_eq!(three_digits_down(3_679_999), "3.67 ms");
        assert_eq!(three_digits_down(-3_670_001), "-3.68 ms");
    }

    #[test]
    fn halves_are_rounded_away_from_nought_in_every_unit() {
        // In floating point, 59.15 is below the half and 59.25 is exactly on it.
        for (ns, text) in [
            (59_150, "59.2"),
            (59_250, "59.3"),
            (-59_150, "-59.2"),
            (-40, "0.0"),
        ] {
            assert_eq!(Unit::Micros.figure(ns, 1), text);
        }
        assert_eq!(Unit::Micros.figure(1_500, 0), "2");
        assert_eq!(Unit::Millis.figure(1_005_000, 2), "1.01");
        assert_eq!(Unit::Seconds.figure(2_345_000_000, 2), "2.35");
        assert_eq!(Unit::Micros.figure(1_234, 5), "1.23400");
        assert_eq!(Unit::Seconds.figure(i64::MIN, 0), "-9223372037");
        assert_eq!(rounded(999_999_499), "999.999 ms");
        assert_eq!(rounded(999_999_500), "1 s");
    }

    #[test]
    fn what_was_chosen_is_said_exactly() {
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_500, "1.5 µs"),
            (400_000, "400 µs"),
            (3_333_333, "3.333333 ms"),
            (60_000_000, "60 ms"),
            (1_500_000_001, "1.500000001 s"),
        ] {
            assert_eq!(exact(ns), text);
        }
        assert_eq!(exact_ascii(400_000), "400 us");
    }

    #[test]
    fn what_was_measured_reads_in_the_unit_that_suits_it() {
        for (ns, text) in [
            (834, "834 ns"),
            (-1_449, "-1.449 µs"),
            (12_300, "12.3 µs"),
            (999_999, "999.999 µs"),
            (300_000_000, "300 ms"),
            (999_999_600, "1 s"),
            (1_250_000_000, "1.25 s"),
            (5_000_000_000_000, "5000 s"),
        ] {
            assert_eq!(rounded(ns), text);
        }
        assert!(rounded(i64::MIN).ends_with(" s"));
        assert_eq!(length(12_300), "12.3 µs");
        assert_eq!(length(u64::MAX), rounded(i64::MAX));
    }

    #[test]
    fn a_time_above_its_limit_never_reads_as_the_limit() {
        assert_eq!(apart_from(2_970_400, 400_000), "2.97 ms");
        assert_eq!(apart_from(400_400, 400_000), "400.4 µs");
        assert_eq!(apart_from(399_600, 400_000), "399.6 µs");
    }

    #[test]
    fn a_time_to_wait_is_never_said_too_short() {
        for (seconds, text) in [
            (11.2, "12 s"),
            (119.0, "119 s"),
            (120.0, "2 min"),
            (337.0, "5 min 37 s"),
            (2995.731, "49 min 56 s"),
            (7_499.0, "2 h 5 min"),
            (7_501.0, "2 h 6 min"),
            (3e6, "34 days 18 h"),
            (-1.0, "0 s"),
            (f64::NAN, "0 s"),
        ] {
            assert_eq!(long(seconds), text);
        }
    }

    #[test]
    fn a_columns_figures_have_its_unit() {
        assert_eq!(Unit::Micros.figure(12_345, 1), "12.3");
        assert_eq!(Unit::Millis.figure(12_345_678, 2), "12.35");
        assert_eq!(Unit::Seconds.figure_of(1.5e9, 1), "1.5");
        assert_eq!(Unit::Millis.name(), "ms");
    }
}
