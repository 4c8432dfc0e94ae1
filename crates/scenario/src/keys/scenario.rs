//! The file itself: the loop or tasks, the duration and the limits.

use super::form::{Boolean, DESCRIPTION, Form, Held, Name, Words, time, whole};
use super::visitor::Keys;
use super::{criterion, cross_checks, flight, phase, policies, task, trace};
use crate::{Accounting, PluginSwitch, Scenario, TimerSlack};
use wakepath_timeline::duration::exact;
use wakepath_timeline::{Overrun, WakeUp};

const SECOND_NS: u64 = 1_000_000_000;
/// Longest judged time of one condition, in nanoseconds: a leap year.
const LONGEST_CONDITION_NS: u128 = 366 * 86_400 * 1_000_000_000;
/// Duration of a core's own measurement of latencies.
const CORE_LATENCY_NS: (u64, u64) = (SECOND_NS, 60 * SECOND_NS);
pub(super) const OVERRUNS: &[(&str, Overrun)] = &[
    ("skip", Overrun::Skip),
    ("catch-up", Overrun::CatchUp),
    ("stop", Overrun::Stop),
];

pub(crate) fn blank() -> Scenario {
    Scenario {
        name: String::new(),
        description: String::new(),
        period_ns: 0,
        cycles: 0,
        repetitions: 1,
        warm_up_ns: 0,
        policies: Vec::new(),
        phases: vec![phase::blank()],
        tasks: Vec::new(),
        wake_up: WakeUp::default(),
        overrun: Overrun::default(),
        timer_slack: TimerSlack::Leave,
        cpu_dma_latency_us: None,
        litmus_plugin: PluginSwitch::default(),
        core_latency_ns: None,
        accounting: Accounting::default(),
        trace: None,
        criterion: criterion::blank(1),
        flight: None,
    }
}

pub(crate) fn declare(keys: &mut Keys<'_>, scenario: &mut Scenario) {
    keys.title(
        "a scenario",
        "The file itself: the loop or tasks, the duration and the limits. Either one loop \
         (`rate` or `period`, with `cpu`, `threads` and `work`) or a task set (`[[tasks]]`).",
    );
    keys.required(
        "name",
        Name("wing-250hz"),
        "Short name, such as \"pi5-250hz\".",
        &mut scenario.name,
    );
    keys.or(
        "description",
        DESCRIPTION,
        String::new(),
        "The experiment's purpose.",
        &mut scenario.description,
    );
    task::loop_or_tasks(keys, &mut scenario.tasks);
    scenario.period_ns = keys.context.period_ns;
    length(keys, scenario);
    policies::keys(keys, &scenario.tasks, &mut scenario.policies);
    phase::key(keys, &mut scenario.phases);
    how_it_runs(keys, scenario);
    keys.table(
        "accounting",
        ("only the clock", "Additional values to read in each cycle."),
        &mut scenario.accounting,
        "such as { cpu-time = true }",
        accounting,
    );
    trace::key(keys, &mut scenario.trace);
    criterion::key(keys, &mut scenario.criterion);
    let tasks = Some(scenario.tasks.as_slice()).filter(|tasks| !tasks.is_empty());
    flight::key(keys, tasks, &mut scenario.flight);
    if !scenario.tasks.is_empty() {
        cross_checks::declare(keys, scenario);
    }
}

fn length(keys: &mut Keys<'_>, scenario: &mut Scenario) {
    const NEEDED: &str = "one of `cycles` and `duration` is needed";
    let (mut cycles, mut duration) = (Some(scenario.cycles).filter(|cycles| *cycles > 0), None);
    keys.optional(
        "cycles",
        whole(1, 10_000_000_000),
        NEEDED,
        "Judged due times of each condition (one policy in one phase) over all repetitions, counted for the thread \
         with the shortest period.",
        &mut cycles,
    );
    keys.optional(
        "duration",
        time("40 s"),
        NEEDED,
        "Judged time of each condition over all repetitions; rounded down to whole periods.",
        &mut duration,
    );
    keys.or(
        "repetitions",
        whole(1, 1000),
        1,
        "How often the list of phases and policies is measured. Each repetition gets its share of the cycles, so \
         that drift affects all conditions alike.",
        &mut scenario.repetitions,
    );
    keys.or(
        "warm-up",
        time("500 ms").within(0, 3_600 * SECOND_NS),
        SECOND_NS / 2,
        "Recorded but not judged, at the start of every segment (a condition's share of one \
         repetition); at most one hour.",
        &mut scenario.warm_up_ns,
    );
    let given = keys.exactly_one(
        &["cycles", "duration"],
        "conflicts with cycles: both set the length of the measurement",
        "give cycles = 10000 or duration = \"40 s\"",
    );
    let (Some(key), Some(period_ns)) = (given, Some(scenario.period_ns).filter(|ns| *ns > 0))
    else {
        return;
    };
    let Some(count) = cycles.or(duration.map(|ns| ns / period_ns)) else {
        return;
    };
    let period = exact(period_ns);
    let most = LONGEST_CONDITION_NS / u128::from(period_ns);
    if count == 0 {
        let problem = format!("is shorter than one period ({period})");
        keys.refuse_value(key, problem, format!("give at least {period}"));
    } else if u128::from(count) > most {
        let problem = format!("takes more than 366 days at a period of {period}");
        keys.refuse_value(key, problem, format!("give at most {most} cycles"));
    } else if u64::from(scenario.repetitions) > count {
        let problem = format!("leaves repetitions without any of the {count} cycles");
        keys.refuse_value("repetitions", problem, format!("give at most {count}"));
    }
    scenario.cycles = count;
}

fn how_it_runs(keys: &mut Keys<'_>, scenario: &mut Scenario) {
    keys.or(
        "wake-up",
        Words(&[
            ("clock-nanosleep", WakeUp::ClockNanosleep),
            ("timerfd", WakeUp::Timerfd),
            ("futex", WakeUp::Futex),
        ]),
        WakeUp::default(),
        "How a thread waits for its due time: a sleep to an absolute time, a timer read as a \
         file, or a futex woken by a helper thread.",
        &mut scenario.wake_up,
    );
    keys.or(
        "overrun",
        Words(OVERRUNS),
        Overrun::default(),
        "Reaction when work continues past the next due time: resume at the next due time in the future (those in \
         between are skipped), run the missed cycles at once, or end the loop.",
        &mut scenario.overrun,
    );
    keys.or(
        "timer-slack",
        Held {
            // The system call takes a C long, which has 32 bits on small boards; 0 would restore the
            // default.
            form: time("1 ns").within(1, u64::from(u32::MAX)).or_word("leave"),
            read: |ns| ns.map_or(TimerSlack::Leave, TimerSlack::Set),
            write: |slack| match slack {
                TimerSlack::Leave => None,
                TimerSlack::Set(ns) => Some(*ns),
            },
        },
        TimerSlack::Set(1),
        "Timer slack for policies that are not real-time. \"leave\" keeps the inherited value (50 µs unless \
         changed).",
        &mut scenario.timer_slack,
    );
    keys.or(
        "cpu-dma-latency",
        Held {
            // The kernel's own "no bound" is 2000 s.
            form: time("0 us")
                .within(0, 2000 * SECOND_NS - 1)
                .in_units_of(1_000, "microseconds")
                .or_word("leave"),
            read: |ns| ns.map(|ns| (ns / 1_000) as u32),
            write: |us| us.map(|us| u64::from(us) * 1_000),
        },
        None,
        "Upper bound on idle exit latency to hold through /dev/cpu_dma_latency during the \
         run, in whole microseconds. \"0 us\" does the same as cyclictest; \"leave\" measures the machine as it is.",
        &mut scenario.cpu_dma_latency_us,
    );
    keys.or(
        "litmus-plugin",
        Words(&[
            ("leave", PluginSwitch::Leave),
            ("switch", PluginSwitch::Switch),
        ]),
        PluginSwitch::default(),
        "LITMUS^RT's active plugin, which applies to the whole machine. \"leave\" keeps it and refuses policies of \
         other plugins; \"switch\" activates each condition's plugin while it is measured, then restores the old \
         one.",
        &mut scenario.litmus_plugin,
    );
    keys.or(
        "core-latency",
        time("1 s")
            .within(CORE_LATENCY_NS.0, CORE_LATENCY_NS.1)
            .in_units_of(SECOND_NS, "seconds")
            .or_word("none"),
        Some(CORE_LATENCY_NS.0),
        "How long EVL or Cobalt measures its own latencies, if a policy uses that core: first of its timer handler, \
         then of a kernel thread at the loop's priority and period. This happens at the end of each phase of the \
         first repetition, under its loads. Whole seconds, up to \"60 s\"; each of the two measurements is preceded \
         by one second that does not count. The figures are listed with the loop's.",
        &mut scenario.core_latency_ns,
    );
}

pub(crate) fn accounting(keys: &mut Keys<'_>, accounting: &mut Accounting) {
    keys.title(
        "accounting",
        "Values to read in every cycle in addition to the clock. CPU time and switches cost system calls.",
    );
    keys.or(
        "cpu-time",
        Boolean,
        false,
        "Read the thread's CPU time.",
        &mut accounting.cpu_time,
    );
    keys.or(
        "switches",
        Boolean,
        false,
        "Read its involuntary context switches.",
        &mut accounting.switches,
    );
    keys.or(
        "counters",
        Boolean,
        false,
        "Read hardware counters before and after each cycle, outside its timed region and \
         without a system call: CPU cycles, instructions and last-level misses in user space. \
         A note gives their means, or reports that the machine has none.",
        &mut accounting.counters,
    );
}
