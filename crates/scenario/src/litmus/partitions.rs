//! CPUs of threads under LITMUS^RT's policies: one plugin for all of them, and permitted CPUs.

use crate::document::Section;
use crate::error::Findings;
use crate::{KnownCpus, Task};
use wakepath_timeline::{CpuSet, LitmusPlugin, Policy};

/// Refuses policies whose CPU isn't one of their thread's: a partition outside of the task's CPUs,
/// or a CPU that the scenario doesn't name.
pub(crate) fn check_partitions(
    root: &Section<'_>,
    policies: &[Policy],
    tasks: &[Task],
    known: &KnownCpus,
    findings: &mut Findings,
) {
    let conditions = match policies {
        [] => vec![None],
        _ => policies.iter().map(Some).collect(),
    };
    for condition in conditions {
        let of_task = |task: &Task| task.policy.or(condition.copied())?.of_litmus();
        let mut plugins: Vec<LitmusPlugin> =
            tasks.iter().filter_map(of_task).map(|of| of.0).collect();
        plugins.dedup();
        if let [first, other, ..] = plugins[..] {
            let problem = format!(
                "has policies of {first} and of {other}, but only one plugin is active at a time"
            );
            findings.push(root.refuse_key("tasks", problem, "give them policies of one plugin"));
        }
    }
    for task in tasks {
        let key = match task.policy {
            Some(_) => "tasks",
            None => "policies",
        };
        let own = task.policy.as_slice();
        for policy in own.iter().chain(policies.iter().filter(|_| own.is_empty())) {
            let Some((problem, remedy)) = misplaced(*policy, task.cpus.as_ref(), known.cpus())
            else {
                continue;
            };
            findings.push(root.refuse_key(key, format!("has {policy}, {problem}"), remedy));
        }
    }
}

fn misplaced(
    policy: Policy,
    own: Option<&CpuSet>,
    known: &CpuSet,
) -> Option<(String, &'static str)> {
    let (plugin, _) = policy.of_litmus()?;
    match (policy.litmus_partition(), own) {
        (Some(cpu), _) if !known.numbers().contains(&cpu) => Some((
            format!("whose partition is CPU {cpu}: no loop can run there"),
            "give the number of an existing CPU",
        )),
        (Some(cpu), Some(own)) if !own.numbers().contains(&cpu) => Some((
            format!("whose partition is CPU {cpu}, and its loop runs on CPU {own}"),
            "give one of these, or leave the partition out",
        )),
        (None, Some(own)) if own.numbers().len() > 1 && !plugin.migrates() => Some((
            format!("which runs on one CPU, and its loop on CPU {own}"),
            "name one with `cpu`, or with the policy's `partition`",
        )),
        _ => None,
    }
}
