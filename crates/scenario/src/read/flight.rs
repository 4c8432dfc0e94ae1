//! Reads the flight's vehicle and criterion.

use super::{choice, criterion};
use crate::document::{Node, Section};
use crate::error::{Finding, Findings};
use crate::flight::Word;
use crate::{FlightCriterion, FlightTerms, FlightVehicle, Task, keys};
use wakepath_flight::Vehicle;
use wakepath_flight::replay::Choices;
use wakepath_timeline::{is_unprintable, one_line};

/// `Some(None)` if the scenario has no flight.
pub(super) fn read_flight(
    root: &Section<'_>,
    tasks: &[Task],
    period_ns: u64,
    findings: &mut Findings,
) -> Option<Option<FlightTerms>> {
    let Some(node) = root.get("flight") else {
        return Some(None);
    };
    let section = findings.keep(node.table("give a table [flight]"))?;
    keys::check(&section, &keys::FLIGHT, findings);
    let vehicle = read_vehicle(&section, findings);
    let sampling = word(&section, "sample", findings);
    let missed = word(&section, "missed", findings);
    let overrun = word(&section, "overrun", findings);
    let course = word(&section, "trajectory", findings);
    let lost = word(&section, "lost", findings);
    let seed = findings.optional(section.get("seed"), 0, |node| {
        Ok(node.integer(0..=i64::MAX)? as u64)
    });
    let task = read_task(&section, tasks, findings);
    let delay_margin_ns = findings.optional(section.get("delay-margin"), None, |node| {
        criterion::time(node, period_ns).map(Some)
    });
    let peak_tilt_deg = findings.optional(section.get("peak-tilt"), None, |node| {
        let remedy = "give degrees above 0 and below 180, such as 30";
        let degrees = node.number(remedy)?;
        match degrees > 0.0 && degrees < 180.0 {
            true => Ok(Some(degrees)),
            false => Err(node.refuse("is not a tilt to tolerate", remedy)),
        }
    });
    Some(Some(FlightTerms {
        vehicle: vehicle?,
        choices: Choices {
            sampling: sampling?,
            missed: missed?,
            overrun: overrun?,
        },
        course: course?,
        seed: seed?,
        task: task?,
        criterion: FlightCriterion {
            lost: lost?,
            delay_margin_ns: delay_margin_ns?,
            peak_tilt_deg: peak_tilt_deg?,
        },
    }))
}

fn word<T: Word>(section: &Section<'_>, key: &str, findings: &mut Findings) -> Option<T> {
    let default = T::WORDS[0].1;
    findings.optional(section.get(key), default, |node| choice(node, T::WORDS))
}

pub(super) fn read_vehicle(
    section: &Section<'_>,
    findings: &mut Findings,
) -> Option<FlightVehicle> {
    let remedy = "give vehicle = \"hummingbird\" or vehicle-file = \"my-vehicle.toml\"";
    let given: Vec<Node<'_>> = ["vehicle", "vehicle-file", "vehicle-text"]
        .into_iter()
        .filter_map(|key| section.get(key))
        .collect();
    let node = match given.as_slice() {
        [] => {
            findings.push(section.missing("vehicle", remedy));
            return None;
        }
        [node] => node,
        [_, second, ..] => {
            findings.push(second.refuse("conflicts with another vehicle", "give one of them"));
            return None;
        }
    };
    findings.keep(vehicle_of(node, section, remedy))
}

fn vehicle_of(
    node: &Node<'_>,
    section: &Section<'_>,
    remedy: &str,
) -> Result<FlightVehicle, Finding> {
    let text = node.text(remedy)?;
    if section.get("vehicle").is_some() {
        let names: Vec<&str> = Vehicle::built_in_names().collect();
        return match names.contains(&text) {
            true => Ok(FlightVehicle::BuiltIn(text.into())),
            false => Err(node.refuse("is not built in", keys::suggestion(text, &names))),
        };
    }
    if section.get("vehicle-file").is_some() {
        return match text.is_empty() || text.contains(is_unprintable) {
            true => Err(node.refuse("is not a path", remedy)),
            false => Ok(FlightVehicle::File(text.into())),
        };
    }
    let most = keys::LONGEST_VEHICLE;
    if text.len() > most {
        let problem = format!("has {} bytes", text.len());
        return Err(node.refuse(problem, format!("give at most {most}")));
    }
    match Vehicle::parse(text, "vehicle-text") {
        Ok(_) => Ok(FlightVehicle::Text(text.into())),
        Err(error) => {
            let line: String = error.to_string().chars().take(300).collect();
            let line = one_line(&line);
            Err(node.refuse(
                format!("describes no vehicle: {line}"),
                "see vehicles/hummingbird.toml",
            ))
        }
    }
}

fn read_task(
    section: &Section<'_>,
    tasks: &[Task],
    findings: &mut Findings,
) -> Option<Option<String>> {
    let remedy = "name the task that is the controller";
    if section.get("task").is_none() {
        if crate::Scenario::are_alike(tasks) {
            return Some(None);
        }
        findings.push(section.missing("task", remedy));
        return None;
    }
    let node = section.get("task")?;
    let names: Vec<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
    let name = findings.keep(node.text(remedy))?;
    if !names.contains(&name) {
        findings.push(node.refuse("is not a task here", keys::suggestion(name, &names)));
        return None;
    }
    if crate::Scenario::are_alike(tasks) {
        let problem = "chooses among tasks that are judged as one";
        findings.push(node.refuse(problem, "leave it out"));
        return None;
    }
    Some(Some(name.into()))
}
