//! A wait behind many short runs of one program: summed, not shown by its largest crumbs.

use crate::stream::*;
use wakepath_explain::{LateCycle, shares};
use wakepath_timeline::Left;

wakepath_test_program::tests![
    many_short_runs_of_one_program_are_one_share,
    a_late_cycle_is_written_with_its_shares_the_largest_of_a_stretch_first,
    a_thread_that_usually_runs_until_the_next_tick_is_no_part_of_the_way,
];

/// An ordinary loop behind 27 threads of one program, 5.1 ms in all, and one of another.
fn crowded() -> Stream {
    let the_loop = thread(LOOP, "loop", 120);
    let mut stream = Stream::with(hog(), the_loop);
    stream.timer(DUE + 2 * US);
    let mut at_ns = DUE + 5 * US;
    stream.switch(at_ns, thread(300, "other", 120), Left::Runnable);
    at_ns += 150 * US;
    for number in 0..27 {
        let worker = thread(500 + number, "wakepath-load", 120);
        stream.switch(at_ns, worker, Left::Runnable);
        at_ns += if number == 0 { 160 } else { 190 } * US;
    }
    stream.run(at_ns, DUE, Left::Runnable);
    stream
}

fn many_short_runs_of_one_program_are_one_share() {
    let cycle = &crowded().explain()[0];
    let found: Vec<_> = shares(&cycle.latency)
        .into_iter()
        .map(|share| (share.cause.to_string(), share.times, share.ns))
        .collect();
    let load = "thread wakepath-load (OTHER), sharing the CPU".to_owned();
    // 160 µs + 26 · 190 µs, less the 2 µs of the last switch.
    assert!(found.contains(&(load.clone(), 27, 5_098_000)), "{found:?}");
    // One alone keeps its number.
    let other = "thread other-300 (OTHER), sharing the CPU".into();
    assert!(found.contains(&(other, 1, 150_000)), "{found:?}");
    let all: u64 = found.iter().map(|(.., ns)| ns).sum();
    assert_eq!(all, cycle.latency_ns());
    let (cause, ns) = cycle.main_cause().unwrap();
    assert_eq!((cause.to_string(), ns), (load, 5_098_000));
}

fn a_late_cycle_is_written_with_its_shares_the_largest_of_a_stretch_first() {
    let cycle = LateCycle::new(&crowded().explain()[0], 0);
    let waiting = cycle
        .shares
        .iter()
        .filter(|share| share.stretch == "waking → switch-in");
    let waiting: Vec<u64> = waiting.map(|share| share.ns).collect();
    assert!(waiting.is_sorted_by(|a, b| a >= b), "{waiting:?}");
    assert_eq!(waiting[0], 5_098_000);
}

fn a_thread_that_usually_runs_until_the_next_tick_is_no_part_of_the_way() {
    let mut stream = Stream::with(hog(), thread(LOOP, "loop", 120));
    for cycle in 0..300 {
        let due = DUE + cycle * 4 * MS;
        stream
            .timer(due + 2 * US)
            .run(due + 1_305 * US, due, Left::Sleeping);
        stream.switch(due + 1_360 * US, hog(), Left::Sleeping);
    }
    let cycles = explained(stream.explainer(None), stream.events.iter());
    let name = "thread hog-200 (OTHER), sharing the CPU";
    assert_eq!(beyond_usual(&cycles[290]), [(name.into(), 1_300_000)]);
}
