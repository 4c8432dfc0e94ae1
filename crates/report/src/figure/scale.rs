//! Axes: from a value to a place in the figure, and where the marks stand.

use wakepath_verdict::duration;

/// A logarithmic axis. Values are positive; smaller ones than the axis shows are drawn at its edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Log {
    /// Powers of ten at both ends.
    pub(super) low: i32,
    pub(super) high: i32,
    /// Places of both ends.
    pub(super) from: f64,
    pub(super) to: f64,
}

/// Times shorter than this tell more of the clock than of the loop.
const SHORTEST_NS: i64 = 100;

impl Log {
    /// An axis of whole powers of ten around all `values` in nanoseconds.
    pub(super) fn around(values: impl Iterator<Item = i64>) -> Self {
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        for value in values {
            least = least.min(value.max(SHORTEST_NS));
            most = most.max(value.max(SHORTEST_NS));
        }
        if least > most {
            (least, most) = (1_000, 1_000_000);
        }
        let low = (least as f64).log10().floor() as i32;
        let high = ((most as f64).log10().ceil() as i32).max(low + 1);
        Self {
            low,
            high,
            from: 0.0,
            to: 1.0,
        }
    }

    /// The same axis between these places.
    pub(super) fn between(self, from: f64, to: f64) -> Self {
        Self { from, to, ..self }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        let (low, high) = (f64::from(self.low), f64::from(self.high));
        let share = if value > 0.0 {
            ((value.log10() - low) / (high - low)).clamp(0.0, 1.0)
        } else {
            0.0
        };
        self.from + share * (self.to - self.from)
    }

    pub(super) fn at_ns(&self, value: i64) -> f64 {
        self.at(value as f64)
    }

    /// Values of the marks: powers of ten, and 2 and 5 of each if there are few.
    pub(super) fn marks(&self) -> Vec<(f64, bool)> {
        let steps: &[f64] = match self.high - self.low {
            0..=2 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let mut marks = Vec::new();
        for power in self.low..=self.high {
            for step in steps {
                if power < self.high || *step == 1.0 {
                    marks.push((step * 10_f64.powi(power), *step == 1.0));
                }
            }
        }
        marks
    }

    /// Marks of times, with their text.
    pub(super) fn times(&self) -> Vec<(f64, String)> {
        let text = |(value, _): (f64, bool)| (self.at(value), duration(value.round() as i64));
        self.marks().into_iter().map(text).collect()
    }
}

/// The unit in which times up to this many nanoseconds are short numbers: 60 ms, not 60000 µs. Its
/// length in nanoseconds, and its name.
pub(super) fn fitting_unit(most_ns: f64) -> (f64, &'static str) {
    let units = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms")];
    let fits = |(unit, _): &(f64, &str)| most_ns < unit * 1e3;
    units.into_iter().find(fits).unwrap_or((1e9, "s"))
}

/// A linear axis from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Linear {
    pub(super) most: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Linear {
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = (value / self.most).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }

    /// Four to eight marks at round values.
    pub(super) fn marks(&self) -> Vec<f64> {
        let rough = self.most / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|round| round * power)
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(power);
        if !step.is_finite() || step <= 0.0 {
            return vec![0.0];
        }
        let count = (self.most / step + 1e-9).floor() as u32;
        (0..=count).map(|mark| f64::from(mark) * step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_axis_spans_whole_decades_and_clamps_what_is_early() {
        let axis = Log::around([-1_449, 12_000, 7_000_000].into_iter()).between(0.0, 500.0);
        assert_eq!((axis.low, axis.high), (2, 7));
        assert_eq!(axis.at_ns(-1_449), 0.0);
        assert_eq!(axis.at_ns(100_000), 300.0);
        let marks: Vec<String> = axis.times().into_iter().map(|(_, text)| text).collect();
        assert_eq!(
            marks,
            ["100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms"]
        );
    }

    #[test]
    fn an_axis_around_nothing_is_still_an_axis() {
        let axis = Log::around(std::iter::empty());
        assert!(axis.high > axis.low);
    }

    #[test]
    fn a_time_axis_has_the_unit_that_keeps_its_numbers_short() {
        let names = [900.0, 1e3, 60e3, 60e6, 59.8e9].map(|most| fitting_unit(most).1);
        assert_eq!(names, ["ns", "µs", "µs", "ms", "s"]);
    }

    #[test]
    fn linear_marks_are_round() {
        let axis = Linear {
            most: 17.57,
            from: 0.0,
            to: 100.0,
        };
        assert_eq!(axis.marks(), [0.0, 5.0, 10.0, 15.0]);
    }
}
