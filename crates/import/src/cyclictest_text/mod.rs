//! cyclictest's text: with `-h` and `-H` a line for each microsecond (nanosecond with `-N`) with a count
//! for each thread and sums below, and without them only the status lines. Status blocks can appear in
//! between. Up to rt-tests 2.7 there is a line for every bin and `# Total:`; later ones leave empty bins
//! and the total out. `-H` adds a column that sums the threads up.

mod histograms;
mod sums;

use crate::form::{Fit, Reader};
use crate::histogram_lines::{Columns, shortened, whole};
use crate::imported::{counted_lacks, stopped};
use crate::status_lines::{Statuses, bare, has_lines, take};
use crate::{Form, Histogram, ImportError, Imported, Thread, Use, Values, cyclictest_verbose};
use std::collections::BTreeMap;
use sums::Sum;
use wakepath_timeline::Lack;

pub(crate) const FORM: Form = Form {
    word: "cyclictest",
    written_by: "cyclictest -h 400 -q",
    uses: &[Use::Nanoseconds],
    reader: Reader::Text(fits, |text, asked| read(text, asked.unit_ns())),
};

fn fits(text: &str) -> Fit {
    let has_histogram = || {
        let mut lines = text.lines();
        lines
            .any(|line| line.starts_with("# Histogram") || Sum::new(line).is_some() || is_bin(line))
    };
    let is_it = has_histogram() || has_lines(text, &["P", "I"], &[]);
    Fit::certain_if(is_it && !cyclictest_verbose::has_cycles(text))
}

/// Whether a line has a bin's index in six digits, and counts.
fn is_bin(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_number = |word: &str| word.len() >= 6 && word.bytes().all(|byte| byte.is_ascii_digit());
    line.starts_with(|c: char| c.is_ascii_digit())
        && words.next().is_some_and(is_number)
        && words.next().is_some_and(is_number)
}

/// Everything read so far.
struct Text {
    columns: Columns,
    statuses: Statuses,
    sums: BTreeMap<Sum, (usize, Vec<u64>)>,
    /// Line of `# Histogram`.
    head: Option<usize>,
    /// Policy of a status block.
    round_robin: bool,
    break_value: Option<String>,
    last: usize,
}

fn read(text: &str, unit_ns: i64) -> Result<Imported, ImportError> {
    let mut read = Text {
        columns: Columns::new(unit_ns),
        statuses: Statuses::new(),
        sums: BTreeMap::new(),
        head: None,
        round_robin: false,
        break_value: None,
        last: 1,
    };
    for (number, line) in (1..).zip(text.lines()) {
        read.last = number;
        read.line(number, bare(line).trim())?;
    }
    read.imported(unit_ns)
}

impl Text {
    fn line(&mut self, number: usize, line: &str) -> Result<(), ImportError> {
        if line.starts_with("T:") {
            return take(&mut self.statuses, number, line);
        }
        if let Some((sum, words)) = Sum::new(line) {
            let words = words.split_whitespace();
            let found = words.map(|word| whole(number, word));
            let found = found.collect::<Result<Vec<u64>, _>>()?;
            return match self.sums.insert(sum, (number, found)) {
                None => Ok(()),
                Some(_) => Err(second(number)),
            };
        }
        if line == "# Histogram" {
            return match self.head.replace(number) {
                None if self.sums.is_empty() => Ok(()),
                _ => Err(second(number)),
            };
        }
        if let Some(value) = line.strip_prefix("# Break value:") {
            self.break_value = Some(shortened(value.trim()));
        } else if let Some(policy) = line.strip_prefix("policy:") {
            self.round_robin = policy.trim_start().starts_with("rr");
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            let first = line.split_whitespace().next().unwrap_or("");
            // The load, without `policy:` in old versions.
            if first.contains('.') {
                return Ok(());
            }
            if !self.sums.is_empty() {
                let why = "a bin below the sums: a histogram ends with them";
                return Err(ImportError::at(number, why));
            }
            return self.columns.line(number, line);
        } else if !line.is_empty() && !line.starts_with('#') && self.is_within() {
            let why = format!("`{}` is not a bin of the histogram", shortened(line));
            return Err(ImportError::at(number, why));
        }
        Ok(())
    }

    /// Whether bins were read and no sum.
    fn is_within(&self) -> bool {
        !self.columns.all.is_empty() && self.sums.is_empty()
    }

    fn sum(&self, sum: Sum) -> Option<(usize, &[u64])> {
        let found = self.sums.get(&sum);
        found.map(|(line, numbers)| (*line, numbers.as_slice()))
    }

    fn imported(mut self, unit_ns: i64) -> Result<Imported, ImportError> {
        let ends = self.sums.contains_key(&Sum::Max) || self.sums.contains_key(&Sum::Overflows);
        let begins = self.head.is_some() || !self.sums.is_empty();
        if begins && !ends {
            let why = "the file ends before `# Max Latencies:` and `# Histogram Overflows:`: it is truncated";
            return Err(ImportError::at(self.last, why));
        }
        let has_bins = !self.columns.all.is_empty();
        let has_histogram = has_bins || begins;
        let histograms = match (has_bins, begins) {
            (true, _) => self.of_bins(unit_ns)?,
            (false, true) => self.of_sums(unit_ns)?,
            (false, false) => Vec::new(),
        };
        let mut threads: Vec<Thread> = (0..)
            .zip(histograms)
            .map(|(number, found)| thread(number, found))
            .collect();
        if !has_histogram {
            for (number, status) in self.statuses.iter().filter(|(_, status)| status.cycles > 0) {
                let found = status.histogram(unit_ns);
                let found = found.ok_or_else(|| ImportError::whole("it is not a latency"))?;
                threads.push(thread(*number, found));
            }
        }
        threads.retain(|thread| !matches!(&thread.values, Values::Histogram(h) if h.count() == 0));
        if threads.is_empty() {
            let why = if has_histogram || !self.statuses.is_empty() {
                "no thread measured a cycle"
            } else {
                "holds neither bins of a histogram nor a line `T: 0 (…) P:… I:… C:…`"
            };
            return Err(ImportError::whole(why));
        }
        for thread in &mut threads {
            let number = thread.name.rsplit(' ').next().and_then(|n| n.parse().ok());
            let status = number.and_then(|number: u16| self.statuses.get(&number));
            thread.period_ns = status.and_then(|status| status.interval?.checked_mul(1_000));
            thread.period_ns = thread.period_ns.filter(|ns| *ns > 0);
            let priority = status
                .and_then(|status| status.priority)
                .filter(|own| *own <= 99);
            thread.priority = priority.map(|own| (own, self.round_robin));
        }
        let mut lacks = counted_lacks(&threads);
        if has_bins && !self.sums.contains_key(&Sum::Overflows) {
            lacks.push(Lack::OverflowCount);
        }
        if let Some(value) = self.break_value {
            lacks.push(stopped(&format!("a latency of {value}")));
        }
        Ok(Imported {
            tool: "cyclictest",
            measures: "wake-up latency",
            lacks,
            threads,
            ..Imported::default()
        })
    }
}

fn thread(number: u16, found: Histogram) -> Thread {
    Thread::new(format!("thread {number}"), None, Values::Histogram(found))
}

fn second(number: usize) -> ImportError {
    ImportError::at(number, "a second histogram begins: import each separately")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMED: &str = include_str!("../../tests/fixtures/cyclictest-summed.txt");
    const REAL: &str = include_str!("../../tests/fixtures/cyclictest-h.txt");
    const STATUS: &str = include_str!("../../tests/fixtures/cyclictest-h-status.txt");
    const MICROSECOND: i64 = 1_000;

    fn read(text: &str) -> Result<Imported, ImportError> {
        super::read(text, MICROSECOND)
    }

    fn histogram(found: &Imported, thread: usize) -> &Histogram {
        match &found.threads[thread].values {
            Values::Histogram(found) => found,
            _ => panic!("{found:?}"),
        }
    }

    const fn us(us: i64) -> Option<i64> {
        Some(us * 1_000)
    }

    #[test]
    fn more_bins_than_a_run_holds_are_refused_at_their_line() {
        let line = |index: u32| format!("{index:06} {}\n", ["000001"; 128].join("\t"));
        let text: String = (0..10_000).map(line).collect();
        let error = read(&text).unwrap_err();
        assert!(error.why.contains("fewer threads"), "{error}");
        // 128 of these bins take some 2.5 kB.
        let line = error.line;
        assert!(
            line.is_some_and(|line| (4_000..8_000).contains(&line)),
            "{error}"
        );
    }

    #[test]
    fn the_column_that_sums_the_threads_up_is_no_thread() {
        let found = read(SUMMED).unwrap();
        // Its own last lines: 448 and 458 within, 906 together; 52 and 42 beyond, 94 together.
        let figures = [0, 1].map(|thread| histogram(&found, thread));
        let figures = figures.map(|all| (all.count(), all.overflowed, all.max_ns));
        assert_eq!(figures, [(500, 52, us(1_525)), (500, 42, us(1_913))]);
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
        let second = histogram(&found, 1);
        assert_eq!((second.min_ns, second.bins[0]), (Some(9), (9, 9, 1)));
    }

    #[test]
    fn a_real_file_gives_the_tools_own_figures() {
        let found = read(REAL).unwrap();
        assert_eq!(found.threads.len(), 2);
        let second = histogram(&found, 1);
        // Its own last lines: 2967 within, 33 beyond 60 µs, 9 to 1313 µs.
        assert_eq!((second.count(), second.overflowed), (3000, 33));
        assert_eq!((second.min_ns, second.max_ns), (us(9), us(1_313)));
        assert_eq!(second.range_end_ns, us(60));
        assert_eq!(second.bins[0], (9_000, 9_999, 1));
        assert_eq!(found.threads[1].period_ns, None);
    }

    #[test]
    fn status_blocks_are_passed_over_and_tell_period_and_priority() {
        let found = read(STATUS).unwrap();
        assert_eq!(histogram(&found, 0).count(), 300);
        for thread in &found.threads {
            assert_eq!(thread.period_ns, Some(500_000));
            assert_eq!(thread.priority, Some((80, false)));
        }
    }

    const WITHOUT_TOTAL: &str = "# Histogram\n000002 000010\t000008\n000017 000001\t000000\n\
        # Min Latencies: 00002 00002\n# Avg Latencies: 00003 00002\n\
        # Max Latencies: 00451 00002\n# Histogram Overflows: 00001 00000\n";

    #[test]
    fn newer_versions_leave_the_total_and_empty_bins_out() {
        let found = read(WITHOUT_TOTAL).unwrap();
        let counts = [0, 1].map(|thread| histogram(&found, thread).count());
        assert_eq!(counts, [12, 8]);
        // 17 is a bin of the first thread, and so within the range of both.
        assert_eq!(histogram(&found, 1).range_end_ns, us(18));
        assert!(found.lacks.contains(&Lack::OverflowedValues));
    }

    #[test]
    fn bins_alone_and_sums_alone_are_read_with_what_they_lack() {
        let bins = |line: &&str| !line.starts_with('#');
        let keep = |which: &dyn Fn(&&str) -> bool| -> String {
            let lines = WITHOUT_TOTAL.lines().filter(which);
            lines.map(|line| format!("{line}\n")).collect()
        };
        let found = read(&keep(&bins)).unwrap();
        assert_eq!(histogram(&found, 0).count(), 11);
        assert!(found.lacks.contains(&Lack::OverflowCount));
        let sums = SUMMED.lines().filter(|line| line.starts_with('#'));
        let sums: String = sums.map(|line| format!("{line}\n")).collect();
        let found = read(&sums).unwrap();
        assert_eq!(found.threads.len(), 2);
        let first = histogram(&found, 0);
        assert_eq!((first.count(), first.max_ns), (500, us(1_525)));
        assert!(first.bins.is_empty() && found.lacks.contains(&Lack::Quantiles));
    }

    #[test]
    fn status_lines_alone_are_a_summary_of_each_thread() {
        let text = "# /dev/cpu_dma_latency set to 0us\n\
            T: 0 ( 1412) P:90 I:1000 C: 100000 Min:      3 Act:    5 Avg:    5 Max:      61\n\
            T: 1 ( 1413) P:90 I:1500 C:  66670 Min:      3 Act:    4 Avg:    5 Max:      48\n\
            T: 2 (    0) P:90 I:2000 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0\n";
        let found = read(text).unwrap();
        // A thread that never ran has no figures.
        assert_eq!(found.threads.len(), 2);
        assert_eq!(found.threads[1].period_ns, Some(1_500_000));
        let second = histogram(&found, 1);
        assert_eq!((second.count(), second.max_ns), (66_670, us(48)));
        assert!(found.lacks.contains(&Lack::Quantiles));
    }

    #[test]
    fn extremes_that_contradict_the_bins_are_refused_with_their_line() {
        let refused = |from: &str, to: &str| {
            let changed = WITHOUT_TOTAL.replacen(from, to, 1);
            assert_ne!(changed, WITHOUT_TOTAL);
            read(&changed).unwrap_err().to_string()
        };
        let min = refused("# Min Latencies: 00002", "# Min Latencies: 00300");
        assert!(
            min.starts_with("4: the smallest value is 300 µs, and"),
            "{min}"
        );
        let max = refused("# Max Latencies: 00451", "# Max Latencies: 00005");
        assert!(
            max.starts_with("6: the largest value is 5 µs, and"),
            "{max}"
        );
        let beyond = refused("00451 00002", "00451 00020");
        assert!(
            beyond.starts_with("6: the largest value is 20 µs"),
            "{beyond}"
        );
    }

    #[test]
    fn what_is_cut_or_changed_is_named_with_its_line() {
        let cut: String = REAL
            .lines()
            .take(40)
            .map(|line| format!("{line}\n"))
            .collect();
        let error = read(&cut).unwrap_err();
        assert_eq!(error.line, Some(40));
        assert!(error.why.contains("truncated"), "{error}");
        let changed = REAL.replacen("000012 000110", "000012 000111", 1);
        let error = read(&changed).unwrap_err();
        assert!(error.why.contains("add up to [2982, 2967]"), "{error}");
        let odd = REAL.replacen("000012 000110", "000012 many", 1);
        let error = read(&odd).unwrap_err();
        assert_eq!(error.to_string(), "15: `many` is not a count");
        let odd = REAL.replacen("000012 000110", "x00012 000110", 1);
        let error = read(&odd).unwrap_err().to_string();
        assert!(error.starts_with("15: `x00012 000110"), "{error}");
        let twice = format!("{REAL}{REAL}");
        assert!(read(&twice).unwrap_err().why.contains("second histogram"));
        assert!(read("").unwrap_err().why.contains("holds neither"));
        let stopped = format!("{REAL}# Break value: 37\n");
        let lacks = read(&stopped).unwrap().lacks;
        assert!(
            lacks.iter().any(|lack| lack.text().contains("stopped")),
            "{lacks:?}"
        );
    }
}
