//! `rtla timerlat top`: a line of extremes for each CPU, drawn again and again; the last ones count.

use super::{duration_ns, remark, unit_ns};
use crate::form::{Fit, Reader};
use crate::histogram_lines::{nanoseconds, shortened, whole};
use crate::imported::counted_lacks;
use crate::status_lines::bare;
use crate::{Form, Histogram, ImportError, Imported, MOST_VALUES, Thread, Values};
use std::collections::BTreeMap;
use wakepath_timeline::Lack;

pub(crate) const FORM: Form = Form {
    word: "timerlat-top",
    written_by: "rtla timerlat top -q",
    uses: &[],
    reader: Reader::Text(fits, |text, _| read(text)),
};

fn fits(text: &str) -> Fit {
    let is_head = |line: &str| line.contains("Timer Latency (") && line.contains("Thread");
    Fit::certain_if(text.lines().any(is_head) || is_noise(text))
}

/// `rtla osnoise top` and `rtla hwnoise`.
fn is_noise(text: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| line.contains("Noise  % CPU Aval") || line.contains("Max Single"))
}

fn read(text: &str) -> Result<Imported, ImportError> {
    if is_noise(text) {
        let why = "a table of `rtla osnoise top` or `rtla hwnoise` has sums of noise for each period and no \
                   smallest value, nothing to make a distribution from: record with `rtla osnoise hist`";
        return Err(ImportError::whole(why));
    }
    let mut cpus: BTreeMap<u16, Histogram> = BTreeMap::new();
    let mut unit = None;
    let mut observed_ns = None;
    let mut remarks: Vec<Lack> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = bare(line);
        let line = line.trim().trim_start_matches("\x1bc");
        if line.contains("Timer Latency (") {
            unit = unit_ns(line);
            observed_ns = line.split('|').next().and_then(duration_ns);
            continue;
        }
        if let Some(lack) = remark(line) {
            if !remarks.contains(&lack) {
                remarks.push(lack);
            }
            continue;
        }
        let mut groups = line.split('|');
        let (Some(head), Some(_), Some(thread)) = (groups.next(), groups.next(), groups.next())
        else {
            continue;
        };
        let Some((cpu, count)) = head.split_once('#') else {
            continue;
        };
        // The line of all CPUs.
        let Ok(cpu) = cpu.trim().parse::<u16>() else {
            continue;
        };
        let unit_ns = unit.ok_or_else(|| {
            ImportError::at(
                number,
                "no line `Timer Latency (us)` with the unit before it",
            )
        })?;
        let count: u64 = whole(number, count.trim())?;
        if count > MOST_VALUES {
            return Err(ImportError::at(number, "more values than a run can have"));
        }
        let words: Vec<&str> = thread.split_whitespace().collect();
        let [_, min, mean, max] = words[..] else {
            let why = format!(
                "`{}` is not current, smallest, mean and largest latency of a thread",
                shortened(thread.trim())
            );
            return Err(ImportError::at(number, why));
        };
        if max == "-" {
            continue;
        }
        let ns = |word| nanoseconds(number, whole(number, word)?, unit_ns);
        let found = Histogram {
            mean_ns: Some(ns(mean)?),
            ..Histogram::summary(count, ns(min)?, ns(max)?)
        };
        found.agree(Some(number), Some(number))?;
        cpus.insert(cpu, found);
    }
    cpus.retain(|_, found| found.count() > 0);
    if cpus.is_empty() {
        return Err(ImportError::whole("no thread measured a cycle"));
    }
    let threads = cpus.into_iter().map(|(cpu, found)| Thread {
        observed_ns,
        ..Thread::new(format!("CPU {cpu}"), Some(cpu), Values::Histogram(found))
    });
    let threads: Vec<Thread> = threads.collect();
    let mut lacks = counted_lacks(&threads);
    lacks.push(Lack::Other(
        "the count of its threads' values: it is that of the timer's interrupts".into(),
    ));
    lacks.extend(remarks);
    Ok(Imported {
        tool: "rtla timerlat",
        measures: "timer latency of the thread",
        lacks,
        threads,
        ..Imported::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOP: &str = "\x1bc                                     Timer Latency\n\
          0 00:00:05   |          IRQ Timer Latency (us)        |         Thread Timer Latency (us)\n\
        CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max\n  \
          0 #4998      |        0         0         0        19 |        2         1         2        30\n  \
          1 #5001      |        0         0         0        23 |        2         1         3       310\n\
        ---------------|----------------------------------------|---------------------------------------\n\
        ALL #9999   e0 |                  0         0        23 |                  1         2       310\n";

    #[test]
    fn the_last_table_gives_each_threads_extremes() {
        let earlier = TOP.replace("#5001", "#11").replace("310", "300");
        let found = read(&format!("{earlier}{TOP}3 (0.03%) events missed, results\n")).unwrap();
        assert_eq!(found.threads.len(), 2);
        let Values::Histogram(second) = &found.threads[1].values else {
            panic!("{found:?}");
        };
        assert_eq!((second.count(), second.max_ns), (5_001, Some(310_000)));
        assert_eq!((second.min_ns, second.mean_ns), (Some(1_000), Some(3_000)));
        assert_eq!(found.threads[0].observed_ns, Some(5_000_000_000));
        assert!(found.lacks.contains(&Lack::Quantiles));
        assert!(
            found
                .lacks
                .iter()
                .any(|lack| lack.text().contains("rtla missed"))
        );
    }

    #[test]
    fn a_table_of_noise_says_what_to_record() {
        let noise = "CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single\n";
        assert_eq!(fits(noise), Fit::Certain);
        assert!(read(noise).unwrap_err().why.contains("rtla osnoise hist"));
        let odd = TOP.replace("        2         1         3       310", "        2");
        assert_eq!(read(&odd).unwrap_err().line, Some(5));
    }
}
