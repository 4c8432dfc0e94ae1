//! A thread's histogram in JSON, as cyclictest and jitterdebugger write it.

use crate::{Histogram, ImportError, MOST_VALUES};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A thread, or one of a pair.
#[derive(Deserialize, Default)]
pub(crate) struct JsonThread {
    histogram: Option<BTreeMap<String, u64>>,
    #[serde(alias = "cycles", alias = "samples")]
    pub(crate) count: Option<u64>,
    min: Option<i64>,
    max: Option<i64>,
    avg: Option<f64>,
    /// −1 of a thread that was bound to none.
    cpu: Option<i64>,
    pub(crate) interval: Option<u64>,
    pub(crate) priority: Option<u8>,
    /// In seconds.
    pub(crate) duration: Option<f64>,
    sender: Option<Box<Self>>,
    receiver: Option<Box<Self>>,
}

#[derive(Deserialize)]
pub(crate) struct SystemInfo {
    pub(crate) release: Option<String>,
    pub(crate) resolution_in_ns: Option<i64>,
}

/// Reads JSON, with the line of what is wrong.
pub(crate) fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ImportError> {
    serde_json::from_slice(text.as_bytes()).map_err(|error| {
        ImportError::at(
            error.line().max(1),
            format!("not in the tool's form: {error}"),
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
            .map_err(|_| ImportError::whole("a thread's key is not its number"))?;
        numbered.push((number, thread));
    }
    numbered.sort_by_cached_key(|(number, _)| *number);
    if numbered.is_empty() {
        Err(ImportError::whole("no thread in it"))
    } else {
        Ok(numbered)
    }
}

impl JsonThread {
    /// A pair as its receiver, with what its sender alone tells.
    pub(crate) fn flat(mut self) -> Self {
        let (sender, receiver) = (self.sender.take(), self.receiver.take());
        let Some(receiver) = receiver else {
            return self;
        };
        let mut flat = *receiver;
        if let Some(sender) = sender {
            flat.count = flat.count.or(sender.count);
            flat.interval = flat.interval.or(sender.interval);
        }
        flat
    }

    pub(crate) fn cpu(&self) -> Option<u16> {
        self.cpu.and_then(|cpu| u16::try_from(cpu).ok())
    }

    /// The histogram; what `count` has more than it is what overflowed. Without a count, all is in it.
    pub(crate) fn histogram(&self, unit_ns: i64) -> Result<Histogram, ImportError> {
        let whole = |why: String| ImportError::whole(why);
        let scaled = |value: i64| {
            let scaled = value
                .checked_mul(unit_ns)
                .filter(|ns| ns.checked_add(unit_ns).is_some());
            scaled.ok_or_else(|| whole(format!("{value} is not a latency")))
        };
        let mut bins = Vec::new();
        for (index, &count) in self.histogram.iter().flatten() {
            let index: i64 = index
                .parse()
                .map_err(|_| whole("a bin's key is not its value".into()))?;
            let low = scaled(index)?;
            if count > 0 {
                bins.push((low, low + unit_ns - 1, count));
            }
        }
        bins.sort_unstable();
        if bins.windows(2).any(|two| two[0].0 == two[1].0) {
            return Err(whole("two bins of the histogram are the same".into()));
        }
        let mut found = Histogram {
            bins,
            min_ns: self.min.map(scaled).transpose()?,
            max_ns: self.max.map(scaled).transpose()?,
            mean_ns: self.avg.map(|avg| (avg * unit_ns as f64).round() as i64),
            ..Histogram::default()
        };
        let within = found.count();
        let count = self.count.unwrap_or(within);
        if within > MOST_VALUES || count > MOST_VALUES || within > count {
            let why = format!("the histogram counts {within} values, the thread {count}");
            return Err(whole(why));
        }
        found.overflowed = count - within;
        match (found.bins.is_empty(), found.min_ns, found.max_ns) {
            (true, Some(min), Some(max)) => {
                let mean_ns = found.mean_ns;
                found = Histogram {
                    mean_ns,
                    ..Histogram::summary(count, min, max)
                };
            }
            // The range is not told; overflowed values lie beyond every bin that is there.
            _ => found.range_end_ns = found.bins.last().map(|bin| bin.1 + 1),
        }
        Ok(found)
    }
}
