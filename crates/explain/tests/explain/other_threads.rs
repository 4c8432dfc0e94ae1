//! Threads that run while the loop is ready, by right of their priority, of one that they have for a time, or of a budget.

use crate::stream::*;
use wakepath_timeline::{Interrupt, Left, What};

wakepath_test_program::tests![
    a_more_urgent_thread_is_named_with_its_priority,
    a_thread_of_the_same_priority_runs_until_it_sleeps,
    a_less_urgent_thread_that_stays_could_not_be_preempted,
    an_ordinary_loop_shares_its_cpu_with_its_neighbour,
    a_switch_to_something_less_urgent_while_the_loop_is_ready_is_throttling,
    a_spinning_loop_that_is_throttled_in_its_work_is_named_so,
    a_thread_that_inherits_a_priority_is_more_urgent_until_it_has_its_own_again,
    a_thread_that_runs_on_in_user_mode_has_raised_its_priority,
    what_runs_next_in_user_mode_has_not_raised_the_priority_of_another,
    a_thread_that_has_left_its_call_may_still_work_in_the_kernel,
    a_waker_has_the_name_that_it_chose_since_it_was_switched_in,
];

fn a_more_urgent_thread_is_named_with_its_priority() {
    let above = thread(300, "irq-thread", 9);
    let mut stream = Stream::with(above, fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 1005 * US, DUE, Left::Sleeping);
    let cycle = &stream.explain()[0];
    let name = "thread irq-thread-300 (FIFO/RR 90), more urgent";
    assert_eq!(beyond_usual(cycle), [(name.into(), 1_000_000)]);
}

fn a_thread_of_the_same_priority_runs_until_it_sleeps() {
    let same = thread(300, "twin", 19);
    let mut stream = Stream::with(same, fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 405 * US, DUE, Left::Sleeping);
    let cycle = &stream.explain()[0];
    let name = "thread twin-300 (FIFO/RR 80), of the loop's own priority";
    assert_eq!(beyond_usual(cycle), [(name.into(), 400_000)]);
}

fn a_less_urgent_thread_that_stays_could_not_be_preempted() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 157 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    let name = "hog-200 (OTHER) in code that can't be preempted";
    assert_eq!(beyond_usual(cycle), [(name.into(), 150_000)]);
}

fn an_ordinary_loop_shares_its_cpu_with_its_neighbour() {
    let other = thread(LOOP, "loop", 120);
    let mut stream = Stream::with(hog(), other);
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 2_807 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    let name = "thread hog-200 (OTHER), sharing the CPU";
    assert_eq!(beyond_usual(cycle), [(name.into(), 2_800_000)]);
}

fn a_switch_to_something_less_urgent_while_the_loop_is_ready_is_throttling() {
    let mut stream = Stream::with(thread(300, "first", 9), fifo());
    stream.timer(DUE + 2 * US);
    stream.switch(DUE + 105 * US, hog(), Left::Sleeping);
    stream.switch(DUE + 50_105 * US, idle(), Left::Sleeping);
    stream.run(DUE + 60_105 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    assert_eq!(
        beyond_usual(cycle),
        [
            ("thread first-300 (FIFO/RR 90), more urgent".into(), 100_000),
            ("throttled: hog-200 (OTHER) ran instead".into(), 50_000_000),
            ("throttled: the CPU was left idle".into(), 10_000_000),
        ]
    );
}

fn a_spinning_loop_that_is_throttled_in_its_work_is_named_so() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    stream.switch(DUE + 28 * US, hog(), Left::Runnable);
    let again = stream.the_loop.clone();
    stream.switch(DUE + 50_028 * US, again, Left::Runnable);
    stream.samples[0].end_ns = DUE + 50_058 * US;
    let cycle = &stream.explain()[0];
    assert_eq!(of_kind(cycle, "throttled"), 50_000_000);
    assert_eq!(of_kind(cycle, "own-code"), 50_000);
}

/// A loop whose timer expires while a thread of FIFO 20 runs.
fn below() -> Stream {
    let mut stream = Stream::with(thread(300, "camera", 79), fifo());
    stream.at(DUE - 8 * US, call());
    stream.at(DUE - 7 * US, What::SystemCallExit);
    stream
}

fn call() -> What {
    What::SystemCallEntry {
        name: "futex".into(),
        argument: None,
    }
}

fn a_thread_that_inherits_a_priority_is_more_urgent_until_it_has_its_own_again() {
    let inherits = |before, priority| What::Inherits {
        thread: 300,
        before,
        priority,
    };
    let mut stream = below();
    // The waiting thread runs on another CPU.
    stream.on(0, DUE - 5 * US, 400, inherits(79, 9));
    stream.timer(DUE + 2 * US);
    stream.at(DUE + 1_000 * US, call());
    stream.at(DUE + 1_001 * US, inherits(9, 79));
    stream.run(DUE + 1_005 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    let name = "thread camera-300 (FIFO/RR 90), with a priority inherited by a lock";
    let found = beyond_usual(cycle);
    assert_eq!(found[0].0, name, "{found:?}");
    assert!((990_000..1_000_000).contains(&found[0].1), "{found:?}");
}

fn a_thread_that_runs_on_in_user_mode_has_raised_its_priority() {
    // It lowers its priority by a call, or faults.
    let fault = What::PageFault {
        user: true,
        copies: false,
    };
    for what in [call(), fault] {
        let mut stream = below();
        stream.timer(DUE + 2 * US);
        stream.at(DUE + 1_000 * US, what);
        stream.run(DUE + 1_005 * US, DUE, Left::Runnable);
        let found = beyond_usual(&stream.explain()[0]);
        let name = "thread camera-300 (FIFO/RR 20), with a priority raised above the loop's";
        assert_eq!(found[0].0, name, "{found:?}");
        assert!((980_000..=1_000_000).contains(&found[0].1), "{found:?}");
    }
}

fn a_thread_that_has_left_its_call_may_still_work_in_the_kernel() {
    let mut stream = below();
    stream.timer(DUE + 2 * US);
    stream.interrupt(DUE + 800 * US, DUE + 805 * US, Interrupt::LocalTimer);
    stream.run(DUE + 1_005 * US, DUE, Left::Runnable);
    let found = beyond_usual(&stream.explain()[0]);
    let name = "camera-300 (FIFO/RR 20) kept running, why is unknown";
    assert!(
        found.iter().any(|(of, ns)| of == name && *ns > 700_000),
        "{found:?}"
    );
    assert!(
        found.iter().all(|(of, _)| !of.contains("raised")),
        "{found:?}"
    );
}

fn what_runs_next_in_user_mode_has_not_raised_the_priority_of_another() {
    let mut stream = Stream::with(thread(300, "camera", 79), fifo());
    stream.timer(DUE + 2 * US);
    stream.switch(DUE + 1_005 * US, thread(400, "planner", 4), Left::Runnable);
    stream.at(DUE + 1_006 * US, What::SystemCallExit);
    stream.at(DUE + 1_050 * US, call());
    stream.run(DUE + 1_055 * US, DUE, Left::Sleeping);
    let found = beyond_usual(&stream.explain()[0]);
    let name = "camera-300 (FIFO/RR 20) in code that can't be preempted";
    assert_eq!(found[0].0, name, "{found:?}");
}

fn a_waker_has_the_name_that_it_chose_since_it_was_switched_in() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    // A new thread, which has the name of the one that started it.
    stream.switch(DUE + 20 * US, thread(300, "loop", 120), Left::Sleeping);
    stream.wake(DUE + 620 * US);
    stream.switch(DUE + 622 * US, fifo(), Left::Runnable);
    stream.samples[0].end_ns = DUE + 662 * US;
    stream.switch(DUE + 670 * US, thread(300, "solver", 120), Left::Sleeping);
    stream.switch(DUE + 680 * US, hog(), Left::Sleeping);
    let cycle = &stream.explain()[0];
    let mut causes = cycle.execution.iter().map(|of| of.cause.to_string());
    let name = "blocked on solver-300 (OTHER), which ran";
    assert!(causes.any(|of| of == name), "{cycle:#?}");
}
