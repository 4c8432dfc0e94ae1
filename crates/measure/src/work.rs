//! From the scenario's work to the specification for the loop's process. Pure; files have been read before.
//! Structs are destructured by field, so that a key added to the scenario does not compile until it is
//! handled here.

use wakepath_flight::Vehicle;
use wakepath_measured_loop::{ControllerSpec, EthercatSpec, FlightSpec, TableTaskSpec, WorkSpec};
use wakepath_scenario::{Flight, FlightVehicle, Library, TableSource, TableTask, Work};

/// The loop process's specification of a work.
pub(super) fn work_spec(work: &Work) -> WorkSpec {
    match work {
        Work::Nothing => WorkSpec::Nothing,
        Work::Busy { ns } => WorkSpec::Busy { ns: *ns },
        Work::Log {
            ns,
            bytes,
            directory,
        } => WorkSpec::Log {
            ns: *ns,
            bytes: *bytes,
            directory: directory.clone(),
        },
        Work::WorkingSet { bytes } => WorkSpec::WorkingSet { bytes: *bytes },
        Work::CacheDelay {
            bytes,
            preempted_by,
        } => WorkSpec::CacheDelay {
            bytes: *bytes,
            preempted_by: *preempted_by,
        },
        Work::Ethercat { timeout_ns, bus } => WorkSpec::Ethercat(EthercatSpec {
            timeout_ns: *timeout_ns,
            // Devices answer in hardware: nothing that runs on the machine delays them.
            bus: wakepath_load::ethercat_bus(bus, true),
        }),
        Work::Program { command } => WorkSpec::Program {
            command: command.clone(),
        },
        Work::Flight(flight) => WorkSpec::Flight(flight_spec(flight, ControllerSpec::BuiltIn)),
        Work::Tasks(tasks) => {
            let wakepath_scenario::TaskTable { table, flight } = tasks;
            let table = match table {
                TableSource::Tasks(table) => table.iter().map(table_task).collect(),
                // Neither is left once the scenario's files have been read.
                TableSource::BuiltIn(_) | TableSource::File(_) => Vec::new(),
            };
            let controller = ControllerSpec::Tasks { tasks: table };
            WorkSpec::Flight(flight_spec(flight, controller))
        }
        Work::Library(library) => {
            let is_python = library.is_python();
            let Library {
                library,
                python,
                sha256,
                settings,
                flight,
            } = library.clone();
            let controller = if is_python {
                ControllerSpec::Python {
                    file: library,
                    interpreter: python,
                    settings,
                    sha256,
                }
            } else {
                ControllerSpec::Library {
                    library,
                    settings,
                    sha256,
                }
            };
            WorkSpec::Flight(flight_spec(&flight, controller))
        }
    }
}

fn table_task(task: &TableTask) -> TableTaskSpec {
    let TableTask {
        name,
        period_ns,
        budget_ns,
        priority,
        rounds,
        bytes,
    } = task.clone();
    TableTaskSpec {
        name,
        period_ns,
        budget_ns,
        priority,
        rounds,
        bytes,
    }
}

fn flight_spec(flight: &Flight, controller: ControllerSpec) -> FlightSpec {
    let Flight {
        vehicle,
        trajectory,
        working_set,
    } = flight;
    FlightSpec {
        vehicle: match vehicle {
            FlightVehicle::Text(text) => text.clone(),
            FlightVehicle::BuiltIn(name) | FlightVehicle::File(name) => {
                // A file's path in place of its text is no vehicle, and the loop reports it.
                Vehicle::built_in_text(name).unwrap_or(name).to_owned()
            }
        },
        trajectory: trajectory.clone(),
        working_set: *working_set,
        controller,
    }
}
