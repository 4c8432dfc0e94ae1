//! Links the tasks of a set that release each other.

use super::task::SetTask;
use crate::document::{Node, Section};
use crate::error::Findings;
use wakepath_schedulability::Task;

/// Links them, and refuses impossible tasks.
pub(super) fn link(items: &[Node<'_>], own: &mut [SetTask], findings: &mut Findings) -> bool {
    let mut tasks: Vec<Task> = own.iter().map(|own| own.task.clone()).collect();
    let deadlines: Vec<bool> = own.iter().map(|own| own.has_deadline).collect();
    if !bring_together(items, &mut tasks, &deadlines, findings) {
        return false;
    }
    let mut complete = true;
    for ((item, task), own) in items.iter().zip(tasks).zip(own) {
        let section = item.table("");
        complete &= section.is_ok_and(|section| possible(&section, &task, findings));
        own.task = task;
    }
    complete
}

/// Gives each task that another releases the arrivals of the first of them, and its period as a
/// deadline if it has none (`deadlines`: whether one was given).
fn bring_together(
    items: &[Node<'_>],
    tasks: &mut [Task],
    deadlines: &[bool],
    findings: &mut Findings,
) -> bool {
    let mut complete = true;
    let mut circle_reported = false;
    for (place, item) in items.iter().enumerate() {
        if tasks[place].after.is_none() {
            continue;
        }
        let mut refuse = |problem: &str, remedy: &str| {
            complete = false;
            if let Ok(section) = item.table("")
                && let Some(node) = section.get("after")
            {
                findings.push(node.refuse(problem, remedy));
            }
        };
        let mut first = place;
        let mut steps = 0;
        while let Some(after) = &tasks[first].after {
            let Some(before) = tasks.iter().position(|task| task.name == *after) else {
                if first == place {
                    refuse("is not a task of this set", "give the name of a task");
                }
                first = place;
                break;
            };
            first = before;
            steps += 1;
            if steps > tasks.len() {
                if !circle_reported {
                    refuse(
                        "makes a cycle: each of these tasks waits for the other",
                        "leave out one `after`, and give that task a period",
                    );
                }
                circle_reported = true;
                first = place;
                break;
            }
        }
        if first == place {
            complete = false;
            continue;
        }
        tasks[place].arrivals = tasks[first].arrivals.clone();
        if !deadlines[place] {
            tasks[place].deadline_ns = tasks[first].period_ns();
        }
    }
    complete
}

/// Refuses impossible tasks, with the key at fault.
fn possible(section: &Section<'_>, task: &Task, findings: &mut Findings) -> bool {
    let rules = [
        (
            task.execution_ns > 0,
            "execution",
            "is not a time",
            "give the most CPU time that a job takes",
        ),
        (
            task.alone_ns() <= task.deadline_ns,
            "execution",
            "is longer than the deadline, including the time that the job sleeps",
            "give a later deadline or a shorter execution",
        ),
        (
            task.runtime_ns.is_none_or(|ns| ns >= task.execution_ns),
            "runtime",
            "is below the execution: the kernel would throttle such a job until its next period",
            "give at least the execution, or leave it out",
        ),
        (
            task.non_preemptive_ns <= task.execution_ns,
            "non-preemptive",
            "is longer than the execution that it is part of",
            "give at most the execution",
        ),
    ];
    let broken = rules.into_iter().find(|(holds, ..)| !holds);
    if let Some((_, key, problem, remedy)) = broken {
        findings.push(match section.get(key) {
            Some(node) => node.refuse(problem, remedy),
            None => section.refuse_key(key, problem, remedy),
        });
    }
    broken.is_none()
}
