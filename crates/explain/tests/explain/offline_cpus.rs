//! CPUs that go offline, and loops that are moved to another.

use crate::stream::*;
use wakepath_explain::{Cause, WokenBy};
use wakepath_timeline::{Left, Thread, What};

wakepath_test_program::tests![
    a_sleeping_loop_whose_cpu_goes_off_line_is_late_by_the_stop_and_goes_on_elsewhere,
    a_running_loop_whose_cpu_goes_off_line_waits_for_what_had_each_cpu,
    a_loop_that_is_pulled_to_another_cpu_waited_for_what_ran_on_the_first,
];

/// The kernel thread that takes a CPU offline, and stops the others while it does.
fn stopper(cpu: u16) -> Thread {
    thread(20 + u32::from(cpu), &format!("migration/{cpu}"), -1)
}

/// The loop on CPU 1 until that goes off line; CPU 0 runs something else.
fn before_cpu_1_goes(from_ns: u64) -> (Stream, Thread) {
    let other = thread(300, "other", 120);
    let mut stream = Stream::with(hog(), fifo());
    stream.cpus = vec![0, 1];
    let comes = What::Switch {
        previous: thread(0, "swapper/0", 120),
        left: Left::Runnable,
        next: other.clone(),
    };
    stream.on(0, DUE - 5 * MS, 0, comes);
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    // Both CPUs are stopped, the one that goes and the one that stays.
    let stops = What::Switch {
        previous: other.clone(),
        left: Left::Runnable,
        next: stopper(0),
    };
    stream.on(0, from_ns, other.id, stops);
    (stream, other)
}

fn a_sleeping_loop_whose_cpu_goes_off_line_is_late_by_the_stop_and_goes_on_elsewhere() {
    let (mut stream, other) = before_cpu_1_goes(DUE + 901 * US);
    stream.switch(DUE + 60 * US, hog(), Left::Sleeping);
    // Its last event: nothing shows that the CPU is gone.
    stream.switch(DUE + 900 * US, stopper(1), Left::Runnable);
    stream.cpu = 0;
    stream.current = stopper(0);
    // The timer, moved to CPU 0, has to wait until that one takes interrupts again.
    stream
        .timer(DUE + 1_400 * US)
        .run(DUE + 1_405 * US, DUE + MS, Left::Sleeping);
    stream.switch(DUE + 1_460 * US, other.clone(), Left::Sleeping);
    stream
        .timer(DUE + 2_002 * US)
        .run(DUE + 2_007 * US, DUE + 2 * MS, Left::Runnable);
    stream.switch(DUE + 2_060 * US, other, Left::Sleeping);
    stream.events.sort_by_key(|event| event.at_ns);
    let cycles = stream.explain();
    assert_eq!(beyond_usual(&cycles[0]), []);
    // Due at 1.000 ms, interrupt at 1.400 ms, of which 2 µs are usual.
    let stop = "interrupts off in migration/0-20 (stop class), or the CPU was stalled";
    // It has 2 µs more after the interrupt, before it sleeps.
    let rest = "thread migration/0-20 (stop class), more urgent";
    let expected = [(stop.into(), 398_000), (rest.into(), 2_000)];
    assert_eq!(beyond_usual(&cycles[1]), expected);
    assert_eq!(cycles[1].woken, WokenBy::Direct);
    assert_eq!(beyond_usual(&cycles[2]), []);
}

fn a_running_loop_whose_cpu_goes_off_line_waits_for_what_had_each_cpu() {
    let (mut stream, other) = before_cpu_1_goes(DUE + 21 * US);
    stream.samples[0].end_ns = DUE + 300 * US;
    stream.switch(DUE + 20 * US, stopper(1), Left::Runnable);
    let moves = What::Migrate {
        thread: fifo(),
        from_cpu: 1,
        to_cpu: 0,
    };
    stream.at(DUE + 120 * US, moves);
    stream.cpu = 0;
    stream.current = stopper(0);
    stream.switch(DUE + 150 * US, fifo(), Left::Sleeping);
    stream.switch(DUE + 310 * US, other, Left::Sleeping);
    stream.events.sort_by_key(|event| event.at_ns);
    let cycles = stream.explain();
    let pieces = cycles[0].execution.iter();
    let pieces: Vec<_> = pieces.map(|p| (p.cause.to_string(), p.ns())).collect();
    let urgent = |cpu: u16| format!("thread {}, more urgent", Cause::thread_name(&stopper(cpu)));
    assert_eq!(pieces[0].1, 12_000);
    // On CPU 1's queue until it was moved, then on CPU 0's.
    assert_eq!(pieces[1], (urgent(1), 100_000));
    assert_eq!(pieces[2], (urgent(0), 30_000));
    assert_eq!(pieces[3..].iter().map(|(_, ns)| ns).sum::<u64>(), 150_000);
}

fn a_loop_that_is_pulled_to_another_cpu_waited_for_what_ran_on_the_first() {
    let ordinary = thread(LOOP, "loop", 120);
    let mut stream = Stream::with(hog(), ordinary.clone());
    stream.cpus = vec![0, 1];
    let comes = What::Switch {
        previous: thread(300, "other", 120),
        left: Left::Sleeping,
        next: thread(0, "swapper/0", 120),
    };
    stream.timer(DUE + 2 * US);
    // CPU 0 becomes idle and pulls the loop, which is queued after the hog.
    stream.on(0, DUE + 700 * US, 300, comes);
    let moves = What::Migrate {
        thread: ordinary.clone(),
        from_cpu: 1,
        to_cpu: 0,
    };
    stream.on(0, DUE + 704 * US, 0, moves);
    stream.cpu = 0;
    stream.current = thread(0, "swapper/0", 120);
    stream.run(DUE + 706 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    let hog_ran: u64 = of_kind(cycle, "thread");
    // From the end of the interrupt, at 5 µs, until it was moved.
    assert_eq!(hog_ran, 699_000, "{cycle:#?}");
}
