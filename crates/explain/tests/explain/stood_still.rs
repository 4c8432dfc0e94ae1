//! A CPU that this kernel does not get for a while: no thread that was current then is to blame, and no idle
//! state.

use crate::stream::*;
use wakepath_explain::{Explained, IdleExits, Own, OwnThread, remedy};
use wakepath_timeline::{Interrupt, Left, SoftIrq, Thread, What};

wakepath_test_program::tests![
    a_thread_that_was_current_while_nothing_happened_for_milliseconds_is_innocent,
    so_are_wakepath_s_own_threads,
    what_a_thread_did_with_interrupts_off_before_the_silence_stays_its_own,
    a_thread_that_goes_on_writing_events_has_interrupts_off_for_as_long,
    a_wait_far_above_what_an_idle_state_takes_is_not_the_state_s,
    a_wait_that_the_driver_s_figure_may_explain_stays_the_state_s,
    a_loop_that_no_tick_interrupts_for_long_did_not_run,
    where_time_passes_with_instructions_alone_nothing_stood_still,
];

const STILL: &str = "CPU stalled (hypervisor, firmware or hardware)";

/// The timer's interrupt comes 5.3 ms late, and nothing happens until then.
fn silent_under(current: Thread) -> Stream {
    let mut stream = Stream::with(current, fifo());
    stream
        .timer(DUE + 5_302 * US)
        .run(DUE + 5_307 * US, DUE, Left::Runnable);
    stream
}

fn a_thread_that_was_current_while_nothing_happened_for_milliseconds_is_innocent() {
    let cycle = &silent_under(hog()).explain()[0];
    assert_eq!(beyond_usual(cycle), [(STILL.into(), 5_300_000)]);
}

fn so_are_wakepath_s_own_threads() {
    let mut stream = silent_under(thread(400, "wakepath", 120));
    stream.own = Own::Threads(vec![OwnThread {
        thread: 400,
        from_ns: 0,
        to_ns: u64::MAX,
        is_tool: true,
    }]);
    let cycle = &stream.explain()[0];
    assert_eq!(beyond_usual(cycle), [(STILL.into(), 5_300_000)]);
}

fn what_a_thread_did_with_interrupts_off_before_the_silence_stays_its_own() {
    let mut stream = Stream::with(hog(), fifo());
    stream.at(DUE + 300 * US, What::SoftIrqRaise(SoftIrq(9)));
    stream
        .timer(DUE + 5_302 * US)
        .run(DUE + 5_307 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    let off = "interrupts off in hog-200 (OTHER), or the CPU was stalled";
    assert_eq!(
        beyond_usual(cycle),
        [(off.into(), 300_000), (STILL.into(), 5_000_000)]
    );
}

fn a_thread_that_goes_on_writing_events_has_interrupts_off_for_as_long() {
    let mut stream = Stream::with(hog(), fifo());
    for step in 1..11 {
        stream.at(DUE + step * 500 * US, What::SoftIrqRaise(SoftIrq(9)));
    }
    stream
        .timer(DUE + 5_302 * US)
        .run(DUE + 5_307 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    assert_eq!(of_kind(cycle, "interrupts-off"), 5_300_000);
    assert_eq!(of_kind(cycle, "nothing-ran"), 0);
}

/// Idle state 1, for which the driver gives 1 µs, left late by `late_us`.
fn idle_for(late_us: u64) -> Explained {
    idle_stream(late_us).explain().remove(0)
}

fn idle_stream(late_us: u64) -> Stream {
    let mut stream = Stream::with(idle(), fifo());
    stream.idle_exits = IdleExits::new([((1, 1), 1_000)]);
    stream.at(DUE - 2 * MS, What::IdleEntry { state: 1 });
    stream.timer(DUE + late_us * US);
    stream.at(DUE + (late_us + 3) * US + 500, What::IdleExit);
    stream.run(DUE + (late_us + 5) * US, DUE, Left::Runnable);
    stream
}

fn a_wait_far_above_what_an_idle_state_takes_is_not_the_state_s() {
    let cycle = idle_for(8_000);
    assert_eq!(of_kind(&cycle, "nothing-ran"), 7_999_000);
    // The state's own microsecond, and the half one after the interrupt.
    assert_eq!(of_kind(&cycle, "idle-exit"), 1_500);
    let (cause, ns) = cycle.main_cause().unwrap();
    assert_eq!((cause.to_string(), ns), (STILL.into(), 7_999_000));
    let advice = remedy(&cause).unwrap();
    assert!(advice.contains("virtual machine") && !advice.contains("cpuidle"));
}

fn a_wait_that_the_driver_s_figure_may_explain_stays_the_state_s() {
    let cycle = idle_for(90);
    assert_eq!(of_kind(&cycle, "nothing-ran"), 0);
    assert_eq!(of_kind(&cycle, "idle-exit"), 90_500);
}

/// Ticks each 4 ms until a millisecond after the due time, the loop's work until `end_us`, and then the next tick.
fn working_until(end_us: u64) -> Stream {
    let mut stream = Stream::with(hog(), fifo());
    let tick = |stream: &mut Stream, at_ns| {
        let interrupt = Interrupt::LocalTimer;
        stream.at(at_ns, What::InterruptEntry(interrupt.clone()));
        stream.expiry(at_ns + US, "tick_nohz_handler");
        stream.at(at_ns + 2 * US, What::TimerExpiryExit { timer: 7 });
        stream.at(at_ns + 3 * US, What::InterruptExit(interrupt));
    };
    let before = DUE - 43 * MS;
    stream.events[0].at_ns = before - MS;
    for number in 0..11 {
        tick(&mut stream, before + number * 4 * MS);
    }
    let the_loop = stream.the_loop.clone();
    stream.timer(DUE + 2 * US);
    stream.switch(DUE + 7 * US, the_loop, Left::Runnable);
    tick(&mut stream, DUE + MS);
    tick(&mut stream, DUE + end_us * US - 50 * US);
    stream.sample(DUE, DUE + 8 * US, DUE + end_us * US);
    stream.always_ticks = true;
    stream
}

fn a_loop_that_no_tick_interrupts_for_long_did_not_run() {
    let still = |stream: &Stream| of_kind(&stream.explain()[0], "nothing-ran");
    // From the tick at a millisecond to the next one.
    assert_eq!(still(&working_until(10_050)), 9 * MS - 3 * US);
    // The next tick was hardly due.
    assert_eq!(still(&working_until(7_050)), 0);
    // CPUs may be without.
    let mut tickless = working_until(10_050);
    tickless.always_ticks = false;
    assert_eq!(still(&tickless), 0);
}

fn where_time_passes_with_instructions_alone_nothing_stood_still() {
    // A thread's silence, an idle state's, and the path's own.
    let mut slow_path = Stream::with(hog(), fifo());
    slow_path.timer(DUE + 2 * US);
    slow_path.run(DUE + 400 * US, DUE, Left::Runnable);
    for (mut stream, kind) in [
        (silent_under(hog()), "interrupts-off"),
        (idle_stream(8_000), "idle-exit"),
        (slow_path, "not-preemptible"),
    ] {
        stream.never_still = true;
        let cycle = &stream.explain()[0];
        assert_eq!(of_kind(cycle, "nothing-ran"), 0);
        assert!(of_kind(cycle, kind) > 300 * US, "{kind}");
    }
}
