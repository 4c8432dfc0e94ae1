//! Threads below the loop that keep its CPU as they have a higher priority for a time.

use crate::stream::*;
use wakepath_timeline::{Interrupt, Left, What};

wakepath_test_program::tests![
    a_thread_that_inherits_a_priority_is_more_urgent_until_it_has_its_own_again,
    a_thread_that_runs_on_in_user_mode_has_raised_its_priority,
    a_thread_in_user_mode_without_further_events_may_have_been_stalled,
];

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
    let name = "thread camera-300 (FIFO/RR 20), with a priority raised above the loop's";
    // It lowers its priority, or a tick passes that would have switched it out.
    for with_tick in [false, true] {
        let mut stream = below();
        stream.timer(DUE + 2 * US);
        if with_tick {
            stream.interrupt(DUE + 800 * US, DUE + 805 * US, Interrupt::LocalTimer);
        } else {
            stream.at(DUE + 1_000 * US, call());
        }
        stream.run(DUE + 1_005 * US, DUE, Left::Runnable);
        let found = beyond_usual(&stream.explain()[0]);
        let raised = found.iter().filter(|(of, _)| of == name);
        let raised_ns: u64 = raised.map(|(_, ns)| ns).sum();
        assert!((980_000..=1_000_000).contains(&raised_ns), "{found:?}");
    }
}

fn a_thread_in_user_mode_without_further_events_may_have_been_stalled() {
    let mut stream = below();
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 1_005 * US, DUE, Left::Runnable);
    let found = beyond_usual(&stream.explain()[0]);
    let name = "camera-300 (FIFO/RR 20) kept running, why is unknown";
    assert_eq!(found, [(name.into(), 998_000)]);
}
