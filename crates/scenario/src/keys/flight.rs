//! The table `[flight]`.

use super::{Form, Table, optional};

/// Longest text of a vehicle file in a scenario, in bytes.
pub(crate) const LONGEST_VEHICLE: usize = 64 << 10;

pub(crate) static FLIGHT: Table = Table {
    title: "the flight",
    about: "Which vehicle is flown through the measured instants after the run, and what its \
            flight must show. Without this table nothing is flown and nothing of it is judged.",
    one_of: &[&["vehicle", "vehicle-file", "vehicle-text"]],
    not_both: &[],
    keys: &[
        optional(
            "vehicle",
            Form::Choice(&["hummingbird", "crazyflie"]),
            "one of `vehicle` and `vehicle-file` is needed",
            "A built-in vehicle.",
        ),
        optional(
            "vehicle-file",
            Form::Text,
            "one of `vehicle` and `vehicle-file` is needed",
            "A vehicle file of your own, relative to the scenario file. A run keeps its text, so \
             that it can be judged again without the file.",
        ),
        optional(
            "vehicle-text",
            Form::Text,
            "one of `vehicle` and `vehicle-file` is needed",
            "The text of a vehicle file, up to 64 KiB, as stored in a run.",
        ),
        optional(
            "sample",
            Form::Choice(&["wake", "release"]),
            "\"wake\"",
            "When the controller's state was latched: by the loop when it wakes, or by the sensor \
             at the due time.",
        ),
        optional(
            "missed",
            Form::Choice(&["hold", "zero"]),
            "\"hold\"",
            "Behaviour of the rotors when a command has not come by the next due time.",
        ),
        optional(
            "overrun",
            Form::Choice(&["skip", "queue", "kill"]),
            "\"skip\"",
            "What becomes of a job that runs into the next due time: as recorded by a loop that \
             skips, queued, or abandoned.",
        ),
        optional(
            "trajectory",
            Form::Choice(&["circle", "hover", "step"]),
            "\"circle\"",
            "The vehicle's course: a circle of 1 m at 0.2 Hz, its place, or a step of 1 m.",
        ),
        optional(
            "seed",
            Form::Integer(0, i64::MAX),
            "0",
            "Seed of the torque noise and of the kicks.",
        ),
        optional(
            "task",
            Form::Name,
            "needed where tasks are judged one by one",
            "The task whose cycles are the controller's.",
        ),
        optional(
            "lost",
            Form::Choice(&["never", "tolerated"]),
            "\"never\"",
            "`\"never\"` fails the condition if the vehicle is lost in a flight; `\"tolerated\"` does not.",
        ),
        optional(
            "delay-margin",
            Form::OfPeriod,
            "no bound",
            "Least constant delay that the loop must bear beyond its own mean delay.",
        ),
        optional(
            "peak-tilt",
            Form::Number(0.0, 180.0),
            "no bound",
            "Greatest tilt in degrees after a kick of 5 rad/s, swept over the worst bursts.",
        ),
    ],
};
