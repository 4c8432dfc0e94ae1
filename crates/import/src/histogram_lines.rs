//! Lines of a histogram as text: an index and a count for each thread. Shared by all tools that print one;
//! each defines its index.

use crate::imported::MOST_BIN_BYTES;
use crate::{Histogram, ImportError, MOST_VALUES, TOO_MANY_BINS};
use std::collections::BTreeMap;
use wakepath_timeline::count::counted;

/// Histograms that grow line by line.
pub(crate) struct Columns {
    pub(crate) all: Vec<Histogram>,
    last: Option<i64>,
    /// Greatest common divisor of where the lines stand.
    step: Option<i64>,
    unit_ns: i64,
    /// Values of each thread so far.
    counts: Vec<u64>,
    /// Size of the bins in a run.
    bytes: u64,
}

impl Columns {
    /// For indices in units of `unit_ns`.
    pub(crate) fn new(unit_ns: i64) -> Self {
        Self {
            all: Vec::new(),
            last: None,
            step: None,
            unit_ns,
            counts: Vec::new(),
            bytes: 0,
        }
    }

    /// Takes `index count count …`.
    pub(crate) fn line(&mut self, number: usize, line: &str) -> Result<(), ImportError> {
        let mut words = line.split_whitespace();
        let index: u32 = whole(number, words.next().unwrap_or(""))?;
        let counts: Vec<u64> = words
            .map(|word| whole(number, word))
            .collect::<Result<_, _>>()?;
        if counts.is_empty() {
            return Err(ImportError::at(
                number,
                "a line of a histogram has a count for each thread",
            ));
        }
        if self.all.is_empty() && self.last.is_none() {
            self.all = vec![Histogram::default(); counts.len()];
            self.counts = vec![0; counts.len()];
        }
        if counts.len() != self.all.len() {
            let (found, wanted) = (counts.len(), self.all.len());
            let why = format!(
                "{}, but the lines before have {wanted}",
                counted(found as u64, "count", "counts")
            );
            return Err(ImportError::at(number, why));
        }
        let low = i64::from(index) * self.unit_ns;
        if self.last.is_some_and(|last| last >= low) {
            return Err(ImportError::at(
                number,
                format!("index {index} does not increase"),
            ));
        }
        self.last = Some(low);
        self.step = Some(greatest_common_divisor(low, self.step.unwrap_or(0)));
        let threads = self.all.iter_mut().zip(&mut self.counts);
        for ((histogram, all), count) in threads.zip(counts) {
            histogram.range_end_ns = Some(low + self.unit_ns);
            if count > 0 {
                let bin = (low, low + self.unit_ns - 1, count);
                histogram.bins.push(bin);
                self.bytes += Histogram::bytes_of(bin);
            }
            *all = all.saturating_add(count);
            if *all > MOST_VALUES {
                return Err(ImportError::at(number, "more values than a run can have"));
            }
        }
        if self.bytes > MOST_BIN_BYTES {
            Err(ImportError::at(number, TOO_MANY_BINS))
        } else {
            Ok(())
        }
    }

    /// Makes a column for each thread, if no line did.
    pub(crate) fn reserve(&mut self, threads: usize) {
        if self.all.is_empty() {
            self.all = vec![Histogram::default(); threads];
        }
    }

    /// Takes one number for each thread from the words of a line below the histogram.
    pub(crate) fn numbers(
        &mut self,
        number: usize,
        words: &str,
        take: impl Fn(&mut Histogram, u64),
    ) -> Result<(), ImportError> {
        let found: Vec<u64> = words
            .split_whitespace()
            .map(|word| whole(number, word))
            .collect::<Result<_, _>>()?;
        if found.len() != self.all.len() {
            let (found, wanted) = (found.len(), self.all.len());
            let why = format!(
                "{} for {}",
                counted(found as u64, "number", "numbers"),
                counted(wanted as u64, "thread", "threads")
            );
            return Err(ImportError::at(number, why));
        }
        for (histogram, value) in self.all.iter_mut().zip(found) {
            take(histogram, value);
        }
        Ok(())
    }
}

impl Columns {
    /// Drops the last column where only `threads` are threads and it sums them up; says whether.
    pub(crate) fn drop_sum(&mut self, threads: usize) -> bool {
        let Some((sum, others)) = self.all.split_last() else {
            return false;
        };
        if others.is_empty() || others.len() != threads {
            return false;
        }
        let mut together: BTreeMap<i64, u64> = BTreeMap::new();
        for &(low, _, count) in others.iter().flat_map(|one| &one.bins) {
            let all = together.entry(low).or_default();
            *all = all.saturating_add(count);
        }
        let is_sum = sum.bins.iter().map(|&(low, _, count)| (low, count));
        let is_sum = is_sum.eq(together);
        if is_sum {
            self.all.pop();
        }
        is_sum
    }

    /// Makes bins as wide as the lines allow, if a tool leaves lines out and does not give the width of its
    /// bins: every line is at a multiple of the width. Returns whether that is wider than the unit.
    pub(crate) fn widen(&mut self) -> bool {
        let width = self.step.unwrap_or(0);
        if width <= self.unit_ns {
            return false;
        }
        for bin in self
            .all
            .iter_mut()
            .flat_map(|histogram| &mut histogram.bins)
        {
            bin.1 = bin.0 + width - 1;
        }
        true
    }
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    match b {
        0 => a,
        _ => greatest_common_divisor(b, a % b),
    }
}

/// A whole number, or an error with the text found in its place.
pub(crate) fn whole<T: std::str::FromStr>(line: usize, word: &str) -> Result<T, ImportError> {
    word.parse()
        .map_err(|_| ImportError::at(line, format!("`{}` is not a count", shortened(word))))
}

/// Foreign words in messages: no more than a few of their characters, and no control ones.
pub(crate) fn shortened(word: &str) -> String {
    word.chars()
        .take(24)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

/// Whole units as nanoseconds; what would not fit is no latency.
pub(crate) fn nanoseconds(line: usize, value: u64, unit_ns: i64) -> Result<i64, ImportError> {
    i64::try_from(value)
        .ok()
        .and_then(|value| value.checked_mul(unit_ns))
        .ok_or_else(|| ImportError::at(line, format!("{value} is not a latency")))
}
