//! The keys of a task set that is analysed, not measured: `wakepath schedulability`.

use super::{Form, Key, Table, optional, required};

/// The most tasks of a set.
pub(crate) const MOST_SET_TASKS: usize = 256;

pub(crate) static TASK_SET: Table = Table {
    title: "a task set",
    about: "A set of tasks for `wakepath schedulability`: their execution times, periods and scheduling.",
    one_of: &[],
    not_both: &[],
    keys: &[
        required(
            "policy",
            Form::Choice(&["P-FP", "G-FP", "P-EDF", "G-EDF", "C-EDF", "SCHED_DEADLINE"]),
            "Fixed priorities (SCHED_FIFO) or earliest deadline first, with tasks pinned to CPUs (P), \
             free to move (G), or free within clusters (C); or SCHED_DEADLINE with the kernel's own admission as well as the proof.",
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
            "2; with SCHED_DEADLINE all CPUs",
            "CPUs of a cluster with C-EDF, of a root domain with SCHED_DEADLINE: 1 for partitions made \
             with cpusets.",
        ),
        required(
            "tasks",
            Form::List(&Form::Table(&SET_TASK), 1, MOST_SET_TASKS),
            "The tasks.",
        ),
        optional(
            "chains",
            Form::List(&Form::Table(&SET_CHAIN), 1, MOST_SET_TASKS),
            "none",
            "Tasks that hand a value on, for a bound from end to end.",
        ),
        optional(
            "reservations",
            Form::List(&Form::Table(&SET_RESERVATION), 1, MOST_SET_TASKS),
            "none",
            "CPU time set aside for tasks that name it.",
        ),
        optional(
            "admission",
            Form::Table(&SET_ADMISSION),
            "Linux's own: 950 ms of each second, no server",
            "The kernel's limits for SCHED_DEADLINE; `--machine RUN` reads it from a recorded run.",
        ),
        optional(
            "overheads",
            Form::Table(&SET_OVERHEADS),
            "none, as the answer notes",
            "The costs of the kernel's own work, if they don't come from a recorded run.",
        ),
    ],
};

pub(crate) static SET_TASK: Table = Table {
    title: "a task of a task set",
    about: "A sequence of jobs. Nothing but name, execution and period is needed; P-FP and G-FP need \
            a priority too.",
    one_of: &[&["period", "rate", "distances", "after"]],
    not_both: &[],
    keys: &[
        required("name", Form::Name, "Its name."),
        required(
            "execution",
            Form::Either(&[Form::Duration, Form::Table(&SET_EXECUTION)]),
            "The most CPU time that a job takes, without interrupts; or the recorded run that tells it.",
        ),
        optional(
            "period",
            Form::Duration,
            "one of `period`, `rate`, `distances` and `after` is needed",
            "The shortest time between two jobs.",
        ),
        optional(
            "rate",
            Form::Rate(1, u64::MAX),
            "one of `period`, `rate`, `distances` and `after` is needed",
            "The highest rate of its jobs.",
        ),
        optional(
            "distances",
            Form::Texts(1),
            "one of `period`, `rate`, `distances` and `after` is needed",
            "For jobs that come in bursts: the shortest times in which 2, 3, 4 … of them can come, such \
             as [\"0 ns\", \"0 ns\", \"20 ms\"] for bursts of three. Only P-FP can take two at once.",
        ),
        optional(
            "after",
            Form::Name,
            "one of `period`, `rate`, `distances` and `after` is needed",
            "The task whose every job's end releases a job of this one. Deadline and response count \
             from the due time of the first task of the chain. Only with P-FP.",
        ),
        optional(
            "deadline",
            Form::Duration,
            "the period",
            "From a job's due time to when it must be done.",
        ),
        optional(
            "offset",
            Form::Duration,
            "not known: jobs of all tasks may come together",
            "When the first job is due, on a clock that all tasks with an offset share; such a task is \
             strictly periodic.",
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
            "The longest that less important tasks run while a job of this task, or of a more \
             important one, waits for a lock.",
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
        optional(
            "reservation",
            Form::Name,
            "none: it competes for the whole CPU",
            "The reservation that it runs in, by priority among the tasks there.",
        ),
        optional(
            "runtime",
            Form::Duration,
            "the execution with its overheads",
            "SCHED_DEADLINE's runtime; only with that policy.",
        ),
    ],
};

pub(crate) static SET_EXECUTION: Table = Table {
    title: "an execution from a run",
    about: "CPU time that a recorded run tells; elapsed time where the run has no CPU time, which is \
            longer where others ran in between. An observation is not a bound.",
    one_of: &[],
    not_both: &[],
    keys: &[
        required(
            "run",
            Form::Text,
            "The run's directory; a relative one counts from the task set's file.",
        ),
        required(
            "section",
            Form::Name,
            "The thread's name, or that of a part of its work that timed itself.",
        ),
        optional(
            "quantile",
            Form::Number(0.0, 1.0),
            "the largest that was observed",
            "Which quantile of the observed times counts, such as 0.9999.",
        ),
        optional(
            "confidence",
            Form::Number(0.0, 1.0),
            "the quantile as observed",
            "With `quantile`: the bound above which that quantile lies with at most the rest of this \
             probability, such as 0.95, by order statistics of independent times.",
        ),
    ],
};

pub(crate) static SET_CHAIN: Table = Table {
    title: "a chain",
    about: "Tasks that hand a value on, in order. One that is not released by the one before it reads \
            when its own time comes.",
    one_of: &[],
    not_both: &[],
    keys: &[
        required("name", Form::Name, "Its name."),
        required(
            "tasks",
            Form::Texts(2),
            "Names of its tasks, in order; none twice.",
        ),
        optional(
            "deadline",
            Form::Duration,
            "none: the bound is reported",
            "From the first task's due time to the end of the last.",
        ),
    ],
};

pub(crate) static SET_RESERVATION: Table = Table {
    title: "a reservation",
    about: "CPU time set aside: a budget in each period, and no more.",
    one_of: &[],
    not_both: &[],
    keys: &[
        required("name", Form::Name, "Its name."),
        required("budget", Form::Duration, "CPU time in each period."),
        required("period", Form::Duration, "Its period."),
        optional(
            "server",
            Form::Choice(&["periodic", "sporadic", "constant-bandwidth"]),
            "\"periodic\"; \"constant-bandwidth\" with SCHED_DEADLINE",
            "How the budget comes back. A periodic server's comes at each period's start, and passes \
             if nobody uses it. A constant-bandwidth server holds one thread, as SCHED_DEADLINE's \
             does. A sporadic server is refused: no proof is built in.",
        ),
        optional(
            "priority",
            Form::Integer(1, 99),
            "needed by P-FP and G-FP",
            "Among the other tasks of its CPU, the greater number first.",
        ),
        optional(
            "cpu",
            Form::Integer(0, 1023),
            "needed by P-FP and P-EDF with several CPUs",
            "The CPU that it is on.",
        ),
    ],
};

pub(crate) static SET_ADMISSION: Table = Table {
    title: "admission",
    about: "The kernel's limits for SCHED_DEADLINE, on each CPU.",
    one_of: &[],
    not_both: &[],
    keys: &[
        optional(
            "runtime",
            Form::Duration,
            "\"950 ms\"",
            "`kernel.sched_rt_runtime_us`; as long as the period for no limit.",
        ),
        optional(
            "period",
            Form::Duration,
            "\"1 s\"",
            "`kernel.sched_rt_period_us`.",
        ),
        optional(
            "server-runtime",
            Form::Duration,
            "\"0 ns\"",
            "The kernel's server for ordinary threads (Linux 6.12 and later: 50 ms), from \
             `/sys/kernel/debug/sched/fair_server`.",
        ),
        optional("server-period", Form::Duration, "\"1 s\"", "Its period."),
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
            "Time that a preempted or migrated job loses to cold caches (Δcpd), the same for every task.",
        ),
        optional(
            "cache-delays",
            Form::List(&Form::Table(&SET_CACHE_DELAY), 1, 64),
            "`cache-delay`",
            "The same by working set: between two of them in proportion and rounded up, beyond the \
             largest as at the largest times the ratio of the sizes.",
        ),
    ],
};

pub(crate) static SET_CACHE_DELAY: Table = Table {
    title: "a cache delay",
    about: "Time that a job with a working set of this size loses to cold caches.",
    one_of: &[],
    not_both: &[],
    keys: &[
        required("working-set", Form::Size, "Memory that the job works on."),
        required("delay", Form::Duration, "The time lost (Δcpd)."),
    ],
};
