//! A thread's histogram in JSON, as cyclictest and jitterdebugger write it.

use crate::{Histogram, ImportError, MOST_VALUES};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
pub(crate) struct JsonThread {
    pub(crate) histogram: BTreeMap<String, u64>,
    #[serde(alias = "cycles")]
    pub(crate) count: u64,
    min: i64,
    max: i64,
    avg: f64,
    pub(crate) cpu: Option<u16>,
}

#[derive(Deserialize)]
pub(crate) struct SystemInfo {
    pub(crate) release: Option<String>,
    pub(crate) resolution_in_ns: Option<i64>,
}

/// Reads JSON, with the line of what is wrong.
pub(crate) fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ImportError> {
    serde_json::from_str(text).map_err(|error| {
        ImportError::at(
            error.line().max(1),
            format!("not as the tool writes it: {error}"),
        )
    })
}

/// The threads of an object by number.
pub(crate) fn in_order(
    threads: BTreeMap<String, JsonThread>,
) -> Result<Vec<(u16, JsonThread)>, ImportError> {
    let mut numbered = Vec::new();
    for (name, thread) in threads {
        let number: u16 = name
            .parse()
            .map_err(|_| ImportError::whole("a thread is not named by its number"))?;
        numbered.push((number, thread));
    }
    numbered.sort_by_key(|(number, _)| *number);
    match numbered.is_empty() {
        true => Err(ImportError::whole("no thread in it")),
        false => Ok(numbered),
    }
}

impl JsonThread {
    /// The histogram; what `count` has more than it is what overflowed.
    pub(crate) fn histogram(&self, unit_ns: i64) -> Result<Histogram, ImportError> {
        let scaled = |value: i64| {
            let scaled = value
                .checked_mul(unit_ns)
                .filter(|ns| ns.checked_add(unit_ns).is_some());
            scaled.ok_or_else(|| ImportError::whole(format!("{value} is no latency")))
        };
        let mut bins = Vec::new();
        for (index, &count) in &self.histogram {
            let index: i64 = index.parse().map_err(|_| {
                ImportError::whole("a bin of the histogram is not named by its value")
            })?;
            let low = scaled(index)?;
            if count > 0 {
                bins.push((low, low + unit_ns - 1, count));
            }
        }
        bins.sort_unstable();
        let mut found = Histogram {
            bins,
            min_ns: Some(scaled(self.min)?),
            max_ns: Some(scaled(self.max)?),
            mean_ns: Some((self.avg * unit_ns as f64).round() as i64),
            ..Histogram::default()
        };
        let within = found.count();
        if within > MOST_VALUES || self.count > MOST_VALUES || within > self.count {
            let why = format!(
                "the histogram counts {within} values, the thread {}",
                self.count
            );
            return Err(ImportError::whole(why));
        }
        found.overflowed = self.count - within;
        // The range is not told; overflowed values lie beyond every bin that is there.
        found.range_end_ns = found.bins.last().map(|bin| bin.1 + 1);
        Ok(found)
    }
}
