//! Timers that the kernel serves in a SoftIRQ instead of in their interrupt, as PREEMPT_RT does for threads without a
//! real-time policy and for every timerfd.

use crate::stream::*;
use wakepath_explain::{Cause, Explained, Relation, Stretch, WokenBy};
use wakepath_timeline::{Interrupt, Left, SoftIrq, Thread, What};

wakepath_test_program::tests![
    a_wake_up_from_the_timer_s_softirq_is_deferred_and_names_its_thread,
    an_interrupt_within_another_timer_of_the_softirq_wakes_directly,
    what_runs_before_the_timer_s_softirq_has_no_relation_to_the_loop,
];

fn a_wake_up_from_the_timer_s_softirq_is_deferred_and_names_its_thread() {
    let ktimers = thread(17, "ktimers/1", 98);
    let other = thread(LOOP, "loop", 120);
    let mut stream = Stream::with(hog(), other);
    stream.at(DUE + 2 * US, What::InterruptEntry(Interrupt::LocalTimer));
    stream.at(DUE + 2 * US + 500, What::SoftIrqRaise(SoftIrq::HRTIMER));
    stream.at(DUE + 3 * US, What::InterruptExit(Interrupt::LocalTimer));
    // 90 µs until the SoftIRQ's thread gets the CPU: the hog can't be preempted.
    stream.switch(DUE + 93 * US, ktimers.clone(), Left::Runnable);
    stream.at(DUE + 93 * US + 500, What::SoftIrqEntry(SoftIrq::HRTIMER));
    stream.expiry(DUE + 94 * US, "hrtimer_wakeup");
    stream.wake(DUE + 95 * US);
    stream.at(DUE + 96 * US, What::TimerExpiryExit { timer: 7 });
    stream.at(DUE + 96 * US + 500, What::SoftIrqExit(SoftIrq::HRTIMER));
    stream.run(DUE + 98 * US, DUE, Left::Sleeping);
    let cycle = &stream.explain()[0];
    assert_eq!(
        cycle.woken,
        WokenBy::Deferred {
            vector: SoftIrq::HRTIMER,
            thread: Some(ktimers),
        }
    );
    let in_stretch = |stretch| {
        let pieces = cycle
            .latency
            .iter()
            .filter(|piece| piece.stretch == stretch);
        pieces.map(|p| (p.cause.kind(), p.ns())).collect::<Vec<_>>()
    };
    assert_eq!(
        in_stretch(Stretch::DueToInterrupt),
        [("timer-delivery", 2_000)]
    );
    let hog = in_stretch(Stretch::InterruptToExpiry);
    assert!(hog.contains(&("not-preemptible", 90_000)), "{hog:?}");
}

fn an_interrupt_within_another_timer_of_the_softirq_wakes_directly() {
    let ktimers = thread(17, "ktimers/1", 98);
    let mut stream = Stream::with(hog(), fifo());
    stream.switch(DUE - 20 * US, ktimers.clone(), Left::Runnable);
    stream.at(DUE - 10 * US, What::SoftIrqEntry(SoftIrq::HRTIMER));
    stream.expiry(DUE - 5 * US, "timerfd_tmrproc");
    stream.timer(DUE + 2 * US);
    stream.run(DUE + 7 * US, DUE, Left::Runnable);
    // The SoftIRQ resumes in the timer in which it was interrupted.
    stream.switch(DUE + 60 * US, ktimers, Left::Sleeping);
    stream.at(DUE + 61 * US, What::TimerExpiryExit { timer: 7 });
    stream.at(DUE + 62 * US, What::SoftIrqExit(SoftIrq::HRTIMER));
    let cycle = &stream.explain()[0];
    assert_eq!(cycle.woken, WokenBy::Direct);
    let during = stretches(cycle).remove(0);
    assert_eq!(during, (Stretch::DueToInterrupt, "other-timer", 2_000));
}

/// A loop whose timer waits for 400 µs because `other` runs in the place of the SoftIRQ's thread.
fn held_up(looped: Thread, other: &Thread) -> Explained {
    let ktimers = thread(17, "ktimers/1", 98);
    let mut stream = Stream::with(other.clone(), looped);
    stream.at(DUE + 2 * US, What::InterruptEntry(Interrupt::LocalTimer));
    stream.at(DUE + 2 * US + 500, What::SoftIrqRaise(SoftIrq::HRTIMER));
    stream.at(DUE + 3 * US, What::InterruptExit(Interrupt::LocalTimer));
    stream.switch(DUE + 403 * US, ktimers, Left::Sleeping);
    // The SoftIRQ's thread has 2 µs of its own before it.
    stream.at(DUE + 405 * US, What::SoftIrqEntry(SoftIrq::HRTIMER));
    stream.expiry(DUE + 406 * US, "timerfd_tmrproc");
    stream.wake(DUE + 407 * US);
    stream.at(DUE + 408 * US, What::TimerExpiryExit { timer: 7 });
    stream.at(DUE + 409 * US, What::SoftIrqExit(SoftIrq::HRTIMER));
    stream.run(DUE + 411 * US, DUE, Left::Sleeping);
    stream.explain().remove(0)
}

fn what_runs_before_the_timer_s_softirq_has_no_relation_to_the_loop() {
    // As urgent as the SoftIRQ's thread, more urgent, and less urgent than the loop or not.
    let loops = [thread(LOOP, "loop", 101), fifo(), thread(LOOP, "loop", 49)];
    let others = [thread(19, "rcuc/1", 98), thread(40, "irq/40", 49)];
    for looped in loops {
        for other in &others {
            let cycle = held_up(looped.clone(), other);
            let pieces = cycle.latency.iter();
            let pending = pieces.filter(|piece| piece.stretch == Stretch::InterruptToExpiry);
            let threads = pending.filter_map(|piece| match &piece.cause {
                Cause::Thread { thread, relation } => Some((thread.id, *relation, piece.ns())),
                _ => None,
            });
            let threads: Vec<_> = threads.collect();
            let expected = (other.id, Relation::AheadOfTimer, 400_000);
            assert_eq!(threads, [expected], "{looped:?} {other:?}");
        }
    }
}
