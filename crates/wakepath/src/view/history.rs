//! Largest latencies over time in a bounded number of points, and as a line of block characters.
//! Pure.

/// As many points are kept; more are drawn together in pairs.
const MOST: usize = 256;
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The largest latency of each stretch of time, oldest first.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Nanoseconds.
    points: Vec<i64>,
    /// Number of values in one point.
    each: u32,
    /// Values in the last point.
    filled: u32,
}

impl History {
    /// The largest latency since the last.
    pub fn push(&mut self, ns: i64) {
        self.each = self.each.max(1);
        match self.points.last_mut() {
            Some(last) if self.filled < self.each => {
                *last = (*last).max(ns);
                self.filled += 1;
            }
            _ => {
                if self.points.len() == MOST {
                    self.points = self
                        .points
                        .chunks(2)
                        .map(|two| two.iter().copied().fold(i64::MIN, i64::max))
                        .collect();
                    self.each *= 2;
                }
                self.points.push(ns);
                self.filled = 1;
            }
        }
    }

    /// This one and after it another, as one line of time.
    pub fn then(&self, later: &Self) -> Self {
        let each = self.each.max(later.each).max(1);
        let mut points = self.with_points_for(each);
        points.extend(later.with_points_for(each));
        Self {
            points,
            each,
            filled: each,
        }
    }

    /// Its points merged until each has this number of values.
    fn with_points_for(&self, each: u32) -> Vec<i64> {
        let together = (each / self.each.max(1)).max(1) as usize;
        let largest = |some: &[i64]| some.iter().copied().fold(i64::MIN, i64::max);
        self.points.chunks(together).map(largest).collect()
    }

    /// Smallest and largest point.
    pub fn range(&self) -> Option<(i64, i64)> {
        Some((*self.points.iter().min()?, *self.points.iter().max()?))
    }

    /// In at most this number of columns, each the largest of its stretch, on a logarithmic scale.
    pub fn line(&self, columns: usize, scale: Scale) -> String {
        let count = self.points.len();
        let columns = columns.min(count);
        let column = |number: usize| {
            let (from, to) = (number * count / columns, (number + 1) * count / columns);
            let largest = self.points[from..to]
                .iter()
                .copied()
                .fold(i64::MIN, i64::max);
            BLOCKS[scale.level(largest)]
        };
        (0..columns).map(column).collect()
    }
}

/// Which latency is how high; the same for all lines of a view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The lowest block.
    pub low_ns: i64,
    /// The highest.
    pub high_ns: i64,
}

impl Scale {
    /// From the smallest to the largest of all points.
    pub fn over<'a>(histories: impl IntoIterator<Item = &'a History>) -> Option<Self> {
        let ranges = histories.into_iter().filter_map(History::range);
        let (low, high) = ranges.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))?;
        let low_ns = low.max(1_000);
        Some(Self {
            low_ns,
            high_ns: high.max(low_ns),
        })
    }

    fn level(self, ns: i64) -> usize {
        let log = |ns: i64| (ns.max(1) as f64).ln();
        let span = log(self.high_ns) - log(self.low_ns);
        if span <= 0.0 {
            return 0;
        }
        let share = (log(ns) - log(self.low_ns)) / span;
        (share * BLOCKS.len() as f64).clamp(0.0, (BLOCKS.len() - 1) as f64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_factors_are_equal_steps() {
        let mut history = History::default();
        for power in 0..8 {
            history.push(10_000 << power);
        }
        let scale = Scale::over([&history]).unwrap();
        assert_eq!((scale.low_ns, scale.high_ns), (10_000, 1_280_000));
        assert_eq!(history.line(20, scale), "▁▂▃▄▅▆▇█");
        // Two in a column: the larger.
        assert_eq!(history.line(4, scale), "▂▄▆█");
    }

    #[test]
    fn however_long_it_goes_on_the_largest_stays_and_memory_does_not_grow() {
        let mut history = History::default();
        for number in 0..100_000 {
            history.push(if number == 31_415 { 9_000_000 } else { 20_000 });
        }
        assert!(history.points.len() <= MOST);
        assert_eq!(history.range(), Some((20_000, 9_000_000)));
        let line = history.line(100, Scale::over([&history]).unwrap());
        let at = line.chars().position(|block| block == '█').unwrap();
        // A third of the way; the points of the older half are not shorter than the newer ones'.
        assert!((28..36).contains(&at), "{at}: {line}");
    }

    #[test]
    fn two_histories_after_each_other_keep_their_measure_of_time() {
        let (mut long, mut short) = (History::default(), History::default());
        (0..600).for_each(|_| long.push(1_000));
        (0..300).for_each(|_| short.push(8_000));
        let both = long.then(&short);
        let line = both.line(30, Scale::over([&both]).unwrap());
        let low = line.chars().filter(|&block| block == '▁').count();
        assert!((19..=21).contains(&low), "{line}");
    }

    #[test]
    fn one_value_is_a_low_line() {
        let mut history = History::default();
        history.push(5_000);
        history.push(5_000);
        assert_eq!(history.line(9, Scale::over([&history]).unwrap()), "▁▁");
    }
}
