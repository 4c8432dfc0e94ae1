//! A loop on a periodic timerfd, as the kernel's events show it: the timer is not started again before the
//! loop has read how often it expired. An expiry served late is not lost.

use wakepath_explain::watch::{Activations, ThreadActivity, row};
use wakepath_timeline::{
    Interrupt, KernelEvent, Left, Sample, SampleFlags, Thread, ThreadName, What,
};

wakepath_test_program::tests![
    cycles_that_a_timerfd_serves_late_are_told_from_those_that_it_loses,
    a_timer_that_another_thread_sets_anew_serves_nobody,
    a_timer_that_is_set_for_a_time_that_has_passed_is_served_at_once,
    a_signal_that_a_handler_only_takes_note_of_begins_no_cycle,
];

const LOOP: u32 = 100;
const START: u64 = 5_000_000_000;
const MS: u64 = 1_000_000;
const US: u64 = 1_000;
const TIMER: u64 = 0xffff_8880_1234_5678;

fn thread(id: u32) -> Thread {
    Thread {
        id,
        name: ThreadName::new(b"loop"),
        priority: 120,
    }
}

/// The loop's own account: the due times that it served, and how many it lost, as returned by each read.
#[derive(Default)]
struct Truth {
    served: Vec<u64>,
    lost: u64,
}

/// An event on the one CPU.
fn event(at_ns: u64, current: u32, what: What) -> KernelEvent {
    KernelEvent {
        at_ns,
        cpu: 1,
        current,
        what,
    }
}

fn due_ns(cycle: u64) -> u64 {
    START + cycle * MS
}

fn switch(from: u32, left: Left, to: u32) -> What {
    What::Switch {
        previous: thread(from),
        left,
        next: thread(to),
    }
}

fn armed(expires_ns: u64) -> What {
    What::TimerStart {
        timer: TIMER,
        function: "timerfd_tmrproc".into(),
        expires_ns,
        soft_expires_ns: expires_ns,
        soft: false,
    }
}

fn expiry() -> What {
    What::TimerExpiryEntry {
        timer: TIMER,
        function: "timerfd_tmrproc".into(),
    }
}

/// Due times `0..dues` of a millisecond each; `work_us` of a cycle follows its read.
fn run(dues: u64, work_us: impl Fn(u64) -> u64) -> (Vec<KernelEvent>, Truth) {
    let mut events = Vec::new();
    let mut truth = Truth::default();
    let mut at = |at_ns, current, what| events.push(event(at_ns, current, what));
    at(START - MS, 1, armed(due_ns(0)));
    let (mut cycle, mut asleep, mut free_ns) = (0, true, 0);
    while cycle < dues {
        let due = due_ns(cycle);
        let current = if asleep { 0 } else { LOOP };
        let interrupt = Interrupt::LocalTimer;
        at(
            due + 2 * US,
            current,
            What::InterruptEntry(interrupt.clone()),
        );
        at(due + 3 * US, current, expiry());
        if asleep {
            let waking = What::Waking {
                thread: thread(LOOP),
                target_cpu: 1,
            };
            at(due + 4 * US, current, waking);
        }
        at(
            due + 5 * US,
            current,
            What::TimerExpiryExit { timer: TIMER },
        );
        at(due + 6 * US, current, What::InterruptExit(interrupt));
        let read_ns = if asleep { due + 8 * US } else { free_ns };
        if asleep {
            at(due + 7 * US, 0, switch(0, Left::Runnable, LOOP));
        }
        // read(): the timer continues from here, and this many expiries were pending.
        let next = cycle + (read_ns - due) / MS + 1;
        at(read_ns, LOOP, armed(due_ns(next)));
        truth.served.push(due);
        truth.lost += next - cycle - 1;
        free_ns = read_ns + work_us(cycle) * US;
        asleep = free_ns < due_ns(next);
        if asleep {
            at(free_ns, LOOP, switch(LOOP, Left::Sleeping, 0));
        }
        cycle = next;
    }
    events.sort_by_key(|event| event.at_ns);
    (events, truth)
}

fn watched(events: &[KernelEvent]) -> (ThreadActivity, Vec<Sample>) {
    let mut activations = Activations::new([LOOP]);
    for event in events {
        activations.event(event);
    }
    let activity = activations.finish().remove(&LOOP).unwrap();
    let rhythm = activity.rhythm().unwrap();
    assert_eq!((rhythm.period_ns, rhythm.programmed), (MS, true));
    let samples = row(&activity.turns(rhythm), rhythm).samples;
    (activity, samples)
}

fn cycles_that_a_timerfd_serves_late_are_told_from_those_that_it_loses() {
    // Fifteen cycles run into the next one, four over the next two.
    let work_us = |cycle| match cycle {
        20..=580 if cycle % 40 == 20 => 1_500,
        700..=760 if cycle % 20 == 0 => 2_500,
        _ => 100,
    };
    let (events, truth) = run(800, work_us);
    assert_eq!((truth.served.len(), truth.lost), (796, 4));
    let (activity, mut samples) = watched(&events);
    // Its last turn has not ended.
    let mut served = truth.served;
    served.pop();
    assert_eq!(activity.served_late, 19);
    let dues: Vec<u64> = samples.iter().map(|sample| sample.due_ns).collect();
    assert_eq!(dues, served);
    samples.retain(|sample| sample.flags.contains(SampleFlags::DUE_ALREADY_PAST));
    assert_eq!(samples.len(), 19);
    // Read 1.508 ms after its due time, 508 µs after the next one's.
    let late = samples.iter().find(|sample| sample.cycle == 21).unwrap();
    assert_eq!(late.latency_ns(), 508_000);
    assert_eq!(late.execution_ns(), 100_000);
}

fn a_timer_that_another_thread_sets_anew_serves_nobody() {
    let (mut events, truth) = run(20, |cycle| if cycle == 10 { 1_500 } else { 100 });
    let read = events.iter_mut().find(|event| {
        let starts = matches!(event.what, What::TimerStart { .. });
        starts && event.at_ns == START + 10 * MS + 1_508 * US
    });
    read.unwrap().current = 999;
    let (activity, samples) = watched(&events);
    assert_eq!(activity.served_late, 0);
    // Without cycle 11, and the last, which has not ended.
    assert_eq!(samples.len(), truth.served.len() - 2);
}

fn a_timer_that_is_set_for_a_time_that_has_passed_is_served_at_once() {
    // Each cycle sets the timer once, for its due time, before it reads; cycle 10 is over 1.4 ms
    // behind its own, so that the time of cycle 11 has passed when it is set.
    let mut events = Vec::new();
    let mut at = |at_ns, current, what| events.push(event(at_ns, current, what));
    let mut free_ns = START - MS;
    for cycle in 0..20 {
        let due = due_ns(cycle);
        at(free_ns, LOOP, armed(due));
        let asleep = free_ns < due;
        let expiry_ns = due.max(free_ns) + 3 * US;
        let current = if asleep { 0 } else { LOOP };
        if asleep {
            at(free_ns + US, LOOP, switch(LOOP, Left::Sleeping, 0));
        }
        at(expiry_ns, current, expiry());
        if asleep {
            let waking = What::Waking {
                thread: thread(LOOP),
                target_cpu: 1,
            };
            at(expiry_ns + US, 0, waking);
        }
        at(
            expiry_ns + 2 * US,
            current,
            What::TimerExpiryExit { timer: TIMER },
        );
        if asleep {
            at(expiry_ns + 4 * US, 0, switch(0, Left::Runnable, LOOP));
        }
        free_ns = expiry_ns + 5 * US + if cycle == 10 { 1_400 } else { 100 } * US;
    }
    let (activity, samples) = watched(&events);
    assert_eq!(activity.served_late, 1);
    let cycles: Vec<u64> = samples.iter().map(|sample| sample.cycle).collect();
    // The last has not ended.
    assert_eq!(cycles, (0..19).collect::<Vec<_>>());
    let late = samples[11];
    // Free 1.408 ms after the due time of cycle 10, set then, expired 3 µs later, done 2 µs after.
    assert_eq!(late.latency_ns(), 413_000);
}

/// The same by a timer's signals, for which the loop waits in pause(). It takes a late one after it returned from a
/// handler, or in the middle of its work.
fn signalled(after_handler: bool) -> ThreadActivity {
    let (events, _) = run(100, |cycle| if cycle % 20 == 10 { 1_500 } else { 100 });
    let call = |name: &str| What::SystemCallEntry {
        name: name.into(),
        argument: None,
    };
    let mut all = Vec::new();
    let mut slept = true;
    for mut of in events {
        if let What::TimerStart { function, .. } | What::TimerExpiryEntry { function, .. } =
            &mut of.what
        {
            *function = "it_real_fn".into();
        }
        let (at_ns, is_loop) = (of.at_ns, of.current == LOOP);
        let mut add = |what| all.push(event(at_ns, LOOP, what));
        match &of.what {
            What::Switch { .. } if is_loop => add(call("pause")),
            What::TimerStart { .. } if is_loop && after_handler && !slept => {
                add(call("rt_sigreturn"));
                add(What::SystemCallExit);
            }
            _ => {}
        }
        let is_in = matches!(of.what, What::Switch { .. }) && !is_loop;
        slept = is_in || slept && !matches!(of.what, What::TimerStart { .. });
        all.push(of);
        if is_in {
            all.push(event(at_ns, LOOP, What::SystemCallExit));
        }
    }
    watched(&all).0
}

fn a_signal_that_a_handler_only_takes_note_of_begins_no_cycle() {
    let of = |activity: &ThreadActivity| {
        let lasting = activity.is_by_lasting_timers();
        (activity.served_late, activity.noted, lasting)
    };
    assert_eq!(of(&signalled(true)), (5, 0, true));
    assert_eq!(of(&signalled(false)), (0, 5, false));
}
