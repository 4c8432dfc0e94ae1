//! What a measured loop does in a cycle. All memory is had before the first cycle.

mod flight;
mod library;
mod working_set;

use crate::{ControllerSpec, WorkSpec};
use flight::{BuiltIn, Flight};
use library::Library;
use wakepath_archive::ModuleTimes;
use wakepath_rt::WorkOutcome;
use wakepath_timeline::Sample;
use working_set::WorkingSet;

/// A thread's work with the memory it needs.
pub(crate) enum LoopWork {
    Nothing,
    WorkingSet(WorkingSet),
    Flight(Box<Flight<BuiltIn>>),
    Library(Box<Flight<Library>>),
}

impl LoopWork {
    /// Has the memory, loads the library. `period_ns` is the loop's.
    ///
    /// # Errors
    /// One line: what is missing or wrong.
    pub(crate) fn new(spec: &WorkSpec, period_ns: u64) -> Result<Self, String> {
        Ok(match spec {
            WorkSpec::Nothing => Self::Nothing,
            WorkSpec::WorkingSet { bytes } => Self::WorkingSet(WorkingSet::new(*bytes)),
            WorkSpec::Flight(flight) => {
                let vehicle = flight::vehicle(flight)?;
                match &flight.controller {
                    ControllerSpec::BuiltIn => {
                        let controller = BuiltIn::new(&vehicle);
                        Self::Flight(Box::new(Flight::new(flight, &vehicle, controller)))
                    }
                    ControllerSpec::Library { library, settings } => {
                        let controller = Library::load(library, settings, &vehicle, period_ns)?;
                        Self::Library(Box::new(Flight::new(flight, &vehicle, controller)))
                    }
                }
            }
        })
    }

    /// Before cycle 0, which is due at `due_ns`.
    pub(crate) fn begin(&mut self, due_ns: u64) {
        match self {
            Self::Nothing | Self::WorkingSet(_) => {}
            Self::Flight(flight) => flight.begin(due_ns),
            Self::Library(flight) => flight.begin(due_ns),
        }
    }

    /// One cycle's work: the timed region.
    #[inline]
    pub(crate) fn step(&mut self) -> WorkOutcome {
        match self {
            Self::Nothing => WorkOutcome::default(),
            Self::WorkingSet(set) => {
                set.touch();
                WorkOutcome::default()
            }
            Self::Flight(flight) => flight.step(),
            Self::Library(flight) => flight.step(),
        }
    }

    /// Forgets what was tallied so far: the warm-up is over.
    pub(crate) fn end_warm_up(&mut self) {
        if let Self::Library(flight) = self {
            flight.controller_mut().end_warm_up();
        }
    }

    /// The parts of the work that timed themselves.
    pub(crate) fn modules(&self) -> Vec<ModuleTimes> {
        match self {
            Self::Library(flight) => flight.controller().modules(),
            Self::Nothing | Self::WorkingSet(_) | Self::Flight(_) => Vec::new(),
        }
    }

    /// After a cycle's end, outside the timed region: makes ready what the next cycle, due at
    /// `next_due_ns`, reads.
    #[inline]
    pub(crate) fn after(&mut self, sample: &Sample, next_due_ns: u64) {
        match self {
            Self::Nothing | Self::WorkingSet(_) => {}
            Self::Flight(flight) => flight.after(sample.end_ns, next_due_ns),
            Self::Library(flight) => flight.after(sample.end_ns, next_due_ns),
        }
    }
}
