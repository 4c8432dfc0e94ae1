//! The sections of kernel code that keep threads from running, from the kernel's own events, folded as they are
//! read: nothing of them is kept. In turns without the events, so that what they do to wake-ups is known. Taken
//! between segments; no part of a verdict.

mod reading;
mod recorder;
mod sleeper;
mod told;
mod worst;

use std::time::Duration;

use wakepath_archive::{KernelSections, SectionsEffect};
use wakepath_schedulability::sections::{Fold, Woken};

use crate::error::KernelMeasureError;
use crate::symbols::Symbols;
use crate::timerlat::stage;
use crate::tracefs::Tracefs;
use recorder::Recorder;
use sleeper::{Sleeper, Turn};

/// A turn with or without the events.
const TURN_NS: u64 = 100_000_000;
/// Switching events changes code on all CPUs: what comes so soon behind counts in neither turn.
const SETTLE: Duration = Duration::from_millis(5);

/// Looks at one CPU, half of the time with the events.
pub(crate) fn measure(
    tracefs: &Tracefs,
    cpu: u16,
    period_ns: u64,
    for_ns: u64,
) -> Result<KernelSections, KernelMeasureError> {
    let recorder = match Recorder::make(tracefs, cpu) {
        // The kernel's tracer keeps the longest section of all, and nothing else.
        Err(KernelMeasureError::NoSections(missing)) => {
            return worst::measure(tracefs, cpu, for_ns, &missing);
        }
        made => made?,
    };
    let list = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let mut symbols = Symbols::parse(&list);
    let start = symbols
        .address("_stext")
        .ok_or(KernelMeasureError::NoAddresses)?;
    let readings = recorder.readings(start);
    let sleeper = Sleeper::start(cpu, period_ns)?;
    let (mut fold, mut lost, mut observed_ns) = (Fold::default(), 0, 0);
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..(for_ns / (2 * TURN_NS)).max(1) {
        without.extend(sleeper.turn(Turn::Without, TURN_NS)?);
        recorder.start()?;
        std::thread::sleep(SETTLE);
        let woken = sleeper.turn(Turn::With, TURN_NS);
        recorder.stop()?;
        let woken = woken?;
        fold.expect(woken.iter().copied());
        with.extend(woken);
        let read = recorder.read(&readings, &mut fold, &mut symbols)?;
        lost += read.lost;
        observed_ns += read.observed_ns;
        std::thread::sleep(SETTLE);
    }
    sleeper.end();
    if fold.events == 0 {
        return Err(KernelMeasureError::Nothing("preemptirq"));
    }
    let latencies = |all: Vec<Woken>| {
        let latency = |one: Woken| one.woken_ns.saturating_sub(one.due_ns) as i64;
        stage(all.into_iter().map(latency).collect())
    };
    let effect = SectionsEffect {
        period_ns,
        without: latencies(without),
        with: latencies(with),
    };
    Ok(KernelSections {
        cpu,
        observed_ns,
        lost,
        effect,
        ..told::told(&fold, &mut symbols, &readings)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The directory in tracefs's place holds the events that such a kernel has.
    #[test]
    fn a_kernel_without_events_and_tracer_is_refused_by_name() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("events/preemptirq/irq_disable")).unwrap();
        std::fs::create_dir_all(place.path().join("events/preemptirq/irq_enable")).unwrap();
        std::fs::write(place.path().join("available_tracers"), "irqsoff nop\n").unwrap();
        let tracefs = Tracefs {
            root: place.path().to_owned(),
        };
        let refused = measure(&tracefs, 0, 1_000_000, 1_000_000_000).unwrap_err();
        let said = refused.to_string();
        assert!(
            said.starts_with("this kernel has no preemptirq:preempt_disable event"),
            "{said}"
        );
        assert!(said.contains("CONFIG_PREEMPT_TRACER"), "{said}");
        assert!(!said.contains('\n'), "{said}");
    }
}
