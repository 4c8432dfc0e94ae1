//! Streams as they really come: events lost, a buffer that wrapped, stamps out of order.
//! Missing parts are reported; the rest still adds up.

use crate::stream::*;
use proptest::prelude::*;
use wakepath_explain::WokenBy;
use wakepath_timeline::{Interrupt, KernelEvent, Left, Sample, SampleFlags, SoftIrq, What};

wakepath_test_program::tests![
    lost_events_make_the_cycles_they_touch_unexplained_and_no_others,
    events_lost_on_a_cpu_that_the_loop_may_not_use_touch_no_cycle,
    cycles_before_a_wrapped_buffer_s_oldest_event_have_no_events,
    a_cpu_that_went_away_leaves_cycles_without_events,
    stamps_that_go_back_are_moved_up_and_break_nothing,
    events_of_two_cpus_merged_in_the_wrong_order_change_nothing,
    an_exit_that_is_missing_does_not_stretch_an_interrupt_for_ever,
    without_a_single_event_every_cycle_says_so,
    what_is_usual_comes_from_the_run_itself,
    whatever_comes_the_pieces_add_up_to_the_latency,
];

/// Cycles 0, 1 and 2, undisturbed.
fn three_cycles() -> Stream {
    let mut stream = Stream::with(hog(), fifo());
    for cycle in 0..3 {
        let due = DUE + cycle * MS;
        stream
            .timer(due + 2 * US)
            .run(due + 7 * US, due, Left::Runnable);
        stream.switch(due + 60 * US, hog(), Left::Sleeping);
    }
    stream
}

fn lost_events_make_the_cycles_they_touch_unexplained_and_no_others() {
    let mut stream = three_cycles();
    // Everything of cycle 1 is lost: from the end of cycle 0 until just before cycle 2.
    let is_lost = |event: &KernelEvent| (DUE + 61 * US..DUE + 1_900 * US).contains(&event.at_ns);
    let at = stream.events.iter().position(is_lost).unwrap();
    stream.events.retain(|event| !is_lost(event));
    let lost = KernelEvent {
        at_ns: DUE + 1_900 * US,
        cpu: 1,
        current: 200,
        what: What::Lost { count: 9 },
    };
    stream.events.insert(at, lost);
    let mut explainer = stream.explainer(Some(USUAL));
    let mut cycles = Vec::new();
    for event in &stream.events {
        explainer.event(event, |_, cycle| cycles.push(cycle.clone()));
    }
    explainer.finish(|_, cycle| cycles.push(cycle.clone()));
    assert_eq!(explainer.lost(), 9);
    assert_eq!(beyond_usual(&cycles[0]), []);
    assert_eq!(kinds(&cycles[1]), ["events-lost"]);
    assert_eq!(cycles[1].explained_ns(), 0);
    assert_eq!(cycles[1].woken, WokenBy::Unknown);
    // Cycle 2's waking and switch are there, its state when due is not.
    assert!(
        cycles[2]
            .latency
            .iter()
            .any(|p| p.cause.kind() == "events-lost")
    );
    cycles.iter().for_each(assert_adds_up);
}

fn events_lost_on_a_cpu_that_the_loop_may_not_use_touch_no_cycle() {
    let mut stream = three_cycles();
    let lost = KernelEvent {
        at_ns: DUE + 500 * US,
        cpu: 0,
        current: 0,
        what: What::Lost { count: 1 },
    };
    stream.events.insert(8, lost);
    for cycle in stream.explain() {
        assert_eq!(beyond_usual(&cycle), []);
    }
}

fn cycles_before_a_wrapped_buffer_s_oldest_event_have_no_events() {
    let mut stream = three_cycles();
    stream.events.retain(|event| event.at_ns > DUE + 1_055 * US);
    let cycles = stream.explain();
    assert_eq!(kinds(&cycles[0]), ["no-events"]);
    assert_eq!(kinds(&cycles[1]), ["no-events"]);
    assert_eq!(beyond_usual(&cycles[2]), []);
}

fn a_cpu_that_went_away_leaves_cycles_without_events() {
    let mut stream = three_cycles();
    stream.events.retain(|event| event.at_ns < DUE + 990 * US);
    let cycles = stream.explain();
    assert_eq!(beyond_usual(&cycles[0]), []);
    for cycle in &cycles[1..] {
        assert_eq!(kinds(cycle), ["no-events"]);
    }
}

fn stamps_that_go_back_are_moved_up_and_break_nothing() {
    let mut stream = three_cycles();
    // The expiry's entry is stamped 3 µs before the interrupt's.
    let entry = stream
        .events
        .iter()
        .position(|event| matches!(event.what, What::TimerExpiryEntry { .. }));
    stream.events[entry.unwrap()].at_ns -= 3 * US;
    let cycles = stream.explain();
    assert_eq!(beyond_usual(&cycles[0]), []);
    assert_eq!(cycles[0].woken, WokenBy::Direct);
}

fn events_of_two_cpus_merged_in_the_wrong_order_change_nothing() {
    let mut stream = three_cycles();
    let straight: Vec<_> = stream.explain().iter().map(stretches).collect();
    // Events of another CPU, each late by up to a millisecond.
    for (at, late_us) in [(3, 900), (9, 100), (12, 950), (17, 300)] {
        let at_ns = stream.events[at].at_ns - late_us * US;
        let event = KernelEvent {
            at_ns,
            cpu: 0,
            current: 0,
            what: What::SoftIrqRaise(SoftIrq(9)),
        };
        stream.events.insert(at, event);
    }
    let merged: Vec<_> = stream.explain().iter().map(stretches).collect();
    assert_eq!(straight, merged);
}

fn an_exit_that_is_missing_does_not_stretch_an_interrupt_for_ever() {
    let mut stream = three_cycles();
    let exit = stream
        .events
        .iter()
        .position(|event| matches!(event.what, What::InterruptExit(_)));
    stream.events.remove(exit.unwrap());
    let cycles = stream.explain();
    assert_eq!(beyond_usual(&cycles[1]), []);
}

fn without_a_single_event_every_cycle_says_so() {
    let mut stream = three_cycles();
    stream.events.clear();
    for cycle in stream.explain() {
        assert_eq!(kinds(&cycle), ["no-events"]);
        assert_eq!(cycle.explained_ns(), 0);
    }
}

fn what_is_usual_comes_from_the_run_itself() {
    let mut stream = Stream::with(hog(), fifo());
    for cycle in 0..300 {
        let due = DUE + cycle * MS;
        // Usually the timer takes 6 µs here; in cycle 290 it takes 106 µs.
        let late = if cycle == 290 { 106 } else { 6 };
        stream
            .timer(due + late * US)
            .run(due + (late + 5) * US, due, Left::Runnable);
        stream.switch(due + (late + 60) * US, hog(), Left::Sleeping);
    }
    let cycles = explained(stream.explainer(None), stream.events.iter());
    assert_eq!(cycles.len(), 300);
    assert_eq!(beyond_usual(&cycles[289]), []);
    let beyond = beyond_usual(&cycles[290]);
    assert_eq!(beyond.len(), 1);
    assert_eq!(beyond[0].1, 100_000);
}

fn any_event() -> impl Strategy<Value = (u64, u16, u8, u8)> {
    (0..400_000_u64, 0..3_u16, 0..19_u8, 0..4_u8)
}

fn event((step_ns, cpu, which, detail): (u64, u16, u8, u8), at_ns: u64) -> KernelEvent {
    let threads = [idle(), fifo(), hog(), thread(300, "above", 9)];
    let some = threads[usize::from(detail)].clone();
    let interrupt = match detail {
        0 => Interrupt::LocalTimer,
        1 => Interrupt::Reschedule,
        2 => Interrupt::CallFunction,
        _ => Interrupt::Device {
            number: 9,
            name: "disk".into(),
        },
    };
    let left = [Left::Runnable, Left::Sleeping, Left::Blocked, Left::Stopped][usize::from(detail)];
    let previous = threads[(step_ns % 4) as usize].clone();
    let what = match which {
        0 => What::InterruptEntry(interrupt),
        1 => What::InterruptExit(interrupt),
        2 => What::SoftIrqRaise(SoftIrq(detail)),
        3 => What::SoftIrqEntry(SoftIrq(detail)),
        4 => What::SoftIrqExit(SoftIrq(detail)),
        5 => What::TimerExpiryEntry {
            timer: 1,
            function: "hrtimer_wakeup".into(),
        },
        6 => What::TimerExpiryExit { timer: 1 },
        7 => What::TimerStart {
            timer: 1,
            function: "hrtimer_wakeup".into(),
            expires_ns: at_ns + step_ns,
            soft_expires_ns: at_ns,
            soft: false,
        },
        8 => What::Waking {
            thread: fifo(),
            target_cpu: cpu,
        },
        9 => What::WakeUp {
            thread: fifo(),
            target_cpu: cpu,
        },
        10..=12 => What::Switch {
            previous: previous.clone(),
            left,
            next: some,
        },
        13 => What::IpiSend {
            target_cpu: Some(1),
            callback: "".into(),
        },
        14 => What::IdleEntry { state: 2 },
        15 => What::IdleExit,
        16 => FAULT,
        17 => What::PageMapped,
        _ => What::Lost { count: 1 },
    };
    KernelEvent {
        at_ns,
        cpu,
        current: previous.id,
        what,
    }
}

proptest! {
    fn whatever_comes_the_pieces_add_up_to_the_latency(
        steps in proptest::collection::vec(any_event(), 0..400),
        cycles in proptest::collection::vec((0..3_000_000_u64, 1..900_000_u64, any::<bool>()), 1..30),
        usual in any::<bool>(),
    ) {
        let mut stream = Stream::with(hog(), fifo());
        let mut at_ns = DUE;
        for step in steps {
            // Some stamps go back.
            at_ns = (at_ns + step.0).saturating_sub(if step.0 % 7 == 0 { 300_000 } else { 0 });
            stream.events.push(event(step, at_ns));
        }
        let mut end_ns = DUE;
        for (number, (latency_ns, work_ns, past)) in (0_u64..).zip(cycles) {
            let due_ns = DUE + number * MS;
            let wake_ns = (due_ns + latency_ns).max(end_ns);
            end_ns = wake_ns + work_ns;
            stream.samples.push(Sample {
                cycle: number,
                due_ns,
                wake_ns,
                end_ns,
                cpu: 1,
                flags: if past { SampleFlags::DUE_ALREADY_PAST } else { SampleFlags::default() },
                ..Sample::default()
            });
        }
        let count = stream.samples.len();
        let cycles = explained(stream.explainer(usual.then_some(USUAL)), stream.events.iter());
        prop_assert_eq!(cycles.len(), count);
    }
}
