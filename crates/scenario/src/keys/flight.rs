//! `flight`: the vehicle that is flown after the run, and the flight's criterion.

use super::form::{Name, OfPeriod, Words, between, whole};
use super::shape::Shape;
use super::suggestion;
use super::vehicle;
use super::visitor::{Keys, described, read, written};
use crate::{Course, FlightCriterion, FlightTerms, FlightVehicle, Scenario, Task, Word};
use serde_json::json;
use wakepath_flight::replay::{Choices, Missed, OverrunRule, Sampling};

/// The table; `tasks` are those among which it chooses.
pub(super) fn key(keys: &mut Keys<'_>, tasks: Option<&[Task]>, flight: &mut Option<FlightTerms>) {
    keys.nested(
        "flight",
        (
            Ok("no flight"),
            "The vehicle to simulate with the measured timing, and the limits for its flight.",
        ),
        flight,
        || Shape::Table(Box::new(described(blank(), declare))),
        |node, context, findings| {
            let section = findings.keep(node.table("give a table [flight]"))?;
            context.with_any_period(findings, |context, findings| {
                let terms = read(&section, context, findings, blank(), |keys, terms| {
                    declare(keys, terms);
                    if let Some(tasks) = tasks {
                        refuse_task(keys, tasks, terms.task.as_deref());
                    }
                });
                terms.map(Some)
            })
        },
        |flight| flight.as_mut().map(|terms| written(terms, declare)),
    );
    keys.rule(|| {
        json!({
            "if": { "not": { "anyOf": [{ "required": ["tasks"] }, { "required": ["period-step"] }] } },
            "then": { "properties": { "flight": { "not": { "required": ["task"] } } } },
        })
    });
}

pub(crate) fn blank() -> FlightTerms {
    FlightTerms {
        vehicle: FlightVehicle::BuiltIn("hummingbird".into()),
        choices: Choices {
            sampling: Sampling::WORDS[0].1,
            missed: Missed::WORDS[0].1,
            overrun: OverrunRule::WORDS[0].1,
        },
        course: Course::WORDS[0].1,
        seed: 0,
        task: None,
        criterion: FlightCriterion::default(),
    }
}

pub(crate) fn declare(keys: &mut Keys<'_>, terms: &mut FlightTerms) {
    keys.title(
        "the flight",
        "Replays the measured timing through a simulated vehicle after the run, and limits its \
         flight. Without this table there is no flight to judge.",
    );
    vehicle::declare(keys, true, &mut terms.vehicle);
    word(
        keys,
        "sample",
        "When the controller's state was latched: by the loop when it wakes, or by the sensor \
         at the due time.",
        &mut terms.choices.sampling,
    );
    word(
        keys,
        "missed",
        "Rotor command if none has arrived by the next due time.",
        &mut terms.choices.missed,
    );
    word(
        keys,
        "overrun",
        "Handling of a cycle that continues past the next due time: skipped as recorded, queued, or abandoned.",
        &mut terms.choices.overrun,
    );
    word(
        keys,
        "trajectory",
        "Trajectory of the vehicle: a circle of 1 m at 0.2 Hz, a hover, or a step of 1 m.",
        &mut terms.course,
    );
    keys.or(
        "seed",
        whole(0, i64::MAX),
        0,
        "Seed of the torque noise and of the kicks.",
        &mut terms.seed,
    );
    keys.optional(
        "task",
        Name("control"),
        "needed if tasks are judged one by one",
        "Task that runs the controller.",
        &mut terms.task,
    );
    word(
        keys,
        "lost",
        "`\"never\"` fails the condition if the vehicle is lost in a flight; `\"tolerated\"` does not.",
        &mut terms.criterion.lost,
    );
    let period_ns = keys.context.period_ns;
    keys.optional(
        "delay-margin",
        OfPeriod { period_ns },
        "no bound",
        "Minimum constant delay that the control loop must tolerate on top of its own mean delay.",
        &mut terms.criterion.delay_margin_ns,
    );
    keys.optional(
        "peak-tilt",
        between(0.0, 180.0),
        "no bound",
        "Largest allowed tilt in degrees after a kick of 5 rad/s at the worst bursts.",
        &mut terms.criterion.peak_tilt_deg,
    );
}

fn word<T: Word>(keys: &mut Keys<'_>, name: &'static str, about: &'static str, field: &mut T) {
    keys.or(name, Words(T::WORDS), T::WORDS[0].1, about, field);
}

/// The task must be named if the tasks are judged one by one, and only then.
fn refuse_task(keys: &mut Keys<'_>, tasks: &[Task], named: Option<&str>) {
    let names: Vec<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
    let alike = Scenario::are_alike(tasks);
    match named {
        None if keys.given("task").is_none() && !alike => {
            keys.missing("task", "name the task that is the controller");
        }
        Some(name) if !names.contains(&name) => {
            keys.refuse_value("task", "is not a task here", suggestion(name, &names));
        }
        Some(_) if alike => {
            let problem = "selects a task, but the tasks are judged together";
            keys.refuse_value("task", problem, "leave it out");
        }
        _ => {}
    }
}
