//! Text of the kernel's latency tracers: timerlat, osnoise, hwlat and those that keep the longest
//! wake-up. Each line is a measurement of the kernel's own, not an event.

mod hwlat;
mod osnoise;
mod timerlat;
mod wakeup;

pub(crate) use hwlat::FORM as HWLAT;
pub(crate) use osnoise::FORM as OSNOISE;
pub(crate) use timerlat::FORM as TIMERLAT;
pub(crate) use wakeup::FORM as WAKEUP;

use crate::due_times::{earliest, numbers};
use crate::form::Fit;
use crate::ftrace::{Head, head};
use crate::{ImportError, Imported, Row, Thread, Values};
use std::collections::BTreeMap;
use wakepath_timeline::{DueTimes, Lack, Sample};

/// Whether text of this tracer has a form of its own.
pub(crate) fn has_form(tracer: &str) -> bool {
    ["timerlat", "osnoise", "hwlat"].contains(&tracer) || wakeup::TRACERS.contains(&tracer)
}

/// A form for text whose header names the tracer, or that has a line of its own kind.
fn fits(text: &str, tracer: &str, is_line: fn(&str) -> bool) -> Fit {
    let named = text
        .lines()
        .find_map(|line| line.strip_prefix("# tracer: "));
    Fit::certain_if(match named {
        Some(named) => named.trim() == tracer,
        None => text.lines().any(is_line),
    })
}

/// Gives each line of the tracer with its number to `take`; `false` says that it is none. How many
/// lines were none.
fn each<'a>(
    text: &'a str,
    mut take: impl FnMut(&Head<'a>) -> Option<bool>,
    wrong: &str,
) -> Result<u64, ImportError> {
    let mut others = 0;
    let last = text.lines().count();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match head(line).ok().map(|head| take(&head)) {
            Some(Some(true)) => {}
            // The last line of a file that was cut may end anywhere.
            Some(None) if number < last => return Err(ImportError::at(number, wrong)),
            _ => others += 1,
        }
    }
    Ok(others)
}

/// One measurement.
struct Measured {
    /// The due time, in nanoseconds of the trace's clock, to a microsecond.
    due_ns: u64,
    latency_ns: i64,
    response_ns: i64,
}

/// Longest interruptions of each CPU as lateness, without `missing`.
fn interruptions(
    name: &str,
    missing: &str,
    others: u64,
    cpus: BTreeMap<u16, (Vec<Measured>, u64)>,
    period_ns: u64,
) -> Imported {
    let mut lacks = vec![
        Lack::Other(missing.into()),
        Lack::BelowMicroseconds,
        Lack::ExecutionTimes,
    ];
    lacks.extend(passed_over(others));
    lacks.extend([Lack::WarmUp, Lack::EffectivePolicy, Lack::Machine]);
    Imported {
        lacks,
        threads: threads(name, cpus, period_ns),
        period_ns: Some(period_ns),
        ..Imported::default()
    }
}

/// A thread for each CPU.
fn threads(name: &str, cpus: BTreeMap<u16, (Vec<Measured>, u64)>, period_ns: u64) -> Vec<Thread> {
    let thread = |(cpu, (measured, lost)): (u16, (Vec<Measured>, u64))| {
        let row = row(cpu, &measured, lost, period_ns);
        Thread::new(format!("{name}/{cpu}"), Some(cpu), Values::Row(row))
    };
    cpus.into_iter().map(thread).collect()
}

fn row(cpu: u16, measured: &[Measured], lost: u64, period_ns: u64) -> Row {
    let instants: Vec<u64> = measured.iter().map(|of| of.due_ns).collect();
    let due = DueTimes {
        start_ns: instants.first().copied().unwrap_or(0),
        period_ns,
    };
    let mut samples: Vec<Sample> = Vec::with_capacity(measured.len());
    for (number, of) in numbers(&instants, period_ns).into_iter().zip(measured) {
        let before = samples.last().map(|last| (last.cycle, last.response_ns()));
        let cycle = number.max(earliest(before, of.latency_ns, period_ns));
        let due_ns = due.due_ns(cycle);
        samples.push(Sample {
            cycle,
            due_ns,
            wake_ns: due_ns.saturating_add_signed(of.latency_ns),
            end_ns: due_ns.saturating_add_signed(of.response_ns),
            cpu,
            ..Sample::default()
        });
    }
    Row {
        due,
        samples,
        lost,
        judged: None,
    }
}

/// The period of measurements at these instants, in whole microseconds as tracers are configured: the
/// median between two, made exact over all. `None` for fewer than three.
fn period(instants: &[u64]) -> Option<u64> {
    let mut between: Vec<u64> = instants
        .windows(2)
        .map(|two| two[1].saturating_sub(two[0]))
        .collect();
    between.sort_unstable();
    if between.len() < 2 {
        return None;
    }
    let median = between[(between.len() - 1) / 2].max(1);
    let last = *numbers(instants, median).last()?;
    let all = instants.last()?.saturating_sub(*instants.first()?);
    let exact = all / last.max(1);
    Some((exact + 500) / 1_000 * 1_000).filter(|period| *period > 0)
}

/// The period that the user says, else the one that most CPUs show.
fn period_of<'a>(
    asked_ns: Option<u64>,
    cpus: impl Iterator<Item = &'a Vec<Measured>>,
) -> Result<u64, ImportError> {
    let shown = || {
        let longest = cpus.max_by_key(|all| all.len())?;
        let instants: Vec<u64> = longest.iter().map(|of| of.due_ns).collect();
        period(&instants)
    };
    asked_ns.or_else(shown).ok_or_else(|| {
        ImportError::whole("holds too few measurements to show their period: give --period")
    })
}

/// A sentence on lines that were passed over.
fn passed_over(others: u64) -> Option<Lack> {
    let lines = if others == 1 { "line" } else { "lines" };
    let text = format!("use for {others} {lines} of events, stacks and functions");
    (others > 0).then_some(Lack::Other(text))
}
