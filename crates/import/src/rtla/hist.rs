//! `rtla timerlat hist` and `rtla osnoise hist`: a line for each bin that is not empty, a column
//! for each CPU and kind, sums below. How wide a bin is (`-b`) the file does not say.

use super::{duration_ns, remark, unit_ns};
use crate::form::{Fit, Reader};
use crate::histogram_lines::{Columns, nanoseconds, shortened};
use crate::imported::{counted_lacks, share_range, undue_lacks};
use crate::status_lines::bare;
use crate::{Form, ImportError, Imported, Measured, Thread, Values};
use wakepath_timeline::Lack;
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::rounded;

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

/// A tool of rtla that prints a histogram.
struct Tool {
    name: &'static str,
    measures: &'static str,
    measured: Measured,
    /// How its columns begin; others are left out.
    column: &'static str,
}

/// The columns `Thr-CPU`: from the due time to the thread. Those of the interrupt are left out.
fn timerlat(text: &str) -> Result<Imported, ImportError> {
    read(
        text,
        &Tool {
            name: "rtla timerlat",
            measures: "timer latency of the thread",
            measured: Measured::Latency,
            column: "Thr-",
        },
    )
}

/// The columns `CPU-CPU`: time taken from a thread that wants the CPU all the time.
fn osnoise(text: &str) -> Result<Imported, ImportError> {
    read(
        text,
        &Tool {
            name: "rtla osnoise",
            measures: "noise of one sample, not a latency",
            measured: Measured::Noise,
            column: "CPU-",
        },
    )
}

fn read(text: &str, tool: &Tool) -> Result<Imported, ImportError> {
    let mut heads: Option<Vec<String>> = None;
    let mut columns = Columns::new(1_000);
    let mut unit = 1_000;
    let mut observed_ns = None;
    let mut counts: Option<Vec<u64>> = None;
    let mut remarks: Vec<Lack> = Vec::new();
    let (mut over, mut ended) = (false, false);
    let mut lines_of = [None; 2];
    let mut last = 1;
    for (number, line) in (1..).zip(text.lines()) {
        last = number;
        let line = bare(line);
        let line = line.trim();
        let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if let Some(lack) = remark(line) {
            remarks.push(lack);
            ended = true;
            continue;
        }
        if ended || line.is_empty() {
            continue;
        }
        match first {
            // Newer versions sum all CPUs up in a second table.
            "ALL:" => ended = true,
            "Index" if heads.is_none() => {
                heads = Some(rest.split_whitespace().map(str::to_owned).collect());
            }
            _ if first.starts_with('#') => {
                if let Some(told) = line.strip_prefix("# Time unit is ") {
                    unit = unit_ns(told).ok_or_else(|| {
                        let why = format!("unit {}; (us) and (ns) are known", shortened(told));
                        ImportError::at(number, why)
                    })?;
                    columns = Columns::new(unit);
                }
                if let Some(told) = line.strip_prefix("# Duration:") {
                    observed_ns = duration_ns(told);
                }
            }
            _ if heads.is_none() => {
                return Err(ImportError::at(
                    number,
                    "no line of heads `Index …` before it",
                ));
            }
            // A run that saw nothing has no column to sum up.
            "over:" | "count:" | "min:" | "avg:" | "max:"
                if heads.as_ref().is_some_and(Vec::is_empty) =>
            {
                over = true;
                counts = Some(Vec::new());
            }
            "over:" => {
                over = true;
                // Every value may be beyond the range.
                let threads = heads.as_ref().map_or(0, Vec::len);
                columns.reserve(threads);
                columns.numbers(number, rest, |histogram, count| {
                    histogram.overflowed = count
                })?;
            }
            "count:" => {
                columns.numbers(number, rest, |_, _| {})?;
                let found = rest.split_whitespace().filter_map(|word| word.parse().ok());
                counts = Some(found.collect());
            }
            "min:" => {
                lines_of[0] = Some(number);
                columns.numbers(number, &dashes(rest), |histogram, value| {
                    histogram.min_ns = nanoseconds(number, value, unit).ok();
                })?;
            }
            "avg:" => columns.numbers(number, &dashes(rest), |histogram, value| {
                histogram.mean_ns = nanoseconds(number, value, unit).ok();
            })?,
            "max:" => {
                lines_of[1] = Some(number);
                columns.numbers(number, &dashes(rest), |histogram, value| {
                    histogram.max_ns = nanoseconds(number, value, unit).ok();
                })?;
            }
            _ => columns.line(number, line)?,
        }
    }
    let (Some(heads), Some(counts), true) = (heads, counts, over) else {
        let why = format!(
            "the file ends before `over:` and `count:`: it is truncated, or recorded with --no-summary (`{} hist`)",
            tool.name
        );
        return Err(ImportError::at(last, why));
    };
    if columns.all.is_empty() {
        let within = observed_ns.map_or(String::new(), |ns| {
            format!(" in {}", rounded(ns.cast_signed()))
        });
        let what = match tool.measured {
            Measured::Noise => "no noise above the threshold was seen",
            _ => "no thread measured a cycle",
        };
        return Err(ImportError::whole(format!(
            "{what}{within}: there is nothing to import"
        )));
    }
    if heads.len() != columns.all.len() {
        let why = format!(
            "{} over {}",
            counted(heads.len() as u64, "head", "heads"),
            counted(columns.all.len() as u64, "column", "columns")
        );
        return Err(ImportError::whole(why));
    }
    let is_wide = columns.widen();
    let mut threads = Vec::new();
    for ((head, mut histogram), count) in heads.iter().zip(columns.all).zip(counts) {
        if histogram.count() != count {
            let why = format!(
                "{head}: {} and `count:` {count}: lines are missing",
                counted(histogram.count(), "value", "values")
            );
            return Err(ImportError::whole(why));
        }
        let Some(cpu) = head.strip_prefix(tool.column) else {
            continue;
        };
        if count == 0 {
            continue;
        }
        if let Some(last) = histogram.bins.last() {
            histogram.range_end_ns = histogram.range_end_ns.max(Some(last.1 + 1));
        }
        histogram.agree(lines_of[0], lines_of[1])?;
        let number: Option<u16> = cpu.parse().ok();
        let name = number.map_or_else(|| shortened(cpu), |number| number.to_string());
        threads.push(Thread {
            observed_ns,
            ..Thread::new(format!("CPU {name}"), number, Values::Histogram(histogram))
        });
    }
    if threads.is_empty() {
        let why = format!("has no column `{}…` with values", tool.column);
        return Err(ImportError::whole(why));
    }
    share_range(&mut threads);
    let mut lacks = if tool.measured.has_due_times() {
        counted_lacks(&threads)
    } else {
        undue_lacks(&threads)
    };
    if is_wide {
        lacks.push(Lack::BinWidth);
    }
    lacks.extend(remarks);
    Ok(Imported {
        tool: tool.name,
        measures: tool.measures,
        measured: tool.measured,
        lacks,
        threads,
        ..Imported::default()
    })
}

/// A CPU without samples has dashes for its smallest and largest.
fn dashes(words: &str) -> String {
    let number = |word| if word == "-" { "0" } else { word };
    let words: Vec<&str> = words.split_whitespace().map(number).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMERLAT: &str = include_str!("../../tests/fixtures/timerlat-hist.txt");
    const OSNOISE: &str = include_str!("../../tests/fixtures/osnoise-hist.txt");

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
        // Recorded with `-b 50`: a line represents 50 µs.
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
                .contains("no column `Thr-…` with values")
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
        let unit = TIMERLAT.replacen("(us)", "(ms)", 1);
        assert!(timerlat(&unit).unwrap_err().why.contains("(us) and (ns)"));
        let contrary = OSNOISE.replacen("over:", "over: 0", 1);
        assert!(osnoise(&contrary).is_err());
    }

    const STOPPED: &str = "# RTLA timerlat histogram\n# Time unit is nanoseconds (ns)\n\
        # Duration:   0 00:00:04\nIndex   IRQ-001   Thr-001\n900        1000         0\n\
        1800          0       950\n2700          0        50\nover:         0         0\n\
        count:     1000      1000\nmin:        911      1850\navg:        930      1990\n\
        max:       1012      2761\nrtla timerlat hit stop tracing\n\
        ## CPU 1 hit stop tracing, analyzing it ##\n  Thread latency: 61.03 us (100%)\n";

    #[test]
    fn nanoseconds_and_a_run_that_stopped_are_read_and_told() {
        let found = timerlat(STOPPED).unwrap();
        let Values::Histogram(only) = &found.threads[0].values else {
            panic!("{found:?}");
        };
        assert_eq!(only.bins, [(1_800, 2_699, 950), (2_700, 3_599, 50)]);
        assert_eq!((only.min_ns, only.max_ns), (Some(1_850), Some(2_761)));
        assert_eq!(found.threads[0].observed_ns, Some(4_000_000_000));
        assert!(
            found
                .lacks
                .iter()
                .any(|lack| lack.text().contains("stopped"))
        );
        let contrary = STOPPED.replacen("2761", "761", 1);
        assert_eq!(timerlat(&contrary).unwrap_err().line, Some(12));
    }

    #[test]
    fn a_run_without_noise_says_so() {
        let text = "# RTLA osnoise histogram\n# Time unit is microseconds (us)\n\
                    # Duration:   0 00:00:05\nIndex\nover:\ncount:\nmin:\navg:\nmax:\n";
        for text in [text.to_owned(), text.replace("count:", "count: 0")] {
            let why = osnoise(&text).unwrap_err().why;
            assert!(
                why.starts_with("no noise above the threshold was seen in 5 s"),
                "{why}"
            );
        }
    }
}
