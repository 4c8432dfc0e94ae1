//! Writes the work of a resolved scenario.

use super::ethercat::bus;
use super::{Entries, time, vehicle};
use crate::units::format_size;
use crate::work::{Flight, Work};
use crate::{TableSource, TableTask};
use toml::Value;
use wakepath_flight::Trajectory;
use wakepath_flight::reference::Waypoint;

pub(super) fn work(work: &Work) -> Value {
    let kind = |name: &str| Entries::new().with("kind", name);
    match work {
        Work::Nothing => "nothing".into(),
        Work::WorkingSet { bytes } => kind("working-set")
            .with("bytes", format_size(*bytes))
            .into(),
        Work::Busy { ns } => kind("busy").with("time", time(*ns)).into(),
        Work::CacheDelay {
            bytes,
            preempted_by,
        } => kind("cache-delay")
            .with("bytes", format_size(*bytes))
            .with("preempted-by", format_size(*preempted_by))
            .into(),
        Work::Ethercat {
            timeout_ns,
            bus: of,
        } => kind("ethercat")
            .maybe("timeout", timeout_ns.map(time))
            .and(bus(of))
            .into(),
        Work::Flight(of) => kind("flight").and(flight(of)).into(),
        Work::Program { command } => kind("program").with("command", command.clone()).into(),
        Work::Tasks(tasks) => {
            let (key, source) = table(&tasks.table);
            kind("tasks")
                .with(key, source)
                .and(flight(&tasks.flight))
                .into()
        }
        Work::Library(of) => kind("library")
            .with("library", of.library.as_str())
            .maybe("python", of.python.as_deref())
            .maybe("sha256", of.sha256.as_deref())
            .with("settings", of.settings.as_str())
            .and(flight(&of.flight))
            .into(),
    }
}

fn table(source: &TableSource) -> (&'static str, Value) {
    match source {
        TableSource::BuiltIn(name) => ("table", name.as_str().into()),
        TableSource::File(path) => ("table-file", path.as_str().into()),
        TableSource::Tasks(tasks) => {
            let tasks: Vec<Value> = tasks.iter().map(table_task).collect();
            ("tasks", tasks.into())
        }
    }
}

fn table_task(task: &TableTask) -> Value {
    Entries::new()
        .with("name", task.name.as_str())
        .with("period", time(task.period_ns))
        .with("budget", time(task.budget_ns))
        .with("priority", task.priority)
        .with("rounds", task.rounds.cast_signed())
        .with("bytes", format_size(task.bytes))
        .into()
}

fn flight(flight: &Flight) -> Entries {
    Entries::new()
        .with("working-set", format_size(flight.working_set))
        .and(vehicle(&flight.vehicle))
        .with("trajectory", trajectory(&flight.trajectory))
}

fn trajectory(trajectory: &Trajectory) -> Value {
    let kind = |name: &str| Entries::new().with("kind", name);
    match trajectory {
        Trajectory::Hover { position } => kind("hover").with("position", point(position)),
        Trajectory::Step { from, to } => {
            kind("step").with("from", point(from)).with("to", point(to))
        }
        Trajectory::Circle {
            centre,
            radius_m,
            frequency_hz,
        } => kind("circle")
            .with("centre", point(centre))
            .with("radius-m", *radius_m)
            .with("frequency-hz", *frequency_hz),
        Trajectory::Waypoints(points) => {
            let points: Vec<Value> = points.iter().map(waypoint).collect();
            kind("waypoints").with("points", points)
        }
    }
    .into()
}

fn waypoint(of: &Waypoint) -> Value {
    Entries::new()
        .with("at-s", of.at_s)
        .with("position", point(&of.position))
        .into()
}

fn point(position: &[f64; 3]) -> Vec<f64> {
    position.to_vec()
}
