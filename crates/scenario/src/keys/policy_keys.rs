//! The parameters of the policies.

use super::form::{Words, time, whole};
use super::visitor::Keys;
use crate::litmus;
use crate::policy::{
    DEADLINE_PERIOD_LEAST_NS, DEADLINE_PERIOD_MOST_NS, DEADLINE_RUNTIME_LEAST_NS, broken_rule,
};
use crate::units::Complaint;
use wakepath_timeline::{Enforcement, JobRelease, MOST_CPUS, Policy};

pub(super) fn nice(keys: &mut Keys<'_>, policy: &mut Policy) {
    if let Policy::Other { nice } | Policy::Batch { nice } = policy {
        let about = "−20 (most favoured) to 19.";
        keys.or("nice", whole(-20, 19), 0, about, nice);
    }
}

pub(super) fn priority(keys: &mut Keys<'_>, policy: &mut Policy) {
    if let Policy::Fifo { priority }
    | Policy::RoundRobin { priority }
    | Policy::EvlFifo { priority }
    | Policy::CobaltFifo { priority } = policy
    {
        let about = "1 (lowest) to 99 (highest).";
        keys.required("priority", whole(1, 99), about, priority);
    }
}

pub(super) fn litmus_keys(keys: &mut Keys<'_>, policy: &mut Policy) {
    let (partition, task) = match policy {
        Policy::LitmusPFp {
            priority,
            partition,
            task,
        } => {
            let form = whole(1, i64::from(litmus::LOWEST_PRIORITY));
            keys.required("priority", form, "1 (highest) to 511.", priority);
            (Some(partition), task)
        }
        Policy::LitmusPsnEdf { partition, task } | Policy::LitmusCEdf { partition, task } => {
            (Some(partition), task)
        }
        Policy::LitmusGsnEdf { task } => (None, task),
        _ => return,
    };
    if let Some(partition) = partition {
        keys.optional(
            "partition",
            whole(0, i64::from(MOST_CPUS) - 1),
            "the loop's CPU",
            "CPU on which the core schedules the thread, or one CPU of its cluster.",
            partition,
        );
    }
    keys.optional(
        "budget",
        time("400 µs").above_0(),
        "its deadline or period",
        "CPU time of a job; one cycle is one job.",
        &mut task.budget_ns,
    );
    keys.optional(
        "period",
        time("400 µs").above_0(),
        "the loop's period",
        "Minimum time between two releases: the loop's period, or less with `release = \"sleep\"`.",
        &mut task.period_ns,
    );
    keys.optional(
        "deadline",
        time("400 µs").above_0(),
        "the period",
        "Time after its release by which a job must be done; EDF schedules by it.",
        &mut task.deadline_ns,
    );
    keys.or(
        "enforce",
        Words(litmus::ENFORCEMENTS),
        Enforcement::None,
        "Enforcement of the budget: the core never suspends a job that has used it up, suspends it at a tick, or \
         suspends it by a timer, until its next release.",
        &mut task.enforcement,
    );
    keys.or(
        "release",
        Words(litmus::RELEASES),
        JobRelease::Job,
        "How a cycle waits: the core releases a job at its due time, or the loop sleeps with clock_nanosleep, and \
         its wake-up counts as a release.",
        &mut task.release,
    );
    if keys.complete()
        && let Err((part, Complaint { problem, remedy })) =
            litmus::checked(*task, keys.context.period_ns)
    {
        keys.refuse_value(part, problem, remedy);
    }
}

pub(super) fn deadline(keys: &mut Keys<'_>, policy: &mut Policy) {
    let Policy::Deadline {
        runtime_ns,
        deadline_ns,
        period_ns,
    } = policy
    else {
        return;
    };
    keys.required(
        "runtime",
        time("400 µs").described_within(DEADLINE_RUNTIME_LEAST_NS, DEADLINE_PERIOD_MOST_NS),
        "CPU time reserved in each period.",
        runtime_ns,
    );
    let (mut deadline, mut period) = (None, None);
    keys.optional(
        "deadline",
        time("2 ms"),
        "the loop's period",
        "Time after the start of the period by which the thread receives its runtime.",
        &mut deadline,
    );
    keys.optional(
        "period",
        time("4 ms").described_within(DEADLINE_PERIOD_LEAST_NS, DEADLINE_PERIOD_MOST_NS),
        "the loop's period",
        "Period of the reservation.",
        &mut period,
    );
    *period_ns = period.unwrap_or(keys.context.period_ns);
    *deadline_ns = deadline.unwrap_or(*period_ns);
    if !keys.complete() {
        return;
    }
    if let Some((part, Complaint { problem, remedy })) =
        broken_rule(*runtime_ns, *deadline_ns, *period_ns)
    {
        if keys.given(part).is_some() {
            keys.refuse_value(part, problem, remedy);
        } else {
            // The fault is in a default, whose source is this table.
            let problem = format!("is the loop's by default, which {problem}");
            keys.refuse_key(part, problem, remedy);
        }
    }
}
