//! oslat of rt-tests: a line for each microsecond, a count for each CPU, of how long it took from one
//! reading of the clock to the next. A value is rounded up; the last line holds what is beyond, too.

use crate::form::{Fit, Reader};
use crate::histogram_lines::{nanoseconds, shortened, whole};
use crate::imported::undue_lacks;
use crate::{Form, Histogram, ImportError, Imported, MOST_VALUES, Measured, Thread, Values};
use wakepath_timeline::count::counted;

pub(crate) const FORM: Form = Form {
    word: "oslat",
    written_by: "oslat -D 60",
    uses: &[],
    reader: Reader::Text(fits, |text, _| read(text)),
};

pub(crate) const MEASURES: &str =
    "noise: how long it took from one reading of the clock to the next";

fn fits(text: &str) -> Fit {
    let mut lines = text.lines();
    Fit::certain_if(
        lines.any(|line| line.starts_with("oslat V ") || line.contains("(including overflows)")),
    )
}

/// Bins of values from just above the microsecond before up to their own; the last holds all beyond.
pub(crate) fn rounded_up(found: &mut Histogram, last_us: Option<i64>) {
    for bin in &mut found.bins {
        (bin.0, bin.1) = (bin.0 - 999, bin.0);
    }
    if let (Some(last), Some(us)) = (found.bins.last().copied(), last_us)
        && last.1 == us * 1_000
    {
        found.bins.pop();
        found.overflowed = last.2;
        found.range_end_ns = Some(last.0);
    }
}

fn read(text: &str) -> Result<Imported, ImportError> {
    let mut found: Vec<Histogram> = Vec::new();
    let mut cpus: Option<Vec<u16>> = None;
    let mut version = None;
    let mut seconds: Vec<f64> = Vec::new();
    let (mut last_us, mut has_overflows, mut last) = (0_i64, false, 1);
    for (number, line) in (1..).zip(text.lines()) {
        last = number;
        if let Some(told) = line.strip_prefix("oslat V ") {
            version = Some(shortened(told.trim()));
        }
        let Some((label, rest)) = line.split_once(':') else {
            continue;
        };
        let label = label.trim();
        let words = || {
            rest.split_whitespace()
                .take_while(|word| !word.starts_with('('))
        };
        let wrong_count = |count: usize, cpus: usize| {
            let numbers = counted(count as u64, "number", "numbers");
            let cpus = counted(cpus as u64, "CPU", "CPUs");
            ImportError::at(number, format!("{numbers} for {cpus}"))
        };
        if label == "Core" {
            if cpus.is_some() {
                let why = "a second histogram begins: import each separately";
                return Err(ImportError::at(number, why));
            }
            let all = words().map(|word| whole(number, word));
            let all = all.collect::<Result<Vec<u16>, _>>()?;
            found = vec![Histogram::default(); all.len()];
            cpus = Some(all);
            continue;
        }
        if cpus.is_none() {
            continue;
        }
        let fits = || {
            if words().count() == found.len() {
                Ok(())
            } else {
                Err(wrong_count(words().count(), found.len()))
            }
        };
        if let Some(us) = label.strip_suffix("(us)") {
            let us: i64 = whole(number, us.trim())?;
            fits()?;
            if us <= last_us || us > 1_000_000_000 {
                let why = format!("{us} µs does not come after {last_us} µs");
                return Err(ImportError::at(number, why));
            }
            last_us = us;
            has_overflows |= rest.contains("(including overflows)");
            for (histogram, word) in found.iter_mut().zip(words()) {
                let count: u64 = whole(number, word)?;
                if count > 0 {
                    histogram.bins.push((us * 1_000, us * 1_000, count));
                }
                if histogram.count() > MOST_VALUES {
                    return Err(ImportError::at(number, "more values than a run can have"));
                }
            }
            continue;
        }
        match label {
            "Minimum" | "Maximum" => {
                fits()?;
                for (histogram, word) in found.iter_mut().zip(words()) {
                    let ns = nanoseconds(number, whole(number, word)?, 1_000)?;
                    match label {
                        "Minimum" => histogram.min_ns = Some(ns),
                        _ => histogram.max_ns = Some(ns),
                    }
                }
            }
            "Average" | "Duration" => {
                fits()?;
                for (histogram, word) in found.iter_mut().zip(words()) {
                    let value: f64 = whole(number, word)?;
                    if !(0.0..1e9).contains(&value) {
                        return Err(ImportError::at(number, "no time of a run"));
                    }
                    match label {
                        "Average" => histogram.mean_ns = Some((value * 1e3).round() as i64),
                        _ => seconds.push(value),
                    }
                }
            }
            _ => {}
        }
    }
    let Some(cpus) = cpus else {
        return Err(ImportError::at(
            last,
            "has no line `Core:` with the CPUs: no run ended",
        ));
    };
    if !has_overflows || found.iter().any(|one| one.max_ns.is_none()) {
        let why = "the file ends before `Maximum:`: it is truncated";
        return Err(ImportError::at(last, why));
    }
    let mut threads = Vec::new();
    for ((at, mut histogram), cpu) in (0..).zip(found).zip(cpus) {
        rounded_up(&mut histogram, Some(last_us));
        histogram.agree(None, None)?;
        if histogram.count() > 0 {
            let observed = seconds.get::<usize>(at).map(|s| (s * 1e9) as u64);
            threads.push(Thread {
                observed_ns: observed,
                ..Thread::new(
                    format!("CPU {cpu}"),
                    Some(cpu),
                    Values::Histogram(histogram),
                )
            });
        }
    }
    if threads.is_empty() {
        return Err(ImportError::whole("no CPU has counted a value"));
    }
    Ok(Imported {
        tool: "oslat",
        tool_version: version,
        measures: MEASURES,
        measured: Measured::Noise,
        lacks: undue_lacks(&threads),
        threads,
        ..Imported::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAL: &str = include_str!("../tests/fixtures/oslat.txt");

    #[test]
    fn a_real_file_gives_each_cpu_its_noise_and_its_time() {
        let found = read(REAL).unwrap();
        assert_eq!(found.threads.len(), 2);
        assert_eq!(found.measured, Measured::Noise);
        let Values::Histogram(first) = &found.threads[0].values else {
            panic!("{found:?}");
        };
        assert_eq!(first.bins[0], (1, 1_000, 7_083_048));
        // `-b 8`: the line of 8 µs holds what is beyond, too.
        assert_eq!((first.overflowed, first.range_end_ns), (74, Some(7_001)));
        assert_eq!(first.max_ns, Some(64_033_000));
        assert_eq!(found.threads[1].observed_ns, Some(2_033_000_000));
    }

    #[test]
    fn what_is_cut_or_changed_is_named() {
        let cut: String = REAL
            .lines()
            .take(20)
            .map(|line| format!("{line}\n"))
            .collect();
        assert!(read(&cut).unwrap_err().why.contains("truncated"));
        let odd = REAL.replacen("161 111", "161", 1);
        assert!(read(&odd).unwrap_err().why.contains("1 number for 2 CPUs"));
        let odd = REAL.replacen("64033", "3", 1);
        assert!(read(&odd).unwrap_err().why.contains("largest value"));
        assert!(
            read("oslat V 2.40\n")
                .unwrap_err()
                .why
                .contains("no run ended")
        );
    }
}
