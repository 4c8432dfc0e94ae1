//! Locks that a loop asks for again after each time-out: streams with the answer worked out by hand.

use crate::stream::*;
use crate::waits::{causes, holder};
use wakepath_timeline::{CallArgument, Left, What};

wakepath_test_program::tests![a_lock_asked_for_again_after_each_time_out_is_one_wait];

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
