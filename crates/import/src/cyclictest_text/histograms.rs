//! The threads' histograms, from the bins or, without any, from the sums.

use super::Text;
use super::sums::{Sum, set};
use crate::{Histogram, ImportError};
use wakepath_timeline::count::counted;

impl Text {
    /// The histograms of the bins, with what the sums say of each thread.
    pub(super) fn of_bins(&mut self, unit_ns: i64) -> Result<Vec<Histogram>, ImportError> {
        let within: Vec<u64> = self.columns.all.iter().map(Histogram::count).collect();
        if let Some((line, found)) = self.sum(Sum::Total)
            && found != within
        {
            let why = format!(
                "the counts above add up to {within:?}, not to {found:?}; lines are missing or were changed"
            );
            return Err(ImportError::at(line, why));
        }
        let threads = self.sum(Sum::Min).map_or(0, |(_, found)| found.len());
        let is_summed = self.columns.drop_sum(threads);
        let mut all = std::mem::take(&mut self.columns.all);
        for (sum, (line, found)) in &self.sums {
            let has_own_sum = is_summed && matches!(sum, Sum::Max | Sum::Overflows);
            let found = match found.split_last() {
                Some((_, threads)) if has_own_sum => threads,
                _ => found,
            };
            if *sum == Sum::Total {
                continue;
            }
            if found.len() != all.len() {
                let why = format!(
                    "{} for {}",
                    counted(found.len() as u64, "number", "numbers"),
                    counted(all.len() as u64, "thread", "threads")
                );
                return Err(ImportError::at(*line, why));
            }
            for (histogram, value) in all.iter_mut().zip(found) {
                set(histogram, *sum, *value, *line, unit_ns)?;
            }
        }
        // Empty lines may be left out: the range is the tool's, the same for all.
        let range_end_ns = all.iter().filter_map(|one| one.range_end_ns).max();
        for histogram in &mut all {
            histogram.range_end_ns = range_end_ns;
            let line = |sum| self.sum(sum).map(|(line, _)| line);
            histogram.agree(line(Sum::Min), line(Sum::Max))?;
        }
        Ok(all)
    }

    /// Histograms from the sums, for each thread without bins.
    pub(super) fn of_sums(&self, unit_ns: i64) -> Result<Vec<Histogram>, ImportError> {
        let numbers = |sum| self.sum(sum).map(|(_, found)| found);
        let (total, overflows) = (numbers(Sum::Total), numbers(Sum::Overflows));
        let threads = numbers(Sum::Min)
            .or(total)
            .or(overflows)
            .map_or(0, <[u64]>::len);
        let at =
            |found: Option<&[u64]>, thread: usize| found.and_then(|all| all.get(thread).copied());
        let mut all = Vec::new();
        for thread in 0..threads {
            let within = at(total, thread);
            let beyond = at(overflows, thread);
            let status = u16::try_from(thread)
                .ok()
                .and_then(|n| self.statuses.get(&n));
            let count = match (within, beyond, status) {
                (Some(within), beyond, _) => within.saturating_add(beyond.unwrap_or(0)),
                (None, _, Some(status)) => status.cycles,
                // Without bins and total, every value is beyond the range.
                (None, Some(beyond), None) => beyond,
                (None, None, None) => 0,
            };
            let mut found = Histogram {
                overflowed: count,
                ..Histogram::default()
            };
            for (sum, (line, values)) in &self.sums {
                if let (Some(value), Sum::Min | Sum::Mean | Sum::Max) = (values.get(thread), sum) {
                    set(&mut found, *sum, *value, *line, unit_ns)?;
                }
            }
            found.range_end_ns = found.min_ns;
            let line = |sum| self.sum(sum).map(|(line, _)| line);
            found.agree(line(Sum::Min), line(Sum::Max))?;
            all.push(found);
        }
        Ok(all)
    }
}
