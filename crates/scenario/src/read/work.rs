//! Reads a thread's work in each cycle: none, a block of memory, a controller.

use super::flight;
use crate::document::{Node, Section};
use crate::error::{Finding, Findings};
use crate::keys::{self, LONGEST_ANSWER_NS};
use crate::units::{parse_duration, parse_size};
use crate::work::{Flight, Library, TaskTable, Work};
use crate::{EthercatBus, FlightVehicle};
use wakepath_flight::{Trajectory, reference::Waypoint};
use wakepath_timeline::is_unprintable;

/// Largest working set of a cycle, in bytes: 1 GiB.
const MOST_WORK_BYTES: u64 = 1 << 30;
/// Twice the last-level cache of most boards, and touched in some ten milliseconds: 64 MiB.
const PREEMPTED_BY_BYTES: u64 = 64 << 20;
/// Longest CPU time of a cycle: a minute.
const LONGEST_BUSY_NS: u64 = 60_000_000_000;
/// Longest path or settings text, in bytes.
const LONGEST_TEXT: usize = 4096;
const FURTHEST_M: f64 = 1e4;

/// The entry `work` of a table; nothing without it.
pub(super) fn read_own_work(section: &Section<'_>, findings: &mut Findings) -> Option<Work> {
    match section.get("work") {
        None => Some(Work::Nothing),
        Some(node) => read_work(&node, findings),
    }
}

pub(super) fn read_work(node: &Node<'_>, findings: &mut Findings) -> Option<Work> {
    let remedy = "give \"nothing\", \"flight\" or a table such as { kind = \"working-set\", bytes \
                  = \"64 KiB\" }";
    match node.as_text() {
        Some("nothing") => return Some(Work::Nothing),
        Some("flight") => return Some(Work::Flight(Flight::default())),
        Some("ethercat") => {
            return Some(Work::Ethercat {
                timeout_ns: None,
                bus: EthercatBus::default(),
            });
        }
        Some(_) => {
            findings.push(node.refuse("is not work that is known", remedy));
            return None;
        }
        None => {}
    }
    let section = findings.keep(node.table(remedy))?;
    match keys::WORK.find(&section, findings)?.name {
        "nothing" => Some(Work::Nothing),
        "busy" => {
            let remedy = "give a time such as \"3 ms\"";
            let node = findings.keep(section.need("time", remedy))?;
            let ns = findings.keep(node.quantity(remedy, parse_duration))?;
            if !(1..=LONGEST_BUSY_NS).contains(&ns) {
                findings.push(node.refuse("is not a time to compute for", "give 1 ns to 60 s"));
                return None;
            }
            Some(Work::Busy { ns })
        }
        "cache-delay" => {
            let node = section.need("bytes", "give a size such as \"64 KiB\"");
            let bytes = findings.keep(node.and_then(|node| read_size(&node, 0)));
            let by = section.get("preempted-by");
            let by = findings.optional(by, PREEMPTED_BY_BYTES, |node| read_size(node, 1));
            Some(Work::CacheDelay {
                bytes: bytes?,
                preempted_by: by?,
            })
        }
        "ethercat" => {
            let timeout = findings.optional(section.get("timeout"), None, |node| {
                let remedy = "give a time from 1 us to 150 ms, such as \"500 us\"";
                match node.quantity(remedy, parse_duration)? {
                    ns @ 1_000..=LONGEST_ANSWER_NS => Ok(Some(ns)),
                    _ => Err(node.refuse("is not a time to wait for an answer", remedy)),
                }
            });
            let bus = super::ethercat::read_bus(&section, findings);
            Some(Work::Ethercat {
                timeout_ns: timeout?,
                bus: bus?,
            })
        }
        "flight" => read_flight(&section, findings).map(Work::Flight),
        "program" => {
            let remedy = "give a list such as [\"./my-loop\", \"--fast\"]";
            let node = findings.keep(section.need("command", remedy))?;
            let command = findings.keep(super::loads::read_arguments(&node))?;
            if command.first().is_none_or(String::is_empty) {
                findings.push(node.refuse("names no program", remedy));
                return None;
            }
            Some(Work::Program { command })
        }
        "tasks" => {
            let flight = read_flight(&section, findings);
            let table = super::task_table::read_source(&section, findings);
            Some(Work::Tasks(TaskTable {
                table: table?,
                flight: flight?,
            }))
        }
        "library" => {
            let flight = read_flight(&section, findings);
            let node = section.need("library", "give the path of a shared library");
            let library = findings.keep(node.and_then(|node| read_path(&node)));
            let settings = findings.optional(section.get("settings"), String::new(), read_text);
            if let (Some(path), Some(node)) = (&library, section.get("library"))
                && path.is_empty()
            {
                findings.push(node.refuse("names no file", "give the path of a shared library"));
            }
            let python = read_python(&section, library.as_deref(), findings);
            let sha256 = match section.get("sha256") {
                None => Some(None),
                Some(node) => findings.keep(read_sha256(&node)).map(Some),
            };
            Some(Work::Library(Library {
                library: library?,
                python: python?,
                sha256: sha256?,
                settings: settings?,
                flight: flight?,
            }))
        }
        _ => {
            let node = section.need("bytes", "give a size such as \"64 KiB\"");
            let bytes = findings.keep(node.and_then(|node| read_size(&node, 1)))?;
            Some(Work::WorkingSet { bytes })
        }
    }
}

/// The interpreter; only valid with a Python file.
fn read_python(
    section: &Section<'_>,
    library: Option<&str>,
    findings: &mut Findings,
) -> Option<Option<String>> {
    let Some(node) = section.get("python") else {
        return Some(None);
    };
    let interpreter = findings.keep(read_path(&node))?;
    let remedy = match (interpreter.is_empty(), library) {
        (true, _) => "give an interpreter such as \"python3\"",
        (false, Some(file)) if !file.ends_with(".py") => {
            "leave it out, or give a library whose name ends in .py"
        }
        _ => return Some(Some(interpreter)),
    };
    findings.push(node.refuse("is of no use here", remedy));
    None
}

fn read_sha256(node: &Node<'_>) -> Result<String, Finding> {
    let remedy = "give the 64 hexadecimal digits that sha256sum prints";
    let digits = node.text(remedy)?;
    match digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        true => Ok(digits.to_ascii_lowercase()),
        false => Err(node.refuse("is not a SHA-256", remedy)),
    }
}

fn read_flight(section: &Section<'_>, findings: &mut Findings) -> Option<Flight> {
    let vehicle = read_vehicle(section, findings);
    let default = Flight::default();
    let trajectory = match section.get("trajectory") {
        None => Some(default.trajectory),
        Some(node) => read_trajectory(&node, findings),
    };
    let working_set = findings.optional(section.get("working-set"), 0, |node| read_size(node, 0));
    Some(Flight {
        vehicle: vehicle?,
        trajectory: trajectory?,
        working_set: working_set?,
    })
}

fn read_vehicle(section: &Section<'_>, findings: &mut Findings) -> Option<FlightVehicle> {
    let keys = ["vehicle", "vehicle-file", "vehicle-text"];
    match keys.iter().any(|key| section.get(key).is_some()) {
        true => flight::read_vehicle(section, findings),
        false => Some(Flight::default().vehicle),
    }
}

pub(super) fn read_text(node: &Node<'_>) -> Result<String, Finding> {
    let text = node.text("give text in quotes")?;
    if text.len() > LONGEST_TEXT || text.contains('\0') {
        let remedy = format!("give at most {LONGEST_TEXT} bytes without a NUL");
        return Err(node.refuse("is too long or holds a NUL", remedy));
    }
    Ok(text.to_owned())
}

/// A file's path. It appears in tables and messages, so it must not contain a line break.
pub(super) fn read_path(node: &Node<'_>) -> Result<String, Finding> {
    let path = read_text(node)?;
    match path.contains(is_unprintable) {
        true => Err(node.refuse(
            "holds a control or invisible character",
            "give a path of printable characters",
        )),
        false => Ok(path),
    }
}

pub(super) fn read_size(node: &Node<'_>, least: u64) -> Result<u64, Finding> {
    let bytes = node.quantity("give a size such as \"64 KiB\"", parse_size)?;
    match (least..=MOST_WORK_BYTES).contains(&bytes) {
        true => Ok(bytes),
        false => {
            let remedy = format!("give from \"{least} B\" to \"1 GiB\"");
            Err(node.refuse("is not an amount of work for a cycle", remedy))
        }
    }
}

fn read_trajectory(node: &Node<'_>, findings: &mut Findings) -> Option<Trajectory> {
    let remedy = "give \"hover\", \"step\", \"circle\" or a table such as { kind = \"circle\", \
                  radius-m = 2 }";
    let (name, section) = match node.as_text() {
        Some(name @ ("hover" | "step" | "circle")) => (name, None),
        Some(_) => {
            findings.push(node.refuse("is not a trajectory that is known", remedy));
            return None;
        }
        None => {
            let section = findings.keep(node.table(remedy))?;
            let name = keys::TRAJECTORY.find(&section, findings)?.name;
            (name, Some(section))
        }
    };
    let get = |key: &str| section.as_ref().and_then(|section| section.get(key));
    let trajectory = match name {
        "hover" => Trajectory::Hover {
            position: findings.optional(get("position"), [0.0; 3], read_position)?,
        },
        "step" => Trajectory::Step {
            from: findings.optional(get("from"), [-1.0, 0.0, 0.0], read_position)?,
            to: findings.optional(get("to"), [0.0; 3], read_position)?,
        },
        "circle" => Trajectory::Circle {
            centre: findings.optional(get("centre"), [0.0; 3], read_position)?,
            radius_m: findings
                .optional(get("radius-m"), 1.0, |node| read_positive(node, FURTHEST_M))?,
            frequency_hz: findings
                .optional(get("frequency-hz"), 0.2, |node| read_positive(node, 1e3))?,
        },
        _ => {
            let section = section.as_ref()?;
            let remedy = "give a list of points such as [{ at-s = 0.0, position = [0, 0, 1] }]";
            let node = findings.keep(section.need("points", remedy))?;
            let items = findings.keep(node.items(1000, remedy))?;
            let points: Option<Vec<Waypoint>> = items
                .iter()
                .map(|item| read_waypoint(item, findings))
                .collect();
            Trajectory::Waypoints(points?)
        }
    };
    match trajectory.check() {
        Ok(()) => Some(trajectory),
        Err(error) => {
            findings.push(node.refuse("can't be followed", error.to_string()));
            None
        }
    }
}

fn read_waypoint(item: &Node<'_>, findings: &mut Findings) -> Option<Waypoint> {
    let section = findings.keep(item.table("give { at-s = 0.0, position = [0, 0, 1] }"))?;
    keys::check(&section, &keys::WAYPOINT, findings);
    let at = section.need("at-s", "give seconds after the first due time");
    let at_s = findings.keep(at.and_then(|node| {
        let seconds = node.number("give seconds")?;
        match (0.0..1e9).contains(&seconds) {
            true => Ok(seconds),
            false => Err(node.refuse("is not a time in a flight", "give 0 or more, below 1e9")),
        }
    }));
    let position = section.need("position", "give a place such as [0, 0, 1]");
    let position = findings.keep(position.and_then(|node| read_position(&node)));
    Some(Waypoint {
        at_s: at_s?,
        position: position?,
    })
}

fn read_position(node: &Node<'_>) -> Result<[f64; 3], Finding> {
    let remedy = "give three numbers in metres, such as [0, 0, 1]";
    let items = node.items(3, remedy)?;
    let [x, y, z] = &items[..] else {
        return Err(node.refuse("is not a position", remedy));
    };
    let metres = |item: &Node<'_>| {
        let value = item.number(remedy)?;
        match value.abs() < FURTHEST_M {
            true => Ok(value),
            false => Err(item.refuse("is too far", "give less than 10 km")),
        }
    };
    Ok([metres(x)?, metres(y)?, metres(z)?])
}

fn read_positive(node: &Node<'_>, below: f64) -> Result<f64, Finding> {
    let value = node.number("give a number")?;
    match value > 0.0 && value < below {
        true => Ok(value),
        false => Err(node.refuse("is out of range", format!("give above 0, below {below}"))),
    }
}
