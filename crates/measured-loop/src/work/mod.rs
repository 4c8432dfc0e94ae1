//! A measured loop's work in a cycle.
//!
//! All memory is allocated before the first cycle.

mod busy;
mod cache_delay;
mod error;
mod ethercat;
mod flight;
mod interpreter;
mod lateness;
mod library;
mod log;
mod parts;
mod python;
mod tally;
mod tasks;
mod working_set;

pub(crate) use error::WorkError;

use crate::{ControllerSpec, FlightSpec, WorkSpec};
use busy::Busy;
use cache_delay::CacheDelay;
use ethercat::Ethercat;
use flight::{BuiltIn, Flight, Steps};
use library::Library;
use log::Log;
use python::PythonController;
use std::path::Path;
use tasks::TaskTable;
use wakepath_archive::{ModuleTimes, sha256_of_file};
use wakepath_ethercat::StartMaster;
use wakepath_flight::Vehicle;
use wakepath_rt::WorkOutcome;
use wakepath_timeline::Sample;
use working_set::WorkingSet;

pub(crate) use library::VERSION as INTERFACE;

/// A thread's work with the memory it needs.
pub(crate) enum LoopWork {
    Nothing,
    WorkingSet(WorkingSet),
    Busy(Busy),
    Log(Log),
    CacheDelay(Box<CacheDelay>),
    Ethercat(Box<Ethercat>),
    Flight(Box<Flight<BuiltIn>>),
    Library(Box<Flight<Library>>),
    Python(Box<Flight<PythonController>>),
    Tasks(Box<Flight<TaskTable>>),
}

/// The same for every kind of flight, each with its own controller's type: in the timed region
/// nothing is called through a table.
macro_rules! flown {
    ($work:expr, $flight:ident => $answer:expr, else $otherwise:expr) => {
        match $work {
            LoopWork::Nothing
            | LoopWork::WorkingSet(_)
            | LoopWork::Busy(_)
            | LoopWork::Log(_)
            | LoopWork::CacheDelay(_)
            | LoopWork::Ethercat(_) => $otherwise,
            LoopWork::Flight($flight) => $answer,
            LoopWork::Library($flight) => $answer,
            LoopWork::Python($flight) => $answer,
            LoopWork::Tasks($flight) => $answer,
        }
    };
}

impl LoopWork {
    /// Allocates the memory and loads the library. `period_ns` is the loop's, `master` the program's EtherCAT
    /// master, if it has one.
    ///
    /// # Errors
    /// One line: the missing or invalid thing.
    pub(crate) fn new(
        spec: &WorkSpec,
        period_ns: u64,
        master: Option<StartMaster>,
    ) -> Result<Self, WorkError> {
        match spec {
            WorkSpec::Nothing => Ok(Self::Nothing),
            WorkSpec::WorkingSet { bytes } => Ok(Self::WorkingSet(WorkingSet::new(*bytes))),
            WorkSpec::Busy { ns } => Ok(Self::Busy(Busy::new(*ns))),
            WorkSpec::Log {
                ns,
                bytes,
                directory,
            } => Ok(Self::Log(Log::new(*ns, *bytes, Path::new(directory))?)),
            WorkSpec::CacheDelay {
                bytes,
                preempted_by,
            } => {
                let measured = CacheDelay::new(*bytes, *preempted_by, period_ns);
                Ok(Self::CacheDelay(Box::new(measured)))
            }
            WorkSpec::Ethercat(bus) => {
                let bus = Ethercat::new(bus, period_ns, master)?;
                Ok(Self::Ethercat(Box::new(bus)))
            }
            WorkSpec::Flight(flight) => Self::flight(flight, period_ns),
            WorkSpec::Program { .. } => Err(WorkError::ItsOwnProgram),
        }
    }

    fn flight(spec: &FlightSpec, period_ns: u64) -> Result<Self, WorkError> {
        let vehicle = &flight::vehicle(spec)?;
        Ok(match &spec.controller {
            ControllerSpec::BuiltIn => Self::Flight(boxed(spec, vehicle, BuiltIn::new(vehicle))),
            ControllerSpec::Tasks { tasks } => Self::Tasks(boxed(
                spec,
                vehicle,
                TaskTable::new(vehicle, tasks, period_ns),
            )),
            ControllerSpec::Library {
                library,
                settings,
                sha256,
            } => {
                is_the_same(library, sha256.as_deref())?;
                let controller = Library::load(library, settings, vehicle, period_ns)?;
                Self::Library(boxed(spec, vehicle, controller))
            }
            ControllerSpec::Python {
                file,
                interpreter,
                settings,
                sha256,
            } => {
                is_the_same(file, sha256.as_deref())?;
                let interpreter = interpreter.as_deref();
                let controller =
                    PythonController::load(file, interpreter, settings, vehicle, period_ns)?;
                Self::Python(boxed(spec, vehicle, controller))
            }
        })
    }

    /// Before cycle 0, which is due at `due_ns`.
    pub(crate) fn begin(&mut self, due_ns: u64) {
        if let Self::CacheDelay(measured) = self {
            measured.begin();
        }
        if let Self::Ethercat(bus) = self {
            bus.begin(due_ns);
        }
        flown!(self, flight => flight.begin(due_ns), else ());
    }

    /// One cycle's work: the timed region.
    #[inline]
    pub(crate) fn step(&mut self) -> WorkOutcome {
        match self {
            Self::WorkingSet(set) => set.touch(),
            Self::Busy(busy) => busy.step(),
            Self::Log(log) => log.step(),
            Self::CacheDelay(measured) => measured.step(),
            Self::Ethercat(bus) => return bus.step(),
            _ => {}
        }
        flown!(self, flight => flight.step(), else WorkOutcome::default())
    }

    /// Discards the counts so far: the warm-up is over.
    pub(crate) fn end_warm_up(&mut self) {
        if let Self::CacheDelay(measured) = self {
            measured.end_warm_up();
        }
        if let Self::Ethercat(bus) = self {
            bus.end_warm_up();
        }
        flown!(self, flight => flight.controller_mut().end_warm_up(), else ());
    }

    /// The parts of the work that timed themselves.
    pub(crate) fn modules(&self) -> Vec<ModuleTimes> {
        if let Self::CacheDelay(measured) = self {
            return measured.modules();
        }
        if let Self::Ethercat(bus) = self {
            return bus.modules();
        }
        flown!(self, flight => flight.controller().modules(), else Vec::new())
    }

    /// Called after a cycle's end, outside the timed region: prepares the input of the next cycle,
    /// due at `next_due_ns`.
    ///
    /// # Errors
    /// One line: the reason why the work can't continue.
    #[inline]
    pub(crate) fn after(&mut self, sample: &Sample, next_due_ns: u64) -> Result<(), WorkError> {
        if let Self::Ethercat(bus) = self {
            return bus.after(sample, next_due_ns);
        }
        if let Self::Log(log) = self {
            return log.failure();
        }
        flown!(self, flight => {
            flight.after(sample.end_ns, next_due_ns);
            flight
                .controller_mut()
                .failure()
                .map_or(Ok(()), |complaint| Err(WorkError::Complaint(complaint)))
        }, else Ok(()))
    }
}

fn boxed<C: Steps>(spec: &FlightSpec, vehicle: &Vehicle, controller: C) -> Box<Flight<C>> {
    Box::new(Flight::new(spec, vehicle, controller))
}

/// Refuses a file that was replaced since the scenario was read: all conditions of a run are of
/// one controller, or of none.
fn is_the_same(file: &str, sha256: Option<&str>) -> Result<(), WorkError> {
    let Some(wanted) = sha256 else {
        return Ok(());
    };
    let found = sha256_of_file(Path::new(file))?;
    if found == wanted {
        Ok(())
    } else {
        Err(WorkError::Replaced {
            file: file.into(),
            found,
            wanted: wanted.into(),
        })
    }
}
