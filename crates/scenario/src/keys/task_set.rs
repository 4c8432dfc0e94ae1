//! The keys of a task set that is analysed, not measured: `wakepath schedulability`.

use super::{Form, Key, Table, optional, required};

/// The most tasks of a set.
pub(crate) const MOST_SET_TASKS: usize = 256;

pub(crate) static TASK_SET: Table = Table {
    title: "a task set",
    about: "A set of tasks for `wakepath schedulability`: what they need, how often, and how they are \
            scheduled.",
    one_of: &[],
    not_both: &[],
    keys: &[
        required(
            "policy",
            Form::Choice(&["P-FP", "G-FP", "P-EDF", "G-EDF", "C-EDF"]),
            "Fixed priorities (SCHED_FIFO) or earliest deadline first (SCHED_DEADLINE), with tasks \
             pinned to CPUs (P), free to move (G), or free within clusters (C).",
        ),
        optional(
            "cpus",
            Form::Integer(1, 1024),
            "1",
            "How many CPUs the tasks have.",
        ),
        optional(
            "cluster",
            Form::Integer(1, 1024),
            "2",
            "CPUs of a cluster; only with C-EDF.",
        ),
        required(
            "tasks",
            Form::List(&Form::Table(&SET_TASK), 1, MOST_SET_TASKS),
            "The tasks.",
        ),
        optional(
            "overheads",
            Form::Table(&SET_OVERHEADS),
            "none are put in, and the answer says so",
            "What the kernel's own work costs, where no recorded run tells it.",
        ),
    ],
};

pub(crate) static SET_TASK: Table = Table {
    title: "a task of a task set",
    about: "A sequence of jobs. Nothing but name, execution and period is needed; P-FP and G-FP need \
            a priority too.",
    one_of: &[&["period", "rate", "distances"]],
    not_both: &[],
    keys: &[
        required("name", Form::Name, "Its name."),
        required(
            "execution",
            Form::Duration,
            "The most CPU time that a job takes, without interrupts.",
        ),
        optional(
            "period",
            Form::Duration,
            "one of `period`, `rate` and `distances` is needed",
            "The shortest time between two jobs.",
        ),
        optional(
            "rate",
            Form::Rate,
            "one of `period`, `rate` and `distances` is needed",
            "The highest rate of its jobs.",
        ),
        optional(
            "distances",
            Form::Texts(1),
            "one of `period`, `rate` and `distances` is needed",
            "For jobs that come in bursts: the shortest times in which 2, 3, 4 … of them can come, such \
             as [\"0 ns\", \"0 ns\", \"20 ms\"] for bursts of three. Only P-FP can take two at once.",
        ),
        optional(
            "deadline",
            Form::Duration,
            "the period",
            "From a job's due time to when it must be done.",
        ),
        optional(
            "jitter",
            Form::Duration,
            "\"0 ns\"",
            "The longest that a job's release lags behind its due time, beyond what overheads bring.",
        ),
        optional(
            "blocking",
            Form::Duration,
            "\"0 ns\"",
            "The longest that a job waits for locks that less important tasks hold.",
        ),
        optional(
            "suspension",
            Form::Duration,
            "\"0 ns\"",
            "The longest that a job sleeps between its start and its end.",
        ),
        optional(
            "non-preemptive",
            Form::Duration,
            "\"0 ns\"",
            "The longest stretch of a job that can't be preempted; as long as the execution: none of \
             it can.",
        ),
        optional(
            "working-set",
            Form::Size,
            "\"0 B\"",
            "Memory that a job works on, for the cache-related delay.",
        ),
        optional(
            "priority",
            Form::Integer(1, 99),
            "needed by P-FP and G-FP, unless they are to be found (`--assign`)",
            "The greater number first, as SCHED_FIFO has it.",
        ),
        optional(
            "cpu",
            Form::Integer(0, 1023),
            "needed by P-FP and P-EDF with several CPUs, unless it is to be found (`--assign`)",
            "The CPU that it is pinned to, from 0; with C-EDF any CPU of its cluster.",
        ),
    ],
};

const fn cost(name: &'static str, about: &'static str) -> Key {
    optional(
        name,
        Form::Duration,
        "not known: named in the answer",
        about,
    )
}

pub(crate) static SET_OVERHEADS: Table = Table {
    title: "overheads",
    about: "Costs for the whole set, as published or measured elsewhere. A cost that is left out is \
            named in the answer.",
    one_of: &[],
    not_both: &[],
    keys: &[
        cost(
            "event",
            "From the programmed expiry to the timer interrupt (Δev).",
        ),
        cost(
            "release",
            "From the interrupt's entry to the end of the wake-up (Δrel).",
        ),
        cost("scheduling", "The scheduler's choice (Δsch)."),
        cost(
            "switch",
            "From the switch to the first instruction of the thread (Δcxs).",
        ),
        cost(
            "ipi",
            "From one CPU's request to another's interrupt (Δipi).",
        ),
        cost("tick", "A timer tick (Δtick)."),
        cost("tick-period", "Time between ticks (Q), such as \"4 ms\"."),
        cost(
            "section",
            "The longest stretch in which the kernel can't be preempted (B).",
        ),
        cost(
            "cache-delay",
            "What a preempted or migrated job loses by cold caches (Δcpd), the same for every task.",
        ),
    ],
};
