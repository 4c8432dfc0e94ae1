//! ptsematest, svsematest, pmqtest and sigwaittest of rt-tests: two lines for each pair of threads, of
//! which one wakes the other. Only `TO` identifies the tool: it is pmqtest's.

use crate::form::{Fit, Reader};
use crate::histogram_lines::{nanoseconds, whole};
use crate::imported::undue_lacks;
use crate::status_lines::bare;
use crate::{Form, Histogram, ImportError, Imported, MOST_VALUES, Measured, Thread, Values};
use std::collections::BTreeMap;

pub(crate) const FORM: Form = Form {
    word: "rt-tests-pairs",
    written_by: "ptsematest -q -l 10000",
    uses: &[],
    reader: Reader::Text(fits, |text, _| read(text)),
};

fn fits(text: &str) -> Fit {
    let is_figures = |line: &str| bare(line).contains(" -> #") && line.contains(", Min ");
    Fit::certain_if(text.lines().any(is_figures))
}

/// Data of a pair.
#[derive(Default)]
struct Pair {
    cycles: Option<u64>,
    cpu: Option<u16>,
    priority: Option<u8>,
    interval_us: Option<u64>,
    found: Option<(usize, [i64; 3])>,
}

fn read(text: &str) -> Result<Imported, ImportError> {
    let mut pairs: BTreeMap<u16, Pair> = BTreeMap::new();
    let mut has_timeouts = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = bare(line);
        let line = line.trim();
        let Some(rest) = line.strip_prefix('#') else {
            continue;
        };
        if let Some((sender, figures)) = rest.split_once(" -> #") {
            let sender: u16 = whole(number, sender)?;
            let value = |name: &str| {
                let mut parts = figures.split(',').map(str::trim);
                let found = parts.find_map(|part| part.strip_prefix(name));
                let missing = || ImportError::at(number, format!("`{name}` is missing"));
                nanoseconds(
                    number,
                    whole(number, found.ok_or_else(missing)?.trim())?,
                    1_000,
                )
            };
            if figures.contains("not yet ready") {
                continue;
            }
            let figures = [value("Min ")?, value("Avg ")?, value("Max ")?];
            let pair = pairs.entry(sender / 2).or_default();
            pair.found = Some((number, figures));
        } else if let Some((receiver, sender)) = rest.split_once(';') {
            let Some((receiver, own)) = receiver.split_once(':') else {
                continue;
            };
            has_timeouts |= sender.contains(", TO ");
            let pair = pairs
                .entry(whole::<u16>(number, receiver)? / 2)
                .or_default();
            let of = |part: &str, letter: &str| part.trim().strip_prefix(letter).map(str::to_owned);
            for part in own.split(',') {
                if let Some(cpu) = of(part, "CPU") {
                    pair.cpu = cpu.parse().ok();
                } else if let Some(priority) = of(part, "P") {
                    pair.priority = priority.parse().ok().filter(|own| *own <= 99);
                } else if let Some(interval) = of(part, "I").filter(|rest| !rest.starts_with('D')) {
                    pair.interval_us = interval.parse().ok();
                }
            }
            let cycles = sender.split(',').find_map(|part| of(part, "Cycles "));
            let cycles = cycles.map(|cycles| whole::<u64>(number, cycles.trim()));
            let cycles = cycles.transpose()?;
            if cycles < pair.cycles {
                let why = "fewer cycles than before: a second run begins, import each separately";
                return Err(ImportError::at(number, why));
            }
            pair.cycles = cycles;
        }
    }
    let mut threads = Vec::new();
    for (number, pair) in pairs {
        let (Some(cycles), Some((line, [min, mean, max]))) = (pair.cycles, pair.found) else {
            continue;
        };
        if cycles == 0 {
            continue;
        }
        if cycles > MOST_VALUES {
            return Err(ImportError::at(line, "more values than a run can have"));
        }
        let found = Histogram {
            mean_ns: Some(mean),
            ..Histogram::summary(cycles, min, max)
        };
        found.agree(Some(line), Some(line))?;
        threads.push(Thread {
            priority: pair.priority.map(|own| (own, false)),
            period_ns: pair
                .interval_us
                .and_then(|us| us.checked_mul(1_000))
                .filter(|ns| *ns > 0),
            ..Thread::new(format!("pair {number}"), pair.cpu, Values::Histogram(found))
        });
    }
    if threads.is_empty() {
        return Err(ImportError::whole(
            "no pair of threads has measured a cycle",
        ));
    }
    Ok(Imported {
        tool: if has_timeouts { "pmqtest" } else { "rt-tests" },
        measures: "time from one thread's wake-up of another to its arrival",
        measured: Measured::Handover,
        lacks: undue_lacks(&threads),
        threads,
        ..Imported::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_each_pair_count() {
        for (text, tool, figures) in [
            (
                include_str!("../tests/fixtures/ptsematest.txt"),
                "rt-tests",
                (200, Some(13_000), Some(64_000)),
            ),
            (
                include_str!("../tests/fixtures/pmqtest-q.txt"),
                "pmqtest",
                (200, Some(13_000), Some(263_000)),
            ),
        ] {
            let found = read(text).unwrap();
            assert_eq!((found.tool, found.measured), (tool, Measured::Handover));
            let only = &found.threads[0];
            let Values::Histogram(all) = &only.values else {
                panic!("{found:?}");
            };
            assert_eq!((all.count(), all.min_ns, all.max_ns), figures);
            assert_eq!((only.cpu, only.priority), (Some(0), Some((80, false))));
        }
        let twice = include_str!("../tests/fixtures/ptsematest.txt").repeat(2);
        assert!(read(&twice).unwrap_err().why.contains("second run"));
        assert!(read("# nothing\n").is_err());
    }
}
