//! The file's own tables.

use crate::units::{LONGEST_PERIOD_NS, SHORTEST_PERIOD_NS};

use super::{FLIGHT, Form, Key, LOAD, POLICY, Table, WORK, optional, required};

/// The tiers of threads, as criteria.
pub(crate) const TIER_NAMES: &[&str] = &["1 ms tier", "20 ms tier", "200 ms tier"];

const SECOND_NS: u64 = 1_000_000_000;
pub(crate) const LONGEST_WARM_UP_NS: u64 = 3_600 * SECOND_NS;
/// Duration of a core's own measurement of latencies.
pub(crate) const CORE_LATENCY_NS: (u64, u64) = (SECOND_NS, 60 * SECOND_NS);
/// Smallest and largest trace buffer of a CPU in bytes: less holds no second of a busy CPU, more has no room
/// on any machine that is measured.
pub(crate) const TRACE_BUFFER: (u64, u64) = (1 << 20, 16 << 30);

pub(super) const RATE: Key = optional(
    "rate",
    Form::Rate(SHORTEST_PERIOD_NS, LONGEST_PERIOD_NS),
    "one of `rate` and `period` is needed",
    "Rate of the loop in Hz or kHz. A rate whose period is not a whole number of nanoseconds, \
     such as 300 Hz, is kept to the nearest nanosecond, and a warning tells the drift.",
);
pub(super) const PERIOD: Key = optional(
    "period",
    Form::Time(SHORTEST_PERIOD_NS, LONGEST_PERIOD_NS),
    "one of `rate` and `period` is needed",
    "Period of the loop, 10 µs to 100 s.",
);
const CPU: Key = optional(
    "cpu",
    Form::Integer(0, 8191),
    "wakepath takes the highest CPU",
    "The one CPU to which the loop is pinned.",
);
const CPUS: Key = optional(
    "cpus",
    Form::CpuSet,
    "wakepath takes the highest CPU",
    "CPUs to which the loop is pinned, such as \"1\", \"2-3\" or \"0,2-3\". Not with `cpu`.",
);
const WORK_KEY: Key = optional(
    "work",
    Form::Variants(&WORK),
    "\"nothing\"",
    "The loop's work in each cycle.",
);

/// Longest accepted name, in characters.
pub(crate) const LONGEST_NAME: usize = 64;

pub(crate) static SCENARIO: Table = Table {
    title: "a scenario",
    about: "The file itself: the loop or tasks, the duration and the limits. Either one loop \
            (`rate` or `period`, with `cpu`, `threads` and `work`) or a task set (`[[tasks]]`).",
    one_of: &[&["rate", "period", "tasks"], &["cycles", "duration"]],
    not_both: &[
        ("cpu", "cpus"),
        ("tasks", "cpu"),
        ("tasks", "cpus"),
        ("tasks", "threads"),
        ("tasks", "period-step"),
        ("tasks", "work"),
    ],
    keys: &[
        required("name", Form::Name, "Short name, such as \"pi5-250hz\"."),
        optional(
            "description",
            Form::Text,
            "empty",
            "The experiment's purpose.",
        ),
        RATE,
        PERIOD,
        optional(
            "cycles",
            Form::Integer(1, 10_000_000_000),
            "one of `cycles` and `duration` is needed",
            "Judged due times of each condition (one policy in one phase), over all repetitions, \
             of the thread with the shortest period.",
        ),
        optional(
            "duration",
            Form::Duration,
            "one of `cycles` and `duration` is needed",
            "Judged time of each condition over all repetitions; rounded down to whole periods.",
        ),
        optional(
            "repetitions",
            Form::Integer(1, 1000),
            "1",
            "How often the whole list of phases and policies is gone through. Each repetition \
             has its share of the cycles, so that drift hits all conditions alike.",
        ),
        optional(
            "warm-up",
            Form::Time(0, LONGEST_WARM_UP_NS),
            "\"500 ms\"",
            "Recorded but not judged, at the start of every segment (a condition's share of one \
             repetition); at most one hour.",
        ),
        optional(
            "policies",
            Form::List(&Form::Variants(&POLICY), 1, 64),
            "needed, unless every task has a policy of its own",
            "The policies to compare.",
        ),
        optional(
            "phases",
            Form::List(&Form::Table(&PHASE), 1, 64),
            "one phase \"idle\" without loads",
            "Stretches of the run, each under its loads. Every policy is measured in each.",
        ),
        CPU,
        CPUS,
        optional(
            "threads",
            Form::Either(&[Form::Choice(&["per-cpu"]), Form::Integer(1, 256)]),
            "1",
            "Loop threads; \"per-cpu\" runs one on each CPU (of `cpus` if given), pinned \
             there.",
        ),
        optional(
            "period-step",
            Form::Duration,
            "\"0 ns\": all alike",
            "Each further thread's period is longer by so much. Only with several threads.",
        ),
        WORK_KEY,
        optional(
            "tasks",
            Form::List(&Form::Table(&TASK), 1, 256),
            "the one loop described by the keys above",
            "A task set: threads that each have a period of their own.",
        ),
        optional(
            "wake-up",
            Form::Choice(&["clock-nanosleep", "timerfd", "futex"]),
            "\"clock-nanosleep\"",
            "How a thread waits for its due time: a sleep to an absolute time, a timer read as a \
             file, or a futex woken by a helper thread.",
        ),
        optional(
            "overrun",
            Form::Choice(&["skip", "catch-up", "stop"]),
            "\"skip\"",
            "What happens when work runs into the next due time: continue at the next due time in the future (those passed are skipped periods), run the missed cycles at once, or \
             end the loop.",
        ),
        optional(
            "timer-slack",
            Form::Either(&[Form::Choice(&["leave"]), Form::Time(1, u32::MAX as u64)]),
            "\"1 ns\"",
            "Timer slack for policies that are not real-time. \"leave\" keeps what was inherited \
             (50 µs unless changed).",
        ),
        optional(
            "cpu-dma-latency",
            Form::Either(&[Form::Choice(&["leave"]), Form::Duration]),
            "\"leave\"",
            "Upper bound on idle exit latency to hold through /dev/cpu_dma_latency during the \
             run, in whole microseconds. \"0 us\" is what cyclictest does; \"leave\" measures \
             the machine as it is.",
        ),
        optional(
            "litmus-plugin",
            Form::Choice(&["leave", "switch"]),
            "\"leave\"",
            "LITMUS^RT's active plugin, which is the whole machine's: left alone, and policies of another are \
             refused; or switched to that of each condition while it is measured, and back.",
        ),
        optional(
            "core-latency",
            Form::Either(&[
                Form::Choice(&["none"]),
                Form::Time(CORE_LATENCY_NS.0, CORE_LATENCY_NS.1),
            ]),
            "\"1 s\"",
            "How long EVL or Cobalt measures its own latencies, if a policy is one of theirs: those of its timer's handler and \
             of a thread of its own in the kernel, at the loop's priority and period, at the end of each phase of the first \
             repetition, under its loads. Whole seconds, up to \"60 s\", each of the two after one that does not count. The figures are listed with the loop's.",
        ),
        optional(
            "accounting",
            Form::Table(&ACCOUNTING),
            "nothing but the clock",
            "What else is read in each cycle.",
        ),
        optional(
            "trace",
            Form::Either(&[Form::Boolean, Form::Table(&TRACE)]),
            "false",
            "Record kernel events, so that late cycles can be explained. Each segment is measured \
             once more, traced; conditions are judged by the untraced ones, and the difference is \
             shown as the probe effect. The run takes twice the time.",
        ),
        optional(
            "criterion",
            Form::Either(&[Form::Choice(TIER_NAMES), Form::Table(&CRITERION)]),
            "see there",
            "Limits that the loop tolerates: a table, or one of BeaglePilot's timing tiers by name, such as `\"1 ms tier\"`: \
             awake within a tenth of it, done within it, at most 0.5 % missed.",
        ),
        optional(
            "flight",
            Form::Table(&FLIGHT),
            "nothing is flown",
            "The vehicle that is flown through the measured instants, and what it must show.",
        ),
    ],
};

pub(crate) static PHASE: Table = Table {
    title: "a phase",
    about: "A stretch of the run under one set of loads.",
    one_of: &[],
    not_both: &[],
    keys: &[
        required(
            "name",
            Form::Name,
            "Name shown in tables, such as \"idle\" or \"stress\".",
        ),
        optional(
            "loads",
            Form::List(&Form::Variants(&LOAD), 0, 32),
            "none: idle",
            "Loads that run together.",
        ),
        optional(
            "work",
            Form::Variants(&WORK),
            "the loop's",
            "The loop's work in this phase instead. Not with `tasks`.",
        ),
        optional(
            "l3-share",
            Form::Share,
            "all of it is shared",
            "Share of every last-level cache that the loop's process has to itself, such as \"50 %\", \
             by the kernel's resctrl; everything else has the rest. On a machine without resctrl the phase is not measured, and the run reports it.",
        ),
    ],
};

pub(crate) static TASK: Table = Table {
    title: "a task",
    about: "One thread of a task set.",
    one_of: &[&["rate", "period"]],
    not_both: &[("cpu", "cpus")],
    keys: &[
        required("name", Form::Name, "Name shown in tables."),
        RATE,
        PERIOD,
        optional(
            "policy",
            Form::Variants(&POLICY),
            "the condition's, one after the other from `policies`",
            "The task's own policy.",
        ),
        CPU,
        CPUS,
        WORK_KEY,
        optional(
            "overrun",
            Form::Choice(&["skip", "catch-up", "stop"]),
            "the scenario's `overrun`",
            "What happens when the task's own work runs into its next due time. Your own program's loop was made for one of them: give the same.",
        ),
        optional(
            "response-bound",
            Form::Duration,
            "nothing was promised",
            "The bound on the response time that an analysis gave (`wakepath schedulability --scenario` \
             writes it). A longer response contradicts it, and the run fails.",
        ),
    ],
};

pub(crate) static ACCOUNTING: Table = Table {
    title: "accounting",
    about: "Values to read in every cycle in addition to the clock. CPU time and switches cost system calls.",
    one_of: &[],
    not_both: &[],
    keys: &[
        optional(
            "cpu-time",
            Form::Boolean,
            "false",
            "Read the thread's CPU time.",
        ),
        optional(
            "switches",
            Form::Boolean,
            "false",
            "Read its involuntary context switches.",
        ),
        optional(
            "counters",
            Form::Boolean,
            "false",
            "Read hardware counters before and after each cycle, outside its timed region and \
             without a system call: CPU cycles, instructions and last-level misses in user space. \
             A note gives their means, or tells that the machine has none.",
        ),
    ],
};

pub(crate) static TRACE: Table = Table {
    title: "the trace",
    about: "How kernel events are recorded, on the CPUs of the loop alone.",
    one_of: &[],
    not_both: &[],
    keys: &[
        optional(
            "backend",
            Form::Choice(&["tracefs", "perf"]),
            "a tracefs instance, or perf if none can be created",
            "What records. perf costs twice as much for each event, and needs tracefs to be \
             readable all the same.",
        ),
        optional(
            "mode",
            Form::Choice(&["flight-recorder", "drained"]),
            "a flight recorder if the longest segment fits into the buffer, else drained",
            "A flight recorder is read when the segment is over, and overwrites its oldest events \
             when it is full. A drained buffer is emptied by another process while the loop runs.",
        ),
        optional(
            "buffer",
            Form::Bytes(TRACE_BUFFER.0, TRACE_BUFFER.1),
            "12 MB for each second of the longest segment (24 MB if it is drained), at most an \
             eighth of the free memory over all CPUs",
            "Buffer of each CPU.",
        ),
        optional(
            "timerlat",
            Form::Duration,
            "the kernel is not asked",
            "Duration of the kernel's own measurement at the end of each phase, under its loads, on \
             each of the loop's CPUs: with its timerlat tracer, if it has one (Linux 5.14, CONFIG_TIMERLAT_TRACER). Its figures are listed with the loop's.",
        ),
        optional(
            "osnoise",
            Form::Duration,
            "the kernel is not asked",
            "How long the kernel looks, likewise, for what takes the CPU from a thread of FIFO 95 \
             that does not sleep: with its osnoise tracer, if it has one (Linux 5.14, \
             CONFIG_OSNOISE_TRACER). It takes half of each half second on that CPU.",
        ),
        optional(
            "sections",
            Form::Duration,
            "the kernel is not asked",
            "How long the sections of kernel code that keep threads from running are looked at, likewise, \
             half of it with the kernel's events preemptirq:* (CONFIG_PREEMPTIRQ_TRACEPOINTS) and half without, \
             in turns: `wakepath bound` composes the longest to a bound, and shows the effect of the events on wake-ups. If a kernel has no such events, its tracer preemptirqsoff \
             (CONFIG_PREEMPT_TRACER) gives the longest alone.",
        ),
        optional(
            "keep-above",
            Form::Duration,
            "everything is kept",
            "Wake-up latency above which the events around a cycle are kept; the others are \
             forgotten. Only with a flight recorder.",
        ),
    ],
};

pub(crate) static CRITERION: Table = Table {
    title: "the criterion",
    about: "Limits of the loop, for each condition. Times may be given as such or in terms \
            of the period (\"10 %\", \"3 periods\"); with several periods the shortest is meant.",
    one_of: &[],
    not_both: &[],
    keys: &[
        optional(
            "latency",
            Form::OfPeriod,
            "wake-up latency does not count",
            "A due time is missed when its cycle wakes later than this after it.",
        ),
        optional(
            "deadline",
            Form::OfPeriod,
            "\"1 period\"",
            "A due time is missed when its cycle's work ends later than this after it. Skipped \
             due times are always missed.",
        ),
        optional(
            "miss-fraction",
            Form::Share,
            "0.005",
            "Largest tolerated share of due times missed. With 0 no miss may be seen, and \
             `evidence` says how much that must prove.",
        ),
        optional(
            "evidence",
            Form::Number(0.0, 1.0),
            "needed with `miss-fraction` 0, refused otherwise",
            "Upper bound on the probability of a miss that the run must reach, such as 5e-6.",
        ),
        optional(
            "confidence",
            Form::Number(0.0, 1.0),
            "0.95",
            "One-sided confidence of the bound on the miss fraction; 0.5 or more, below 1.",
        ),
        optional(
            "consecutive-misses",
            Form::Integer(0, 1_000_000_000),
            "no bound",
            "Largest tolerated run of consecutive missed due times.",
        ),
        optional(
            "outage",
            Form::OfPeriod,
            "no bound",
            "Longest tolerated time from the end of one cycle to the end of the next.",
        ),
        optional(
            "mode-switches",
            Form::Share,
            "0",
            "Largest tolerated share of the cycles in which a loop on a real-time core (`EVL FIFO`, `COBALT FIFO`) \
             switched into Linux; with more its condition is invalid.",
        ),
        optional(
            "policies",
            Form::Choice(&["any", "every"]),
            "\"any\"",
            "Whether one policy that holds in every phase is enough, or all must.",
        ),
    ],
};
