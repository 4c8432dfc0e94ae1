//! Halts ordered by something else, outside of system calls: streams with the answer worked out by hand.

use crate::stream::*;
use wakepath_explain::{Explained, remedy};
use wakepath_timeline::{Interrupt, Left, SoftIrq, What};

wakepath_test_program::tests![
    a_frozen_control_group_is_named_with_who_froze_it_and_who_thawed_it,
    a_frozen_control_group_of_version_1_is_named_too,
    a_thread_whose_timer_wakes_nobody_is_frozen,
    a_sleep_that_a_signal_cuts_is_no_wait_for_its_sender,
    a_sleep_within_the_work_ends_when_it_was_to_end_and_the_rest_is_frozen,
    a_signal_to_a_running_loop_is_from_who_interrupted_it,
    a_time_out_of_the_kernel_outside_of_calls_is_a_wait_for_memory,
    without_recorded_calls_nothing_is_said_to_be_frozen,
    a_wait_in_a_call_is_no_freezer,
    each_cycle_of_a_long_stop_names_who_sent_the_signal,
];

const OPS: u32 = 700;

fn call(name: &str) -> What {
    What::SystemCallEntry {
        name: name.into(),
        argument: None,
    }
}

/// The loop sleeps until its due time in a call that is recorded.
fn asleep() -> Stream {
    let ops = thread(OPS, "dockerd", 120);
    let mut stream = Stream::with(fifo(), fifo());
    let followed = What::Followed {
        thread: LOOP,
        process: 90,
        calls: true,
    };
    stream
        .at(DUE - 4 * MS, followed)
        .at(DUE - 3 * MS, What::SystemCallExit)
        .at(DUE - 2 * MS, call("clock_nanosleep"))
        .switch(DUE - 2 * MS + US, ops, Left::Sleeping);
    stream
}

/// It leaves its CPU again right after it was woken early, and comes back 5 ms after its due time.
fn halted(mut stream: Stream, left: Left) -> Explained {
    stream.wake(DUE - 500 * US);
    let again = stream.the_loop.clone();
    let ops = thread(OPS + 1, "runc", 120);
    stream
        .switch(DUE - 498 * US, again, Left::Runnable)
        .at(DUE - 495 * US, What::SystemCallExit)
        .switch(DUE - 490 * US, ops, left)
        .wake(DUE + 5 * MS)
        .run(DUE + 5 * MS + 2 * US, DUE, Left::Runnable);
    stream.explain().remove(0)
}

fn longest(cycle: &Explained) -> (String, &'static str, u64) {
    let pieces = cycle.latency.iter().chain(&cycle.execution);
    let piece = pieces.max_by_key(|piece| piece.ns()).expect("a piece");
    assert!(remedy(&piece.cause).is_some());
    (piece.cause.to_string(), piece.cause.kind(), piece.ns())
}

fn a_frozen_control_group_is_named_with_who_froze_it_and_who_thawed_it() {
    let name = "the loop's control group was frozen (cgroup.freeze, docker pause), by dockerd-700 (OTHER), until \
        runc-701 (OTHER) thawed it";
    let cycle = halted(asleep(), Left::Sleeping);
    assert_eq!(longest(&cycle), (name.into(), "frozen", 5_000_000));
}

/// Whose freezer waits in another state.
fn a_frozen_control_group_of_version_1_is_named_too() {
    let cycle = halted(asleep(), Left::Blocked);
    let (name, kind, ns) = longest(&cycle);
    assert_eq!((kind, ns), ("frozen", 5_000_000), "{name}");
}

fn a_thread_whose_timer_wakes_nobody_is_frozen() {
    let mut stream = asleep();
    let ops = thread(OPS, "dockerd", 120);
    stream
        .at(DUE + 2 * US, What::InterruptEntry(Interrupt::LocalTimer))
        .expiry(DUE + 3 * US, "hrtimer_wakeup")
        .at(DUE + 4 * US, What::TimerExpiryExit { timer: 7 })
        .at(DUE + 5 * US, What::InterruptExit(Interrupt::LocalTimer))
        .wake(DUE + 8 * MS)
        .run(DUE + 8 * MS + 2 * US, DUE, Left::Runnable);
    let cycle = stream.explain().remove(0);
    let (name, kind, ns) = longest(&cycle);
    assert_eq!((kind, ns), ("frozen", 8_000_000), "{cycle:#?}");
    assert!(
        name.ends_with("until dockerd-700 (OTHER) thawed it"),
        "{name} {ops:?}"
    );
}

/// The loop begins its cycle, and 20 µs after its due time a sleep of 2 ms, which a thread ends at `woken_ns`.
fn sleeps_again(woken_ns: u64) -> Explained {
    let mut stream = asleep();
    let ops = thread(OPS, "dockerd", 120);
    let expires_ns = DUE + 2 * MS;
    let start = What::TimerStart {
        timer: 9,
        function: "hrtimer_wakeup".into(),
        expires_ns,
        soft_expires_ns: expires_ns,
        soft: false,
    };
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable)
        .at(DUE + 8 * US, What::SystemCallExit)
        .at(DUE + 20 * US, call("clock_nanosleep"))
        .at(DUE + 22 * US, start)
        .switch(DUE + 25 * US, ops, Left::Sleeping)
        .wake(woken_ns);
    let again = stream.the_loop.clone();
    stream.switch(woken_ns + 2 * US, again, Left::Runnable);
    stream.samples[0].end_ns = woken_ns + 30 * US;
    stream.explain().remove(0)
}

fn a_sleep_that_a_signal_cuts_is_no_wait_for_its_sender() {
    let cycle = sleeps_again(DUE + MS);
    assert_eq!(of_kind(&cycle, "awaiting"), 975_000, "{cycle:#?}");
    assert_eq!(of_kind(&cycle, "blocked-on-thread"), 0, "{cycle:#?}");
}

fn a_sleep_within_the_work_ends_when_it_was_to_end_and_the_rest_is_frozen() {
    let cycle = sleeps_again(DUE + 9 * MS);
    assert_eq!(of_kind(&cycle, "frozen"), 7_002_000, "{cycle:#?}");
    assert_eq!(of_kind(&cycle, "own-sleep"), 1_975_000, "{cycle:#?}");
}

fn a_signal_to_a_running_loop_is_from_who_interrupted_it() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable)
        .on(
            0,
            DUE + 9 * US,
            0,
            What::Switch {
                previous: idle(),
                left: Left::Runnable,
                next: thread(OPS, "gdb", 120),
            },
        )
        .on(
            0,
            DUE + 14 * US,
            OPS,
            What::IpiSend {
                target_cpu: Some(1),
                callback: "".into(),
            },
        )
        .interrupt(DUE + 15 * US, DUE + 16 * US, Interrupt::Reschedule)
        .switch(DUE + 20 * US, hog(), Left::Stopped)
        .wake(DUE + 920 * US);
    let again = stream.the_loop.clone();
    stream.switch(DUE + 922 * US, again, Left::Runnable);
    stream.samples[0].end_ns = DUE + 960 * US;
    let cycle = stream.explain().remove(0);
    let name = "the loop was stopped by a signal or debugger, from gdb-700 (OTHER), until hog-200 (OTHER) continued it";
    // Until it runs again.
    assert_eq!(longest(&cycle), (name.into(), "stopped", 902_000));
}

/// It is held on its way out of a page fault until the kernel's own timer lets it continue.
fn held(stream: &mut Stream) -> Explained {
    stream
        .at(DUE + 18 * US, FAULT)
        .switch(DUE + 20 * US, hog(), Left::Blocked)
        .at(DUE + 9 * MS, What::SoftIrqEntry(SoftIrq::TIMER))
        .wake(DUE + 9 * MS + 20 * US)
        .at(DUE + 9 * MS + 30 * US, What::SoftIrqExit(SoftIrq::TIMER));
    let again = stream.the_loop.clone();
    stream.switch(DUE + 9 * MS + 40 * US, again, Left::Runnable);
    stream.samples[0].end_ns = DUE + 9 * MS + 60 * US;
    stream.explain().remove(0)
}

fn a_time_out_of_the_kernel_outside_of_calls_is_a_wait_for_memory() {
    let mut stream = asleep();
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable)
        .at(DUE + 9 * US, What::SystemCallExit);
    let (name, kind, ns) = longest(&held(&mut stream));
    assert_eq!((kind, ns), ("memory-wait", 9_000_000));
    assert!(name.contains("memory.high"), "{name}");
}

fn without_recorded_calls_nothing_is_said_to_be_frozen() {
    let mut stream = Stream::with(hog(), fifo());
    stream.wake(DUE - 500 * US);
    let again = stream.the_loop.clone();
    stream
        .switch(DUE - 498 * US, again, Left::Runnable)
        .switch(DUE - 490 * US, hog(), Left::Sleeping)
        .wake(DUE + 5 * MS)
        .run(DUE + 5 * MS + 2 * US, DUE, Left::Runnable);
    let cycle = stream.explain().remove(0);
    assert_eq!(of_kind(&cycle, "frozen"), 0, "{cycle:#?}");
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    assert_eq!(of_kind(&held(&mut stream), "memory-wait"), 0);
}

fn a_wait_in_a_call_is_no_freezer() {
    let mut stream = asleep();
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable)
        .at(DUE + 9 * US, What::SystemCallExit)
        .at(DUE + 12 * US, call("read"))
        .switch(DUE + 20 * US, hog(), Left::Sleeping)
        .wake(DUE + 820 * US);
    let again = stream.the_loop.clone();
    stream.switch(DUE + 822 * US, again, Left::Runnable);
    stream.samples[0].end_ns = DUE + 860 * US;
    let cycle = stream.explain().remove(0);
    assert_eq!(of_kind(&cycle, "frozen"), 0, "{cycle:#?}");
    assert_eq!(of_kind(&cycle, "blocked-on-thread"), 802_000, "{cycle:#?}");
}

fn each_cycle_of_a_long_stop_names_who_sent_the_signal() {
    let mut stream = asleep();
    stream.wake(DUE - 500 * US);
    let again = stream.the_loop.clone();
    stream
        .switch(DUE - 498 * US, again, Left::Runnable)
        .at(DUE - 495 * US, What::SystemCallExit)
        .switch(DUE - 490 * US, hog(), Left::Stopped)
        .wake(DUE + 12 * MS)
        .run(DUE + 12 * MS + 2 * US, DUE, Left::Runnable);
    for cycle in 1..12 {
        let wake_ns = DUE + 12 * MS + cycle * 60 * US;
        stream.sample(DUE + cycle * MS, wake_ns, wake_ns + 50 * US);
    }
    stream.switch(DUE + 13 * MS, hog(), Left::Sleeping);
    let cycles = stream.explain();
    assert_eq!(cycles.len(), 12);
    for cycle in &cycles {
        let stopped = cycle
            .latency
            .iter()
            .find(|piece| piece.cause.kind() == "stopped");
        let name = stopped.expect("a stop").cause.to_string();
        assert!(
            name.contains("from dockerd-700 (OTHER), until hog-200"),
            "{name}"
        );
    }
}
