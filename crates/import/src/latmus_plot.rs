//! EVL's `latmus -g FILE`: remarks with the settings and the extremes, then a line for each
//! microsecond; the last one has a `+` if it holds what is beyond.

use crate::form::{Fit, Reader};
use crate::histogram_lines::{shortened, whole};
use crate::imported::counted_lacks;
use crate::{Form, Histogram, ImportError, Imported, MOST_VALUES, Thread, Values};
use wakepath_timeline::Lack;

pub(crate) const FORM: Form = Form {
    word: "latmus",
    written_by: "latmus -g FILE -T 60",
    uses: &[],
    reader: Reader::Text(fits, |text, _| read(text)),
};

fn fits(text: &str) -> Fit {
    let mut lines = text.lines();
    Fit::certain_if(
        lines.any(|line| line.starts_with("# sampling period:") || line.starts_with("# libevl")),
    )
}

fn read(text: &str) -> Result<Imported, ImportError> {
    let mut found = Histogram::default();
    let (mut period_ns, mut cpu, mut version, mut samples) = (None, None, None, None);
    let mut lacks_more: Vec<Lack> = Vec::new();
    let mut last_index: Option<i64> = None;
    let mut last = 1;
    for (number, line) in (1..).zip(text.lines()) {
        last = number;
        let line = line.trim();
        if let Some(remark) = line.strip_prefix('#') {
            let Some((name, value)) = remark.trim().split_once(':') else {
                continue;
            };
            let first = value.split_whitespace().next().unwrap_or("");
            let ns = || {
                let us = first.parse::<f64>().ok().filter(|us| us.abs() < 1e12);
                let wrong =
                    || ImportError::at(number, format!("`{}` is not a latency", shortened(first)));
                us.map(|us| (us * 1e3).round() as i64).ok_or_else(wrong)
            };
            match name {
                "sampling period" => {
                    period_ns = first
                        .parse::<u64>()
                        .ok()
                        .and_then(|us| us.checked_mul(1_000))
                }
                "libevl version" => version = Some(shortened(first)),
                "thread affinity" => {
                    let told = first
                        .strip_prefix("CPU")
                        .and_then(|cpu| cpu.split('-').next());
                    cpu = told.and_then(|cpu| cpu.parse().ok());
                }
                "min latency" => found.min_ns = Some(ns()?),
                "avg latency" => found.mean_ns = Some(ns()?),
                "max latency" => found.max_ns = Some(ns()?),
                "sample count" => samples = Some(whole::<u64>(number, first)?),
                "OVERRUNS" | "IN-BAND SWITCHES" => {
                    let what = name.to_lowercase();
                    lacks_more.push(Lack::Other(format!(
                        "when its {} {what} were",
                        shortened(first)
                    )));
                }
                _ => {}
            }
            continue;
        }
        if line.is_empty() {
            continue;
        }
        let (index, count) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let (index, is_last) = match index.strip_suffix('+') {
            Some(index) => (index, true),
            None => (index, false),
        };
        let index: i64 = whole(number, index)?;
        let count: u64 = whole(number, count.trim())?;
        if last_index.is_some_and(|last| last >= index)
            || !(0..1_000_000).contains(&index)
            || count > MOST_VALUES
        {
            return Err(ImportError::at(number, "not a valid bin here"));
        }
        last_index = Some(index);
        let low = index * 1_000;
        match (is_last, count) {
            (_, 0) => {}
            (true, count) => (found.overflowed, found.range_end_ns) = (count, Some(low)),
            (false, count) => found.bins.push((low, low + 999, count)),
        }
    }
    // Values below 0 are counted with 0.
    if let (Some(min), Some(first)) = (found.min_ns.filter(|min| *min < 0), found.bins.first_mut())
        && first.0 == 0
    {
        first.0 = min;
    }
    if found.count() == 0 || samples.is_some_and(|samples| samples != found.count()) {
        let why = format!(
            "the lines count {} values, `# sample count:` {}: lines are missing",
            found.count(),
            samples.map_or("–".into(), |samples| samples.to_string())
        );
        return Err(ImportError::at(last, why));
    }
    found.agree(None, None)?;
    let thread = Thread {
        period_ns: period_ns.filter(|ns| *ns > 0),
        ..Thread::new("responder", cpu, Values::Histogram(found))
    };
    let threads = vec![thread];
    let mut lacks = counted_lacks(&threads);
    lacks.retain(|lack| *lack != Lack::WarmUp);
    lacks.extend(lacks_more);
    Ok(Imported {
        tool: "latmus",
        tool_version: version,
        measures: "latency from the timer's due time to the thread",
        lacks,
        threads,
        ..Imported::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLOT: &str = "# test started on: Mon Mar  2 08:00:00 2026\n# Linux version 6.6.0\n\
        # libevl version: evl.0.44\n# sampling period: 1000 microseconds\n# context: user\n\
        # thread priority: 98\n# thread affinity: CPU1-noisol\n# duration (hhmmss): 00:00:10\n\
        # OVERRUNS: 3\n# min latency: 0.510\n# avg latency: 1.700\n# max latency: 240.123\n\
        # sample count: 9998\n0 20\n1 9900\n2 70\n5 0\n199+ 8\n";

    #[test]
    fn the_plot_gives_bins_settings_and_what_is_beyond() {
        assert_eq!(fits(PLOT), Fit::Certain);
        let found = read(PLOT).unwrap();
        let Values::Histogram(all) = &found.threads[0].values else {
            panic!("{found:?}");
        };
        assert_eq!((all.count(), all.overflowed), (9_998, 8));
        assert_eq!(
            (all.range_end_ns, all.max_ns),
            (Some(199_000), Some(240_123))
        );
        assert_eq!(
            (found.threads[0].cpu, found.threads[0].period_ns),
            (Some(1), Some(1_000_000))
        );
        assert!(
            found
                .lacks
                .iter()
                .any(|lack| lack.text().contains("3 overruns"))
        );
        let cut = PLOT.replacen("2 70\n", "", 1);
        assert!(read(&cut).unwrap_err().why.contains("lines are missing"));
    }
}
