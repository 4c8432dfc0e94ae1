//! Other activity of a loop's own thread: another event served in a cycle, a spin until it is throttled, a
//! move to another CPU.

use crate::stream::*;
use wakepath_explain::{Explained, Usual, remedy};
use wakepath_timeline::{
    AllowedCpus, Budget, CallArgument, CallTarget, Left, Sample, Thread, What,
};

wakepath_test_program::tests![
    another_event_that_the_thread_serves_is_not_its_cycle_s_work,
    an_event_that_each_cycle_waits_for_is_part_of_the_cycle,
    a_wait_that_no_time_out_ends_for_the_next_cycle_is_part_of_the_cycle,
    a_wait_for_other_descriptors_than_the_usual_is_part_of_the_cycle,
    an_event_that_comes_while_the_thread_runs_is_shown_by_the_call_that_takes_it,
    a_run_that_throttling_ends_names_the_ready_thread_of_its_process,
    a_ready_thread_of_another_process_is_no_reason_to_spin,
    a_loop_whose_cpus_were_set_meets_what_runs_there,
    a_moved_loop_waits_on_its_new_cpu_from_its_waking_on,
    a_loop_that_the_scheduler_puts_elsewhere_was_not_moved,
    a_change_of_a_running_loop_s_cpus_is_by_whom_the_stopper_works_for,
];

const PROCESS: u32 = 90;
const OTHER: u32 = 300;

/// Of a loop that comes due in a wait for any event.
fn awaiting() -> Usual {
    Usual {
        awaits_events: true,
        ..USUAL
    }
}

fn followed(stream: &mut Stream, thread: u32, process: u32) {
    let calls = true;
    let what = What::Followed {
        thread,
        process,
        calls,
    };
    stream.at(DUE - 4 * MS, what);
}

/// The loop works for 100 µs, waits for any event, is woken 2 ms later and runs for 30 ms.
fn served(usual: Usual) -> Explained {
    served_before(usual, None)
}

/// The same, with a next cycle, before which the wait has its time-out or not.
fn served_before(usual: Usual, next: Option<(u64, Option<u64>)>) -> Explained {
    let mut stream = Stream::with(hog(), fifo());
    stream.until_next_wake_up = true;
    followed(&mut stream, LOOP, PROCESS);
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    let name = "epoll_wait".into();
    stream.at(
        DUE + 57 * US,
        What::SystemCallEntry {
            name,
            argument: Some(CallArgument::Descriptor(3)),
        },
    );
    if let Some((due_ns, time_out_ns)) = next {
        let sample = stream.samples[0];
        stream.samples.push(Sample {
            cycle: sample.cycle + 1,
            due_ns,
            wake_ns: due_ns,
            end_ns: due_ns + MS,
            ..sample
        });
        if let Some(for_ns) = time_out_ns {
            let what = What::TimerStart {
                timer: 1,
                function: "hrtimer_wakeup".into(),
                expires_ns: for_ns,
                soft_expires_ns: for_ns,
                soft: false,
            };
            stream.at(DUE + 57 * US, what);
        }
    }
    stream.switch(DUE + 58 * US, thread(OTHER, "client", 120), Left::Sleeping);
    stream.wake(DUE + 2_058 * US);
    let again = stream.the_loop.clone();
    stream.switch(DUE + 2_060 * US, again, Left::Runnable);
    stream.at(DUE + 2_061 * US, What::SystemCallExit);
    stream.samples[0].end_ns = DUE + 32_060 * US;
    explained(stream.explainer(Some(usual)), stream.events.iter()).remove(0)
}

fn another_event_that_the_thread_serves_is_not_its_cycle_s_work() {
    let cycle = served(awaiting());
    assert_eq!(of_kind(&cycle, "other-work"), 30_000_000, "{cycle:#?}");
    assert_eq!(of_kind(&cycle, "awaiting"), 2_000_000);
    assert_eq!(of_kind(&cycle, "user-code"), 0);
    let served = cycle.execution.iter().max_by_key(|piece| piece.ns());
    let cause = &served.expect("a piece").cause;
    assert_eq!(
        cause.to_string(),
        "the loop's thread was at something else: woken by client-300 (OTHER)"
    );
    assert!(remedy(cause).is_some_and(|advice| advice.starts_with("let another thread")));
}

fn an_event_that_each_cycle_waits_for_is_part_of_the_cycle() {
    // Or it comes due in a sleep, and what it waits for within its cycles is no event of another kind.
    let in_each = Usual {
        serves_others: true,
        ..awaiting()
    };
    for usual in [in_each, USUAL] {
        let cycle = served(usual);
        assert_eq!(of_kind(&cycle, "other-work"), 0, "{cycle:#?}");
        // The switch to the loop that ends the wait is its part.
        assert_eq!(of_kind(&cycle, "blocked-on-thread"), 2_002_000);
    }
}

fn a_wait_that_no_time_out_ends_for_the_next_cycle_is_part_of_the_cycle() {
    let by_time_outs = Usual {
        times_out: true,
        ..awaiting()
    };
    let next_ns = DUE + 40 * MS;
    for (time_out_ns, is_within) in [
        (Some(next_ns), false),
        (Some(next_ns + 20 * MS), true),
        (None, true),
    ] {
        let cycle = served_before(by_time_outs.clone(), Some((next_ns, time_out_ns)));
        assert_eq!(of_kind(&cycle, "other-work") == 0, is_within, "{cycle:#?}");
        // Its timer may outlive the wait.
        let cycle = served_before(awaiting(), Some((next_ns, time_out_ns)));
        assert_eq!(of_kind(&cycle, "other-work"), 30_000_000);
    }
}

fn a_wait_for_other_descriptors_than_the_usual_is_part_of_the_cycle() {
    for (usual_descriptor, is_within) in [(3, false), (4, true)] {
        let cycle = served(Usual {
            due_at: Some(CallArgument::Descriptor(usual_descriptor)),
            ..awaiting()
        });
        assert_eq!(of_kind(&cycle, "other-work") == 0, is_within, "{cycle:#?}");
    }
}

/// Woken by its timer, the loop works for 30 ms after it took another event, and waits for the next.
fn taken(usual: Usual) -> Explained {
    let mut stream = Stream::with(hog(), fifo());
    stream.until_next_wake_up = true;
    followed(&mut stream, LOOP, PROCESS);
    let what = What::Descriptor {
        process: PROCESS,
        descriptor: 5,
        target: CallTarget::Other("eventfd".into()),
    };
    stream.at(DUE - 4 * MS, what);
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    let mut call = |from_ns: u64, to_ns: u64, name: &str, descriptor: Option<u32>| {
        let name = name.into();
        stream.at(
            from_ns,
            What::SystemCallEntry {
                name,
                argument: descriptor.map(CallArgument::Descriptor),
            },
        );
        stream.at(to_ns, What::SystemCallExit);
    };
    call(DUE + 57 * US, DUE + 58 * US, "read", Some(5));
    call(DUE + 30_058 * US, DUE + 30_059 * US, "epoll_wait", None);
    stream.samples[0].end_ns = DUE + 30_060 * US;
    explained(stream.explainer(Some(usual)), stream.events.iter()).remove(0)
}

fn an_event_that_comes_while_the_thread_runs_is_shown_by_the_call_that_takes_it() {
    let cycle = taken(awaiting());
    let longest = cycle.execution.iter().max_by_key(|piece| piece.ns());
    let cause = &longest.expect("a piece").cause;
    assert_eq!(
        cause.to_string(),
        "the loop's thread was at something else: after read() on eventfd"
    );
    assert!(of_kind(&cycle, "other-work") > 29 * MS, "{cycle:#?}");
    let takes = ["read() on eventfd".to_owned()].into();
    let cycle = taken(Usual {
        takes,
        ..awaiting()
    });
    assert_eq!(of_kind(&cycle, "other-work"), 0, "{cycle:#?}");
}

/// The loop runs for 900 ms, is throttled for 40 ms in which another thread runs, and ends its cycle.
fn throttled_over(other: &Thread, process: u32, budget: Option<Budget>) -> Explained {
    let mut stream = Stream::with(other.clone(), fifo());
    stream.budgets.real_time = budget;
    followed(&mut stream, LOOP, PROCESS);
    followed(&mut stream, other.id, process);
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    stream.switch(DUE + 900_008 * US, other.clone(), Left::Runnable);
    let again = stream.the_loop.clone();
    stream.switch(DUE + 940_008 * US, again, Left::Runnable);
    stream.samples[0].end_ns = DUE + 940_108 * US;
    stream.explain().remove(0)
}

fn a_run_that_throttling_ends_names_the_ready_thread_of_its_process() {
    for budget in [None, Some(Budget::FairServer)] {
        let cycle = throttled_over(&thread(OTHER, "telemetry", 120), PROCESS, budget);
        assert_spins_for_telemetry(&cycle);
    }
}

fn assert_spins_for_telemetry(cycle: &Explained) {
    assert!(of_kind(cycle, "spin") > 899 * MS, "{cycle:#?}");
    assert_eq!(of_kind(cycle, "throttled"), 40 * MS);
    let longest = cycle.execution.iter().max_by_key(|piece| piece.ns());
    let cause = &longest.expect("a piece").cause;
    assert!(
        cause
            .to_string()
            .contains("telemetry-300 (OTHER) of its process was ready")
    );
    assert!(remedy(cause).is_some_and(|advice| advice.contains("PTHREAD_PRIO_INHERIT")));
}

fn a_ready_thread_of_another_process_is_no_reason_to_spin() {
    let cycle = throttled_over(&thread(OTHER, "telemetry", 120), PROCESS + 1, None);
    assert_eq!(of_kind(&cycle, "spin"), 0, "{cycle:#?}");
}

/// The loop was on CPU 0 until it slept, and wakes on CPU 1, which `radio` has. `order`: events while it sleeps.
fn on_the_radio_s_cpu(order: impl FnOnce(&mut Stream), allowed: &[u16]) -> impl Fn(u16) -> String {
    let mut stream = Stream::with(thread(400, "radio", 9), fifo());
    if !allowed.is_empty() {
        let (seen_ns, cpus) = (DUE - 3 * MS, allowed.to_vec());
        stream.allowed.push(AllowedCpus { seen_ns, cpus });
    }
    let the_loop = stream.the_loop.clone();
    let manager = thread(OTHER, "manager", 120);
    for (at_ns, previous, next) in [
        (DUE - 1_300 * US, idle(), the_loop.clone()),
        (DUE - 1_200 * US, the_loop, manager),
    ] {
        let left = Left::Sleeping;
        let what = What::Switch {
            previous: previous.clone(),
            left,
            next,
        };
        stream.on(0, at_ns, previous.id, what);
    }
    order(&mut stream);
    let what = What::Migrate {
        thread: stream.the_loop.clone(),
        from_cpu: 0,
        to_cpu: 1,
    };
    stream.at(DUE + US, what);
    stream.timer(DUE + 2 * US);
    stream.run(DUE + 10_007 * US, DUE, Left::Sleeping);
    move |home| {
        let usual = Usual {
            cpu: Some(home),
            ..USUAL
        };
        let cycle = explained(stream.explainer(Some(usual)), stream.events.iter()).remove(0);
        cycle.main_cause().expect("a cause").0.to_string()
    }
}

const RADIO: &str = "thread radio (FIFO/RR 90), more urgent";

fn a_loop_whose_cpus_were_set_meets_what_runs_there() {
    let set = |stream: &mut Stream| {
        let call = What::SetsAffinity { thread: LOOP };
        stream.on(0, DUE - 1_000 * US, OTHER, call);
    };
    let cause = on_the_radio_s_cpu(set, &[]);
    assert_eq!(
        cause(0),
        format!("moved from CPU 0 to CPU 1 by manager (OTHER): {RADIO}")
    );
    assert_eq!(cause(1), RADIO);
    // A shell's child that executed another program since its switch-in.
    let by_taskset = |stream: &mut Stream| {
        set(stream);
        let ends = What::Switch {
            previous: thread(OTHER, "taskset", 120),
            left: Left::Dead,
            next: idle(),
        };
        stream.on(0, DUE - 990 * US, OTHER, ends);
    };
    assert_eq!(
        on_the_radio_s_cpu(by_taskset, &[])(0),
        format!("moved from CPU 0 to CPU 1 by taskset (OTHER): {RADIO}")
    );
    let set_another = |stream: &mut Stream| {
        let call = What::SetsAffinity { thread: LOOP + 1 };
        stream.on(0, DUE - 1_000 * US, OTHER, call);
    };
    assert_eq!(on_the_radio_s_cpu(set_another, &[])(0), RADIO);
}

fn a_moved_loop_waits_on_its_new_cpu_from_its_waking_on() {
    let mut stream = Stream::with(thread(400, "radio", 9), fifo());
    let the_loop = stream.the_loop.clone();
    // Its timer expires on CPU 0, its CPU until then; the kernel writes the waking before the move to CPU 1.
    stream.cpu = 0;
    stream.current = idle();
    stream.switch(DUE - 1_300 * US, the_loop.clone(), Left::Sleeping);
    stream.switch(
        DUE - 1_200 * US,
        thread(OTHER, "manager", 120),
        Left::Sleeping,
    );
    stream.at(DUE - 1_000 * US, What::SetsAffinity { thread: LOOP });
    stream.timer(DUE + 2 * US);
    let woken_up = stream.events.len() - 3;
    let move_to_1 = What::Migrate {
        thread: the_loop.clone(),
        from_cpu: 0,
        to_cpu: 1,
    };
    stream.at(DUE + 4 * US + 50, move_to_1);
    let moved = stream.events.pop().expect("the move");
    stream.events.insert(woken_up, moved);
    (stream.cpu, stream.current) = (1, thread(400, "radio", 9));
    stream.run(DUE + 10_007 * US, DUE, Left::Sleeping);
    let usual = Usual {
        cpu: Some(0),
        ..USUAL
    };
    let cycle = explained(stream.explainer(Some(usual)), stream.events.iter()).remove(0);
    assert_eq!(of_kind(&cycle, "thread"), 0, "{cycle:#?}");
    assert!(of_kind(&cycle, "moved") > 9_990 * US, "{cycle:#?}");
}

fn a_loop_that_the_scheduler_puts_elsewhere_was_not_moved() {
    assert_eq!(on_the_radio_s_cpu(|_| {}, &[])(0), RADIO);
    assert_eq!(on_the_radio_s_cpu(|_| {}, &[0, 1])(0), RADIO);
    assert_eq!(
        on_the_radio_s_cpu(|_| {}, &[1])(0),
        format!("moved from CPU 0 to CPU 1: {RADIO}")
    );
}

fn a_change_of_a_running_loop_s_cpus_is_by_whom_the_stopper_works_for() {
    let order = |stream: &mut Stream| {
        let stopper = thread(17, "migration/0", 0);
        let what = What::Waking {
            thread: stopper,
            target_cpu: 0,
        };
        stream.on(0, DUE - 1_000 * US, OTHER, what);
        let what = What::Migrate {
            thread: stream.the_loop.clone(),
            from_cpu: 0,
            to_cpu: 1,
        };
        stream.on(0, DUE - 990 * US, 17, what);
    };
    assert_eq!(
        on_the_radio_s_cpu(order, &[])(0),
        format!("moved from CPU 0 to CPU 1 by manager (OTHER): {RADIO}")
    );
}
