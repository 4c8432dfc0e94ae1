//! What else ran on a loop's CPUs: a stream with the counts and times worked out by hand.

use crate::stream::*;
use wakepath_explain::{InterfererKind, KindFigures};
use wakepath_timeline::{Interrupt, KernelEvent, Left, What};

wakepath_test_program::tests![
    interrupts_softirqs_and_threads_are_counted_between_cycles_too_and_other_cpus_are_not,
    what_lost_events_hid_is_not_observed_and_two_repetitions_add_up,
    a_program_that_renames_itself_without_end_takes_no_endless_memory,
    what_ran_instead_of_a_loop_without_a_cycle_is_counted_while_it_is_judged,
];

/// The figures of the stream's only loop.
fn figures(stream: &Stream) -> wakepath_explain::InterferenceFigures {
    let mut explainer = stream.explainer(Some(USUAL));
    for event in &stream.events {
        explainer.event(event, |_, _| ());
    }
    explainer.finish(|_, _| ());
    explainer.interference(0).unwrap().figures().unwrap()
}

fn interrupts_softirqs_and_threads_are_counted_between_cycles_too_and_other_cpus_are_not() {
    let device = Interrupt::Device {
        number: 36,
        name: "eth0".into(),
    };
    let mut stream = Stream::with(hog(), fifo());
    // Before the first due time nothing counts.
    stream.interrupt(DUE - 100 * US, DUE - 90 * US, device.clone());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    // From 60 µs on the hog, which is interrupted at 100 for 10 µs, and by a SoftIRQ for 5.
    stream.switch(DUE + 60 * US, hog(), Left::Sleeping);
    stream.interrupt(DUE + 100 * US, DUE + 110 * US, device.clone());
    stream.softirq(DUE + 110 * US, DUE + 115 * US, 3);
    // Idle from 200 µs on; the other CPU's interrupts are not this loop's.
    stream.switch(DUE + 200 * US, idle(), Left::Sleeping);
    stream.on(0, DUE + 300 * US, 0, What::InterruptEntry(device.clone()));
    stream.on(0, DUE + 310 * US, 0, What::InterruptExit(device.clone()));
    stream.interrupt(DUE + 400 * US, DUE + 404 * US, Interrupt::Reschedule);
    stream.timer(DUE + MS + 2 * US);
    stream.run(DUE + MS + 7 * US, DUE + MS, Left::Runnable);
    // After the end of the last cycle nothing counts either.
    stream.switch(DUE + MS + 60 * US, hog(), Left::Sleeping);
    stream.interrupt(DUE + 2 * MS, DUE + 2 * MS + US, device);

    let found = figures(&stream);
    assert_eq!(found.cpus, [1]);
    // From the first due time to the end of the second cycle, 1 ms + 7 µs + 51 µs later.
    assert_eq!(found.observed_ns, 1_058 * US);
    let kind = |kind, names, count, total_us| KindFigures {
        kind,
        names,
        count,
        total_ns: total_us * US,
    };
    assert_eq!(
        found.kinds,
        [
            // Two timer interrupts of 3 µs and the device's of 10.
            kind(InterfererKind::Interrupt, 2, 3, 16),
            kind(InterfererKind::Ipi, 1, 1, 4),
            kind(InterfererKind::Softirq, 1, 1, 5),
            // The hog ran 2 + 2 µs before the loop's first cycle, then 140 − 15; it was switched to once in
            // between.
            kind(InterfererKind::Thread, 1, 1, 129),
        ]
    );
    let named: Vec<&str> = found.most.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        named,
        [
            "hog (OTHER)",
            "36 eth0",
            "local timer",
            "NET_RX",
            "reschedule"
        ]
    );
}

fn what_lost_events_hid_is_not_observed_and_two_repetitions_add_up() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    stream.switch(DUE + 60 * US, hog(), Left::Sleeping);
    stream.at(DUE + 500 * US, What::Lost { count: 3 });
    stream.switch(DUE + 900 * US, idle(), Left::Sleeping);
    stream.timer(DUE + MS + 2 * US);
    stream.run(DUE + MS + 7 * US, DUE + MS, Left::Runnable);
    stream.switch(DUE + MS + 60 * US, hog(), Left::Sleeping);
    stream.at(DUE + 2 * MS, What::InterruptEntry(Interrupt::LocalTimer));

    let found = figures(&stream);
    // Unknown from the last event before the loss, at 60 µs, until the switch at 900.
    assert_eq!(found.observed_ns, 1_058 * US - 840 * US);

    let mut explainer = stream.explainer(Some(USUAL));
    stream
        .events
        .iter()
        .for_each(|event: &KernelEvent| explainer.event(event, |_, _| ()));
    let once = explainer.interference(0).unwrap();
    let mut twice = once.clone();
    twice.merge(once);
    let twice = twice.figures().unwrap();
    assert_eq!(twice.observed_ns, 2 * found.observed_ns);
    assert_eq!(twice.kinds[0].count, 2 * found.kinds[0].count);
    assert_eq!(twice.kinds[0].names, found.kinds[0].names);
}

fn a_program_that_renames_itself_without_end_takes_no_endless_memory() {
    let mut stream = Stream::with(idle(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Sleeping);
    for number in 0..12_000_u32 {
        let at = DUE + 60 * US + u64::from(number) * 10;
        let next = thread(300 + number % 2, &format!("n{number}"), 120);
        stream.switch(at, next, Left::Sleeping);
    }
    stream.switch(DUE + 900 * US, idle(), Left::Sleeping);
    stream.timer(DUE + MS + 2 * US);
    stream.run(DUE + MS + 7 * US, DUE + MS, Left::Sleeping);
    stream.switch(DUE + MS + 60 * US, idle(), Left::Sleeping);
    let found = figures(&stream);
    let threads = found.kinds.last().unwrap();
    assert_eq!(
        (threads.kind, threads.count),
        (InterfererKind::Thread, 12_000)
    );
    assert!(threads.names <= 10_001, "{}", threads.names);
    assert_eq!(found.most.len(), 50);
}

fn what_ran_instead_of_a_loop_without_a_cycle_is_counted_while_it_is_judged() {
    let mut stream = Stream::with(hog(), fifo());
    stream.judged_ns = Some((DUE, DUE + 2 * MS));
    stream.softirq(DUE + MS, DUE + MS + 5 * US, 3);
    stream.switch(DUE + 3 * MS, idle(), Left::Sleeping);
    let found = figures(&stream);
    assert_eq!(found.observed_ns, 2 * MS);
    let named: Vec<_> = found.most.iter().map(|of| (of.kind, of.total_ns)).collect();
    let wanted = [
        (InterfererKind::Thread, 2 * MS - 5 * US),
        (InterfererKind::Softirq, 5 * US),
    ];
    assert_eq!(named, wanted);
}
