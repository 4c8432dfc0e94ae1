//! Reads the CPUs of a thread or load, checked against the existing ones.

use crate::KnownCpus;
use crate::document::{Node, Section};
use crate::error::{Finding, Findings};
use crate::units::parse_cpus;
use wakepath_timeline::{CpuSet, quoted};

/// Refuses a set that holds a CPU that is not there.
fn present(node: &Node<'_>, cpus: CpuSet, known: &KnownCpus) -> Result<CpuSet, Finding> {
    match known.first_absent(&cpus) {
        None => Ok(cpus),
        Some(absent) => {
            let problem = match node.is_integer() {
                true => "is not there".to_owned(),
                false => format!("names CPU {absent}, which is not there"),
            };
            Err(node.refuse(problem, format!("there are {}", shown_cpus(known))))
        }
    }
}

fn shown_cpus(known: &KnownCpus) -> String {
    let text = known.cpus().to_string();
    match text.len() {
        0..=200 => text,
        // A machine whose usable CPUs are scattered; the whole list would fill the screen.
        _ => format!("{} CPUs, {}", known.cpus().len(), quoted(&text)),
    }
}

/// Reads `cpu` or `cpus` of a table; nothing given is left open.
pub(super) fn read_placement(
    section: &Section<'_>,
    known: &KnownCpus,
    findings: &mut Findings,
) -> Option<Option<CpuSet>> {
    let read = match (section.get("cpu"), section.get("cpus")) {
        (None, None) => return Some(None),
        (Some(_), Some(_)) => {
            let problem = "conflicts with cpu: both set where to run";
            Err(section.refuse_key("cpus", problem, "give one of the two"))
        }
        (Some(node), None) => node
            .integer(0..=8191)
            .and_then(|cpu| present(&node, CpuSet::from_iter([cpu as u16]), known)),
        (None, Some(node)) => node
            .quantity(
                "give CPUs as text, such as \"1\", \"2-3\" or \"0,2-3\"",
                parse_cpus,
            )
            .and_then(|cpus| present(&node, cpus, known)),
    };
    findings.keep(read).map(Some)
}
