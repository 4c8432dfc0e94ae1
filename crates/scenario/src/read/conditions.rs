//! Reads the policies and the phases, which make the conditions to compare.

use super::loads::read_loads;
use super::text::read_needed_name;
use super::work::read_work;
use crate::document::{Node, Section};
use crate::error::Findings;
use crate::policy::read_policy;
use crate::units::parse_share;
use crate::{KnownCpus, Phase, keys};
use wakepath_timeline::Policy;

pub(super) fn read_policies(
    root: &Section<'_>,
    period_ns: u64,
    all_tasks_have_their_own: bool,
    findings: &mut Findings,
) -> Option<Vec<Policy>> {
    let remedy = "give the policies to compare, such as policies = [\"OTHER\", \"FIFO 99\"]";
    let Some(node) = root.get("policies") else {
        if all_tasks_have_their_own {
            return Some(Vec::new());
        }
        findings.push(root.missing("policies", remedy));
        return None;
    };
    if all_tasks_have_their_own {
        let problem = "would not be used, for every task has a policy of its own";
        let remedy = "leave it out, or take the policy from a task";
        findings.push(root.refuse_key("policies", problem, remedy));
        return None;
    }
    let items = findings.keep(node.items(64, remedy))?;
    if items.is_empty() {
        findings.push(node.refuse("is empty", remedy));
        return None;
    }
    let mut policies = Vec::with_capacity(items.len());
    let mut complete = true;
    for (index, item) in items.iter().enumerate() {
        let Some(policy) = read_policy(item, period_ns, findings) else {
            complete = false;
            continue;
        };
        if let Some((first, _)) = policies.iter().find(|(_, earlier)| *earlier == policy) {
            let problem = format!("is the same policy as policies[{first}]");
            findings.push(item.refuse(problem, "name each policy once"));
        }
        policies.push((index, policy));
    }
    complete.then(|| policies.into_iter().map(|(_, policy)| policy).collect())
}

pub(super) fn read_phases(
    root: &Section<'_>,
    known: &KnownCpus,
    findings: &mut Findings,
) -> Option<Vec<Phase>> {
    let remedy = "give [[phases]], each with a name and its loads";
    let Some(node) = root.get("phases") else {
        return Some(vec![Phase {
            name: "idle".to_owned(),
            loads: Vec::new(),
            work: None,
            l3_share: None,
        }]);
    };
    let items = findings.keep(node.items(64, remedy))?;
    if items.is_empty() {
        findings.push(node.refuse("is empty", remedy));
        return None;
    }
    let mut phases: Vec<Phase> = Vec::with_capacity(items.len());
    let mut complete = true;
    let has_tasks = root.get("tasks").is_some();
    for item in &items {
        match read_phase(item, known, &phases, has_tasks, findings) {
            Some(phase) => phases.push(phase),
            None => complete = false,
        }
    }
    complete.then_some(phases)
}

fn read_phase(
    item: &Node<'_>,
    known: &KnownCpus,
    earlier: &[Phase],
    has_tasks: bool,
    findings: &mut Findings,
) -> Option<Phase> {
    let section = findings.keep(item.table("give a table with a name and its loads"))?;
    keys::check(&section, &keys::PHASE, findings);
    let name = read_needed_name(&section, "such as name = \"stress\"", findings);
    if let (Some(name), Some(node)) = (&name, section.get("name"))
        && earlier.iter().any(|phase| phase.name == *name)
    {
        findings.push(node.refuse("is the name of an earlier phase too", "give each its own"));
    }
    let loads = match section.get("loads") {
        None => Some(Vec::new()),
        Some(node) => read_loads(&node, known, findings),
    };
    let work = match section.get("work") {
        None => Some(None),
        Some(_) if has_tasks => {
            let problem = "conflicts with tasks, which set it for each thread";
            findings.push(section.refuse_key("work", problem, "give it in each task"));
            None
        }
        Some(node) => read_work(&node, findings).map(Some),
    };
    let l3_share = findings.optional(section.get("l3-share"), None, |node| {
        let remedy = "give a share above 0 and below 1, such as \"50 %\"";
        let share = match node.as_text() {
            Some(_) => node.quantity(remedy, parse_share)?,
            None => node.number(remedy)?,
        };
        match share > 0.0 && share < 1.0 {
            true => Ok(Some(share)),
            false => Err(node.refuse("is not a part of a cache", remedy)),
        }
    });
    Some(Phase {
        name: name?,
        loads: loads?,
        work: work?,
        l3_share: l3_share?,
    })
}
