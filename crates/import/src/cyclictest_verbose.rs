//! `cyclictest -v`: a line `thread: cycle: latency` for each cycle.
//!
//! After a cycle that woke more than a period late, cyclictest continues at the next due time in the future
//! (`while (now > next) next += interval`) and does not count skipped cycles. With the period known, a
//! latency of k periods and more means that k due times were skipped.

use crate::form::{Fit, Reader};
use crate::histogram_lines::{nanoseconds, whole};
use crate::status_lines::{self, Statuses, bare};
use crate::{Form, ImportError, Imported, MOST_VALUES, Samples, Thread, Use, Values};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use wakepath_timeline::Lack;
use wakepath_timeline::duration::length;

pub(crate) const FORM: Form = Form {
    word: "cyclictest-verbose",
    written_by: "cyclictest -v",
    uses: &[Use::Nanoseconds],
    reader: Reader::Text(fits, |text, asked| {
        read(text, asked.period_ns, asked.unit_ns())
    }),
};

fn fits(text: &str) -> Fit {
    Fit::certain_if(has_cycles(text))
}

/// Whether a text has a line `thread: cycle: latency`.
pub(crate) fn has_cycles(text: &str) -> bool {
    let is_cycle = |line: &str| {
        let mut parts = line.split(':').map(str::trim);
        let mut number = || parts.next().is_some_and(|part| part.parse::<u64>().is_ok());
        number() && number() && number() && parts.next().is_none()
    };
    text.lines().any(is_cycle)
}

struct Growing {
    samples: Samples,
    next: u64,
    counted: u64,
}

fn read(text: &str, period_ns: Option<u64>, unit_ns: i64) -> Result<Imported, ImportError> {
    let mut threads: BTreeMap<u16, Growing> = BTreeMap::new();
    let told = Told::new(text)?;
    let period_of = |thread: u16| {
        let own = told
            .intervals
            .get(&thread)
            .and_then(|us| us.checked_mul(1_000));
        // Of intervals that differ by a distance, the one that is given is the first.
        let first = told.intervals.values().min();
        if let (Some(first), Some(asked)) = (first.and_then(|us| us.checked_mul(1_000)), period_ns)
            && first != asked
        {
            let (first, asked) = (length(first), length(asked));
            return Err(ImportError::whole(format!(
                "states an interval of {first}, which --period {asked} contradicts: leave --period out"
            )));
        }
        // Where some have intervals that differ, one that is given is not that of the others.
        let own_ns = match told.intervals.len() {
            0 | 1 => own.or(period_ns),
            _ => own,
        };
        own_ns.filter(|ns| *ns > 0).ok_or_else(|| {
            ImportError::whole(format!(
                "has no interval of thread {thread} (no line `T: … I:1000 …`): give --period"
            ))
        })
    };
    for (number, line) in (1..).zip(text.lines()) {
        let line = &*bare(line);
        let spoken = [
            "#",
            "T:",
            "Thread ",
            "Max CPUs",
            "Online CPUs",
            "policy:",
            "WARN",
            "INFO",
        ];
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
        let growing = match threads.entry(thread) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Growing::new(period_of(thread)?)),
        };
        take(growing, cycle, latency_ns)
            .map_err(|wrong| ImportError::at(number, wrong.to_string()))?;
    }
    if threads.is_empty() {
        return Err(ImportError::whole("no line `thread: cycle: latency` in it"));
    }
    let threads = threads.into_iter().map(|(number, growing)| Thread {
        period_ns: Some(growing.samples.period_ns),
        priority: told.priorities.get(&number).map(|own| (*own, false)),
        ..Thread::new(
            format!("thread {number}"),
            None,
            Values::Samples(growing.samples),
        )
    });
    Ok(Imported {
        tool: "cyclictest",
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
    #[error("more due times than a run can have")]
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
    if growing.next > MOST_VALUES {
        Err(WrongCycle::TooMany)
    } else {
        Ok(())
    }
}

/// A file's data about its threads.
#[derive(Default)]
struct Told {
    /// In microseconds.
    intervals: BTreeMap<u16, u64>,
    priorities: BTreeMap<u16, u8>,
}

impl Told {
    /// Status lines tell both. Lines `Thread 0 Interval: 1500` tell the interval of the thread after:
    /// cyclictest prints it once it has added the distance.
    fn new(text: &str) -> Result<Self, ImportError> {
        let mut told = Self::default();
        let mut statuses = Statuses::new();
        let mut next: BTreeMap<u16, u64> = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = bare(line);
            if line.starts_with("T:") {
                status_lines::take(&mut statuses, number, &line)?;
            } else if let Some(rest) = line.strip_prefix("Thread ")
                && let Some((thread, interval)) = rest.split_once(" Interval:")
            {
                next.insert(
                    whole(number, thread.trim())?,
                    whole(number, interval.trim())?,
                );
            }
        }
        for (thread, interval) in &next {
            if let Some(before) = thread.checked_sub(1).and_then(|before| next.get(&before)) {
                told.intervals.insert(*thread, *before);
                // The first thread's is as much less as the second's is less than the third's.
                if *thread == 1
                    && let Some(first) = before.checked_sub(interval.saturating_sub(*before))
                {
                    told.intervals.insert(0, first);
                }
            }
        }
        for (thread, status) in statuses {
            told.intervals
                .extend(status.interval.map(|us| (thread, us)));
            let priority = status.priority.filter(|priority| *priority <= 99);
            told.priorities.extend(priority.map(|own| (thread, own)));
        }
        Ok(told)
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
        let only = &found.threads[0];
        assert_eq!(
            (only.period_ns, only.priority),
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
    fn each_thread_has_its_own_interval() {
        // cyclictest prints an interval once it has added the distance to it.
        let text = "Thread 0 Interval: 1500\nThread 1 Interval: 2000\n\
                    0: 0: 10\n1: 0: 1400\n1: 1: 12\n";
        // The period that is given is one for all.
        for given in [None, Some(1_000_000)] {
            let found = read(text, given).unwrap();
            let periods: Vec<_> = found.threads.iter().map(|of| of.period_ns).collect();
            assert_eq!(periods, [Some(1_000_000), Some(1_500_000)]);
            let Values::Samples(second) = &found.threads[1].values else {
                panic!("{found:?}");
            };
            assert_eq!(second.cycles, [(0, 1_400_000), (1, 12_000)]);
        }
        let status = |thread: u16, interval: u64| {
            format!("T: {thread} ( 1) P:80 I:{interval} C: 2 Min: 1 Act: 1 Avg: 1 Max: 9\n")
        };
        let text = format!(
            "{}{}0: 0: 10\n1: 0: 10\n",
            status(0, 1_000),
            status(1, 1_700)
        );
        let found = read(&text, None).unwrap();
        assert_eq!(found.threads[1].period_ns, Some(1_700_000));
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
