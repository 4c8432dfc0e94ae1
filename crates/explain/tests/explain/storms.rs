//! Thousands of timers or threads in one cycle: each is listed, and explaining takes time in proportion.

use crate::stream::*;
use std::time::Duration;
use wakepath_explain::Explained;
use wakepath_rt::clock;
use wakepath_timeline::{Interrupt, Left, SampleFlags, What};

wakepath_test_program::tests![
    timers_that_expire_with_the_loop_s_own_take_time_in_proportion,
    threads_that_ran_in_the_cycle_before_take_time_in_proportion,
    what_an_interrupt_does_between_timers_is_theirs,
    a_cpu_that_stands_still_between_timers_is_not_theirs,
];

const FEW: u64 = 1_000;
const MANY: u64 = 16 * FEW;
/// Sixteen times as many may take four times sixteen as long, caches included; squares would take 256 times.
const AT_MOST: u32 = 64;

/// One interrupt: the loop's own timer, and `count` others after it.
fn timers(count: u64) -> Stream {
    let mut stream = Stream::with(hog(), fifo());
    let from = DUE + 2 * US;
    stream.at(from, What::InterruptEntry(Interrupt::LocalTimer));
    own_timer(&mut stream, from + US);
    let at = other_timers(&mut stream, from + 3 * US, count);
    stream.at(at, What::InterruptExit(Interrupt::LocalTimer));
    stream.run(at + 5 * US, DUE, Left::Sleeping);
    stream.switch(at + 60 * US, hog(), Left::Sleeping);
    stream
}

fn own_timer(stream: &mut Stream, at: u64) {
    stream.expiry(at, "hrtimer_wakeup");
    stream.wake(at + US);
    stream.at(at + US + 500, What::TimerExpiryExit { timer: 7 });
}

/// Half of each timer's 200 ns is its function. Returns where the last has its end.
fn other_timers(stream: &mut Stream, from: u64, count: u64) -> u64 {
    let mut at = from;
    for _ in 0..count {
        stream.expiry(at, "timerfd_tmrproc");
        stream.at(at + 100, What::TimerExpiryExit { timer: 7 });
        at += 200;
    }
    at
}

/// A cycle with `count` timers before the loop's own and after it. Among those before it the CPU stalls once.
fn timers_around(count: u64, still: u64) -> Explained {
    let mut stream = Stream::with(hog(), fifo());
    let from = DUE + 2 * US;
    stream.at(from, What::InterruptEntry(Interrupt::LocalTimer));
    let at = other_timers(&mut stream, from + US, count / 2);
    let at = other_timers(&mut stream, at + still, count / 2);
    own_timer(&mut stream, at);
    let at = other_timers(&mut stream, at + 2 * US, count);
    stream.at(at, What::InterruptExit(Interrupt::LocalTimer));
    stream.run(at + 5 * US, DUE, Left::Sleeping);
    stream.switch(at + 60 * US, hog(), Left::Sleeping);
    let mut cycles = stream.explain();
    cycles.iter().for_each(assert_adds_up);
    cycles.pop().unwrap()
}

/// A cycle before which `count` different threads run, and the next, due before that one had ended.
fn threads(count: u64) -> Stream {
    let mut stream = Stream::with(hog(), thread(LOOP, "loop", 120));
    stream.timer(DUE + 2 * US);
    let mut at = DUE + 7 * US;
    for number in 0..count {
        let neighbour = thread(1_000 + number as u32, "neighbour", 120);
        stream.switch(at, neighbour, Left::Runnable);
        at += 1_000_000 / FEW + 50;
    }
    stream.run(at, DUE, Left::Runnable);
    let late = SampleFlags::DUE_ALREADY_PAST;
    stream.flagged(DUE + MS, at + 60 * US, at + 90 * US, late);
    stream.switch(at + 100 * US, hog(), Left::Sleeping);
    stream
}

/// The cycles, and the smallest of three CPU times of explaining, which other programs don't change.
fn timed(stream: &Stream) -> (Vec<Explained>, Duration) {
    let once = || {
        let begun_ns = clock::thread_cpu_ns();
        let explained = stream.explain();
        let took_ns = clock::thread_cpu_ns() - begun_ns;
        (explained, Duration::from_nanos(took_ns))
    };
    let all = [once(), once(), once()];
    let shortest = all.iter().map(|(_, took)| *took).min().unwrap();
    (all.into_iter().next().unwrap().0, shortest)
}

fn assert_in_proportion(of: fn(u64) -> Stream, kind: &str) {
    let (few, briefly) = timed(&of(FEW));
    let (many, took) = timed(&of(MANY));
    assert!(took < briefly * AT_MOST, "{briefly:?}, then {took:?}");
    for cycles in [&few, &many] {
        cycles.iter().for_each(assert_adds_up);
    }
    let (few, many) = (of_kind(&few[0], kind), of_kind(&many[0], kind));
    assert!(few > 0 && many > 15 * few, "{few} and {many} ns");
}

fn timers_that_expire_with_the_loop_s_own_take_time_in_proportion() {
    assert_in_proportion(timers, "other-timer");
}

fn threads_that_ran_in_the_cycle_before_take_time_in_proportion() {
    assert_in_proportion(threads, "thread");
}

fn what_an_interrupt_does_between_timers_is_theirs() {
    let late = timers_around(FEW, 0);
    assert_eq!(of_kind(&late, "nothing-ran"), 0);
    // The last of each lot has its end in the path.
    assert_eq!(of_kind(&late, "other-timer"), 2 * (FEW * 200 - 100));
}

fn a_cpu_that_stands_still_between_timers_is_not_theirs() {
    let late = timers_around(FEW, 300 * US);
    let still = of_kind(&late, "nothing-ran");
    assert!((299 * US..=301 * US).contains(&still), "{still}");
}
