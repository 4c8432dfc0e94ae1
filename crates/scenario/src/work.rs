//! A loop thread's work in each cycle, as a scenario describes it.
//!
//! Nothing here runs, and no file is read: a vehicle's or a library's file is only a name until the
//! caller reads it.

use crate::{Course, EthercatBus, FlightVehicle, TableSource};
use serde::Serialize;
use wakepath_flight::Trajectory;

/// The loop's work in each cycle.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Work {
    /// Only the two clock readings, as in cyclictest.
    Nothing,
    /// Reads and writes this number of bytes.
    WorkingSet {
        /// Bytes touched in each cycle.
        bytes: u64,
    },
    /// Computes for this amount of CPU time.
    Busy {
        /// CPU time of each cycle, in nanoseconds.
        ns: u64,
    },
    /// Computes, then appends a record to a file, as a loop that writes its own log does.
    Log {
        /// CPU time of each cycle before the record, in nanoseconds.
        ns: u64,
        /// Bytes of each record.
        bytes: u64,
        /// Directory of the file.
        directory: String,
    },
    /// Measures the time that a job with this working set loses to cold caches after a preemption
    /// and after a migration.
    CacheDelay {
        /// The working set, in bytes; 0: only that of the measurement itself.
        bytes: u64,
        /// Bytes that the preempting thread reads and writes.
        preempted_by: u64,
    },
    /// Exchanges process data with an EtherCAT bus.
    Ethercat {
        /// How long a cycle waits for its answer, in nanoseconds; `None`: half of the period.
        timeout_ns: Option<u64>,
        /// The devices.
        bus: EthercatBus,
    },
    /// A quadrotor's controller, built in.
    Flight(Flight),
    /// A controller of the user's own, from a shared library or a Python file.
    Library(Library),
    /// A controller, followed by the tasks of a table that are due.
    Tasks(TaskTable),
    /// A program of the user's own has the loop, under the task's name.
    Program {
        /// The program and its arguments.
        command: Vec<String>,
    },
}

/// A controller's flight: the vehicle and its trajectory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flight {
    /// The vehicle.
    pub vehicle: FlightVehicle,
    /// The trajectory to follow.
    pub trajectory: Trajectory,
    /// Bytes read and written in each cycle in addition to the controller, in place of the rest of
    /// a flight stack's data.
    pub working_set: u64,
}

/// A controller of the user's own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Library {
    /// Path of the shared library, or of a Python file.
    pub library: String,
    /// The interpreter whose Python runs a Python file; `None`: `python3` of `PATH`.
    pub python: Option<String>,
    /// SHA-256 of the file, in hexadecimal digits: any other file is refused. Always present in a
    /// recorded scenario.
    pub sha256: Option<String>,
    /// Passed unchanged to the library's `init`.
    pub settings: String,
    /// The flight that it is at work in.
    pub flight: Flight,
}

/// A controller and a table of tasks in one loop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskTable {
    /// The tasks.
    pub table: TableSource,
    /// The flight that the controller is at work in.
    pub flight: Flight,
}

impl Default for Flight {
    /// The built-in Hummingbird on the circle of the reference flights, and no working set.
    fn default() -> Self {
        Self {
            vehicle: FlightVehicle::BuiltIn("hummingbird".into()),
            trajectory: Course::Circle.trajectory(),
            working_set: 0,
        }
    }
}

impl Library {
    /// Whether it is a Python file: measured like any other, and never real-time.
    pub fn is_python(&self) -> bool {
        self.library.ends_with(".py")
    }
}

impl Work {
    /// Whether it measures the machine and is no loop's work: its lateness means nothing.
    pub fn is_measurement(&self) -> bool {
        matches!(self, Self::CacheDelay { .. })
    }

    /// The flight, for work that is a controller.
    pub fn flight(&self) -> Option<&Flight> {
        match self {
            Self::Nothing
            | Self::WorkingSet { .. }
            | Self::Busy { .. }
            | Self::Log { .. }
            | Self::CacheDelay { .. }
            | Self::Ethercat { .. }
            | Self::Program { .. } => None,
            Self::Flight(flight) => Some(flight),
            Self::Library(library) => Some(&library.flight),
            Self::Tasks(tasks) => Some(&tasks.flight),
        }
    }

    /// The flight, mutable.
    pub fn flight_mut(&mut self) -> Option<&mut Flight> {
        match self {
            Self::Nothing
            | Self::WorkingSet { .. }
            | Self::Busy { .. }
            | Self::Log { .. }
            | Self::CacheDelay { .. }
            | Self::Ethercat { .. }
            | Self::Program { .. } => None,
            Self::Flight(flight) => Some(flight),
            Self::Library(library) => Some(&mut library.flight),
            Self::Tasks(tasks) => Some(&mut tasks.flight),
        }
    }
}
