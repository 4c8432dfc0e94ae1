//! Xenomai's `latency` and EVL's `latmus`: `RTD|` lines of one second each, a sum `RTS|`, and with
//! `latency -h` a histogram of `HSD|` lines.

use crate::form::{Fit, Reader};
use crate::histogram_lines::{shortened, whole};
use crate::imported::counted_lacks;
use crate::status_lines::bare;
use crate::{Form, Histogram, ImportError, Imported, MOST_VALUES, Thread, Values};
use wakepath_timeline::Lack;

pub(crate) const FORM: Form = Form {
    word: "xenomai-latency",
    written_by: "latency -T 60 -h",
    uses: &[],
    reader: Reader::Text(fits, |text, _| read(text)),
};

fn fits(text: &str) -> Fit {
    let starts = |line: &str| bare(line).trim_start().starts_with("RT");
    let is_it = |line: &str| {
        starts(line)
            && ["RTH|", "RTD|", "RTS|"]
                .iter()
                .any(|head| line.contains(head))
    };
    Fit::certain_if(text.lines().any(is_it))
}

#[derive(Default)]
struct Found {
    period_us: Option<u64>,
    is_evl: bool,
    cpu: Option<u16>,
    /// Seconds with a line of their own, and the sum of their means in microseconds.
    seconds: u64,
    means: f64,
    /// Smallest, mean and largest in microseconds, with their line.
    sum: Option<(usize, [f64; 3])>,
    last: Option<(usize, [f64; 2])>,
    sum_seconds: Option<u64>,
    overruns: u64,
    switches: u64,
    bins: Vec<(i64, u64)>,
}

fn read(text: &str) -> Result<Imported, ImportError> {
    let mut found = Found::default();
    for (number, line) in (1..).zip(text.lines()) {
        let line = bare(line);
        // An interrupt's `^C` may stand before a line.
        let line = line.trim().trim_start_matches("^C");
        found.line(number, line)?;
    }
    found.imported()
}

fn numbers<const N: usize>(number: usize, cells: &[&str]) -> Result<[f64; N], ImportError> {
    let mut all = [0.0; N];
    for (value, at) in all.iter_mut().zip(0..) {
        let cell = cells.get::<usize>(at).map_or("", |cell| cell.trim());
        let parsed = cell.parse::<f64>().ok().filter(|us| us.abs() < 1e12);
        let wrong = || ImportError::at(number, format!("`{}` is not a latency", shortened(cell)));
        *value = parsed.ok_or_else(wrong)?;
    }
    Ok(all)
}

impl Found {
    fn line(&mut self, number: usize, line: &str) -> Result<(), ImportError> {
        let Some((head, rest)) = line.split_once('|') else {
            let period = line.strip_prefix("== Sampling period:");
            if let Some(us) = period.and_then(|told| told.split_whitespace().next()) {
                self.period_us = us.parse().ok();
            }
            return Ok(());
        };
        let cells: Vec<&str> = rest.split('|').collect();
        match head {
            "RTT" => {
                let words: Vec<&str> = rest.split([' ', ',', '(', ')']).collect();
                let before = words
                    .windows(3)
                    .find(|three| three[1] == "us" && three[2] == "period");
                self.period_us = before
                    .and_then(|three| three[0].parse().ok())
                    .or(self.period_us);
                let cpu = words.iter().find_map(|word| word.strip_prefix("CPU"));
                self.is_evl |= cpu.is_some();
                let cpu = cpu.and_then(|cpu| cpu.split('-').next()?.parse().ok());
                self.cpu = cpu.or(self.cpu);
            }
            "RTD" if self.sum.is_some() => {
                let why = "a second run begins: import each separately";
                return Err(ImportError::at(number, why));
            }
            "RTD" => {
                let [min, mean, max, overruns] = numbers(number, &cells)?;
                // Older versions have no column of mode switches.
                let extremes = match cells.len() {
                    7.. => &cells[5..],
                    _ => cells.get(4..).unwrap_or(&[]),
                };
                let [best, worst] = numbers(number, extremes)?;
                if !(best <= min && min <= mean + 0.001 && mean <= max + 0.001 && max <= worst) {
                    let why = "its smallest, mean and largest latency are inconsistent";
                    return Err(ImportError::at(number, why));
                }
                self.seconds += 1;
                self.means += mean;
                self.last = Some((number, [best, worst]));
                self.overruns = overruns.max(0.0) as u64;
            }
            "RTS" => {
                let [min, mean, max, overruns] = numbers(number, &cells)?;
                self.sum = Some((number, [min, mean, max]));
                self.overruns = overruns.max(0.0) as u64;
                if let [_, _, _, _, switches, times] = cells[..] {
                    self.switches = whole(number, switches.trim())?;
                    let told = times.split('/').next().unwrap_or("");
                    let mut parts = told.trim().split(':').map(|part| part.parse::<u64>().ok());
                    let mut next = || parts.next().flatten();
                    self.sum_seconds = next().zip(next()).zip(next()).and_then(|((h, m), s)| {
                        h.checked_mul(3600)?
                            .checked_add(m.checked_mul(60)?)?
                            .checked_add(s)
                    });
                }
            }
            // Of all values; `min` and `max` are of the seconds' extremes.
            "HSD" if cells.first().is_some_and(|kind| kind.trim() == "avg") => {
                let range = cells.get(1).and_then(|range| range.split('-').next());
                let index: i64 = whole(number, range.unwrap_or("").trim())?;
                let count: u64 = whole(number, cells.get(2).unwrap_or(&"").trim())?;
                let rises = self.bins.last().is_none_or(|last| last.0 < index);
                if !(0..1_000_000).contains(&index) || !rises || count > MOST_VALUES {
                    return Err(ImportError::at(number, "not a valid bin here"));
                }
                self.bins.push((index, count));
            }
            _ => {}
        }
        Ok(())
    }

    fn imported(self) -> Result<Imported, ImportError> {
        let mean = match self.seconds {
            0 => None,
            seconds => Some(self.means / seconds as f64),
        };
        let (line, min, mean, max) = match (self.sum, self.last) {
            (Some((line, [min, mean, max])), _) => (line, min, Some(mean), max),
            (None, Some((line, [min, max]))) => (line, min, mean, max),
            (None, None) => {
                let why = "has no line `RTD|` or `RTS|` with latencies: no second was measured";
                return Err(ImportError::whole(why));
            }
        };
        let ns = |us: f64| (us * 1e3).round() as i64;
        let period_us = self.period_us.filter(|us| (1..=1_000_000).contains(us));
        let counted: u64 = self
            .bins
            .iter()
            .fold(0, |sum, bin| sum.saturating_add(bin.1));
        let seconds = match self.seconds {
            0 => self.sum_seconds.unwrap_or(0),
            seconds => seconds,
        };
        let count = match (counted, period_us) {
            (1.., _) => counted,
            (0, Some(us)) => seconds.saturating_mul(1_000_000 / us),
            (0, None) => 0,
        };
        if count == 0 || count > MOST_VALUES {
            let why = "has no number of values: no second with a period was measured";
            return Err(ImportError::at(line, why));
        }
        let summary = Histogram {
            mean_ns: mean.map(ns),
            ..Histogram::summary(count, ns(min), ns(max))
        };
        summary.agree(Some(line), Some(line))?;
        let (found, has_bins) = match self.histogram(&summary) {
            Some(found) => (found, true),
            None => (summary, false),
        };
        let thread = Thread {
            period_ns: period_us.map(|us| us * 1_000),
            ..Thread::new("sampling", self.cpu, Values::Histogram(found))
        };
        let threads = vec![thread];
        let mut lacks = counted_lacks(&threads);
        // Its first second is left out by the tool.
        lacks.retain(|lack| *lack != Lack::WarmUp);
        let other = |text: String| Lack::Other(text);
        if counted == 0 {
            lacks.push(other(
                "the count of values: computed from the seconds and the period".into(),
            ));
        } else if !has_bins {
            lacks.push(other(
                "a histogram that its extremes fit: its cells are not a microsecond wide, or fold negative values".into(),
            ));
        }
        if self.overruns > 0 {
            lacks.push(other(format!("when its {} overruns were", self.overruns)));
        }
        if self.switches > 0 {
            let count = self.switches;
            lacks.push(other(format!(
                "when its {count} mode switches were, which may have made it late"
            )));
        }
        Ok(Imported {
            tool: if self.is_evl { "latmus" } else { "latency" },
            measures: "latency from the timer's due time to the thread",
            lacks,
            threads,
            ..Imported::default()
        })
    }

    /// The bins, where a cell is a microsecond: the extremes tell. The last cell holds what is beyond.
    fn histogram(&self, summary: &Histogram) -> Option<Histogram> {
        let (min, max) = (summary.min_ns?, summary.max_ns?);
        let bins = self.bins.iter().filter(|bin| bin.1 > 0);
        let mut bins: Vec<(i64, i64, u64)> = bins
            .map(|&(index, count)| (index * 1_000, index * 1_000 + 999, count))
            .collect();
        let (first, last) = (*bins.first()?, *bins.last()?);
        if !(first.0..=first.1).contains(&min) || max < last.0 {
            return None;
        }
        let mut found = Histogram {
            mean_ns: summary.mean_ns,
            min_ns: Some(min),
            max_ns: Some(max),
            range_end_ns: Some(last.0),
            ..Histogram::default()
        };
        if max > last.1 {
            bins.pop();
            found.overflowed = last.2;
        }
        found.bins = bins;
        found.agree(None, None).is_ok().then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "== Sampling period: 100 us\n== Test mode: periodic user-mode task\n\
        == All results in microseconds\nwarming up...\n\
        RTT|  00:00:01  (periodic user-mode task, 100 us period, priority 99)\n\
        RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst\n";
    const LINES: &str = "RTD|      0.874|      1.708|     18.333|       0|     0|      0.874|     18.333\n\
        RTD|      0.901|      1.500|      9.120|       2|     0|      0.874|     18.333\n";
    const SUM: &str = "---|-----------|-----------|-----------|--------|------|-------------------------\n\
        RTS|      0.874|      1.604|     18.333|       2|     0|    00:00:02/00:00:02\n";
    const BINS: &str = "---|--param|----range-|--samples\nHSD|    min|   0 -  1 |        2\n\
        ---|--param|----range-|--samples\nHSD|    avg|   0 -  1 |      500\n\
        HSD|    avg|   1 -  2 |    19000\nHSD|    avg|   9 - 10 |      500\n";

    fn histogram(found: &Imported) -> &Histogram {
        match &found.threads[0].values {
            Values::Histogram(found) => found,
            _ => panic!("{found:?}"),
        }
    }

    #[test]
    fn seconds_and_their_sum_are_a_summary() {
        for text in [format!("{HEAD}{LINES}^C{SUM}"), format!("{HEAD}{LINES}")] {
            let found = read(&text).unwrap();
            let all = histogram(&found);
            assert_eq!((all.count(), all.min_ns), (20_000, Some(874)));
            assert_eq!((all.max_ns, all.mean_ns), (Some(18_333), Some(1_604)));
            assert_eq!(found.threads[0].period_ns, Some(100_000));
            let told = |words: &str| found.lacks.iter().any(|lack| lack.text().contains(words));
            assert!(
                told("2 overruns") && told("computed from"),
                "{:?}",
                found.lacks
            );
        }
        let quiet = read(&format!("{HEAD}{SUM}")).unwrap();
        assert_eq!(histogram(&quiet).count(), 20_000);
    }

    #[test]
    fn a_histogram_whose_cells_are_a_microsecond_has_quantiles() {
        let found = read(&format!("{HEAD}{LINES}{BINS}{SUM}")).unwrap();
        let all = histogram(&found);
        // The last cell holds what is beyond, and 18.333 µs is.
        assert_eq!((all.count(), all.overflowed), (20_000, 500));
        assert_eq!(all.bins[1], (1_000, 1_999, 19_000));
        let wide = SUM.replace("0.874", "2.874");
        let found = read(&format!("{HEAD}{BINS}{wide}")).unwrap();
        assert!(found.lacks.contains(&Lack::Quantiles));
    }

    #[test]
    fn evl_tells_the_cpu_and_older_versions_no_switches() {
        let evl = "RTT|  00:00:01  (user, 1000 us period, priority 98, CPU1-noisol)\n";
        let old = "RTD|      1.0|      2.0|      3.0|       0|      1.0|      3.0\n";
        let found = read(&format!("{evl}{old}")).unwrap();
        assert_eq!((found.tool, found.threads[0].cpu), ("latmus", Some(1)));
        assert_eq!(histogram(&found).count(), 1_000);
        let odd = LINES.replacen("18.333", "1.0", 1);
        assert!(
            read(&format!("{HEAD}{odd}"))
                .unwrap_err()
                .why
                .contains("inconsistent")
        );
        assert!(read(HEAD).unwrap_err().why.contains("no second"));
    }
}
