//! The policies as they are written, each with its own parameters and no other.

use crate::policy::{DEADLINE_PERIOD_LEAST_NS, DEADLINE_PERIOD_MOST_NS, DEADLINE_RUNTIME_LEAST_NS};

use super::{Form, Key, Variant, Variants, optional, required};

const NICE: [Key; 1] = [optional(
    "nice",
    Form::Integer(-20, 19),
    "0",
    "−20 (most favoured) to 19.",
)];
const PRIORITY: [Key; 1] = [required(
    "priority",
    Form::Integer(1, 99),
    "1 (lowest) to 99 (highest).",
)];
const PARTITION: Key = optional(
    "partition",
    Form::Integer(0, 8191),
    "the loop's CPU",
    "The CPU on which the core schedules it, or one of the cluster.",
);
const BUDGET: Key = optional(
    "budget",
    Form::Duration,
    "its deadline or period",
    "CPU time of a job. One cycle is one job.",
);
const PERIOD: Key = optional(
    "period",
    Form::Duration,
    "the loop's period",
    "Least time between two releases: the loop's period, or less if it sleeps.",
);
const DEADLINE: Key = optional(
    "deadline",
    Form::Duration,
    "the period",
    "Time after its release by which a job is to be done; EDF goes by it.",
);
const ENFORCE: Key = optional(
    "enforce",
    Form::Choice(&["none", "quantum", "precise"]),
    "\"none\"",
    "Whether, and when, the core suspends a job that has used up its budget until its next release: never, at ticks, or by a timer.",
);
const RELEASE: Key = optional(
    "release",
    Form::Choice(&["job", "sleep"]),
    "\"job\"",
    "How a cycle waits: the core releases a job at its due time, or it sleeps by clock_nanosleep, which the core takes for a release.",
);

pub(crate) static POLICY: Variants = Variants {
    title: "policy",
    about: "A scheduling policy with the parameters that belong to it. The short forms are \
            `\"OTHER\"`, `\"OTHER nice -19\"`, `\"BATCH nice 5\"`, `\"IDLE\"`, `\"FIFO 99\"`, \
            `\"RR 50\"`, `\"EVL FIFO 80\"`, `\"COBALT FIFO 80\"`, `\"LITMUS P-FP 10\"`, `\"LITMUS PSN-EDF, budget 400us, release sleep\"`, `\"DEADLINE 400us\"` (runtime; deadline and period are the loop's \
            period) and `\"DEADLINE 400us/2ms/4ms\"` (runtime, deadline, period).",
    tag: "policy",
    short: (
        concat!(
            r"^((?i:OTHER|BATCH)( \s*nice \s*([-−]0*(1?[0-9]|20)|\+?0*1?[0-9]))?",
            r"|(?i:IDLE)",
            r"|((?i:FIFO|RR)|(?i:EVL|COBALT) \s*(?i:FIFO)) \s*\+?0*[1-9][0-9]?",
            r"|(?i:DEADLINE) \s*[0-9.]+ *[a-zµμ]+(\s*/\s*[0-9.]+ *[a-zµμ]+\s*/\s*[0-9.]+ *[a-zµμ]+)?",
            r"|(?i:LITMUS) \s*(?i:P-FP|PSN-EDF|GSN-EDF|C-EDF)([ ,].*)?)\s*$"
        ),
        "a short form such as `\"FIFO 99\"`",
    ),
    variants: &[
        Variant {
            name: "other",
            about: "`SCHED_OTHER`, the default time-sharing policy.",
            keys: &NICE,
        },
        Variant {
            name: "batch",
            about: "`SCHED_BATCH`, time-sharing without wake-up preemption.",
            keys: &NICE,
        },
        Variant {
            name: "idle",
            about: "`SCHED_IDLE`, below every nice value.",
            keys: &[],
        },
        Variant {
            name: "fifo",
            about: "`SCHED_FIFO`.",
            keys: &PRIORITY,
        },
        Variant {
            name: "rr",
            about: "`SCHED_RR`.",
            keys: &PRIORITY,
        },
        Variant {
            name: "evl-fifo",
            about: "`SCHED_FIFO` on EVL, the core of Xenomai 4; in Linux the thread has `SCHED_FIFO` at \
                    the same priority. It needs a kernel with that core.",
            keys: &PRIORITY,
        },
        Variant {
            name: "cobalt-fifo",
            about: "`SCHED_FIFO` on Cobalt, the core of Xenomai 3; in Linux the thread has `SCHED_FIFO` at \
                    the same priority. It needs a kernel with that core.",
            keys: &PRIORITY,
        },
        Variant {
            name: "litmus-p-fp",
            about: "LITMUS^RT's plugin P-FP: fixed priorities, on one CPU. The policies of LITMUS^RT need a \
                    kernel with it, whose active plugin is theirs (or `litmus-plugin = \"switch\"`). The short \
                    form has all but the priority behind commas, in any order: \
                    `\"LITMUS P-FP 10, partition 1, budget 400us, deadline 2ms, enforce precise, release sleep\"`.",
            keys: &[
                required("priority", Form::Integer(1, 511), "1 (highest) to 511."),
                PARTITION,
                BUDGET,
                PERIOD,
                DEADLINE,
                ENFORCE,
                RELEASE,
            ],
        },
        Variant {
            name: "litmus-psn-edf",
            about: "LITMUS^RT's plugin PSN-EDF: earliest deadline first, on one CPU.",
            keys: &[PARTITION, BUDGET, PERIOD, DEADLINE, ENFORCE, RELEASE],
        },
        Variant {
            name: "litmus-gsn-edf",
            about: "LITMUS^RT's plugin GSN-EDF: earliest deadline first, on all CPUs; `cpu` and `cpus` are not applied to it, and the run reports it.",
            keys: &[BUDGET, PERIOD, DEADLINE, ENFORCE, RELEASE],
        },
        Variant {
            name: "litmus-c-edf",
            about: "LITMUS^RT's plugin C-EDF: earliest deadline first, on the CPUs that share a cache \
                    (`/proc/litmus/plugins/C-EDF/cluster`).",
            keys: &[PARTITION, BUDGET, PERIOD, DEADLINE, ENFORCE, RELEASE],
        },
        Variant {
            name: "deadline",
            about: "`SCHED_DEADLINE`. The kernel asks for 1024 ns ≤ runtime ≤ deadline ≤ period \
                    and 100 µs ≤ period ≤ 4.194304 s (its default limits), and that all \
                    reservations together take at most 95 % of the CPUs (its default share). It \
                    refuses to pin such a thread to fewer CPUs than its root domain has, so \
                    `cpu` and `cpus` are not applied to it; the run reports it.",
            keys: &[
                required(
                    "runtime",
                    Form::Time(DEADLINE_RUNTIME_LEAST_NS, DEADLINE_PERIOD_MOST_NS),
                    "CPU time reserved in each period.",
                ),
                optional(
                    "deadline",
                    Form::Duration,
                    "the loop's period",
                    "Time after the start of its period by which the runtime is given.",
                ),
                optional(
                    "period",
                    Form::Time(DEADLINE_PERIOD_LEAST_NS, DEADLINE_PERIOD_MOST_NS),
                    "the loop's period",
                    "Period of the reservation.",
                ),
            ],
        },
    ],
};
