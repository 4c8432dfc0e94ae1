//! Switches that left no event: the parts of a cycle that are known all the same.

use crate::stream::*;
use wakepath_explain::Explained;
use wakepath_timeline::{KernelEvent, Left, SoftIrq, What};

wakepath_test_program::tests![
    a_thread_that_is_current_without_a_switch_means_that_events_are_missing,
    a_thread_seen_before_is_known_again_after_a_switch_that_left_no_event,
    a_loop_whose_switch_to_idle_left_no_event_did_not_wait_for_an_idle_state,
    a_loop_that_left_its_cpu_unseen_waited_in_its_call_once_the_cpu_idles_and_it_is_woken,
    a_loop_that_left_its_cpu_unseen_outside_of_calls_is_unexplained,
    a_switch_to_the_loop_that_left_no_event_leaves_its_work_its_own,
];

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
        stream.at(
            DUE + 20 * US,
            What::SystemCallEntry {
                name,
                argument: None,
            },
        );
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
