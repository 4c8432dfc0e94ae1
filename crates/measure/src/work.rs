//! From the scenario's work to what the loop's process is told. Pure; files have been read before.

use wakepath_flight::Vehicle;
use wakepath_measured_loop::{ControllerSpec, FlightSpec, TableTaskSpec, WorkSpec};
use wakepath_scenario::{Flight, FlightVehicle, TableSource, TableTask, Work};

/// What the loop's process is told of a work.
pub(super) fn work_spec(work: &Work) -> WorkSpec {
    match work {
        Work::Nothing => WorkSpec::Nothing,
        Work::WorkingSet { bytes } => WorkSpec::WorkingSet { bytes: *bytes },
        Work::Flight(flight) => WorkSpec::Flight(flight_spec(flight, ControllerSpec::BuiltIn)),
        Work::Tasks(tasks) => {
            let table = match &tasks.table {
                TableSource::Tasks(table) => table.iter().map(table_task).collect(),
                // Neither is left once the scenario's files have been read.
                TableSource::BuiltIn(_) | TableSource::File(_) => Vec::new(),
            };
            let controller = ControllerSpec::Tasks { tasks: table };
            WorkSpec::Flight(flight_spec(&tasks.flight, controller))
        }
        Work::Library(library) => {
            let (file, settings) = (library.library.clone(), library.settings.clone());
            let sha256 = library.sha256.clone();
            let controller = match library.is_python() {
                true => ControllerSpec::Python {
                    file,
                    interpreter: library.python.clone(),
                    settings,
                    sha256,
                },
                false => ControllerSpec::Library {
                    library: file,
                    settings,
                    sha256,
                },
            };
            WorkSpec::Flight(flight_spec(&library.flight, controller))
        }
    }
}

fn table_task(task: &TableTask) -> TableTaskSpec {
    TableTaskSpec {
        name: task.name.clone(),
        period_ns: task.period_ns,
        budget_ns: task.budget_ns,
        priority: task.priority,
        rounds: task.rounds,
        bytes: task.bytes,
    }
}

fn flight_spec(flight: &Flight, controller: ControllerSpec) -> FlightSpec {
    FlightSpec {
        vehicle: match &flight.vehicle {
            FlightVehicle::Text(text) => text.clone(),
            FlightVehicle::BuiltIn(name) | FlightVehicle::File(name) => {
                // A file's path in place of its text is no vehicle, and the loop says so.
                Vehicle::built_in_text(name).unwrap_or(name).to_owned()
            }
        },
        trajectory: flight.trajectory.clone(),
        working_set: flight.working_set,
        controller,
    }
}
