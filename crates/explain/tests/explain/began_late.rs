//! Loops that begin after their first due times, by streams with the answer worked out by hand.

use crate::stream::*;
use wakepath_explain::{Explained, remedy};
use wakepath_timeline::{Left, SampleFlags, Thread, What};

wakepath_test_program::tests![
    due_times_that_passed_in_the_initialisation_are_lost_by_that,
    a_loop_with_a_real_time_policy_is_not_told_to_take_one,
];

/// As an OTHER thread, another has the CPU in the loop's initialisation for a millisecond; it ends 3 ms after the first due
/// time, and the cycle of the next one follows.
fn late_start(is_from_start: bool) -> Vec<Explained> {
    let ordinary = Thread {
        priority: 120,
        ..fifo()
    };
    let mut stream = Stream::with(ordinary.clone(), fifo());
    stream.is_from_start = is_from_start;
    stream.is_real_time = true;
    let other = thread(300, "rustc", 120);
    stream
        .switch(DUE + MS, other, Left::Runnable)
        .switch(DUE + 2 * MS, ordinary, Left::Runnable);
    stream.current = fifo();
    for cycle in 0..2 {
        let (due_ns, asked_ns) = (DUE + cycle * MS, DUE + 3 * MS + cycle * 100 * US);
        let start = What::TimerStart {
            timer: 7,
            function: "hrtimer_wakeup".into(),
            expires_ns: due_ns,
            soft_expires_ns: due_ns,
            soft: false,
        };
        let again = stream.the_loop.clone();
        stream
            .at(asked_ns, start)
            .switch(asked_ns + US, hog(), Left::Sleeping)
            .timer(asked_ns + 2 * US)
            .switch(asked_ns + 7 * US, again, Left::Runnable);
        let flags = match cycle {
            0 => SampleFlags::default(),
            _ => SampleFlags::DUE_ALREADY_PAST,
        };
        stream.flagged(due_ns, asked_ns + 8 * US, asked_ns + 58 * US, flags);
    }
    stream.explain()
}

fn lost_ns(cycle: &Explained, kind: &str) -> u64 {
    let pieces = cycle.latency.iter();
    let pieces = pieces.filter(|piece| piece.cause.kind() == kind);
    pieces.map(|piece| piece.ns()).sum()
}

fn due_times_that_passed_in_the_initialisation_are_lost_by_that() {
    let cycles = late_start(true);
    let lost = |kind| [0, 1].map(|cycle: usize| lost_ns(&cycles[cycle], kind));
    assert_eq!(lost("began-late"), [3 * MS, 2 * MS]);
    assert_eq!(lost("thread"), [0, 0]);
    let mut causes = cycles[0].latency.iter().map(|piece| &piece.cause);
    let began = causes.find(|cause| cause.kind() == "began-late");
    let fix = remedy(began.expect("its cause")).expect("a fix");
    assert!(fix.contains("after the initialisation"), "{fix}");
    // Where the recording began later, nothing shows that it was the start.
    assert_eq!(lost_ns(&late_start(false)[0], "began-late"), 0);
}

fn a_loop_with_a_real_time_policy_is_not_told_to_take_one() {
    let cycles = late_start(false);
    let mut causes = cycles[0].latency.iter().map(|piece| &piece.cause);
    let shared = causes.find(|cause| cause.kind() == "thread");
    let fix = remedy(shared.expect("a thread")).expect("a fix");
    assert!(fix.contains("before the first due time"), "{fix}");
    assert!(!fix.contains("wakepath try"), "{fix}");
}
