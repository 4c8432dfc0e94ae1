//! Programs and libraries that a scenario needs in a guest.
//!
//! The programs of its loads with their packages, and the libraries with a controller. Pure.

use crate::{LabError, Result};
use wakepath_scenario::{LoadKind, Scenario, Work};

/// Used instead of a package's name if none is known.
pub(crate) const THAT_HOLDS_IT: &str = "that holds it, or give its path";

/// Programs that the loads start, with their packages.
pub(crate) fn programs(scenario: &Scenario) -> Result<Vec<(String, &'static str)>> {
    let loads = scenario.phases.iter().flat_map(|phase| &phase.loads);
    let mut needed = Vec::new();
    for load in loads {
        let (program, package) = match &load.kind {
            LoadKind::StressNg { .. } => ("stress-ng", "stress-ng"),
            LoadKind::Fio { .. } => ("fio", "fio"),
            LoadKind::Hackbench { .. } => ("hackbench", "rt-tests"),
            LoadKind::Bonnie { .. } => ("bonnie++", "bonnie++"),
            LoadKind::Iperf3 { .. } => ("iperf3", "iperf3"),
            LoadKind::Wget => ("wget", "wget"),
            LoadKind::Glmark2 { .. } | LoadKind::Gpu { .. } => {
                return Err(LabError::NoGraphics(load.kind.name()));
            }
            LoadKind::Command { command } => {
                let program = command.first().map_or("", String::as_str);
                needed.push((program.to_owned(), THAT_HOLDS_IT));
                continue;
            }
            _ => continue,
        };
        needed.push((program.to_owned(), package));
    }
    needed.dedup();
    Ok(needed)
}

/// Whether it needs the program with an EtherCAT master.
pub(crate) fn ethercat(scenario: &Scenario) -> bool {
    let mut loads = scenario.phases.iter().flat_map(|phase| &phase.loads);
    let mut works = scenario.tasks.iter().map(|task| &task.work);
    loads.any(|load| matches!(load.kind, LoadKind::Ethercat { .. }))
        || works.any(|work| matches!(work, Work::Ethercat { .. }))
}

/// Shared libraries that hold a controller.
pub(crate) fn libraries(scenario: &Scenario) -> Vec<String> {
    let works = scenario.tasks.iter().map(|task| &task.work);
    works
        .filter_map(|work| match work {
            Work::Library(library) => Some(library.library.clone()),
            _ => None,
        })
        .collect()
}
