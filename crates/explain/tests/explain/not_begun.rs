//! Threads that lose their CPU on the way from their system call to their first own instruction.

use crate::hand_made::{HOG, LOOP, MS, START, Stream, US};
use wakepath_timeline::{Interrupt, Left, What};

wakepath_test_program::tests![
    a_thread_that_is_stopped_before_its_first_instruction_begins_when_it_comes_back,
    a_thread_that_an_interrupt_takes_off_its_cpu_has_begun,
];

/// Turns that begin on time, and lose the CPU for half a millisecond on the way to user mode, or 100 µs after that.
fn latency_and_run_ns(has_interrupt: bool) -> Vec<(i64, u32)> {
    let mut stream = Stream::new();
    stream.program(START - MS, LOOP, START);
    for cycle in 0..20 {
        let due_ns = START + cycle * MS;
        stream.expire(due_ns + 3 * US, LOOP);
        stream.switch(due_ns + 7 * US, LOOP, Left::Runnable);
        stream.at(due_ns + 9 * US, What::SystemCallExit);
        if has_interrupt {
            stream.at(
                due_ns + 10 * US,
                What::InterruptEntry(Interrupt::LocalTimer),
            );
            stream.at(due_ns + 11 * US, What::InterruptExit(Interrupt::LocalTimer));
        }
        stream.switch(due_ns + 12 * US, HOG, Left::Runnable);
        stream.switch(due_ns + 512 * US, LOOP, Left::Runnable);
        stream.program(due_ns + 560 * US, LOOP, due_ns + MS);
        stream.switch(due_ns + 562 * US, HOG, Left::Sleeping);
    }
    let (_, row, _) = stream.row(LOOP);
    assert!(row.samples.len() >= 19);
    let figures = row
        .samples
        .iter()
        .map(|of| (of.latency_ns(), of.cpu_time_ns));
    figures.collect()
}

fn a_thread_that_is_stopped_before_its_first_instruction_begins_when_it_comes_back() {
    let found = latency_and_run_ns(false);
    assert!(found.iter().all(|of| *of == (512_000, 50_000)), "{found:?}");
}

fn a_thread_that_an_interrupt_takes_off_its_cpu_has_begun() {
    let found = latency_and_run_ns(true);
    assert!(found.iter().all(|of| *of == (7_000, 55_000)), "{found:?}");
}
