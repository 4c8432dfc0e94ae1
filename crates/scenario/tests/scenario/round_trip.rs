//! A written scenario reads back to the same scenario.

use crate::any_load::{CPUS, cpu_set, load};
use crate::any_work::{vehicle, work};
use proptest::prelude::*;
use proptest::sample::select;
use wakepath_flight::replay::{Choices, Missed, OverrunRule, Sampling};
use wakepath_scenario::*;
use wakepath_timeline::{JobRelease, LitmusTask, Overrun, Policy, WakeUp};

const PERIOD_LEAST_NS: u64 = 100_000;
const SLOWEST_FLIGHT_NS: u64 = 1_000_000_000;

fn policy() -> impl Strategy<Value = Policy> {
    prop_oneof![
        (-20_i8..20).prop_map(|nice| Policy::Other { nice }),
        (-20_i8..20).prop_map(|nice| Policy::Batch { nice }),
        Just(Policy::Idle),
        (1_u8..100).prop_map(|priority| Policy::Fifo { priority }),
        (1_u8..100).prop_map(|priority| Policy::RoundRobin { priority }),
        (1024_u64..50_000, 0_u64..50_000, 0_u64..4_000_000_000).prop_map(
            |(runtime, more, rest)| {
                let deadline_ns = runtime + more;
                Policy::Deadline {
                    runtime_ns: runtime,
                    deadline_ns,
                    period_ns: (deadline_ns + rest).clamp(PERIOD_LEAST_NS, 4_194_304_000),
                }
            }
        ),
        any::<bool>().prop_map(|sleeps| Policy::LitmusGsnEdf {
            task: LitmusTask {
                release: if sleeps {
                    JobRelease::Sleep
                } else {
                    JobRelease::Job
                },
                ..LitmusTask::default()
            },
        }),
    ]
}

fn criterion(period_ns: u64) -> impl Strategy<Value = Criterion> {
    (
        proptest::option::of(1_u64..=period_ns),
        period_ns..10 * period_ns,
        prop_oneof![Just(0.0), 1e-12..0.999_f64],
        1e-12..0.999_f64,
        0.5..0.999_999_f64,
        proptest::option::of(0_u64..1_000),
        proptest::option::of(period_ns..u64::MAX / 4),
        prop_oneof![Just(0.0), 1e-12..0.999_f64],
        prop_oneof![Just(PoliciesNeeded::Any), Just(PoliciesNeeded::Every)],
    )
        .prop_map(
            |(
                latency_ns,
                deadline_ns,
                fraction,
                evidence,
                confidence,
                misses,
                outage,
                left,
                needed,
            )| {
                Criterion {
                    latency_ns,
                    deadline_ns,
                    miss_fraction: fraction,
                    evidence: (fraction == 0.0).then_some(evidence),
                    confidence,
                    consecutive_misses: misses,
                    outage_ns: outage,
                    mode_switches: left,
                    policies: needed,
                }
            },
        )
}

fn flight() -> impl Strategy<Value = FlightTerms> {
    (
        vehicle(),
        select(Sampling::WORDS),
        select(Missed::WORDS),
        select(OverrunRule::WORDS),
        select(Course::WORDS),
        0..=i64::MAX as u64,
        select(Losses::WORDS),
        proptest::option::of(1..u64::MAX / 4),
        proptest::option::of(0.001..179.0_f64),
    )
        .prop_map(
            |(vehicle, sample, missed, overrun, course, seed, lost, delay_margin_ns, tilt)| {
                FlightTerms {
                    vehicle,
                    choices: Choices {
                        sampling: sample.1,
                        missed: missed.1,
                        overrun: overrun.1,
                    },
                    course: course.1,
                    seed,
                    task: None,
                    criterion: FlightCriterion {
                        lost: lost.1,
                        delay_margin_ns,
                        peak_tilt_deg: tilt,
                    },
                }
            },
        )
}

fn tasks() -> impl Strategy<Value = Vec<Task>> {
    let task = (
        PERIOD_LEAST_NS..100_000_000_000,
        proptest::option::of(cpu_set()),
        proptest::option::of(policy()),
        work(),
    );
    proptest::collection::vec(task, 1..5).prop_map(|tasks| {
        let alone = tasks.len() == 1;
        let named = |(index, (period_ns, cpus, policy, work)): (usize, (u64, _, _, Work))| Task {
            name: if alone {
                "loop".to_owned()
            } else {
                format!("task {index} \"ü\"")
            },
            // No loop that flies is slower.
            period_ns: match work.flight() {
                Some(_) => PERIOD_LEAST_NS + period_ns % (SLOWEST_FLIGHT_NS - PERIOD_LEAST_NS),
                None => period_ns,
            },
            cpus,
            overrun: [None, Some(Overrun::CatchUp), Some(Overrun::Stop)][index % 3],
            response_bound_ns: (index % 2 == 1).then_some(period_ns),
            policy,
            work,
        };
        tasks.into_iter().enumerate().map(named).collect()
    })
}

fn trace() -> impl Strategy<Value = Trace> {
    let backend = proptest::option::of(select(vec![TraceBackend::Tracefs, TraceBackend::Perf]));
    let modes = vec![TraceBuffer::FlightRecorder, TraceBuffer::Drained];
    let mode = proptest::option::of(select(modes));
    let buffer = proptest::option::of((1_u64 << 20)..=(16 << 30));
    let kept = proptest::option::of(0..1_000_000_000_u64);
    (mode, backend, buffer, kept).prop_map(|(mode, backend, buffer_bytes, kept)| Trace {
        backend,
        mode,
        buffer_bytes,
        // A drained buffer keeps everything.
        keep_above_ns: kept.filter(|_| mode != Some(TraceBuffer::Drained)),
        timerlat_ns: kept.map(|ns| 100_000_000 + ns),
        osnoise_ns: kept.map(|ns| 1_000_000_000 + ns),
        sections_ns: kept.map(|ns| 500_000_000 + ns),
    })
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let phases = proptest::collection::vec(proptest::collection::vec(load(), 0..4), 1..4);
    let settings = (
        select(vec![WakeUp::ClockNanosleep, WakeUp::Timerfd, WakeUp::Futex]),
        select(vec![Overrun::Skip, Overrun::CatchUp, Overrun::Stop]),
        prop_oneof![
            Just(TimerSlack::Leave),
            (1..=u64::from(u32::MAX)).prop_map(TimerSlack::Set)
        ],
        proptest::option::of(0_u32..2_000_000_000),
        any::<(bool, bool, bool)>(),
    );
    let policies = proptest::collection::vec(policy(), 1..9);
    (
        tasks(),
        phases,
        settings,
        policies,
        1000_u64..100_000,
        1_u32..=1000,
        0..3_600_000_000_000_u64,
    )
        .prop_flat_map(|rest| {
            let period_ns = rest.0.iter().map(|task| task.period_ns).min().unwrap_or(1);
            (Just(rest), criterion(period_ns))
        })
        .prop_map(
            |((tasks, phases, settings, policies, cycles, repetitions, warm_up_ns), criterion)| {
                let (
                    wake_up,
                    overrun,
                    timer_slack,
                    cpu_dma_latency_us,
                    (cpu_time, switches, counters),
                ) = settings;
                let switched = counters;
                let mut unique: Vec<Policy> = Vec::new();
                if tasks.iter().any(|task| task.policy.is_none()) {
                    for policy in policies {
                        if !unique.contains(&policy) {
                            unique.push(policy);
                        }
                    }
                }
                let own_work =
                    (tasks.len() == 1 && tasks[0].policy.is_none()).then(|| tasks[0].work.clone());
                let phase = |(index, loads)| Phase {
                    name: format!("phase{index}"),
                    loads,
                    work: own_work.clone().filter(|_| index == 1),
                    l3_share: (index == 1).then_some(1.0 / 3.0),
                };
                Scenario {
                    name: "a name".to_owned(),
                    description: "Says \"why\" \\ how.".to_owned(),
                    period_ns: tasks.iter().map(|task| task.period_ns).min().unwrap_or(1),
                    cycles,
                    repetitions,
                    warm_up_ns,
                    policies: unique,
                    phases: phases.into_iter().enumerate().map(phase).collect(),
                    tasks,
                    wake_up,
                    overrun,
                    timer_slack,
                    cpu_dma_latency_us,
                    litmus_plugin: if switched {
                        PluginSwitch::Switch
                    } else {
                        PluginSwitch::Leave
                    },
                    core_latency_ns: switched.then_some(7_000_000_000),
                    accounting: Accounting {
                        cpu_time,
                        switches,
                        counters,
                    },
                    trace: None,
                    criterion,
                    flight: None,
                }
            },
        )
        .prop_flat_map(|scenario| {
            let trace = proptest::option::of(trace());
            (Just(scenario), proptest::option::of(flight()), trace)
        })
        .prop_map(|(scenario, flight, trace)| {
            // The controller's task must be named if the tasks differ, and only then.
            let task =
                (!Scenario::are_alike(&scenario.tasks)).then(|| scenario.tasks[0].name.clone());
            let slow = |task: &Task| task.period_ns > SLOWEST_FLIGHT_NS;
            let flight = flight.filter(|_| !scenario.tasks.iter().any(slow));
            Scenario {
                flight: flight.map(|terms| FlightTerms { task, ..terms }),
                trace,
                ..scenario
            }
        })
}

proptest! {
    #[test]
    fn a_plain_name_is_one_whatever_it_was_made_from(name in "(?s).{0,60}") {
        let plain = serde_json::json!(wakepath_timeline::plain_name(&name));
        let text = format!(
            "name = {plain}\nrate = \"250 Hz\"\ncycles = 1000\n\
             [[tasks]]\nname = {plain}\nperiod = \"4 ms\"\npolicy = \"OTHER\""
        );
        let text = text.replace("rate = \"250 Hz\"\ncycles = 1000\n", "duration = \"10 s\"\n");
        let read = Scenario::parse(&text, "a.toml", &KnownCpus::first(1));
        prop_assert!(read.is_ok(), "{name:?}: {text} {read:?}");
    }

    #[test]
    fn a_written_scenario_reads_back_to_the_same(scenario in scenario()) {
        let text = scenario.to_toml();
        match Scenario::parse(&text, "written.toml", &KnownCpus::first(CPUS)) {
            Ok(read) => prop_assert_eq!(read, scenario),
            Err(errors) => prop_assert!(false, "{errors}\n{text}"),
        }
    }

    #[test]
    fn any_text_is_read_or_refused_in_single_lines(text in "\\PC{0,200}") {
        if let Err(errors) = Scenario::parse(&text, "any.toml", &KnownCpus::first(CPUS)) {
            for error in &errors.errors {
                prop_assert!(!error.to_string().contains(char::is_control));
            }
        }
    }
}

#[test]
fn every_builtin_reads_back_to_the_same() {
    let known = KnownCpus::first(16);
    for builtin in builtin::all() {
        let scenario = Scenario::parse(builtin.text, builtin.name, &known).expect("reads");
        let text = scenario.to_toml();
        let again = Scenario::parse(&text, "written.toml", &known);
        assert_eq!(
            again.unwrap_or_else(|errors| panic!("{errors}\n{text}")),
            scenario
        );
    }
}
