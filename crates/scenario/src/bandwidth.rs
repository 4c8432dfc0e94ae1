//! The kernel's admission rule for DEADLINE reservations, applied before the kernel does.

use crate::document::Section;
use crate::error::Findings;
use crate::{KnownCpus, Task};
use wakepath_timeline::Policy;

/// 1 as a bandwidth; the kernel's `BW_UNIT` with `BW_SHIFT` 20.
const WHOLE: u128 = 1 << 20;
/// `kernel.sched_rt_runtime_us` over `kernel.sched_rt_period_us` by default, in thousandths.
const SHARE_THOUSANDTHS: u128 = 950;

/// Bandwidth of a policy as the kernel counts it: runtime / period in 2⁻²⁰.
fn bandwidth(policy: &Policy) -> u128 {
    match policy {
        Policy::Deadline {
            runtime_ns,
            period_ns,
            ..
        } => (u128::from(*runtime_ns) << 20) / u128::from((*period_ns).max(1)),
        _ => 0,
    }
}

/// Refuses conditions whose reservations together exceed the kernel's default limit on this number
/// of CPUs with full capacity (`__dl_overflow` in kernel/sched/deadline.c). The run itself detects
/// CPUs of lower capacity, or other limits of the machine.
pub(crate) fn check(
    root: &Section<'_>,
    policies: &[Policy],
    tasks: &[Task],
    known: &KnownCpus,
    findings: &mut Findings,
) {
    let limit = WHOLE * SHARE_THOUSANDTHS / 1000 * known.cpus().len() as u128;
    let conditions = match policies {
        [] => vec![None],
        _ => policies.iter().map(Some).collect(),
    };
    for (index, condition) in conditions.into_iter().enumerate() {
        let of_task = |task: &Task| task.policy.as_ref().or(condition).map_or(0, bandwidth);
        let sum: u128 = tasks.iter().map(of_task).sum();
        if sum <= limit {
            continue;
        }
        let percent = |bandwidth: u128| format!("{} %", (bandwidth * 100).div_ceil(WHOLE));
        let most = format!(
            "{} %",
            limit * 100 / WHOLE + u128::from(limit * 100 % WHOLE * 2 >= WHOLE)
        );
        let problem = format!(
            "would reserve {} of a CPU for DEADLINE threads, more than the {most} that the kernel \
             admits here",
            percent(sum),
        );
        let remedy = "give shorter runtimes or fewer threads";
        let items = root
            .get("policies")
            .and_then(|node| node.items(64, "").ok());
        match items.and_then(|items| items.into_iter().nth(index)) {
            Some(item) => findings.push(item.refuse(problem, remedy)),
            None => findings.push(root.refuse_key("tasks", problem, remedy)),
        }
    }
}
