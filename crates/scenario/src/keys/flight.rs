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
            Ok("nothing is flown"),
            "The vehicle that is flown through the measured instants, and what it must show.",
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
        "Which vehicle is flown through the measured instants after the run, and what its \
         flight must show. Without this table nothing is flown and nothing of it is judged.",
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
        "Behaviour of the rotors when a command has not come by the next due time.",
        &mut terms.choices.missed,
    );
    word(
        keys,
        "overrun",
        "What becomes of a job that runs into the next due time: as recorded by a loop that \
         skips, queued, or abandoned.",
        &mut terms.choices.overrun,
    );
    word(
        keys,
        "trajectory",
        "The vehicle's course: a circle of 1 m at 0.2 Hz, its place, or a step of 1 m.",
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
        "needed where tasks are judged one by one",
        "The task whose cycles are the controller's.",
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
        "Least constant delay that the loop must bear beyond its own mean delay.",
        &mut terms.criterion.delay_margin_ns,
    );
    keys.optional(
        "peak-tilt",
        between(0.0, 180.0),
        "no bound",
        "Greatest tilt in degrees after a kick of 5 rad/s, swept over the worst bursts.",
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
            let problem = "chooses among tasks that are judged as one";
            keys.refuse_value("task", problem, "leave it out");
        }
        _ => {}
    }
}
