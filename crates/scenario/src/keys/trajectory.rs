//! The course of a vehicle.

use super::form::{Form, List, Number, between, from};
use super::shape::Shape;
use super::variants::{Row, Short, Variants};
use super::visitor::Keys;
use crate::Course;
use crate::document::Node;
use crate::error::Finding;
use toml::Value;
use wakepath_flight::{Trajectory, reference::Waypoint};

const FURTHEST_M: f64 = 1e4;
const MOST_POINTS: usize = 1000;
const POINTS: &str = "give a list of points such as [{ at-s = 0.0, position = [0, 0, 1] }]";

pub(crate) static TRAJECTORY: Variants<Trajectory> = Variants {
    title: "trajectory",
    one: "a known trajectory",
    about: "Path of a vehicle in metres, starting at the first due time. World axes, z up.",
    tag: "kind",
    short: "`\"hover\"`, `\"step\"` or `\"circle\"`",
    rows: &[
        Row {
            name: "hover",
            about: "Hover at one position.",
            blank: || Course::Hover.trajectory(),
            keys: |keys, trajectory| {
                if let Trajectory::Hover { position } = trajectory {
                    place(keys, "position", "Position, m.", position);
                }
            },
            short: Short::Alone,
        },
        Row {
            name: "step",
            about: "Hover at one position, then step to another.",
            blank: || Course::Step.trajectory(),
            keys: |keys, trajectory| {
                if let Trajectory::Step { from, to } = trajectory {
                    place(keys, "from", "Position of the hover, m.", from);
                    place(keys, "to", "Position to reach, m.", to);
                }
            },
            short: Short::Alone,
        },
        Row {
            name: "circle",
            about: "A horizontal circle, anticlockwise seen from above.",
            blank: || Course::Circle.trajectory(),
            keys: |keys, trajectory| {
                if let Trajectory::Circle {
                    centre,
                    radius_m,
                    frequency_hz,
                } = trajectory
                {
                    place(keys, "centre", "Centre, m.", centre);
                    keys.or(
                        "radius-m",
                        between(0.0, FURTHEST_M),
                        *radius_m,
                        "Radius, m.",
                        radius_m,
                    );
                    let frequency = *frequency_hz;
                    keys.or(
                        "frequency-hz",
                        between(0.0, 1e3),
                        frequency,
                        "Turns a second.",
                        frequency_hz,
                    );
                }
            },
            short: Short::Alone,
        },
        Row {
            name: "waypoints",
            about: "Points joined by minimum-jerk motion from rest to rest.",
            blank: || Trajectory::Waypoints(Vec::new()),
            keys: |keys, trajectory| {
                if let Trajectory::Waypoints(points) = trajectory {
                    waypoints(keys, points);
                }
            },
            short: Short::No,
        },
    ],
};

pub(super) fn key(keys: &mut Keys<'_>, trajectory: &mut Trajectory) {
    keys.nested(
        "trajectory",
        (Ok("\"circle\""), "Trajectory for the vehicle."),
        trajectory,
        || TRAJECTORY.shape(),
        |node, context, findings| {
            let trajectory = TRAJECTORY.read(node, context, findings)?;
            let possible = trajectory.check();
            let refused = |error| node.refuse("can't be followed", format!("{error}"));
            findings.keep(possible.map_err(refused))?;
            Some(trajectory)
        },
        |trajectory| Some(TRAJECTORY.write(TRAJECTORY.name_of(trajectory), trajectory)),
    );
}

fn place(keys: &mut Keys<'_>, name: &'static str, about: &'static str, field: &mut [f64; 3]) {
    keys.or(name, Position, *field, about, field);
}

/// Three numbers in metres, up to 10 km.
struct Position;

impl Position {
    const METRES: Number = between(-FURTHEST_M, FURTHEST_M);
    const LIST: List<Number> = List {
        item: Self::METRES,
        least: 3,
        most: 3,
    };
}

impl Form for Position {
    type Value = [f64; 3];
    fn shape(&self) -> Shape {
        Self::LIST.shape()
    }
    fn remedy(&self) -> String {
        "give three numbers in metres, such as [0, 0, 1]".into()
    }
    fn read(&self, node: &Node<'_>) -> Result<[f64; 3], Finding> {
        let items = node.items(3, &self.remedy())?;
        let [x, y, z] = &items[..] else {
            return Err(node.refuse("is not a position", self.remedy()));
        };
        let metres = Self::METRES;
        Ok([metres.read(x)?, metres.read(y)?, metres.read(z)?])
    }
    fn write(&self, position: &[f64; 3]) -> Value {
        Self::LIST.write(&position.to_vec())
    }
}

fn waypoints(keys: &mut Keys<'_>, points: &mut Vec<Waypoint>) {
    keys.tables(
        "points",
        (Err(POINTS), "The points, in order of time."),
        points,
        ((1, MOST_POINTS), POINTS),
        no_waypoint,
        |keys, point, _| waypoint(keys, point),
    );
}

pub(crate) fn no_waypoint() -> Waypoint {
    Waypoint {
        at_s: 0.0,
        position: [0.0; 3],
    }
}

pub(crate) fn waypoint(keys: &mut Keys<'_>, point: &mut Waypoint) {
    keys.title("a waypoint", "A position and the time to be there.");
    keys.required(
        "at-s",
        from(0.0, 1e9),
        "Seconds after the first due time.",
        &mut point.at_s,
    );
    keys.required("position", Position, "Position, m.", &mut point.position);
}
