//! Wakepath's own threads, distinguished by number and time from others with the same name.

use crate::stream::*;
use wakepath_explain::{Own, OwnThread};
use wakepath_timeline::{Left, Thread};

wakepath_test_program::tests![
    the_own_tool_is_not_spared_whatever_its_threads_are_called,
    another_run_s_wakepath_is_not_this_run_s,
    a_load_s_thread_is_neither_the_tool_s_nor_another_run_s,
    a_number_is_another_s_before_its_thread_started_and_after_it_ended,
    in_a_run_that_did_not_record_them_the_name_decides,
];

/// A thread on the loop's CPU that keeps it for 50 µs more after the waking.
fn held_up_by(thread: Thread, own: Own) -> Vec<(String, u64)> {
    let mut stream = Stream::with(thread, fifo());
    stream.own = own;
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 57 * US, DUE, Left::Runnable);
    beyond_usual(&stream.explain()[0])
}

fn recorded(thread: u32, from_ns: u64, to_ns: u64) -> Own {
    Own::Threads(vec![OwnThread {
        thread,
        from_ns,
        to_ns,
        is_tool: true,
    }])
}

fn the_own_tool_is_not_spared_whatever_its_threads_are_called() {
    let own = recorded(400, DUE - 10 * MS, u64::MAX);
    let found = held_up_by(thread(400, "probe output", 120), own);
    let name = "wakepath itself: probe output-400 (OTHER)";
    assert_eq!(found, [(name.into(), 50_000)]);
}

fn another_run_s_wakepath_is_not_this_run_s() {
    let own = recorded(400, DUE - 10 * MS, u64::MAX);
    let found = held_up_by(thread(401, "wakepath", 100), own.clone());
    let name = "another wakepath-401 (OTHER nice -20) in code that can't be preempted";
    assert_eq!(found, [(name.into(), 50_000)]);
    let found = held_up_by(thread(401, "wakepath", 5), own);
    let name = "another wakepath-401 (FIFO/RR 94), more urgent";
    assert_eq!(found[0].0, name);
}

fn a_load_s_thread_is_neither_the_tool_s_nor_another_run_s() {
    let Own::Threads(mut own) = recorded(400, DUE - 10 * MS, u64::MAX) else {
        unreachable!()
    };
    own[0].is_tool = false;
    let found = held_up_by(thread(400, "wakepath", 120), Own::Threads(own));
    let name = "wakepath-400 (OTHER) in code that can't be preempted";
    assert_eq!(found, [(name.into(), 50_000)]);
}

fn a_number_is_another_s_before_its_thread_started_and_after_it_ended() {
    let theirs = "other-400 (OTHER) in code that can't be preempted";
    for (from_ns, to_ns) in [(DUE + MS, u64::MAX), (DUE - 10 * MS, DUE - MS)] {
        let found = held_up_by(thread(400, "other", 120), recorded(400, from_ns, to_ns));
        assert_eq!(found, [(theirs.into(), 50_000)]);
    }
}

fn in_a_run_that_did_not_record_them_the_name_decides() {
    let own = Own::Named("wakepath".into());
    let found = held_up_by(thread(401, "wakepath", 120), own);
    let name = "wakepath itself: wakepath-401 (OTHER)";
    assert_eq!(found, [(name.into(), 50_000)]);
}
