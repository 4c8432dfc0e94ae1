//! The worst cycles with the kernel events around them.
//!
//! Each is a small run, kept as long as the cycle is one of the worst. Other modules select the
//! cycles and record the events.

use crate::recent::Offered;
use crate::said;
use crate::segment::{End, Segment};
use crate::terms::{Found, Terms};
use crate::traces::{Traces, around};
use crate::worst::{Traced, Worst};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};
use wakepath_archive::{SegmentTraced, trace_name};
use wakepath_directory::{Directory, DirectoryError, Trust};
use wakepath_probe::ProbeError;
use wakepath_timeline::{CpuSet, Sample};

/// Directory of the traces.
const INCIDENTS: &str = "worst";
/// Most cycles of each loop with events.
const MOST_TRACED: usize = 20;
/// Pause between traces. The first ordinary cycles are all among the worst so far, and nothing is
/// recorded while events are read.
const PAUSE: Duration = Duration::from_secs(10);
/// One that is worse than all before does not wait as long.
const SHORT_PAUSE: Duration = Duration::from_millis(250);
/// The terms of a run of some cycles are those of a longer one.
const SOME_CYCLES: u64 = 10_000;

/// Why they are not recorded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IncidentsError {
    /// The kernel's events aren't available.
    #[error(transparent)]
    Traces(#[from] ProbeError),
    /// Their directory isn't usable.
    #[error(transparent)]
    Place(#[from] DirectoryError),
    /// Creating one failed.
    #[error(transparent)]
    Make(#[from] io::Error),
}

/// Being recorded and kept.
pub(crate) struct Incidents {
    traces: Traces,
    place: Directory,
    /// The program's loops, by name.
    known: BTreeMap<String, Found>,
    kept: Option<Instant>,
}

impl Incidents {
    /// Records the events of these CPUs, and removes the remains of a killed recorder.
    pub(crate) fn begin(
        directory: &Directory,
        cpus: &[u16],
        measures: bool,
        worst: &mut Worst,
    ) -> Result<Self, IncidentsError> {
        let traces = Traces::begin(cpus, measures)?;
        let place = place(directory)?;
        for name in place.names().unwrap_or_default() {
            if !worst.needs(&name) {
                // If this fails, it takes space until the next start.
                let _ = place.remove_below(&name);
            }
        }
        worst.trace(MOST_TRACED);
        Ok(Self {
            traces,
            place,
            known: BTreeMap::new(),
            kept: None,
        })
    }

    /// Restarts with these CPUs; discards the recorded events.
    pub(crate) fn anew(self, cpus: &[u16]) -> Result<Self, IncidentsError> {
        let Self { traces, .. } = self;
        drop(traces);
        let mut cpus = cpus.to_vec();
        cpus.sort_unstable();
        let traces = Traces::begin(&cpus, false)?;
        Ok(Self { traces, ..self })
    }

    /// CPUs whose events are recorded.
    pub(crate) fn cpus(&self) -> &[u16] {
        self.traces.cpus()
    }

    /// A loop's CPUs that aren't recorded.
    pub(crate) fn lacks(&self, cpus: &[u16]) -> Vec<u16> {
        let known = self.cpus();
        let lacking = cpus.iter().filter(|cpu| !known.contains(cpu));
        lacking.copied().collect()
    }

    /// Registers a new loop.
    pub(crate) fn know(&mut self, found: &Found) {
        self.known.insert(found.name.clone(), found.clone());
    }

    /// A sentence about the recording and its cost.
    pub(crate) fn in_words(&self) -> String {
        let set_up = self.traces.set_up();
        let cost = match set_up.ns_per_event {
            Some(ns) => format!("; an event costs {ns:.0} ns here, which is in all latencies"),
            None => String::new(),
        };
        format!(
            "the kernel's events of CPUs {} are recorded for the worst cycles ({}, {} MiB each){cost}",
            CpuSet::from(&set_up.cpus[..]),
            set_up.backend,
            set_up.buffer_bytes >> 20
        )
    }

    /// Stores the events around these cycles, unless the pause after the last ones isn't over.
    /// Returns whether it did.
    pub(crate) fn keep(
        &mut self,
        offered: Vec<Offered>,
        worst: &mut Worst,
        terms: &dyn Terms,
    ) -> io::Result<bool> {
        for run in worst.gone() {
            self.place.remove_below(&run)?;
        }
        let Some(most_ns) = offered.iter().map(|of| of.sample.response_ns()).max() else {
            return Ok(false);
        };
        let is_record = worst.worst_traced_ns().is_none_or(|most| most_ns > most);
        let pause = if is_record { SHORT_PAUSE } else { PAUSE };
        if self.kept.is_some_and(|kept| kept.elapsed() < pause) {
            return Ok(false);
        }
        let kept = self.try_to_keep(&offered, worst, terms);
        self.kept = Some(Instant::now());
        kept.map_err(|error| io::Error::other(format!("no kernel events of a bad cycle: {error}")))
    }

    fn try_to_keep(
        &mut self,
        offered: &[Offered],
        worst: &mut Worst,
        terms: &dyn Terms,
    ) -> Result<bool, Box<dyn std::error::Error>> {
        let mut begun = Vec::new();
        let mut windows = Vec::new();
        for of in offered {
            let Some(found) = self.known.get(&of.name) else {
                continue;
            };
            let [first, .., last] = &true_times(of)[..] else {
                continue;
            };
            let cycles = last.cycle - first.cycle + 1;
            let described = terms.describe(found, SOME_CYCLES)?;
            let set_up = Some(self.traces.set_up());
            let place = (&self.place, &|name: &str| self.place.make_below(name));
            let segment = Segment::begin(
                (place.0, place.1),
                found,
                described,
                (first, cycles),
                set_up,
            )?;
            let (from_ns, to_ns) = (moved(of, of.sample.due_ns), moved(of, of.sample.end_ns));
            windows.push(around(from_ns, to_ns, found.period_ns));
            begun.push((of, segment));
        }
        let Some((_, first)) = begun.first() else {
            return Ok(false);
        };
        let name = trace_name(0);
        let taken = self.traces.take(first.directory(), windows);
        let (traced, events) = match taken {
            // Overwritten already, or of the moment in which others were read.
            Ok(SegmentTraced { events: 0, .. }) => (None, None),
            Ok(traced) => (Some(traced), first.directory().read(&name)?),
            Err(error) => {
                begun.iter().for_each(|(_, of)| self.remove(&of.name));
                return Err(error.into());
            }
        };
        let Some((traced, events)) = traced.zip(events) else {
            begun.iter().for_each(|(_, of)| self.remove(&of.name));
            return Ok(false);
        };
        for (at, (of, segment)) in begun.into_iter().enumerate() {
            if at > 0 {
                segment.directory().write_synced(&name, &events)?;
            }
            let run = segment.name.clone();
            let cycle = of.sample.cycle - segment.base;
            if let Err(error) = finish(segment, of, &traced) {
                self.remove(&run);
                return Err(error.into());
            }
            worst.has_trace(of, Traced { run, cycle });
        }
        for run in worst.gone() {
            self.remove(&run);
        }
        Ok(true)
    }

    /// If this fails, it takes space until the next start.
    fn remove(&self, run: &str) {
        let _ = self.place.remove_below(run);
    }
}

fn place(directory: &Directory) -> Result<Directory, IncidentsError> {
    let path = if directory.holds(INCIDENTS) {
        directory.path_of(INCIDENTS)
    } else {
        directory.make_below(INCIDENTS)?
    };
    Ok(Directory::to_write(&path, Trust::Own)?)
}

/// Writes its cycles, their log lines and markers, and the end.
fn finish(
    mut segment: Segment,
    of: &Offered,
    traced: &SegmentTraced,
) -> Result<(), wakepath_archive::ArchiveError> {
    let mut named = BTreeSet::new();
    for beside in &of.beside {
        said::write(&mut segment, &mut named, beside);
    }
    segment.append(&mut true_times(of), 0)?;
    segment.traced(traced.clone())?;
    segment.end(End::Full)
}

/// A sample's time on the clock of the kernel's events.
fn moved(of: &Offered, ns: u64) -> u64 {
    ns.saturating_add_signed(of.shift_ns())
}

/// The cycles, with due times aligned to the bad one's true due time.
fn true_times(of: &Offered) -> Vec<Sample> {
    let moved = |sample: &Sample| Sample {
        due_ns: moved(of, sample.due_ns),
        wake_ns: moved(of, sample.wake_ns),
        end_ns: moved(of, sample.end_ns),
        ..*sample
    };
    of.around.iter().map(moved).collect()
}
