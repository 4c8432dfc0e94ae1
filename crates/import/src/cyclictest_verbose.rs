//! `cyclictest -v`: a line `thread: cycle: latency` for each cycle.
//!
//! After a cycle that woke more than a period late, cyclictest goes on at the next due time in the
//! future (`while (now > next) next += interval`) and does not count what it skipped. With the
//! period known, a latency of k periods and more tells that k due times were skipped.

use crate::form::{Fit, Reader};
use crate::histogram_lines::{nanoseconds, whole};
use crate::{Form, ImportError, Imported, MOST_VALUES, Samples, Thread, Use, Values};
use std::collections::BTreeMap;
use wakepath_timeline::Lack;

pub(crate) const FORM: Form = Form {
    word: "cyclictest-verbose",
    written_by: "cyclictest -v",
    uses: &[Use::Nanoseconds],
    reader: Reader::Text(fits, |text, asked| {
        read(text, asked.period_ns, asked.unit_ns())
    }),
};

fn fits(text: &str) -> Fit {
    let is_cycle = |line: &str| {
        let mut parts = line.split(':').map(str::trim);
        let mut number = || parts.next().is_some_and(|part| part.parse::<u64>().is_ok());
        number() && number() && number() && parts.next().is_none()
    };
    Fit::certain_if(text.lines().any(is_cycle))
}

struct Growing {
    samples: Samples,
    next: u64,
    counted: u64,
}

fn read(text: &str, period_ns: Option<u64>, unit_ns: i64) -> Result<Imported, ImportError> {
    let mut threads: BTreeMap<u16, Growing> = BTreeMap::new();
    let mut told: Option<u64> = None;
    let mut priority = None;
    // The status lines that tell the interval may come last.
    for (number, line) in (1..)
        .zip(text.lines())
        .filter(|(_, line)| line.starts_with("T:"))
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        let interval = after(&words, "I:").and_then(|word| word.parse::<u64>().ok());
        if let (Some(known), Some(other)) = (told, interval)
            && known != other
        {
            let why = format!(
                "threads of {known} and {other} µs can't share a run: `cyclictest -d0` gives all \
                 threads one interval"
            );
            return Err(ImportError::at(number, why));
        }
        told = interval.or(told);
        priority = after(&words, "P:")
            .and_then(|word| word.parse::<u8>().ok())
            .or(priority);
    }
    let told_ns = told
        .filter(|&us| us > 0)
        .and_then(|us| us.checked_mul(1_000));
    let period_ns = period_ns.or(told_ns).ok_or_else(|| {
        ImportError::whole("it does not say the interval (no line `T: … I:1000 …`): give --period")
    })?;
    for (number, line) in (1..).zip(text.lines()) {
        let spoken = ["#", "T:", "Thread ", "Max CPUs", "Online CPUs"];
        if line.trim().is_empty() || spoken.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let mut parts = line.split(':').map(str::trim);
        let (Some(thread), Some(cycle), Some(latency), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            let why = "not `thread: cycle: latency`, as `cyclictest -v` writes";
            return Err(ImportError::at(number, why));
        };
        let thread: u16 = whole(number, thread)?;
        let cycle: u64 = whole(number, cycle)?;
        let latency_ns = nanoseconds(number, whole(number, latency)?, unit_ns)?;
        take(
            threads
                .entry(thread)
                .or_insert_with(|| Growing::new(period_ns)),
            cycle,
            latency_ns,
        )
        .map_err(|wrong| ImportError::at(number, wrong.to_string()))?;
    }
    if threads.is_empty() {
        return Err(ImportError::whole("no line `thread: cycle: latency` in it"));
    }
    let threads = threads.into_iter().map(|(number, growing)| {
        Thread::new(
            format!("thread {number}"),
            None,
            Values::Samples(growing.samples),
        )
    });
    Ok(Imported {
        tool: "cyclictest",
        period_ns: Some(period_ns),
        priority: priority
            .filter(|p| *p <= 99)
            .map(|priority| (priority, false)),
        measures: "wake-up latency",
        lacks: vec![
            Lack::SkippedPeriodsInferred,
            Lack::DueTimes,
            Lack::ExecutionTimes,
            Lack::WarmUp,
            Lack::EffectivePolicy,
            Lack::Machine,
        ],
        threads: threads.collect(),
        ..Imported::default()
    })
}

impl Growing {
    fn new(period_ns: u64) -> Self {
        Self {
            samples: Samples {
                period_ns,
                ..Samples::default()
            },
            next: 0,
            counted: 0,
        }
    }
}

/// A cycle that can't come here.
#[derive(Debug, thiserror::Error)]
enum WrongCycle {
    #[error("cycle {cycle} comes after cycle {counted}")]
    OutOfOrder { cycle: u64, counted: u64 },
    #[error("more due times than any run has")]
    TooMany,
}

fn take(growing: &mut Growing, cycle: u64, latency_ns: i64) -> Result<(), WrongCycle> {
    // Its own numbering has no gap unless its ring overflowed before it was printed.
    let missing = cycle
        .checked_sub(growing.counted)
        .ok_or(WrongCycle::OutOfOrder {
            cycle,
            counted: growing.counted,
        })?;
    growing.samples.lost = growing.samples.lost.saturating_add(missing);
    growing.counted = cycle.saturating_add(1);
    let due = growing.next.saturating_add(missing);
    let skipped = latency_ns.unsigned_abs() / growing.samples.period_ns;
    growing.samples.cycles.push((due, latency_ns));
    growing.next = due.saturating_add(1).saturating_add(skipped);
    match growing.next > MOST_VALUES {
        true => Err(WrongCycle::TooMany),
        false => Ok(()),
    }
}

/// The rest of the word that begins so, or the word after it.
fn after<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    let place = words.iter().position(|word| word.starts_with(name))?;
    match words[place].strip_prefix(name)? {
        "" => words.get(place + 1).copied(),
        rest => Some(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, period_ns: Option<u64>) -> Result<Imported, ImportError> {
        super::read(text, period_ns, 1_000)
    }

    const REAL: &str = include_str!("../tests/fixtures/cyclictest-v.txt");

    fn samples(found: &Imported) -> &Samples {
        match &found.threads[0].values {
            Values::Samples(samples) => samples,
            _ => panic!("{found:?}"),
        }
    }

    #[test]
    fn a_real_file_gives_each_cycle_and_the_interval() {
        let found = read(REAL, None).unwrap();
        assert_eq!(
            (found.period_ns, found.priority),
            (Some(1_000_000), Some((80, false)))
        );
        let samples = samples(&found);
        assert_eq!((samples.cycles.len(), samples.lost), (300, 0));
        assert_eq!(samples.cycles[..2], [(0, 26_000), (1, 28_000)]);
        assert_eq!(
            samples.cycles.iter().map(|cycle| cycle.1).max(),
            Some(79_000)
        );
    }

    #[test]
    fn a_latency_of_some_periods_stands_for_the_periods_that_were_skipped() {
        let found = read("0: 0: 10\n0: 1: 2500\n0: 2: 20\n", Some(1_000_000)).unwrap();
        // Cycle 1 was due at 1 ms and woke at 3.5 ms: 2 and 3 were skipped.
        assert_eq!(
            samples(&found).cycles,
            [(0, 10_000), (1, 2_500_000), (4, 20_000)]
        );
    }

    #[test]
    fn samples_that_were_never_printed_are_counted() {
        let found = read("0: 0: 10\n0: 5: 10\n", Some(1_000_000)).unwrap();
        assert_eq!(samples(&found).lost, 4);
        let back = read("0: 5: 10\n0: 3: 10\n", Some(1_000_000)).unwrap_err();
        assert_eq!(back.to_string(), "2: cycle 3 comes after cycle 6");
    }

    #[test]
    fn threads_with_steps_between_their_intervals_are_refused() {
        let text = "T: 0 ( 1) P:80 I:1000 C: 2\nT: 1 ( 2) P:80 I:1500 C: 2\n0: 0: 10\n";
        let refused = read(text, None).unwrap_err();
        assert!(refused.why.contains("-d0"), "{refused}");
        assert_eq!(refused.line, Some(2));
    }

    #[test]
    fn without_an_interval_one_must_be_given() {
        assert!(
            read("0: 0: 10\n", None)
                .unwrap_err()
                .why
                .contains("--period")
        );
        let odd = read("0: 0: 10\nhello\n", Some(1_000_000)).unwrap_err();
        assert_eq!(odd.line, Some(2));
    }
}
