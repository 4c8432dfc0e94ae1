//! Locks that a loop asks for again after each time-out, or that others wait for, too: streams with the answer worked out by
//! hand.

use crate::stream::*;
use crate::waits::{causes, holder};
use wakepath_timeline::{CallArgument, Left, What};

wakepath_test_program::tests![
    a_lock_asked_for_again_after_each_time_out_is_one_wait,
    the_holder_of_a_lock_is_named_and_not_who_waited_for_it_too,
];

/// The loop waits from 20 µs after its due time on, has a time-out 300 µs after it, and waits again until the holder wakes
/// it: for the lock at this address.
fn retried(again_at: u64) -> Vec<(String, u64)> {
    let mut stream = Stream::with(hog(), fifo());
    let what = What::Followed {
        thread: LOOP,
        process: 90,
        calls: true,
    };
    stream.at(DUE - MS, what);
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    let enter = |stream: &mut Stream, at_ns, address| {
        let (name, argument) = ("futex".into(), Some(CallArgument::Address(address)));
        stream.at(at_ns, What::SystemCallEntry { name, argument });
    };
    enter(&mut stream, DUE + 19 * US, 0x1000);
    let again = stream.the_loop.clone();
    stream
        .switch(DUE + 20 * US, hog(), Left::Sleeping)
        .timer(DUE + 300 * US)
        .switch(DUE + 302 * US, again.clone(), Left::Runnable)
        .at(DUE + 303 * US, What::SystemCallExit);
    enter(&mut stream, DUE + 304 * US, again_at);
    stream
        .switch(DUE + 305 * US, holder(120), Left::Sleeping)
        .wake(DUE + 900 * US)
        .switch(DUE + 902 * US, again, Left::Runnable)
        .at(DUE + 903 * US, What::SystemCallExit);
    stream.samples[0].end_ns = DUE + 940 * US;
    causes(&stream.explain().remove(0))
}

fn a_lock_asked_for_again_after_each_time_out_is_one_wait() {
    let name = "in futex(): blocked on logger-300 (OTHER)";
    let ns = |found: &[(String, u64)]| -> u64 {
        let on = found.iter().filter(|(cause, _)| cause.starts_with(name));
        on.map(|(_, ns)| ns).sum()
    };
    // The C library wakes the waiters of a condition variable at either of two words.
    for again_at in [0x1000, 0x1004] {
        let found = retried(again_at);
        assert!(ns(&found) >= 875 * US, "{found:?}");
    }
    let found = retried(0x2000);
    assert!((590 * US..600 * US).contains(&ns(&found)), "{found:?}");
}

/// The decoder holds the lock until 800 µs after the due time, and hands it to the planner, which asked for it 500 µs after
/// that, at this address, and hands it to the loop.
fn handed_on(address: u64) -> Vec<(String, u64)> {
    let mut stream = running_with_calls();
    let enter = |stream: &mut Stream, at_ns, address| {
        let (name, argument) = ("futex".into(), Some(CallArgument::Address(address)));
        stream.at(at_ns, What::SystemCallEntry { name, argument });
    };
    let [decoder, planner] =
        [(400, "decoder"), (300, "planner")].map(|(id, name)| thread(id, name, 120));
    let begins = What::Switch {
        previous: idle(),
        left: Left::Sleeping,
        next: decoder,
    };
    stream.on(0, DUE + US, 0, begins);
    enter(&mut stream, DUE + 19 * US, 0x1000);
    stream.switch(DUE + 20 * US, hog(), Left::Sleeping);
    let target_cpu = 1;
    let wake = || {
        let (one, two) = (planner.clone(), planner.clone());
        [
            What::Waking {
                thread: one,
                target_cpu,
            },
            What::WakeUp {
                thread: two,
                target_cpu,
            },
        ]
    };
    stream.expiry(DUE + 500 * US, "hrtimer_wakeup");
    for (what, after) in wake().into_iter().zip(500..) {
        stream.at(DUE + 500 * US + after, what);
    }
    stream
        .at(DUE + 502 * US, What::TimerExpiryExit { timer: 7 })
        .switch(DUE + 503 * US, planner.clone(), Left::Runnable);
    enter(&mut stream, DUE + 504 * US, address);
    stream.switch(DUE + 505 * US, hog(), Left::Sleeping);
    for (what, after) in wake().into_iter().zip(0..) {
        stream.on(0, DUE + 800 * US + after, 400, what);
    }
    let again = stream.the_loop.clone();
    stream
        .switch(DUE + 802 * US, planner.clone(), Left::Runnable)
        .at(DUE + 803 * US, What::SystemCallExit)
        .wake(DUE + 900 * US)
        .switch(DUE + 902 * US, again, Left::Runnable)
        .at(DUE + 903 * US, What::SystemCallExit);
    stream.samples[0].end_ns = DUE + 940 * US;
    causes(&stream.explain().remove(0))
}

fn the_holder_of_a_lock_is_named_and_not_who_waited_for_it_too() {
    let ns = |found: &[(String, u64)], name: &str| -> u64 {
        let on = found.iter().filter(|(cause, _)| cause.contains(name));
        on.map(|(_, ns)| ns).sum()
    };
    let found = handed_on(0x1000);
    assert!(
        (779 * US..=781 * US).contains(&ns(&found, "blocked on decoder-400 (OTHER), which ran")),
        "{found:?}"
    );
    assert_eq!(ns(&found, "slept"), 0, "{found:?}");
    // Another lock: the planner may have had the loop's while it asked for that.
    let found = handed_on(0x2000);
    assert!(ns(&found, "blocked on planner-300") > 870 * US, "{found:?}");
}
