//! Streams as they really come: events lost, a buffer that wrapped, stamps out of order, a CPU that went
//! offline. Missing parts are reported; the rest still adds up.

use crate::stream::*;
use proptest::prelude::*;
use wakepath_explain::{Cause, Explained, WokenBy};
use wakepath_timeline::{Interrupt, KernelEvent, Left, Sample, SampleFlags, SoftIrq, Thread, What};

wakepath_test_program::tests![
    lost_events_make_the_cycles_they_touch_unexplained_and_no_others,
    events_lost_on_a_cpu_that_the_loop_may_not_use_touch_no_cycle,
    cycles_before_a_wrapped_buffer_s_oldest_event_have_no_events,
    a_cpu_that_went_away_leaves_cycles_without_events,
    a_sleeping_loop_whose_cpu_goes_off_line_is_late_by_the_stop_and_goes_on_elsewhere,
    a_running_loop_whose_cpu_goes_off_line_waits_for_what_had_each_cpu,
    a_loop_that_is_pulled_to_another_cpu_waited_for_what_ran_on_the_first,
    stamps_that_go_back_are_moved_up_and_break_nothing,
    events_of_two_cpus_merged_in_the_wrong_order_change_nothing,
    an_exit_that_is_missing_does_not_stretch_an_interrupt_for_ever,
    a_thread_that_is_current_without_a_switch_means_that_events_are_missing,
    a_thread_seen_before_is_known_again_after_a_switch_that_left_no_event,
    a_loop_whose_switch_to_idle_left_no_event_did_not_wait_for_an_idle_state,
    a_loop_that_left_its_cpu_unseen_waited_in_its_call_once_the_cpu_idles_and_it_is_woken,
    a_loop_that_left_its_cpu_unseen_outside_of_calls_is_unexplained,
    a_switch_to_the_loop_that_left_no_event_leaves_its_work_its_own,
    without_a_single_event_every_cycle_says_so,
    what_is_usual_comes_from_the_run_itself,
    whatever_comes_the_pieces_add_up_to_the_latency,
];

/// Cycles 0, 1 and 2, undisturbed.
fn three_cycles() -> Stream {
    let mut stream = Stream::with(hog(), fifo());
    for cycle in 0..3 {
        let due = DUE + cycle * MS;
        stream
            .timer(due + 2 * US)
            .run(due + 7 * US, due, Left::Runnable);
        stream.switch(due + 60 * US, hog(), Left::Sleeping);
    }
    stream
}

fn kinds(cycle: &Explained) -> Vec<&'static str> {
    cycle
        .latency
        .iter()
        .map(|piece| piece.cause.kind())
        .collect()
}

fn lost_events_make_the_cycles_they_touch_unexplained_and_no_others() {
    let mut stream = three_cycles();
    // Everything of cycle 1 is lost: from the end of cycle 0 until just before cycle 2.
    let is_lost = |event: &KernelEvent| (DUE + 61 * US..DUE + 1_900 * US).contains(&event.at_ns);
    let at = stream.events.iter().position(is_lost).unwrap();
    stream.events.retain(|event| !is_lost(event));
    let lost = KernelEvent {
        at_ns: DUE + 1_900 * US,
        cpu: 1,
        current: 200,
        what: What::Lost { count: 9 },
    };
    stream.events.insert(at, lost);
    let mut explainer = stream.explainer(Some(USUAL));
    let mut cycles = Vec::new();
    for event in &stream.events {
        explainer.event(event, |_, cycle| cycles.push(cycle));
    }
    explainer.finish(|_, cycle| cycles.push(cycle));
    assert_eq!(explainer.lost(), 9);
    assert_eq!(beyond_usual(&cycles[0]), []);
    assert_eq!(kinds(&cycles[1]), ["events-lost"]);
    assert_eq!(cycles[1].explained_ns(), 0);
    assert_eq!(cycles[1].woken, WokenBy::Unknown);
    // Cycle 2's waking and switch are there, its state when due is not.
    assert!(
        cycles[2]
            .latency
            .iter()
            .any(|p| p.cause.kind() == "events-lost")
    );
    cycles.iter().for_each(assert_adds_up);
}

fn events_lost_on_a_cpu_that_the_loop_may_not_use_touch_no_cycle() {
    let mut stream = three_cycles();
    let lost = KernelEvent {
        at_ns: DUE + 500 * US,
        cpu: 0,
        current: 0,
        what: What::Lost { count: 1 },
    };
    stream.events.insert(8, lost);
    for cycle in stream.explain() {
        assert_eq!(beyond_usual(&cycle), []);
    }
}

fn cycles_before_a_wrapped_buffer_s_oldest_event_have_no_events() {
    let mut stream = three_cycles();
    stream.events.retain(|event| event.at_ns > DUE + 1_055 * US);
    let cycles = stream.explain();
    assert_eq!(kinds(&cycles[0]), ["no-events"]);
    assert_eq!(kinds(&cycles[1]), ["no-events"]);
    assert_eq!(beyond_usual(&cycles[2]), []);
}

fn a_cpu_that_went_away_leaves_cycles_without_events() {
    let mut stream = three_cycles();
    stream.events.retain(|event| event.at_ns < DUE + 990 * US);
    let cycles = stream.explain();
    assert_eq!(beyond_usual(&cycles[0]), []);
    for cycle in &cycles[1..] {
        assert_eq!(kinds(cycle), ["no-events"]);
    }
}

/// The kernel thread that takes a CPU offline, and stops the others while it does.
fn stopper(cpu: u16) -> Thread {
    thread(20 + u32::from(cpu), &format!("migration/{cpu}"), -1)
}

/// The loop on CPU 1 until that goes off line; CPU 0 runs something else.
fn before_cpu_1_goes(from_ns: u64) -> (Stream, Thread) {
    let other = thread(300, "other", 120);
    let mut stream = Stream::with(hog(), fifo());
    stream.cpus = vec![0, 1];
    let comes = What::Switch {
        previous: thread(0, "swapper/0", 120),
        left: Left::Runnable,
        next: other.clone(),
    };
    stream.on(0, DUE - 5 * MS, 0, comes);
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    // Both CPUs are stopped, the one that goes and the one that stays.
    let stops = What::Switch {
        previous: other.clone(),
        left: Left::Runnable,
        next: stopper(0),
    };
    stream.on(0, from_ns, other.id, stops);
    (stream, other)
}

fn a_sleeping_loop_whose_cpu_goes_off_line_is_late_by_the_stop_and_goes_on_elsewhere() {
    let (mut stream, other) = before_cpu_1_goes(DUE + 901 * US);
    stream.switch(DUE + 60 * US, hog(), Left::Sleeping);
    // Its last event: nothing shows that the CPU is gone.
    stream.switch(DUE + 900 * US, stopper(1), Left::Runnable);
    stream.cpu = 0;
    stream.current = stopper(0);
    // The timer, moved to CPU 0, has to wait until that one takes interrupts again.
    stream
        .timer(DUE + 1_400 * US)
        .run(DUE + 1_405 * US, DUE + MS, Left::Sleeping);
    stream.switch(DUE + 1_460 * US, other.clone(), Left::Sleeping);
    stream
        .timer(DUE + 2_002 * US)
        .run(DUE + 2_007 * US, DUE + 2 * MS, Left::Runnable);
    stream.switch(DUE + 2_060 * US, other, Left::Sleeping);
    stream.events.sort_by_key(|event| event.at_ns);
    let cycles = stream.explain();
    assert_eq!(beyond_usual(&cycles[0]), []);
    // Due at 1.000 ms, interrupt at 1.400 ms, of which 2 µs are usual.
    let stop = "interrupts off in migration/0-20 (stop class), or the CPU was stalled";
    // It has 2 µs more after the interrupt, before it sleeps.
    let rest = "thread migration/0-20 (stop class), more urgent";
    let expected = [(stop.into(), 398_000), (rest.into(), 2_000)];
    assert_eq!(beyond_usual(&cycles[1]), expected);
    assert_eq!(cycles[1].woken, WokenBy::Direct);
    assert_eq!(beyond_usual(&cycles[2]), []);
}

fn a_running_loop_whose_cpu_goes_off_line_waits_for_what_had_each_cpu() {
    let (mut stream, other) = before_cpu_1_goes(DUE + 21 * US);
    stream.samples[0].end_ns = DUE + 300 * US;
    stream.switch(DUE + 20 * US, stopper(1), Left::Runnable);
    let moves = What::Migrate {
        thread: fifo(),
        from_cpu: 1,
        to_cpu: 0,
    };
    stream.at(DUE + 120 * US, moves);
    stream.cpu = 0;
    stream.current = stopper(0);
    stream.switch(DUE + 150 * US, fifo(), Left::Sleeping);
    stream.switch(DUE + 310 * US, other, Left::Sleeping);
    stream.events.sort_by_key(|event| event.at_ns);
    let cycles = stream.explain();
    let pieces = cycles[0].execution.iter();
    let pieces: Vec<_> = pieces.map(|p| (p.cause.to_string(), p.ns())).collect();
    let urgent = |cpu: u16| format!("thread {}, more urgent", Cause::thread_name(&stopper(cpu)));
    assert_eq!(pieces[0].1, 12_000);
    // On CPU 1's queue until it was moved, then on CPU 0's.
    assert_eq!(pieces[1], (urgent(1), 100_000));
    assert_eq!(pieces[2], (urgent(0), 30_000));
    assert_eq!(pieces[3..].iter().map(|(_, ns)| ns).sum::<u64>(), 150_000);
}

fn a_loop_that_is_pulled_to_another_cpu_waited_for_what_ran_on_the_first() {
    let ordinary = thread(LOOP, "loop", 120);
    let mut stream = Stream::with(hog(), ordinary.clone());
    stream.cpus = vec![0, 1];
    let comes = What::Switch {
        previous: thread(300, "other", 120),
        left: Left::Sleeping,
        next: thread(0, "swapper/0", 120),
    };
    stream.timer(DUE + 2 * US);
    // CPU 0 becomes idle and pulls the loop, which is queued after the hog.
    stream.on(0, DUE + 700 * US, 300, comes);
    let moves = What::Migrate {
        thread: ordinary.clone(),
        from_cpu: 1,
        to_cpu: 0,
    };
    stream.on(0, DUE + 704 * US, 0, moves);
    stream.cpu = 0;
    stream.current = thread(0, "swapper/0", 120);
    stream.run(DUE + 706 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    let hog_ran: u64 = of_kind(cycle, "thread");
    // From the end of the interrupt, at 5 µs, until it was moved.
    assert_eq!(hog_ran, 699_000, "{cycle:#?}");
}

fn stamps_that_go_back_are_moved_up_and_break_nothing() {
    let mut stream = three_cycles();
    // The expiry's entry is stamped 3 µs before the interrupt's.
    let entry = stream
        .events
        .iter()
        .position(|event| matches!(event.what, What::TimerExpiryEntry { .. }));
    stream.events[entry.unwrap()].at_ns -= 3 * US;
    let cycles = stream.explain();
    assert_eq!(beyond_usual(&cycles[0]), []);
    assert_eq!(cycles[0].woken, WokenBy::Direct);
}

fn events_of_two_cpus_merged_in_the_wrong_order_change_nothing() {
    let mut stream = three_cycles();
    let straight: Vec<_> = stream.explain().iter().map(stretches).collect();
    // Events of another CPU, each late by up to a millisecond.
    for (at, late_us) in [(3, 900), (9, 100), (12, 950), (17, 300)] {
        let at_ns = stream.events[at].at_ns - late_us * US;
        let event = KernelEvent {
            at_ns,
            cpu: 0,
            current: 0,
            what: What::SoftIrqRaise(SoftIrq(9)),
        };
        stream.events.insert(at, event);
    }
    let merged: Vec<_> = stream.explain().iter().map(stretches).collect();
    assert_eq!(straight, merged);
}

fn an_exit_that_is_missing_does_not_stretch_an_interrupt_for_ever() {
    let mut stream = three_cycles();
    let exit = stream
        .events
        .iter()
        .position(|event| matches!(event.what, What::InterruptExit(_)));
    stream.events.remove(exit.unwrap());
    let cycles = stream.explain();
    assert_eq!(beyond_usual(&cycles[1]), []);
}

fn a_thread_that_is_current_without_a_switch_means_that_events_are_missing() {
    let mut stream = Stream::with(hog(), fifo());
    // Another program is current, and no switch told.
    stream.on(1, DUE + US, 999, What::SoftIrqRaise(SoftIrq(9)));
    stream.current = thread(999, "who", 120);
    stream
        .timer(DUE + 50 * US)
        .run(DUE + 55 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    assert!(kinds(cycle).contains(&"no-events"), "{cycle:#?}");
}

fn a_thread_seen_before_is_known_again_after_a_switch_that_left_no_event() {
    let mut stream = Stream::with(thread(300, "before", 120), fifo());
    stream.switch(DUE - 4 * MS, hog(), Left::Runnable);
    // The switch back to 300 is missing; its first event is at 1 µs.
    stream.on(1, DUE + US, 300, FAULT);
    stream.current = thread(300, "before", 120);
    stream
        .timer(DUE + 50 * US)
        .run(DUE + 55 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    // Until that event it is not known who ran; from then on it is.
    assert_eq!(of_kind(cycle, "no-events"), 1_000);
    assert_eq!(of_kind(cycle, "interrupts-off"), 47_000);
}

fn a_loop_whose_switch_to_idle_left_no_event_did_not_wait_for_an_idle_state() {
    let mut stream = Stream::with(hog(), fifo());
    stream.switch(DUE - 4 * MS, idle(), Left::Runnable);
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    // It blocks beyond its next due time, and its CPU idles.
    stream.on(1, DUE + 300 * US, 0, What::IdleEntry { state: 1 });
    stream.current = idle();
    stream.run(DUE + MS + 500 * US, DUE + MS, Left::Runnable);
    let cycle = &stream.explain()[1];
    assert_eq!(of_kind(cycle, "no-events"), 500_000, "{cycle:#?}");
    assert_eq!(of_kind(cycle, "idle-exit"), 0);
}

/// With `calls`, cycle 0 calls `read` 20 µs after its due time. It leaves its CPU unseen, and 30 µs after it the CPU
/// idles. The hog wakes it on CPU 0 430 µs after it; it ends its cycle 500 µs after it.
fn left_unseen(calls: bool) -> Explained {
    let mut stream = Stream::with(hog(), fifo());
    stream.cpus = vec![0, 1];
    stream.switch(DUE - 4 * MS, idle(), Left::Runnable);
    stream.on(0, DUE - 4 * MS, 0, What::IdleEntry { state: 1 });
    let comes = What::Switch {
        previous: idle(),
        left: Left::Runnable,
        next: hog(),
    };
    stream.on(0, DUE - 3 * MS, 0, comes);
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    stream.at(DUE + 8 * US, What::SystemCallExit);
    if calls {
        let name = std::sync::Arc::from("read");
        let descriptor = None;
        stream.at(DUE + 20 * US, What::SystemCallEntry { name, descriptor });
    }
    stream.on(1, DUE + 30 * US, 0, What::IdleEntry { state: 1 });
    stream.current = idle();
    let woken = fifo();
    let target_cpu = 1;
    let waking = What::Waking {
        thread: woken.clone(),
        target_cpu,
    };
    stream.on(0, DUE + 430 * US, hog().id, waking);
    stream.switch(DUE + 440 * US, woken, Left::Runnable);
    if calls {
        stream.at(DUE + 442 * US, What::SystemCallExit);
    }
    stream.samples[0].end_ns = DUE + 500 * US;
    stream.explain().remove(0)
}

fn a_loop_that_left_its_cpu_unseen_waited_in_its_call_once_the_cpu_idles_and_it_is_woken() {
    let cycle = left_unseen(true);
    assert_eq!(of_kind(&cycle, "blocked-on-thread"), 400_000, "{cycle:#?}");
    // Between its call and the first event of idle nothing shows when it left.
    assert_eq!(of_kind(&cycle, "no-events"), 10_000);
    let waits = cycle.execution.iter();
    let mut waits = waits.filter(|piece| piece.cause.kind() == "blocked-on-thread");
    let words = waits.next().unwrap().cause.to_string();
    assert!(
        words.starts_with("in read(): blocked (inferred:") && words.contains("hog"),
        "{words}"
    );
}

fn a_loop_that_left_its_cpu_unseen_outside_of_calls_is_unexplained() {
    let cycle = left_unseen(false);
    assert_eq!(of_kind(&cycle, "blocked-on-thread"), 0, "{cycle:#?}");
    assert_eq!(of_kind(&cycle, "no-events"), 422_000);
}

fn a_switch_to_the_loop_that_left_no_event_leaves_its_work_its_own() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    let is_in = |event: &KernelEvent| {
        event.at_ns == DUE + 7 * US && matches!(event.what, What::Switch { .. })
    };
    stream.events.retain(|event| !is_in(event));
    stream.at(DUE + 9 * US, What::SystemCallExit);
    stream.switch(DUE + 60 * US, hog(), Left::Sleeping);
    stream.samples[0].wake_ns = DUE + 10 * US;
    let cycle = stream.explain().remove(0);
    assert_eq!(kinds(&cycle).last(), Some(&"path"), "{cycle:#?}");
    // From the last event of the hog to the first of the loop.
    assert_eq!(of_kind(&cycle, "no-events"), 4_000);
    let work: Vec<_> = cycle.execution.iter().map(|of| of.cause.kind()).collect();
    assert!(!work.contains(&"path"), "{cycle:#?}");
}

fn without_a_single_event_every_cycle_says_so() {
    let mut stream = three_cycles();
    stream.events.clear();
    for cycle in stream.explain() {
        assert_eq!(kinds(&cycle), ["no-events"]);
        assert_eq!(cycle.explained_ns(), 0);
    }
}

fn what_is_usual_comes_from_the_run_itself() {
    let mut stream = Stream::with(hog(), fifo());
    for cycle in 0..300 {
        let due = DUE + cycle * MS;
        // Usually the timer takes 6 µs here; in cycle 290 it takes 106 µs.
        let late = if cycle == 290 { 106 } else { 6 };
        stream
            .timer(due + late * US)
            .run(due + (late + 5) * US, due, Left::Runnable);
        stream.switch(due + (late + 60) * US, hog(), Left::Sleeping);
    }
    let cycles = explained(stream.explainer(None), stream.events.iter());
    assert_eq!(cycles.len(), 300);
    assert_eq!(beyond_usual(&cycles[289]), []);
    let beyond = beyond_usual(&cycles[290]);
    assert_eq!(beyond.len(), 1);
    assert_eq!(beyond[0].1, 100_000);
}

fn any_event() -> impl Strategy<Value = (u64, u16, u8, u8)> {
    (0..400_000_u64, 0..3_u16, 0..19_u8, 0..4_u8)
}

fn event((step_ns, cpu, which, detail): (u64, u16, u8, u8), at_ns: u64) -> KernelEvent {
    let threads = [idle(), fifo(), hog(), thread(300, "above", 9)];
    let some = threads[usize::from(detail)].clone();
    let interrupt = match detail {
        0 => Interrupt::LocalTimer,
        1 => Interrupt::Reschedule,
        2 => Interrupt::CallFunction,
        _ => Interrupt::Device {
            number: 9,
            name: "disk".into(),
        },
    };
    let left = [Left::Runnable, Left::Sleeping, Left::Blocked, Left::Stopped][usize::from(detail)];
    let previous = threads[(step_ns % 4) as usize].clone();
    let what = match which {
        0 => What::InterruptEntry(interrupt),
        1 => What::InterruptExit(interrupt),
        2 => What::SoftIrqRaise(SoftIrq(detail)),
        3 => What::SoftIrqEntry(SoftIrq(detail)),
        4 => What::SoftIrqExit(SoftIrq(detail)),
        5 => What::TimerExpiryEntry {
            timer: 1,
            function: "hrtimer_wakeup".into(),
        },
        6 => What::TimerExpiryExit { timer: 1 },
        7 => What::TimerStart {
            timer: 1,
            function: "hrtimer_wakeup".into(),
            expires_ns: at_ns + step_ns,
            soft_expires_ns: at_ns,
            soft: false,
        },
        8 => What::Waking {
            thread: fifo(),
            target_cpu: cpu,
        },
        9 => What::WakeUp {
            thread: fifo(),
            target_cpu: cpu,
        },
        10..=12 => What::Switch {
            previous: previous.clone(),
            left,
            next: some,
        },
        13 => What::IpiSend {
            target_cpu: Some(1),
            callback: "".into(),
        },
        14 => What::IdleEntry { state: 2 },
        15 => What::IdleExit,
        16 => FAULT,
        17 => What::PageMapped,
        _ => What::Lost { count: 1 },
    };
    KernelEvent {
        at_ns,
        cpu,
        current: previous.id,
        what,
    }
}

proptest! {
    fn whatever_comes_the_pieces_add_up_to_the_latency(
        steps in proptest::collection::vec(any_event(), 0..400),
        cycles in proptest::collection::vec((0..3_000_000_u64, 1..900_000_u64, any::<bool>()), 1..30),
        usual in any::<bool>(),
    ) {
        let mut stream = Stream::with(hog(), fifo());
        let mut at_ns = DUE;
        for step in steps {
            // Some stamps go back.
            at_ns = (at_ns + step.0).saturating_sub(if step.0 % 7 == 0 { 300_000 } else { 0 });
            stream.events.push(event(step, at_ns));
        }
        let mut end_ns = DUE;
        for (number, (latency_ns, work_ns, past)) in (0_u64..).zip(cycles) {
            let due_ns = DUE + number * MS;
            let wake_ns = (due_ns + latency_ns).max(end_ns);
            end_ns = wake_ns + work_ns;
            stream.samples.push(Sample {
                cycle: number,
                due_ns,
                wake_ns,
                end_ns,
                cpu: 1,
                flags: if past { SampleFlags::DUE_ALREADY_PAST } else { SampleFlags::default() },
                ..Sample::default()
            });
        }
        let count = stream.samples.len();
        let cycles = explained(stream.explainer(usual.then_some(USUAL)), stream.events.iter());
        prop_assert_eq!(cycles.len(), count);
    }
}
