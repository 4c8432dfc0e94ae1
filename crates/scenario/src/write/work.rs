//! Work as it is written into a resolved scenario.

use super::quoted;
use crate::FlightVehicle;
use crate::units::{format_duration, format_size};
use crate::work::{Flight, Work};
use crate::{TableSource, TableTask};
use wakepath_flight::Trajectory;

pub(super) fn work(work: &Work) -> String {
    match work {
        Work::Nothing => "\"nothing\"".to_owned(),
        Work::WorkingSet { bytes } => {
            let bytes = format_size(*bytes);
            format!("{{ kind = \"working-set\", bytes = \"{bytes}\" }}")
        }
        Work::Flight(of) => format!("{{ kind = \"flight\", {} }}", flight(of)),
        Work::Tasks(tasks) => {
            let flight = flight(&tasks.flight);
            format!("{{ kind = \"tasks\", {}, {flight} }}", table(&tasks.table))
        }
        Work::Library(library) => {
            let entry = |key: &str, value: &Option<String>| match value {
                Some(text) => format!("{key} = {}, ", quoted(text)),
                None => String::new(),
            };
            format!(
                "{{ kind = \"library\", library = {}, {}{}settings = {}, {} }}",
                quoted(&library.library),
                entry("python", &library.python),
                entry("sha256", &library.sha256),
                quoted(&library.settings),
                flight(&library.flight)
            )
        }
    }
}

fn table(table: &TableSource) -> String {
    match table {
        TableSource::BuiltIn(name) => format!("table = {}", quoted(name)),
        TableSource::File(path) => format!("table-file = {}", quoted(path)),
        TableSource::Tasks(tasks) => {
            let tasks: Vec<String> = tasks.iter().map(table_task).collect();
            format!("tasks = [{}]", tasks.join(", "))
        }
    }
}

fn table_task(task: &TableTask) -> String {
    format!(
        "{{ name = {}, period = \"{}\", budget = \"{}\", priority = {}, rounds = {}, bytes = \
         \"{}\" }}",
        quoted(&task.name),
        format_duration(task.period_ns),
        format_duration(task.budget_ns),
        task.priority,
        task.rounds,
        format_size(task.bytes)
    )
}

fn flight(flight: &Flight) -> String {
    let vehicle = match &flight.vehicle {
        FlightVehicle::BuiltIn(name) => format!("vehicle = {}", quoted(name)),
        FlightVehicle::File(path) => format!("vehicle-file = {}", quoted(path)),
        FlightVehicle::Text(text) => format!("vehicle-text = {}", several_lines(text)),
    };
    format!(
        "trajectory = {}, working-set = \"{}\", {vehicle}",
        trajectory(&flight.trajectory),
        format_size(flight.working_set),
    )
}

fn trajectory(trajectory: &Trajectory) -> String {
    match trajectory {
        Trajectory::Hover { position } => {
            format!("{{ kind = \"hover\", position = {position:?} }}")
        }
        Trajectory::Step { from, to } => {
            format!("{{ kind = \"step\", from = {from:?}, to = {to:?} }}")
        }
        Trajectory::Circle {
            centre,
            radius_m,
            frequency_hz,
        } => format!(
            "{{ kind = \"circle\", centre = {centre:?}, radius-m = {radius_m:?}, frequency-hz = \
             {frequency_hz:?} }}"
        ),
        Trajectory::Waypoints(points) => {
            let points: Vec<String> = points
                .iter()
                .map(|point| {
                    let (at, position) = (point.at_s, point.position);
                    format!("{{ at-s = {at:?}, position = {position:?} }}")
                })
                .collect();
            let points = points.join(", ");
            format!("{{ kind = \"waypoints\", points = [{points}] }}")
        }
    }
}

/// A file's text, line by line where TOML's literal strings can hold it, so that a person can
/// still read it.
fn several_lines(text: &str) -> String {
    let literal = !text.contains("''")
        && !text.ends_with('\'')
        && text.chars().all(|c| c == '\n' || !c.is_control());
    match literal {
        // The first line feed after the quotes is not part of the text.
        true => format!("'''\n{text}'''"),
        false => quoted(text),
    }
}
