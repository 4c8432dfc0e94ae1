//! A policy of LITMUS^RT as the table of a file.

use super::{Given, LOWEST_PRIORITY, checked};
use crate::document::Section;
use crate::error::Findings;
use crate::units::{Complaint, parse_duration};
use wakepath_timeline::{Enforcement, JobRelease, LitmusPlugin, LitmusTask, MOST_CPUS, Policy};

/// Reads the table of a policy.
pub(crate) fn read(
    section: &Section<'_>,
    plugin: LitmusPlugin,
    period_ns: u64,
    findings: &mut Findings,
) -> Option<Policy> {
    let remedy = "give a time such as \"400 µs\"";
    let mut time = |name| match section.get(name) {
        None => Some(None),
        Some(node) => findings
            .keep(node.quantity(remedy, parse_duration))
            .map(Some),
    };
    let (budget_ns, own_period_ns, deadline_ns) =
        (time("budget")?, time("period")?, time("deadline")?);
    let enforcement = findings.optional(section.get("enforce"), Enforcement::None, |node| {
        crate::read::choice(
            node,
            &[
                ("none", Enforcement::None),
                ("quantum", Enforcement::Quantum),
                ("precise", Enforcement::Precise),
            ],
        )
    })?;
    let release = findings.optional(section.get("release"), JobRelease::Job, |node| {
        let kinds = [("job", JobRelease::Job), ("sleep", JobRelease::Sleep)];
        crate::read::choice(node, &kinds)
    })?;
    let partition = match section.get("partition") {
        None => None,
        Some(node) => {
            let cpus = 0..=i64::from(MOST_CPUS) - 1;
            Some(findings.keep(node.integer(cpus))? as u16)
        }
    };
    let priority = match plugin {
        LitmusPlugin::PFp => {
            let node = section.need("priority", "give a priority from 1 (highest) to 511");
            let number = node.and_then(|node| node.integer(1..=i64::from(LOWEST_PRIORITY)));
            Some(findings.keep(number)? as u16)
        }
        _ => None,
    };
    let task = LitmusTask {
        budget_ns,
        period_ns: own_period_ns,
        deadline_ns,
        enforcement,
        release,
    };
    match checked(task, period_ns) {
        Ok(task) => Some(
            Given {
                priority,
                partition,
                task,
            }
            .policy(plugin),
        ),
        Err((part, Complaint { problem, remedy })) => {
            findings.push(match section.get(part) {
                Some(node) => node.refuse(problem, remedy),
                None => section.refuse_key(part, problem, remedy),
            });
            None
        }
    }
}
