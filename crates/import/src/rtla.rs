//! `rtla timerlat hist` and `rtla osnoise hist`: a line for each bin that is not empty, a column
//! for each CPU and kind, sums below. How wide a bin is (`-b`) the file does not say.

use crate::form::{Fit, Reader};
use crate::histogram_lines::{Columns, nanoseconds, shortened};
use crate::{Form, ImportError, Imported, Thread, Values};
use wakepath_timeline::Lack;
use wakepath_timeline::count::counted;

const LACKS: [Lack; 7] = [
    Lack::SkippedPeriods,
    Lack::OverflowedValues,
    Lack::Order,
    Lack::ExecutionTimes,
    Lack::WarmUp,
    Lack::EffectivePolicy,
    Lack::Machine,
];

pub(crate) const TIMERLAT: Form = Form {
    word: "timerlat",
    written_by: "rtla timerlat hist",
    uses: &[],
    reader: Reader::Text(
        |text| Fit::certain_if(text.contains("# RTLA timerlat")),
        |text, _| timerlat(text),
    ),
};

pub(crate) const OSNOISE: Form = Form {
    word: "osnoise",
    written_by: "rtla osnoise hist",
    uses: &[],
    reader: Reader::Text(
        |text| Fit::certain_if(text.contains("# RTLA osnoise")),
        |text, _| osnoise(text),
    ),
};

/// The columns `Thr-CPU`: from the due time to the thread. Those of the interrupt are left out.
fn timerlat(text: &str) -> Result<Imported, ImportError> {
    read(text, "rtla timerlat", "timer latency of the thread", "Thr-")
}

/// The columns `CPU-CPU`: time taken from a thread that wants the CPU all the time.
fn osnoise(text: &str) -> Result<Imported, ImportError> {
    read(
        text,
        "rtla osnoise",
        "noise of one sample, not a latency",
        "CPU-",
    )
}

fn read(
    text: &str,
    tool: &'static str,
    measures: &'static str,
    wanted: &str,
) -> Result<Imported, ImportError> {
    let mut heads: Option<Vec<String>> = None;
    let mut columns = Columns::new(1_000);
    let mut counts: Option<Vec<u64>> = None;
    let mut over = false;
    let mut last = 1;
    for (number, line) in (1..).zip(text.lines()) {
        last = number;
        let line = line.trim();
        let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match first {
            "" => {}
            // Newer versions sum all CPUs up in a second table.
            "ALL:" => break,
            "Index" if heads.is_none() => {
                heads = Some(rest.split_whitespace().map(str::to_owned).collect());
            }
            _ if first.starts_with('#') => {
                if let Some(unit) = line.strip_prefix("# Time unit is ")
                    && !unit.starts_with("microseconds")
                {
                    let why = format!("unit {}; microseconds are known", shortened(unit));
                    return Err(ImportError::at(number, why));
                }
            }
            _ if heads.is_none() => {
                return Err(ImportError::at(
                    number,
                    "no line of heads `Index …` before it",
                ));
            }
            "over:" => {
                over = true;
                columns.numbers(number, rest, |histogram, count| {
                    histogram.overflowed = count
                })?;
            }
            "count:" => {
                columns.numbers(number, rest, |_, _| {})?;
                let found = rest.split_whitespace().filter_map(|word| word.parse().ok());
                counts = Some(found.collect());
            }
            "min:" => columns.numbers(number, &dashes(rest), |histogram, us| {
                histogram.min_ns = nanoseconds(number, us, 1_000).ok();
            })?,
            "avg:" => columns.numbers(number, &dashes(rest), |histogram, us| {
                histogram.mean_ns = nanoseconds(number, us, 1_000).ok();
            })?,
            "max:" => columns.numbers(number, &dashes(rest), |histogram, us| {
                histogram.max_ns = nanoseconds(number, us, 1_000).ok();
            })?,
            _ => columns.line(number, line)?,
        }
    }
    let (Some(heads), Some(counts), true) = (heads, counts, over) else {
        let why = format!(
            "no `over:` and `count:` at the end: cut short, or not written by `{tool} hist`"
        );
        return Err(ImportError::at(last, why));
    };
    if heads.len() != columns.all.len() {
        let why = format!(
            "{} over {}",
            counted(heads.len() as u64, "head", "heads"),
            counted(columns.all.len() as u64, "column", "columns")
        );
        return Err(ImportError::whole(why));
    }
    let mut lacks = LACKS.to_vec();
    if columns.widen() {
        lacks.push(Lack::BinWidth);
    }
    let mut threads = Vec::new();
    for ((head, histogram), count) in heads.iter().zip(columns.all).zip(counts) {
        if histogram.count() != count {
            let why = format!(
                "{head}: {} and `count:` {count}: lines are missing",
                counted(histogram.count(), "value", "values")
            );
            return Err(ImportError::whole(why));
        }
        if let Some(cpu) = head.strip_prefix(wanted) {
            threads.push(Thread::new(
                format!("CPU {}", shortened(cpu)),
                cpu.parse().ok(),
                Values::Histogram(histogram),
            ));
        }
    }
    for thread in &mut threads {
        if let Some(cpu) = thread.cpu {
            thread.name = format!("CPU {cpu}");
        }
    }
    if threads.is_empty() {
        return Err(ImportError::whole(format!("no column `{wanted}…`")));
    }
    Ok(Imported {
        tool,
        measures,
        lacks,
        threads,
        ..Imported::default()
    })
}

/// A CPU without samples has dashes for its smallest and largest.
fn dashes(words: &str) -> String {
    let number = |word: &str| {
        if word == "-" {
            "0".to_owned()
        } else {
            word.to_owned()
        }
    };
    words
        .split_whitespace()
        .map(number)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMERLAT: &str = include_str!("../tests/fixtures/timerlat-hist.txt");
    const OSNOISE: &str = include_str!("../tests/fixtures/osnoise-hist.txt");

    #[test]
    fn timerlat_gives_the_threads_columns_and_not_the_interrupts() {
        let found = timerlat(TIMERLAT).unwrap();
        assert_eq!(found.threads.len(), 2);
        assert_eq!(
            (found.threads[1].name.as_str(), found.threads[1].cpu),
            ("CPU 1", Some(1))
        );
        let Values::Histogram(second) = &found.threads[1].values else {
            panic!("{found:?}");
        };
        // Its own last lines: 379 values, 95 beyond 2 ms, 71 to 42 063 µs.
        assert_eq!((second.count(), second.overflowed), (379, 95));
        let us = |us: i64| Some(us * 1_000);
        assert_eq!((second.min_ns, second.max_ns), (us(71), us(42_063)));
        // Recorded with `-b 50`: a line stands for 50 µs.
        assert_eq!(second.bins[0], (50_000, 99_999, 41));
        assert!(found.lacks.contains(&Lack::BinWidth));
    }

    #[test]
    fn osnoise_gives_a_column_for_each_cpu() {
        let found = osnoise(OSNOISE).unwrap();
        assert_eq!(found.threads.len(), 2);
        let Values::Histogram(first) = &found.threads[0].values else {
            panic!("{found:?}");
        };
        assert_eq!((first.count(), first.overflowed), (378, 174));
        assert_eq!(first.bins[0], (5_000, 5_999, 34));
        assert!(!found.lacks.contains(&Lack::BinWidth));
        assert!(found.measures.contains("not a latency"));
        assert!(
            timerlat(OSNOISE)
                .unwrap_err()
                .why
                .contains("no column `Thr-…`")
        );
    }

    #[test]
    fn what_is_cut_or_changed_is_named() {
        let cut: String = TIMERLAT
            .lines()
            .take(6)
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(timerlat(&cut).unwrap_err().line, Some(6));
        let changed = TIMERLAT.replacen("102", "103", 1);
        assert!(
            timerlat(&changed)
                .unwrap_err()
                .why
                .contains("lines are missing")
        );
        let unit = TIMERLAT.replacen("microseconds", "nanoseconds", 1);
        assert!(
            timerlat(&unit)
                .unwrap_err()
                .why
                .contains("microseconds are known")
        );
    }
}
