//! One stream for each cause, with the answer worked out by hand.

use crate::stream::*;
use wakepath_explain::{Stretch, WokenBy};
use wakepath_timeline::{Interrupt, Left, SampleFlags, What};

wakepath_test_program::tests![
    an_undisturbed_direct_wake_up_is_the_path_and_nothing_else,
    a_timer_that_comes_late_while_a_thread_runs_means_interrupts_off_in_it,
    a_device_s_interrupt_during_the_wait_shows_that_the_timer_itself_was_late,
    a_softirq_or_an_ipi_with_code_behind_it_shows_that_interrupts_were_on,
    a_softirq_after_the_waking_is_named_by_its_vector,
    idle_is_named_with_its_state,
    timer_slack_is_a_cause_of_its_own,
    timers_that_expire_first_in_the_same_interrupt_are_named,
    an_ipi_is_named_with_its_sender,
    a_block_after_the_switch_in_is_not_taken_for_the_path,
    a_stopped_loop_says_so,
    a_cycle_that_was_due_already_is_the_consequence_of_what_stretched_the_one_before,
    a_cycle_that_came_due_before_the_one_before_was_woken_has_that_one_s_cause,
    work_that_takes_longer_although_nothing_else_runs_is_its_own_inflation,
    page_faults_in_the_work_take_what_it_took_longer,
    a_changed_frequency_is_named_where_the_work_took_longer,
    a_loop_that_a_thread_wakes_names_it,
    a_cycle_that_is_due_when_a_thread_wakes_it_waits_for_what_ran_from_then_on,
    an_early_wake_up_has_no_pieces,
    a_machine_that_stands_still_inside_the_path_is_not_hidden_in_it,
    both_timers_of_one_thread_have_events,
];

fn an_undisturbed_direct_wake_up_is_the_path_and_nothing_else() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    assert_eq!(cycle.woken, WokenBy::Direct);
    assert_eq!(
        stretches(cycle),
        [
            (Stretch::DueToInterrupt, "timer-delivery", 2_000),
            (Stretch::InterruptToExpiry, "path", 1_000),
            (Stretch::ExpiryToWaking, "path", 1_000),
            (Stretch::WakingToSwitch, "path", 1_000),
            (Stretch::WakingToSwitch, "path", 2_000),
            (Stretch::SwitchToUser, "path", 1_000),
        ]
    );
    assert_eq!(beyond_usual(cycle), []);
}

fn a_timer_that_comes_late_while_a_thread_runs_means_interrupts_off_in_it() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 302 * US)
        .run(DUE + 307 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    let name = "interrupts off in hog-200 (OTHER), or the CPU was stalled";
    assert_eq!(beyond_usual(cycle), [(name.into(), 300_000)]);
}

fn a_device_s_interrupt_during_the_wait_shows_that_the_timer_itself_was_late() {
    let device = Interrupt::Device {
        number: 36,
        name: "eth0".into(),
    };
    let mut stream = Stream::with(hog(), fifo());
    stream.interrupt(DUE + 200 * US, DUE + 210 * US, device);
    stream
        .timer(DUE + 212 * US)
        .run(DUE + 217 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    assert_eq!(
        beyond_usual(cycle),
        [
            (
                "CPU stalled (hypervisor, firmware or hardware)".into(),
                200_000
            ),
            ("interrupt 36 eth0".into(), 10_000),
        ]
    );
}

fn a_softirq_or_an_ipi_with_code_behind_it_shows_that_interrupts_were_on() {
    let nothing = "CPU stalled (hypervisor, firmware or hardware)".to_owned();
    let off = "interrupts off in hog-200 (OTHER), or the CPU was stalled";
    // A SoftIRQ begins with interrupts on: 200 µs are the timer's, the 90 µs after it are unexplained.
    let mut stream = Stream::with(hog(), fifo());
    stream.softirq(DUE + 200 * US, DUE + 210 * US, 9);
    stream
        .timer(DUE + 302 * US)
        .run(DUE + 307 * US, DUE, Left::Runnable);
    let found = beyond_usual(&stream.explain()[0]);
    assert_eq!(found[0], (nothing.clone(), 200_000));
    assert!(found.iter().any(|(name, _)| name == off), "{found:?}");
    // An IPI is taken before the timer. With code after it the timer was not pending; without, it might have
    // been.
    for (timer_us, expected) in [(302, &nothing), (211, &off.to_owned())] {
        let mut stream = Stream::with(hog(), fifo());
        stream.interrupt(DUE + 200 * US, DUE + 210 * US, Interrupt::Reschedule);
        stream
            .timer(DUE + timer_us * US)
            .run(DUE + (timer_us + 5) * US, DUE, Left::Runnable);
        let found = beyond_usual(&stream.explain()[0]);
        assert_eq!(&found[0].0, expected, "{found:?}");
    }
}

fn a_softirq_after_the_waking_is_named_by_its_vector() {
    let mut stream = Stream::with(hog(), fifo());
    stream.timer(DUE + 2 * US);
    stream.softirq(DUE + 5 * US, DUE + 705 * US, 9);
    stream.run(DUE + 707 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    assert_eq!(beyond_usual(cycle), [("SoftIRQ RCU".into(), 700_000)]);
}

fn idle_is_named_with_its_state() {
    let mut stream = Stream::with(idle(), fifo());
    stream.at(DUE - 2 * MS, What::IdleEntry { state: 3 });
    stream.timer(DUE + 152 * US);
    stream.at(DUE + 155 * US + 500, What::IdleExit);
    stream.run(DUE + 157 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    // 0.5 µs of the state's end lie after the interrupt.
    let name = "leaving idle state 3";
    let expected = [(name.into(), 152_000), (name.into(), 500)];
    assert_eq!(beyond_usual(cycle), expected);
}

fn timer_slack_is_a_cause_of_its_own() {
    let other = thread(LOOP, "loop", 120);
    let mut stream = Stream::with(hog(), other.clone());
    stream.on(
        1,
        DUE - 4_999 * US,
        LOOP,
        What::TimerStart {
            timer: 7,
            function: "hrtimer_wakeup".into(),
            expires_ns: DUE + 50 * US,
            soft_expires_ns: DUE,
            soft: false,
        },
    );
    // The loop starts its timer before it leaves its CPU.
    stream.events.swap(0, 1);
    stream.events[0].at_ns = DUE - 5_001 * US;
    stream
        .timer(DUE + 52 * US)
        .run(DUE + 57 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    assert_eq!(beyond_usual(cycle), [("timer slack".into(), 50_000)]);
}

fn timers_that_expire_first_in_the_same_interrupt_are_named() {
    let mut stream = Stream::with(hog(), fifo());
    stream.at(DUE + 2 * US, What::InterruptEntry(Interrupt::LocalTimer));
    stream.expiry(DUE + 3 * US, "tick_nohz_handler");
    stream.at(DUE + 33 * US, What::TimerExpiryExit { timer: 7 });
    stream.expiry(DUE + 33 * US, "hrtimer_wakeup");
    stream.wake(DUE + 34 * US);
    stream.at(DUE + 34 * US + 500, What::TimerExpiryExit { timer: 7 });
    stream.at(DUE + 35 * US, What::InterruptExit(Interrupt::LocalTimer));
    stream.run(DUE + 37 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    let name = "other timer tick_nohz_handler first";
    assert_eq!(beyond_usual(cycle), [(name.into(), 30_000)]);
}

fn an_ipi_is_named_with_its_sender() {
    let sender = thread(500, "stressor", 120);
    let mut stream = Stream::with(hog(), fifo());
    stream.on(
        0,
        DUE - MS,
        0,
        What::Switch {
            previous: idle(),
            left: Left::Runnable,
            next: sender,
        },
    );
    stream.timer(DUE + 2 * US);
    stream.on(
        0,
        DUE + 4 * US,
        500,
        What::IpiSend {
            target_cpu: Some(1),
            callback: "ipi_mb".into(),
        },
    );
    stream.interrupt(DUE + 5 * US, DUE + 25 * US, Interrupt::CallFunction);
    stream.run(DUE + 27 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    let name = "IPI function call from CPU 0 by stressor-500 (OTHER) (ipi_mb)";
    assert_eq!(beyond_usual(cycle), [(name.into(), 20_000)]);
}

fn a_block_after_the_switch_in_is_not_taken_for_the_path() {
    let mut stream = Stream::with(hog(), fifo());
    stream.timer(DUE + 2 * US);
    let again = stream.the_loop.clone();
    stream.switch(DUE + 7 * US, again.clone(), Left::Runnable);
    stream.switch(DUE + 8 * US, hog(), Left::Blocked);
    stream.wake(DUE + 24 * US);
    stream.switch(DUE + 26 * US, again, Left::Runnable);
    stream.sample(DUE, DUE + 26 * US, DUE + 76 * US);
    let cycle = &stream.explain()[0];
    assert_eq!(of_kind(cycle, "blocked-on-thread"), 16_000);
    assert!(cycle.latency.iter().any(|piece| {
        piece.cause.kind() == "blocked-on-thread" && piece.stretch == Stretch::SwitchToUser
    }));
}

fn a_stopped_loop_says_so() {
    let killer = thread(600, "kill", 120);
    let mut stream = Stream::with(killer, fifo());
    // The signal wakes it before it is due; it stops; CONT comes 7 ms after it was due.
    stream.wake(DUE - 500 * US);
    let again = stream.the_loop.clone();
    stream.switch(DUE - 498 * US, again.clone(), Left::Runnable);
    stream.switch(DUE - 497 * US, hog(), Left::Stopped);
    stream.wake(DUE + 7 * MS);
    stream.run(DUE + 7 * MS + 2 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    assert_eq!(of_kind(cycle, "stopped"), 7_000_000);
    assert_eq!(cycle.woken, WokenBy::NotAsleep);
    let (cause, _) = &beyond_usual(cycle)[0];
    let named = "the loop was stopped by a signal or debugger, from kill-600 (OTHER), until hog-200 (OTHER) \
        continued it";
    assert_eq!(cause, named);
}

fn a_cycle_that_was_due_already_is_the_consequence_of_what_stretched_the_one_before() {
    let above = thread(300, "above", 9);
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    // Preempted in its work for 1.2 ms; the next cycle was due 1 ms after the first.
    stream.switch(DUE + 28 * US, above, Left::Runnable);
    let again = stream.the_loop.clone();
    stream.switch(DUE + 1_228 * US, again, Left::Sleeping);
    stream.samples[0].end_ns = DUE + 1_258 * US;
    stream.flagged(
        DUE + MS,
        DUE + 1_260 * US,
        DUE + 1_310 * US,
        SampleFlags::DUE_ALREADY_PAST,
    );
    let cycles = stream.explain();
    let name = "thread above-300 (FIFO/RR 90), more urgent";
    let execution: Vec<_> = cycles[0]
        .execution
        .iter()
        .map(|p| (p.cause.to_string(), p.ns()))
        .collect();
    assert!(
        execution.contains(&(name.into(), 1_200_000)),
        "{execution:?}"
    );
    assert_eq!(cycles[1].woken, WokenBy::NotAsleep);
    assert_eq!(
        beyond_usual(&cycles[1]),
        [
            (name.into(), 228_000),
            (
                format!("the cycle before had not ended, because of: {name}"),
                30_000
            ),
        ]
    );
    assert_eq!(of_kind(&cycles[1], "path"), 2_000);
}

fn a_cycle_that_came_due_before_the_one_before_was_woken_has_that_one_s_cause() {
    let mut stream = Stream::with(hog(), fifo());
    let late = |us: u64| DUE + 3 * MS + us * US;
    stream
        .timer(late(0))
        .run(late(5), DUE, Left::Runnable)
        .flagged(DUE + MS, late(57), late(110), SampleFlags::DUE_ALREADY_PAST);
    let cycles = stream.explain();
    let name = "CPU stalled (hypervisor, firmware or hardware)";
    let overrun = format!("the cycle before had not ended, because of: {name}");
    let sums = beyond_usual(&cycles[1]);
    let of_before = sums.iter().filter(|(cause, _)| *cause == overrun);
    let ns: u64 = of_before.map(|(_, ns)| ns).sum();
    assert!(ns > 2_000_000, "{sums:?}");
    assert!(
        !sums.iter().any(|(cause, _)| cause.contains("sleep")),
        "{sums:?}"
    );
}

fn work_that_takes_longer_although_nothing_else_runs_is_its_own_inflation() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    stream.samples[0].end_ns = DUE + 8 * US + 130 * US;
    let cycle = &stream.explain()[0];
    assert_eq!(of_kind(cycle, "own-code"), 50_000);
    assert_eq!(of_kind(cycle, "own-inflation"), 80_000);
}

fn page_faults_in_the_work_take_what_it_took_longer() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    for fault in 0..10 {
        stream.at(DUE + (10 + fault) * US, FAULT);
    }
    stream.samples[0].end_ns = DUE + 8 * US + 57 * US;
    let cycle = &stream.explain()[0];
    assert_eq!(of_kind(cycle, "page-fault"), 7_000);
}

fn a_changed_frequency_is_named_where_the_work_took_longer() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    stream.at(DUE + 20 * US, What::Frequency { khz: 600_000 });
    stream.samples[0].end_ns = DUE + 8 * US + 90 * US;
    let cycle = &stream.explain()[0];
    assert_eq!(of_kind(cycle, "frequency"), 40_000);
}

fn a_loop_that_a_thread_wakes_names_it() {
    let beat = thread(700, "beat", 19);
    let mut stream = Stream::with(beat, fifo());
    stream
        .wake(DUE + 40 * US)
        .run(DUE + 42 * US, DUE, Left::Sleeping);
    let cycle = &stream.explain()[0];
    assert!(matches!(&cycle.woken, WokenBy::Thread(thread) if thread.id == 700));
    assert_eq!(of_kind(cycle, "waker"), 40_000);
}

fn a_cycle_that_is_due_when_a_thread_wakes_it_waits_for_what_ran_from_then_on() {
    let sensor = thread(700, "sensor", 120);
    let mut stream = Stream::with(sensor, fifo());
    stream.wake(DUE).run(DUE + 43 * US, DUE, Left::Sleeping);
    let cycle = &stream.explain()[0];
    assert!(matches!(&cycle.woken, WokenBy::Thread(thread) if thread.id == 700));
    assert_eq!(of_kind(cycle, "waker"), 0);
    let stretches: Vec<_> = stretches(cycle).into_iter().map(|(of, ..)| of).collect();
    assert!(
        stretches
            .iter()
            .all(|of| matches!(of, Stretch::WakingToSwitch | Stretch::SwitchToUser)),
        "{cycle:#?}"
    );
    // 43 µs less the usual 2 µs of a switch.
    assert_eq!(of_kind(cycle, "not-preemptible"), 41_000, "{cycle:#?}");
}

fn an_early_wake_up_has_no_pieces() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE - 10 * US)
        .run(DUE - 5 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    assert_eq!(cycle.latency, []);
    assert_eq!(cycle.woken, WokenBy::Direct);
}

fn a_machine_that_stands_still_inside_the_path_is_not_hidden_in_it() {
    let mut stream = Stream::with(hog(), fifo());
    stream.at(DUE + 2 * US, What::InterruptEntry(Interrupt::LocalTimer));
    stream.expiry(DUE + 3 * US, "hrtimer_wakeup");
    stream.wake(DUE + 4 * US);
    stream.at(DUE + 4 * US + 500, What::TimerExpiryExit { timer: 7 });
    // The end of the interrupt takes 400 µs: no such code exists.
    stream.at(DUE + 404 * US, What::InterruptExit(Interrupt::LocalTimer));
    stream.run(DUE + 406 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    // Usual from the waking to the switch-in: 1 µs and 2 µs; it took 402 µs.
    assert_eq!(of_kind(cycle, "nothing-ran"), 399_000);
}

fn both_timers_of_one_thread_have_events() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    stream.switch(DUE + 100 * US, hog(), Left::Sleeping);
    let one = stream.explain();
    let mut explainer = stream.explainer_of(2, Some(USUAL));
    let mut both = [Vec::new(), Vec::new()];
    for event in &stream.events {
        explainer.event(event, |of, cycle| both[of].push(cycle.clone()));
    }
    explainer.finish(|of, cycle| both[of].push(cycle.clone()));
    assert_eq!(both, [one.clone(), one]);
}
