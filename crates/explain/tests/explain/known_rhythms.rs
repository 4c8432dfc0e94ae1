//! Streams made by hand, whose periods, latencies and run times are known.

use crate::hand_made::{HOG, LOOP, MS, SLOW, START, Stream, US, thread};
use std::collections::BTreeMap;
use wakepath_explain::watch::{BegunBy, NotPeriodic, Rhythm, Waker, row};
use wakepath_timeline::{Interrupt, KernelEvent, Left, SampleFlags, What};

wakepath_test_program::tests![
    an_absolute_sleeper_has_its_period_to_the_nanosecond_and_its_own_due_times,
    two_threads_of_one_cpu_have_each_their_own_period,
    due_times_that_were_skipped_are_gaps_between_cycle_numbers,
    a_sleeper_for_a_time_drifts_and_keeps_its_latencies_on_an_even_row,
    a_sleeper_for_a_time_that_is_held_up_overlaps_no_cycle_of_its_on_the_even_row,
    a_timer_on_another_clock_is_due_when_its_callback_began,
    preemption_is_counted_and_is_no_run_time,
    a_turn_goes_on_when_something_else_wakes_the_thread_within_it,
    a_turn_that_runs_into_the_next_due_time_is_marked,
    what_events_are_missing_in_is_left_out_and_counted,
    a_switch_that_was_not_told_is_taken_for_the_threads_first_event,
    a_wake_up_from_a_cpu_that_is_not_traced_is_counted_as_unseen,
    a_thread_that_is_woken_on_its_way_to_sleep_is_ready,
    a_thread_that_another_wakes_has_its_period_from_its_wake_ups_and_names_the_other,
    a_device_s_interrupt_is_named_as_what_wakes_a_thread,
    a_thread_with_a_timer_s_period_keeps_it_whatever_else_wakes_it,
    too_few_or_irregular_wake_ups_are_no_period,
];

/// A loop with these due times that works 50 µs.
fn until_instants(dues: &[u64]) -> Stream {
    let mut stream = Stream::new();
    stream.program(dues[0] - MS, LOOP, dues[0]);
    for two in dues.windows(2) {
        stream.turn(LOOP, two[0], 50 * US, two[1]);
    }
    // The next wake-up ends the turn before; its own turn has no end and is left out.
    stream.expire(dues[dues.len() - 1] + 3 * US, LOOP);
    stream
}

fn every_millisecond(count: u64) -> Vec<u64> {
    (0..count).map(|k| START + k * MS).collect()
}

fn an_absolute_sleeper_has_its_period_to_the_nanosecond_and_its_own_due_times() {
    let (rhythm, row, activity) = until_instants(&every_millisecond(21)).row(LOOP);
    assert_eq!((rhythm.period_ns, rhythm.programmed), (MS, true));
    assert_eq!((row.due.start_ns, row.due.period_ns), (START, MS));
    assert_eq!(row.samples.len(), 20);
    for (k, sample) in (0..).zip(&row.samples) {
        assert_eq!((sample.cycle, sample.due_ns), (k, START + k * MS));
        assert_eq!(
            (sample.latency_ns(), sample.execution_ns()),
            (7_000, 50_000)
        );
        assert_eq!(
            (sample.cpu_time_ns, sample.involuntary_switches),
            (50_000, 0)
        );
    }
    assert_eq!(row.even(), row.samples);
    assert!(row.jitter_ns().iter().all(|&ns| ns == 0));
    assert_eq!(activity.priorities, BTreeMap::from([(19, 20)]));
}

fn two_threads_of_one_cpu_have_each_their_own_period() {
    let mut stream = until_instants(&every_millisecond(50));
    let slow: Vec<u64> = (0..20).map(|k| START + 300 * US + k * 2 * MS).collect();
    stream.program(START - MS, SLOW, slow[0]);
    for two in slow.windows(2) {
        stream.turn(SLOW, two[0], 100 * US, two[1]);
    }
    // Events are made in two passes: the switches determine the current thread.
    stream.events.sort_by_key(|event| event.at_ns);
    let mut current = HOG;
    for event in &mut stream.events {
        event.current = current;
        if let What::Switch { next, .. } = &event.what {
            current = next.id;
        }
    }
    assert_eq!(stream.row(LOOP).0.period_ns, MS);
    let (rhythm, row, _) = stream.row(SLOW);
    assert_eq!(rhythm.period_ns, 2 * MS);
    assert!(
        row.samples
            .iter()
            .all(|s| s.latency_ns() == 7_000 && s.cpu_time_ns == 100_000)
    );
}

fn due_times_that_were_skipped_are_gaps_between_cycle_numbers() {
    let mut dues = every_millisecond(30);
    dues.drain(10..13);
    let (_, row, _) = until_instants(&dues).row(LOOP);
    let cycles: Vec<u64> = row.samples.iter().map(|sample| sample.cycle).collect();
    assert_eq!(cycles[9..11], [9, 13]);
    assert_eq!(row.left_out, 0);
    // Wake-ups 4 ms apart, three periods skipped: no jitter.
    assert!(row.jitter_ns().iter().all(|&ns| ns == 0));
}

fn a_sleeper_for_a_time_drifts_and_keeps_its_latencies_on_an_even_row() {
    // It sleeps 1 ms after 50 µs of work and 7 µs of wake-up: 1.057 ms, now and then 20 µs more.
    let mut dues = vec![START];
    for k in 0..40 {
        dues.push(dues[k] + MS + 57 * US + if k % 4 == 0 { 20 * US } else { 0 });
    }
    let (rhythm, row, _) = until_instants(&dues).row(LOOP);
    assert_eq!((rhythm.period_ns, rhythm.anchor_ns), (1_057_000, None));
    assert_eq!(row.samples[4].due_ns, dues[4]);
    let even = row.even();
    for (k, (moved, real)) in (0..).zip(even.iter().zip(&row.samples)) {
        assert_eq!(moved.cycle, k);
        assert_eq!(moved.due_ns, START + k * 1_057_000);
        assert_eq!(moved.latency_ns(), real.latency_ns());
        assert_eq!(moved.execution_ns(), real.execution_ns());
    }
    assert_eq!(row.jitter_ns()[..5], [20_000, 0, 0, 0, 20_000]);
}

fn a_sleeper_for_a_time_that_is_held_up_overlaps_no_cycle_of_its_on_the_even_row() {
    // It sleeps 1 ms after 50 µs of work, but for turn 20, whose work takes 5.3 ms.
    let mut stream = Stream::new();
    let mut due = START;
    stream.program(due - MS, LOOP, due);
    for k in 0..40 {
        let work = if k == 20 { 5_300 * US } else { 50 * US };
        let next = due + 7 * US + work + MS;
        stream.turn(LOOP, due, work, next);
        due = next;
    }
    let (rhythm, row, _) = stream.row(LOOP);
    assert_eq!((rhythm.period_ns, rhythm.anchor_ns), (1_057_000, None));
    let even = row.even();
    let overlaps = |two: &[wakepath_timeline::Sample]| two[1].wake_ns < two[0].end_ns;
    assert!(!even.windows(2).any(overlaps));
    // 5.307 ms after the due time of cycle 20: that of cycle 26 is the first at which it can wake
    // again, 7 µs late.
    let cycles: Vec<u64> = even.iter().map(|sample| sample.cycle).collect();
    assert_eq!(cycles[19..23], [19, 20, 26, 27]);
    assert_eq!(even[20].response_ns(), 5_307_000);
    assert_eq!(even[21].latency_ns(), 7_000);
}

fn a_timer_on_another_clock_is_due_when_its_callback_began() {
    let mut stream = until_instants(&every_millisecond(20));
    for event in &mut stream.events {
        if let What::TimerStart {
            soft_expires_ns, ..
        } = &mut event.what
        {
            // Since a boot long ago, as CLOCK_BOOTTIME counts.
            *soft_expires_ns += 7_000_000_000_000;
        }
    }
    let (rhythm, row, _) = stream.row(LOOP);
    assert_eq!((rhythm.programmed, rhythm.anchor_ns), (false, None));
    assert_eq!(row.samples[0].latency_ns(), 4_000);
}

fn preemption_is_counted_and_is_no_run_time() {
    let mut stream = Stream::new();
    for k in 0..20 {
        let due = START + k * MS;
        stream.program(due - 900 * US, LOOP, due);
        stream.expire(due + 3 * US, LOOP);
        stream.switch(due + 7 * US, LOOP, Left::Runnable);
        stream.switch(due + 27 * US, SLOW, Left::Runnable);
        stream.switch(due + 127 * US, LOOP, Left::Sleeping);
        stream.switch(due + 157 * US, HOG, Left::Sleeping);
    }
    let (_, row, _) = stream.row(LOOP);
    for sample in &row.samples {
        assert_eq!(
            (sample.cpu_time_ns, sample.execution_ns()),
            (50_000, 150_000)
        );
        assert_eq!(sample.involuntary_switches, 1);
    }
}

/// Woken by its timer, then by another within each turn, as regularly.
fn woken_twice_in_each_turn() -> Stream {
    let mut stream = Stream::new();
    for k in 0..20 {
        let due = START + k * MS;
        stream.program(due - 900 * US, LOOP, due);
        stream.expire(due + 3 * US, LOOP);
        stream.switch(due + 7 * US, LOOP, Left::Runnable);
        stream.switch(due + 17 * US, HOG, Left::Sleeping);
        stream.wake(due + 50 * US, LOOP);
        stream.switch(due + 55 * US, LOOP, Left::Runnable);
        stream.switch(due + 75 * US, HOG, Left::Sleeping);
    }
    stream
}

fn a_turn_goes_on_when_something_else_wakes_the_thread_within_it() {
    let mut stream = woken_twice_in_each_turn();
    let (rhythm, row, activity) = stream.row(LOOP);
    assert_eq!(rhythm.period_ns, MS);
    assert!(row.samples.iter().all(|s| s.end_ns == s.due_ns + 75 * US));
    assert!(row.samples.iter().all(|s| s.cpu_time_ns == 30_000));
    assert_eq!((activity.other_wake_ups, activity.unseen_wake_ups), (20, 0));
}

fn a_turn_that_runs_into_the_next_due_time_is_marked() {
    let mut stream = Stream::new();
    stream.program(START - MS, LOOP, START);
    stream.turn(LOOP, START, MS + 500 * US, START + MS);
    for k in 1..20 {
        let due = START + k * MS;
        let late = if k == 1 { 600 * US } else { 0 };
        stream.expire(due + late + 3 * US, LOOP);
        stream.switch(due + late + 7 * US, LOOP, Left::Runnable);
        stream.program(due + late + 8 * US, LOOP, due + MS);
        stream.switch(due + late + 10 * US, HOG, Left::Sleeping);
    }
    let (_, row, _) = stream.row(LOOP);
    let past = |at: usize| {
        row.samples[at]
            .flags
            .contains(SampleFlags::DUE_ALREADY_PAST)
    };
    assert_eq!((past(0), past(1), past(2)), (false, true, false));
    assert_eq!(row.samples[1].latency_ns(), 607_000);
}

fn what_events_are_missing_in_is_left_out_and_counted() {
    let mut stream = until_instants(&every_millisecond(31));
    stream.at(START + 10 * MS + 20 * US, What::Lost { count: 7 });
    let (rhythm, row, activity) = stream.row(LOOP);
    assert_eq!((rhythm.period_ns, activity.cut_by_loss), (MS, 1));
    let cycles: Vec<u64> = row.samples.iter().map(|sample| sample.cycle).collect();
    assert!(!cycles.contains(&10), "{cycles:?}");
    assert_eq!(row.samples.len(), 29);
}

fn a_switch_that_was_not_told_is_taken_for_the_threads_first_event() {
    let mut stream = until_instants(&every_millisecond(21));
    let is_in = |event: &KernelEvent| {
        event.at_ns == START + 5 * MS + 7 * US && matches!(event.what, What::Switch { .. })
    };
    stream.events.retain(|event| !is_in(event));
    let (_, row, activity) = stream.row(LOOP);
    assert_eq!((row.samples.len(), activity.untold_switches), (20, 1));
    // Its first event is the timer that it programs, 1 ns before it sleeps.
    assert_eq!(row.samples[5].latency_ns(), 7_000 + 50_000 - 1);
}

fn a_wake_up_from_a_cpu_that_is_not_traced_is_counted_as_unseen() {
    let mut stream = until_instants(&every_millisecond(21));
    let at = START + 5 * MS + 3 * US;
    stream
        .events
        .retain(|event| !(at..at + 3 * US).contains(&event.at_ns));
    let (_, row, activity) = stream.row(LOOP);
    assert_eq!((activity.unseen_wake_ups, row.samples.len()), (1, 19));
    // The previous turn keeps its end.
    assert_eq!(row.samples[4].execution_ns(), 50_000);
}

/// The loop hands over to the slow thread at the end of each turn, `times` times.
fn handed_over(times: u64) -> Stream {
    let mut stream = Stream::new();
    for k in 0..times {
        let due = START + k * 4 * MS;
        stream
            .program(due - MS, LOOP, due)
            .expire(due + 3 * US, LOOP)
            .switch(due + 7 * US, LOOP, Left::Runnable)
            .wake(due + 17 * US, SLOW)
            .switch(due + 20 * US, SLOW, Left::Sleeping)
            .switch(due + 40 * US, HOG, Left::Runnable)
            .switch(due + 45 * US, SLOW, Left::Runnable)
            .switch(due + 50 * US, HOG, Left::Sleeping);
    }
    stream
}

fn a_thread_that_another_wakes_has_its_period_from_its_wake_ups_and_names_the_other() {
    let mut stream = handed_over(21);
    let activity = stream.activity();
    let slow = &activity[&SLOW];
    let rhythm = slow.rhythm().unwrap();
    assert_eq!(
        (rhythm.period_ns, rhythm.begun_by),
        (4 * MS, BegunBy::Other)
    );
    assert_eq!((rhythm.anchor_ns, rhythm.programmed), (None, false));
    assert_eq!(slow.wakers, [(Waker::Thread(thread(LOOP)), 21)]);
    let row = row(&slow.turns(rhythm), rhythm);
    assert_eq!(row.samples.len(), 20);
    for (k, sample) in (0..).zip(&row.samples) {
        // Due when it is woken, 17 µs into the loop's period.
        assert_eq!(sample.due_ns, START + k * 4 * MS + 17 * US);
        assert_eq!(
            (sample.latency_ns(), sample.execution_ns()),
            (3_000, 30_000)
        );
        assert_eq!(
            (sample.cpu_time_ns, sample.involuntary_switches),
            (25_000, 1)
        );
    }
    // The one that hands over is woken by its timer as before.
    let rhythm = activity[&LOOP].rhythm().unwrap();
    assert_eq!(
        (rhythm.period_ns, rhythm.begun_by),
        (4 * MS, BegunBy::Timer)
    );
}

fn a_device_s_interrupt_is_named_as_what_wakes_a_thread() {
    let mut stream = Stream::new();
    let device = Interrupt::Device {
        number: 24,
        name: "spi0".into(),
    };
    for k in 0..15 {
        let at = START + k * 2 * MS;
        stream
            .at(at, What::InterruptEntry(device.clone()))
            .wake(at + US, SLOW)
            .at(at + 2 * US, What::InterruptExit(device.clone()))
            .switch(at + 4 * US, SLOW, Left::Runnable)
            .switch(at + 50 * US, HOG, Left::Sleeping);
    }
    let activity = stream.activity();
    let slow = &activity[&SLOW];
    assert_eq!(slow.rhythm().unwrap().period_ns, 2 * MS);
    assert_eq!(slow.wakers, [(Waker::Interrupt(device), 15)]);
}

fn a_thread_with_a_timer_s_period_keeps_it_whatever_else_wakes_it() {
    let mut stream = woken_twice_in_each_turn();
    let activity = stream.activity();
    let rhythm = activity[&LOOP].rhythm().unwrap();
    assert_eq!((rhythm.begun_by, rhythm.programmed), (BegunBy::Timer, true));
    assert_eq!(activity[&LOOP].turns(rhythm)[0].run_ns, 30_000);
}

fn too_few_or_irregular_wake_ups_are_no_period() {
    let activity = until_instants(&every_millisecond(6)).activity();
    let found = Rhythm::new(&activity[&LOOP].activations);
    assert_eq!(found, Err(NotPeriodic::TooFew { activations: 5 }));
    assert_eq!(
        Rhythm::new(&activity[&SLOW].activations),
        Err(NotPeriodic::TooFew { activations: 0 })
    );
    let mut dues = vec![START];
    for k in 0..30_u64 {
        dues.push(dues[k as usize] + MS + (k * k * 37 % 101) * 100 * US);
    }
    let activity = until_instants(&dues).activity();
    let found = Rhythm::new(&activity[&LOOP].activations);
    assert!(
        matches!(
            found,
            Err(NotPeriodic::Irregular {
                activations: 30,
                ..
            })
        ),
        "{found:?}"
    );
}

fn a_thread_that_is_woken_on_its_way_to_sleep_is_ready() {
    let mut stream = Stream::new();
    for k in 0..21 {
        let due = START + k * MS;
        stream.program(due - 900 * US, LOOP, due);
        stream.expire(due + 3 * US, LOOP);
        stream.switch(due + 7 * US, LOOP, Left::Runnable);
        // In its work it waits, and is woken before it has left its CPU.
        stream.wake(due + 20 * US, LOOP);
        stream.switch(due + 21 * US, HOG, Left::Blocked);
        stream.switch(due + 29 * US, LOOP, Left::Runnable);
        stream.switch(due + 57 * US, HOG, Left::Sleeping);
    }
    let (_, row, activity) = stream.row(LOOP);
    assert_eq!((activity.unseen_wake_ups, row.samples.len()), (0, 20));
    assert!(row.samples.iter().all(|s| s.execution_ns() == 50_000));
    assert!(row.samples.iter().all(|s| s.cpu_time_ns == 42_000));
}
