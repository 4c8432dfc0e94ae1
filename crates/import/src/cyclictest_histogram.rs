//! `cyclictest -h` and `-H`: a line for each microsecond, or nanosecond with `-N`, with a count for
//! each thread, sums below. `-H` adds a column that sums the threads up.

use crate::form::{Fit, Reader};
use crate::histogram_lines::{Columns, nanoseconds};
use crate::{Form, ImportError, Imported, Thread, Use, Values};
use wakepath_timeline::Lack;

pub(crate) const LACKS: [Lack; 7] = [
    Lack::SkippedPeriods,
    Lack::OverflowedValues,
    Lack::Order,
    Lack::ExecutionTimes,
    Lack::WarmUp,
    Lack::EffectivePolicy,
    Lack::Machine,
];

pub(crate) const FORM: Form = Form {
    word: "cyclictest",
    written_by: "cyclictest -h 400",
    uses: &[Use::Nanoseconds],
    reader: Reader::Text(fits, |text, asked| read(text, asked.unit_ns())),
};

fn fits(text: &str) -> Fit {
    Fit::certain_if(text.lines().any(|line| line.starts_with("# Histogram")))
}

fn read(text: &str, unit_ns: i64) -> Result<Imported, ImportError> {
    let mut columns = Columns::new(unit_ns);
    let mut totals: Option<Vec<u64>> = None;
    let mut overflows = false;
    let mut is_summed = false;
    let mut last = 0;
    for (number, line) in (1..).zip(text.lines()) {
        last = number;
        let line = line.trim();
        let told = |name: &str| line.strip_prefix(name);
        if let Some(words) = told("# Total:") {
            let within = columns
                .all
                .iter()
                .map(|histogram| histogram.count())
                .collect::<Vec<_>>();
            columns.numbers(number, words, |_, _| {})?;
            let found: Vec<u64> = words
                .split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect();
            if found != within {
                let why = format!(
                    "the counts above add up to {within:?}, not to {found:?}: lines are missing"
                );
                return Err(ImportError::at(number, why));
            }
            totals = Some(found);
        } else if let Some(words) = told("# Min Latencies:") {
            is_summed = columns.drop_sum(words.split_whitespace().count());
            columns.numbers(number, words, |histogram, value| {
                histogram.min_ns = nanoseconds(number, value, unit_ns).ok();
            })?;
        } else if let Some(words) = told("# Avg Latencies:") {
            columns.numbers(number, words, |histogram, value| {
                histogram.mean_ns = nanoseconds(number, value, unit_ns).ok();
            })?;
        } else if let Some(words) = told("# Max Latencies:") {
            let words = of_threads(words, is_summed);
            columns.numbers(number, words, |histogram, value| {
                histogram.max_ns = nanoseconds(number, value, unit_ns).ok();
            })?;
        } else if let Some(words) = told("# Histogram Overflows:") {
            overflows = true;
            let words = of_threads(words, is_summed);
            columns.numbers(number, words, |histogram, count| {
                histogram.overflowed = count
            })?;
        } else if line.is_empty() || line.starts_with('#') || line.starts_with("T:") {
            // Remarks, and the status lines of a run without -q.
        } else if totals.is_some() {
            return Err(ImportError::at(number, "a histogram ends with its sums"));
        } else {
            columns.line(number, line)?;
        }
    }
    if totals.is_none() || !overflows {
        let why = "no `# Total:` and `# Histogram Overflows:` at the end: cut short, or not written \
                   by `cyclictest -h`";
        return Err(ImportError::at(last.max(1), why));
    }
    let threads = columns
        .all
        .into_iter()
        .enumerate()
        .map(|(number, histogram)| {
            Thread::new(
                format!("thread {number}"),
                None,
                Values::Histogram(histogram),
            )
        });
    Ok(Imported {
        tool: "cyclictest",
        measures: "wake-up latency",
        lacks: LACKS.to_vec(),
        threads: threads.collect(),
        ..Imported::default()
    })
}

/// The numbers without the last, which sums the threads up.
fn of_threads(words: &str, is_summed: bool) -> &str {
    let words = words.trim_end();
    match words.rsplit_once(char::is_whitespace) {
        Some((threads, _)) if is_summed => threads,
        _ => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMED: &str = include_str!("../tests/fixtures/cyclictest-summed.txt");
    const MICROSECOND: i64 = 1_000;

    fn read(text: &str) -> Result<Imported, ImportError> {
        super::read(text, MICROSECOND)
    }

    #[test]
    fn more_bins_than_a_run_holds_are_refused_at_their_line() {
        let line = |index: u32| format!("{index:06} {}\n", ["000001"; 128].join("\t"));
        let text: String = (0..10_000).map(line).collect();
        let error = read(&text).unwrap_err();
        assert!(error.why.contains("fewer threads"), "{error}");
        // 128 of these bins take some 2.5 kB.
        assert!(
            error
                .line
                .is_some_and(|line| (4_000..8_000).contains(&line)),
            "{error}"
        );
    }

    #[test]
    fn the_column_that_sums_the_threads_up_is_no_thread() {
        let found = read(SUMMED).unwrap();
        // Its own last lines: 448 and 458 within, 906 together; 52 and 42 beyond, 94 together.
        let counts: Vec<_> = found
            .threads
            .iter()
            .map(|thread| match &thread.values {
                Values::Histogram(all) => (all.count(), all.overflowed, all.max_ns),
                _ => panic!("{thread:?}"),
            })
            .collect();
        let us = |us: i64| Some(us * 1_000);
        assert_eq!(counts, [(500, 52, us(1_525)), (500, 42, us(1_913))]);
        // A column too many that is no sum stays a complaint.
        let odd = SUMMED.replacen(
            "000057 000003\t000001\t000004",
            "000057 000003\t000002\t000004",
            1,
        );
        let odd = odd.replacen("000000458 000000906", "000000459 000000906", 1);
        let error = read(&odd).unwrap_err();
        assert_eq!(error.why, "2 numbers for 3 threads");
    }

    #[test]
    fn with_nanoseconds_a_line_is_a_nanosecond() {
        let found = super::read(REAL, 1).unwrap();
        let Values::Histogram(second) = &found.threads[1].values else {
            panic!("{found:?}");
        };
        assert_eq!((second.min_ns, second.bins[0]), (Some(9), (9, 9, 1)));
    }

    const REAL: &str = include_str!("../tests/fixtures/cyclictest-h.txt");

    #[test]
    fn a_real_file_gives_the_tools_own_figures() {
        let found = read(REAL).unwrap();
        assert_eq!(found.threads.len(), 2);
        let Values::Histogram(second) = &found.threads[1].values else {
            panic!("{found:?}");
        };
        // Its own last lines: 2967 within, 33 beyond 60 µs, 9 to 1313 µs.
        assert_eq!((second.count(), second.overflowed), (3000, 33));
        assert_eq!(
            (second.min_ns, second.max_ns),
            (Some(9_000), Some(1_313_000))
        );
        assert_eq!(second.range_end_ns, Some(60_000));
        assert_eq!(second.bins[0], (9_000, 9_999, 1));
    }

    #[test]
    fn what_is_cut_or_changed_is_named_with_its_line() {
        let cut: String = REAL
            .lines()
            .take(40)
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(read(&cut).unwrap_err().line, Some(40));
        let changed = REAL.replacen("000012 000110", "000012 000111", 1);
        let error = read(&changed).unwrap_err();
        assert!(error.why.contains("add up to [2982, 2967]"), "{error}");
        let odd = REAL.replacen("000012 000110", "000012 many", 1);
        let error = read(&odd).unwrap_err();
        assert_eq!(error.to_string(), "15: `many` is no count");
        assert!(
            read("")
                .unwrap_err()
                .to_string()
                .starts_with("1: no `# Total:`")
        );
    }
}
