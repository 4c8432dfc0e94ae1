//! jitterdebugger's `results.json`, a histogram for each CPU, and its `samples.raw`, 28 bytes for
//! each sample: CPU (4), second (8) and nanosecond (8) of the wake-up, latency in µs (8).
//!
//! It serves missed due times late, one after the other, so none is skipped. Its histogram ends at 1 ms:
//! values beyond it are known only as a difference of counts.

use crate::form::{Fit, Reader};
use crate::imported::{counted_lacks, share_range};
use crate::json::{JsonThread, SystemInfo, in_order, parse};
use crate::{Form, Histogram, ImportError, Imported, MOST_VALUES, Samples, Thread, Values};
use serde::Deserialize;
use std::collections::BTreeMap;
use wakepath_timeline::Lack;

#[derive(Deserialize)]
struct File {
    version: u32,
    sysinfo: SystemInfo,
    cpu: BTreeMap<String, JsonThread>,
}

pub(crate) const RESULTS: Form = Form {
    word: "jitterdebugger",
    written_by: "jitterdebugger -o DIR",
    uses: &[],
    reader: Reader::Text(fits_results, |text, _| results(text)),
};

pub(crate) const SAMPLES: Form = Form {
    word: "jitterdebugger-raw",
    written_by: "jitterdebugger -o DIR -s",
    uses: &[],
    reader: Reader::Bytes(fits_samples, |bytes, asked| samples(bytes, asked.period_ns)),
};

fn fits_results(text: &str) -> Fit {
    let has = |key: &str| text.contains(key);
    let is_json = text.trim_start().starts_with('{');
    Fit::certain_if(is_json && has("\"sysinfo\"") && has("\"cpu\"") && !has("\"file_version\""))
}

/// Samples have no mark of their own: their times follow each other on few CPUs.
fn fits_samples(bytes: &[u8]) -> Fit {
    let beginning = &bytes[..bytes.len().min(RECORD * 64) / RECORD * RECORD];
    if bytes.len().is_multiple_of(RECORD) && by_cpu(beginning).is_ok_and(|cpus| !cpus.is_empty()) {
        Fit::Possible
    } else {
        Fit::No
    }
}

fn results(text: &str) -> Result<Imported, ImportError> {
    let file: File = parse(text)?;
    if file.version != 3 {
        let why = format!("version {}; 3 is known", file.version);
        return Err(ImportError::whole(why));
    }
    let unit_ns = file
        .sysinfo
        .resolution_in_ns
        .filter(|ns| (1..=1_000_000).contains(ns));
    let unit_ns = unit_ns.unwrap_or(1_000);
    let mut threads = Vec::new();
    for (number, thread) in in_order(file.cpu)? {
        threads.push(Thread::new(
            format!("CPU {number}"),
            Some(number),
            Values::Histogram(agreed(thread.histogram(unit_ns)?)?),
        ));
    }
    share_range(&mut threads);
    // It serves due times that it missed late, and skips none.
    let mut lacks = counted_lacks(&threads);
    lacks.retain(|lack| *lack != Lack::SkippedPeriods);
    Ok(Imported {
        tool: "jitterdebugger",
        kernel: file.sysinfo.release,
        measures: "wake-up latency",
        lacks,
        threads,
        ..Imported::default()
    })
}

fn agreed(found: Histogram) -> Result<Histogram, ImportError> {
    found.agree(None, None)?;
    Ok(found)
}

const RECORD: usize = 28;

fn samples(bytes: &[u8], period_ns: Option<u64>) -> Result<Imported, ImportError> {
    if bytes.is_empty() || !bytes.len().is_multiple_of(RECORD) {
        let why = format!(
            "{} bytes are not a whole number of samples of {RECORD} bytes: truncated, or not samples.raw",
            bytes.len()
        );
        return Err(ImportError::whole(why));
    }
    let cpus = by_cpu(bytes)?;
    let mut threads = Vec::new();
    let mut period = period_ns;
    for (cpu, samples) in cpus {
        let own = match period {
            Some(period) => period,
            None => period_of(&samples)?,
        };
        period = Some(own);
        threads.push(Thread::new(
            format!("CPU {cpu}"),
            u16::try_from(cpu).ok(),
            Values::Samples(on_a_grid(&samples, own)?),
        ));
    }
    Ok(Imported {
        tool: "jitterdebugger",
        measures: "wake-up latency",
        period_ns: period,
        lacks: vec![
            Lack::LastSamples,
            Lack::DueTimes,
            Lack::ExecutionTimes,
            Lack::WarmUp,
            Lack::EffectivePolicy,
            Lack::Machine,
        ],
        threads,
        ..Imported::default()
    })
}

/// Wake-up and latency in nanoseconds, by CPU.
fn by_cpu(bytes: &[u8]) -> Result<BTreeMap<u32, Vec<(i64, i64)>>, ImportError> {
    let mut cpus: BTreeMap<u32, Vec<(i64, i64)>> = BTreeMap::new();
    for (number, record) in bytes.chunks_exact(RECORD).enumerate() {
        let wide = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| record[at + i]));
        let cpu = u32::from_le_bytes(std::array::from_fn(|i| record[i]));
        let (second, nanosecond, us) = (wide(4), wide(12), wide(20));
        let wake = i64::try_from(second)
            .ok()
            .and_then(|s| s.checked_mul(1_000_000_000));
        let wake = wake.and_then(|ns| ns.checked_add(i64::try_from(nanosecond).ok()?));
        let latency = i64::try_from(us).ok().and_then(|us| us.checked_mul(1_000));
        match (wake, latency) {
            (Some(wake), Some(latency))
                if cpu <= u32::from(u16::MAX)
                    && nanosecond < 1_000_000_000
                    && latency <= wake
                    && wake < i64::MAX / 4 =>
            {
                cpus.entry(cpu).or_default().push((wake, latency));
            }
            _ => {
                let why = format!("sample {number} has an impossible CPU, time or latency");
                return Err(ImportError::whole(why));
            }
        }
    }
    Ok(cpus)
}

/// From the first to the last due time, which the wake-up and the latency give to a microsecond, by
/// their number; to whole microseconds.
fn period_of(samples: &[(i64, i64)]) -> Result<u64, ImportError> {
    let too_few = || ImportError::whole("too few samples to determine the period: give --period");
    let ([first, ..], [.., last]) = (samples, samples) else {
        return Err(too_few());
    };
    let span = (last.0 - last.1) - (first.0 - first.1);
    let between = samples.len() as i64 - 1;
    if between < 10 || span <= 0 {
        return Err(too_few());
    }
    let us = (span as f64 / between as f64 / 1e3).round();
    if us >= 1.0 {
        Ok(us as u64 * 1_000)
    } else {
        Err(too_few())
    }
}

/// Samples at due times start + k · period, with latencies exact to the wake-up's nanosecond: the
/// latest start with which none is below what the tool says.
fn on_a_grid(samples: &[(i64, i64)], period_ns: u64) -> Result<Samples, ImportError> {
    let refused = || ImportError::whole("the samples do not fit the period: give --period");
    let period = i64::try_from(period_ns)
        .ok()
        .filter(|ns| *ns > 0)
        .ok_or_else(refused)?;
    let due = |k: usize| (k as i64).checked_mul(period);
    let starts = samples
        .iter()
        .enumerate()
        .map(|(k, (wake, latency))| due(k).and_then(|due| (wake - latency).checked_sub(due)));
    let starts: Vec<i64> = starts.collect::<Option<_>>().ok_or_else(refused)?;
    let start = starts.iter().copied().min().ok_or_else(refused)?;
    let most = starts.iter().copied().max().ok_or_else(refused)?;
    // Truncation to a microsecond and a drifting clock explain a little; a wrong period does not.
    if most - start > period || samples.len() as u64 > MOST_VALUES {
        return Err(refused());
    }
    let cycles = samples.iter().enumerate().map(|(k, (wake, _))| {
        let due = start + due(k).unwrap_or(0);
        (k as u64, wake - due)
    });
    Ok(Samples {
        period_ns,
        cycles: cycles.collect(),
        lost: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULTS: &str = include_str!("../tests/fixtures/jitterdebugger-results.json");
    const RAW: &[u8] = include_bytes!("../tests/fixtures/jitterdebugger-samples.raw");

    #[test]
    fn a_real_results_file_gives_the_tools_own_figures() {
        let found = results(RESULTS).unwrap();
        assert_eq!(found.threads.len(), 2);
        let Values::Histogram(second) = &found.threads[1].values else {
            panic!("{found:?}");
        };
        assert_eq!((second.count(), second.max_ns), (2000, Some(14_967_000)));
        assert!(second.overflowed > 0, "{second:?}");
        assert!(second.bins.iter().all(|bin| bin.1 < 1_000_000));
    }

    #[test]
    fn real_raw_samples_lie_on_a_grid_of_a_millisecond() {
        let found = samples(RAW, None).unwrap();
        assert_eq!(found.period_ns, Some(1_000_000));
        let mut all = 0;
        for thread in &found.threads {
            let Values::Samples(samples) = &thread.values else {
                panic!("{thread:?}");
            };
            all += samples.cycles.len();
            assert!(samples.cycles.iter().all(|(_, latency)| *latency > 0));
        }
        // Of 1000 samples its last ones are missing from the file.
        assert_eq!(all, RAW.len() / RECORD);
        assert!(all < 1000, "{all}");
    }

    #[test]
    fn latencies_differ_from_the_tools_by_less_than_its_microsecond() {
        let found = samples(RAW, None).unwrap();
        let Values::Samples(first) = &found.threads[0].values else {
            panic!("{found:?}");
        };
        let of_cpu = RAW
            .chunks_exact(RECORD)
            .filter(|record| record[..4] == [0; 4]);
        for (record, (_, latency)) in of_cpu.zip(&first.cycles) {
            let us = i64::from(record[20]) + 256 * i64::from(record[21]);
            assert!((latency - us * 1_000).abs() < 3_000, "{latency} {us}");
        }
    }

    #[test]
    fn a_cut_file_and_a_wrong_period_are_refused() {
        assert!(
            samples(&RAW[..100], None)
                .unwrap_err()
                .why
                .contains("100 bytes")
        );
        assert!(samples(&[], None).is_err());
        assert!(
            samples(RAW, Some(2_000_000))
                .unwrap_err()
                .why
                .contains("--period")
        );
        assert!(
            samples(&RAW[..RECORD], None)
                .unwrap_err()
                .why
                .contains("too few")
        );
    }
}
