//! Waits in page faults of the loop: streams with the answer worked out by hand.

use crate::stream::*;
use wakepath_explain::{Explained, Piece, remedy};
use wakepath_timeline::{Left, SampleFlags, SoftIrq, Thread, What};

wakepath_test_program::tests![
    a_wait_for_a_pager_names_it_in_each_cycle,
    a_sleep_outside_of_calls_that_nobody_ordered_is_not_frozen,
    a_page_that_is_read_is_a_wait_for_input,
];

fn longest(cycle: &Explained) -> &Piece {
    let pieces = cycle.latency.iter().chain(&cycle.execution);
    pieces.max_by_key(|piece| piece.ns()).expect("a piece")
}

fn pager() -> Thread {
    thread(300, "pager", 79)
}

/// The pager wakes the loop after three milliseconds, which is late for its next cycles then.
fn provided(mut stream: Stream) -> Vec<Explained> {
    let end_ns = DUE + 3 * MS + 10 * US;
    stream.wake(DUE + 3 * MS);
    let again = stream.the_loop.clone();
    stream.switch(DUE + 3 * MS + 2 * US, again, Left::Runnable);
    stream.samples[0].end_ns = end_ns;
    for cycle in 1..3 {
        let wake_ns = end_ns + cycle * 60 * US;
        let flags = SampleFlags::DUE_ALREADY_PAST;
        stream.flagged(DUE + cycle * MS, wake_ns, wake_ns + 50 * US, flags);
    }
    stream.switch(DUE + 4 * MS, hog(), Left::Sleeping);
    stream.explain()
}

fn a_wait_for_a_pager_names_it_in_each_cycle() {
    let mut stream = running_with_calls();
    stream
        .at(DUE + 50 * US, FAULT)
        .switch(DUE + 55 * US, pager(), Left::Sleeping);
    let cycles = provided(stream);
    assert_eq!(cycles.len(), 3);
    for cycle in &cycles {
        let longest = longest(cycle);
        let kind = longest.cause.behind().unwrap_or(longest.cause.kind());
        assert_eq!(kind, "page-fault", "{cycle:#?}");
        let name = longest.cause.to_string();
        let expected = "page fault whose page another thread provides: pager-300 (FIFO/RR 20)";
        assert!(name.ends_with(expected), "{name}");
        assert!(remedy(&longest.cause).is_some_and(|fix| fix.contains("userfaultfd")));
    }
}

fn a_sleep_outside_of_calls_that_nobody_ordered_is_not_frozen() {
    let mut stream = running_with_calls();
    stream.switch(DUE + 55 * US, pager(), Left::Sleeping);
    for cycle in &provided(stream) {
        let name = longest(cycle).cause.to_string();
        assert!(name.contains("blocked on pager-300"), "{name}");
    }
}

/// It maps the pages around that are in memory, and waits for the disk.
fn a_page_that_is_read_is_a_wait_for_input() {
    let mut stream = running_with_calls();
    let block = SoftIrq(4);
    stream
        .at(DUE + 50 * US, FAULT)
        .at(DUE + 52 * US, What::PageMapped)
        .switch(DUE + 90 * US, hog(), Left::Blocked)
        .at(DUE + 9 * MS, What::SoftIrqEntry(block))
        .wake(DUE + 9 * MS + 20 * US)
        .at(DUE + 9 * MS + 30 * US, What::SoftIrqExit(block));
    let again = stream.the_loop.clone();
    stream.switch(DUE + 9 * MS + 32 * US, again, Left::Runnable);
    stream.samples[0].end_ns = DUE + 9 * MS + 40 * US;
    stream.switch(DUE + 10 * MS, hog(), Left::Sleeping);
    let cycle = stream.explain().remove(0);
    let waits = longest(&cycle);
    let expected = "page fault that waits for input and output, until SoftIRQ BLOCK woke the loop";
    assert_eq!(waits.cause.to_string(), expected);
    assert_eq!(waits.cause.kind(), "page-fault");
    assert_eq!(waits.ns(), 8_930 * US, "{cycle:#?}");
    let fix = remedy(&waits.cause).expect("a fix");
    assert!(fix.contains("MAP_POPULATE"), "{fix}");
}
