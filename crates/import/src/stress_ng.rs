//! `stress-ng --cyclic`: count, mean, extremes and nine percentiles of latencies after a relative
//! sleep. Each percentile is a value that was measured, so that it ends a bin.

use crate::form::{Fit, Reader};
use crate::histogram_lines::{shortened, whole};
use crate::imported::counted_lacks;
use crate::{Form, Histogram, ImportError, Imported, MOST_VALUES, Thread, Values};
use wakepath_timeline::Lack;

pub(crate) const FORM: Form = Form {
    word: "stress-ng",
    written_by: "stress-ng --cyclic 1 -t 60",
    uses: &[],
    reader: Reader::Text(fits, |text, _| read(text)),
};

fn fits(text: &str) -> Fit {
    let is_it = |line: &str| line.contains("stress-ng") && line.contains(" cyclic: ");
    Fit::certain_if(text.lines().any(is_it))
}

/// The number after a name, with nanoseconds as its unit.
fn after<T: std::str::FromStr>(line: &str, name: &str) -> Option<T> {
    let (_, rest) = line.split_once(name)?;
    rest.split_whitespace()
        .next()?
        .trim_end_matches(',')
        .parse()
        .ok()
}

fn read(text: &str) -> Result<Imported, ImportError> {
    let mut scheduler = None;
    let mut sleep_ns: Option<u64> = None;
    let mut count: Option<(usize, u64)> = None;
    let mut needed: Option<u64> = None;
    let mut found = Histogram::default();
    // Part of a million, and value.
    let mut percentiles: Vec<(u64, i64)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((_, line)) = line.split_once(" cyclic: ") else {
            continue;
        };
        let line = line.trim();
        let odd = || {
            let why = format!("`{}` is not in stress-ng's form", shortened(line));
            ImportError::at(number, why)
        };
        if let Some(rest) = line.strip_prefix("sched ") {
            if count.is_some() {
                let why = "a second run begins: import each separately";
                return Err(ImportError::at(number, why));
            }
            let (name, rest) = rest.split_once(':').ok_or_else(odd)?;
            scheduler = ["DEADLINE", "FIFO", "RR"]
                .into_iter()
                .find(|known| name.strip_prefix("SCHED_") == Some(known));
            sleep_ns = rest
                .split_whitespace()
                .next()
                .and_then(|word| word.parse().ok());
            let samples = rest.split(',').nth(1).ok_or_else(odd)?;
            let samples = samples.split_whitespace().next().ok_or_else(odd)?;
            count = Some((number, whole(number, samples)?));
        } else if line.starts_with("mean:") {
            let mean: f64 = after(line, "mean:").ok_or_else(odd)?;
            found.mean_ns = Some(mean.round() as i64);
        } else if line.starts_with("min:") {
            found.min_ns = Some(after(line, "min:").ok_or_else(odd)?);
            found.max_ns = Some(after(line, "max:").ok_or_else(odd)?);
        } else if line.contains("--cyclic-samples needed to be ") {
            needed = after(line, "needed to be ");
        } else if let Some((share, value)) = line.split_once('%')
            && let Ok(share) = share.parse::<f64>()
        {
            let value: i64 = after(value, ":").ok_or_else(odd)?;
            percentiles.push(((share * 10_000.0).round() as u64, value));
        }
    }
    let Some((line, count)) = count else {
        let why = "has no line `cyclic: sched …: … samples`: nothing was measured";
        return Err(ImportError::whole(why));
    };
    let (Some(min), Some(max)) = (found.min_ns, found.max_ns) else {
        return Err(ImportError::at(
            line,
            "no line `min: … ns, max: … ns` follows: it is truncated",
        ));
    };
    if count == 0 || count > MOST_VALUES {
        return Err(ImportError::at(
            line,
            format!("{count} is not a count of samples"),
        ));
    }
    let (mut below, mut low) = (0_u64, min);
    for (share, value) in percentiles.iter().copied().chain([(1_000_000, max)]) {
        if value < low || value > max {
            let why = format!("a percentile of {value} ns is outside of {low} to {max} ns");
            return Err(ImportError::at(line, why));
        }
        // Its place in the sorted values, from 0: the number of values before it.
        let place = u128::from(count) * u128::from(share) / 1_000_000;
        let at_most = (place as u64).saturating_add(1).min(count);
        if at_most > below {
            found.bins.push((low, value, at_most - below));
            (below, low) = (at_most, value);
        }
    }
    let mut threads = vec![Thread::new("cyclic", None, Values::Histogram(found))];
    threads[0].period_ns = sleep_ns.filter(|ns| *ns > 0);
    let mut lacks = counted_lacks(&threads);
    lacks.push(Lack::Other(
        "values between its percentiles: they are somewhere between two of them".into(),
    ));
    if let Some(needed) = needed.filter(|needed| *needed > count) {
        let more = needed - count;
        lacks.push(Lack::Other(format!(
            "its last {more} values: --cyclic-samples kept the first {count}"
        )));
    }
    Ok(Imported {
        tool: "stress-ng",
        measures: "wake-up latency after a relative sleep",
        lacks,
        threads,
        scheduler,
        ..Imported::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAL: &str = include_str!("../tests/fixtures/stress-ng-cyclic.txt");

    #[test]
    fn percentiles_are_the_ends_of_bins() {
        let found = read(REAL).unwrap();
        assert_eq!(found.scheduler, Some("FIFO"));
        let only = &found.threads[0];
        assert_eq!(only.period_ns, Some(100_000));
        let Values::Histogram(all) = &only.values else {
            panic!("{found:?}");
        };
        assert_eq!((all.count(), all.mean_ns), (10_000, Some(16_596)));
        assert_eq!((all.min_ns, all.max_ns), (Some(7_629), Some(86_256)));
        assert_eq!(all.bins[1], (14_600, 15_551, 2_500));
        assert!(
            found
                .lacks
                .iter()
                .any(|lack| lack.text().starts_with("its last 6467 values"))
        );
    }

    #[test]
    fn what_is_cut_or_changed_is_refused() {
        let cut: String = REAL
            .lines()
            .take(4)
            .map(|line| format!("{line}\n"))
            .collect();
        assert!(read(&cut).unwrap_err().why.contains("truncated"));
        let odd = REAL.replacen("40329", "99999", 1);
        assert!(read(&odd).unwrap_err().why.contains("percentile of 99999"));
        assert!(
            read(&REAL.repeat(2))
                .unwrap_err()
                .why
                .contains("second run")
        );
        assert!(read("").unwrap_err().why.contains("nothing was measured"));
    }
}
