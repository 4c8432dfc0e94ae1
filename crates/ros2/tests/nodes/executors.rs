//! Executors out of the threads that ran callbacks, and the time in no callback.

use super::*;
use wakepath_ros2::{Executor, ExecutorKind, Executors};

/// A switch of CPU 0 between two threads; the one that leaves sleeps.
fn sleeps(at_ns: u64, thread: u32, next: u32) -> KernelEvent {
    let of = |id: u32| Thread {
        id,
        name: ThreadName::new(format!("t{id}").as_bytes()),
        priority: 120,
    };
    KernelEvent {
        at_ns,
        cpu: 0,
        current: thread,
        what: What::Switch {
            previous: of(thread),
            left: Left::Sleeping,
            next: of(next),
        },
    }
}

fn executors(events: &[KernelEvent]) -> (Seen, Vec<Executor>) {
    let mut recorder = Recorder::default();
    for event in events {
        recorder.event(event, |thread| (thread < 90).then_some(PROCESS));
    }
    let seen = recorder.finish();
    let mut executors = Executors::new(&seen);
    events.iter().for_each(|event| executors.event(event));
    let executors = executors.finish(&seen);
    (seen, executors)
}

#[test]
fn threads_that_ran_a_callback_in_common_are_one_executor() {
    let mut events = made();
    let mut run = |from_ns: u64, to_ns: u64, thread: u32, callback: u64| {
        events.push(call(from_ns, thread, "callback_start", &[callback, 0], &[]));
        events.push(call(to_ns, thread, "callback_end", &[callback], &[]));
    };
    run(MS, 2 * MS, 11, 100);
    run(2 * MS, 4 * MS, 12, 100);
    run(4 * MS, 5 * MS, 13, 200);
    // Within a callback no further time passes.
    events.push(call(5 * MS, 12, "callback_start", &[100, 0], &[]));
    events.push(call(6 * MS, 12, "callback_start", &[400, 0], &[]));
    events.push(call(7 * MS, 12, "callback_end", &[400], &[]));
    events.push(call(10 * MS, 12, "callback_end", &[100], &[]));
    let (_, found) = executors(&events);
    let of = |at: usize| {
        let of = &found[at];
        let threads: Vec<u32> = of.threads.iter().map(|of| of.thread).collect();
        (threads, of.callbacks.len(), of.runs, of.busy_ns, of.kind)
    };
    assert_eq!(found.len(), 2);
    let multi = Some(ExecutorKind::MultiThreaded);
    assert_eq!(of(0), (vec![12, 11], 2, 4, 8 * MS, multi));
    assert_eq!(of(1), (vec![13], 1, 1, MS, None));
    assert_eq!(found[0].busy_percent(), Some(40.0));
    // Without a switch nobody knows when a thread rested.
    assert!(found.iter().all(|of| of.longest.is_none()));
}

#[test]
fn callbacks_without_a_rest_between_them_are_one_stretch() {
    let mut events = made();
    for at in [1, 3, 5, 10, 20] {
        let callback = if at == 3 { 200 } else { 100 };
        events.push(call(at * MS, 11, "callback_start", &[callback, 0], &[]));
        // A wait within a callback is no rest.
        events.push(sleeps(at * MS + 1, 11, 0));
        events.push(call(at * MS + MS, 11, "callback_end", &[callback], &[]));
        if at >= 5 {
            events.push(call(
                at * MS + MS + 2,
                11,
                "rclcpp_executor_wait_for_work",
                &[],
                &[],
            ));
            events.push(sleeps(at * MS + MS + 5, 11, 0));
        }
    }
    // Another executor waits in no wait set.
    events.push(call(22 * MS, 12, "callback_start", &[400, 0], &[]));
    events.push(call(23 * MS, 12, "callback_end", &[400], &[]));
    let (seen, found) = executors(&events);
    let longest = found[0].longest.as_ref().unwrap();
    assert_eq!((longest.from_ns, longest.to_ns), (MS, 6 * MS));
    let parts = longest.parts.iter();
    let parts: Vec<_> = parts
        .map(|(at, ns)| (seen.callbacks[*at].to_string(), *ns))
        .collect();
    let (often, once) = ("pilot: timer 10 ms".into(), "pilot: timer 100 ms".into());
    assert_eq!(parts, [(often, 2 * MS), (once, MS)]);
    assert_eq!(found[0].threads[0].name.as_deref(), Some("t11"));
    let kinds: Vec<_> = found.iter().map(|of| of.kind).collect();
    assert_eq!(
        kinds,
        [
            Some(ExecutorKind::SingleThreaded),
            Some(ExecutorKind::Events)
        ]
    );
}

#[test]
fn the_longest_time_without_a_callback_has_an_account_of_its_own() {
    let mut events = made();
    let run = |from_ns: u64, to_ns: u64, callback: u64| {
        [
            call(from_ns, 11, "callback_start", &[callback, 0], &[]),
            call(to_ns, 11, "callback_end", &[callback], &[]),
        ]
    };
    events.extend(run(10 * MS, 11 * MS, 100));
    // Due at 20 ms: 9 ms of another callback, and 15 ms of sleep outside any.
    events.extend(run(19 * MS, 29 * MS, 200));
    events.push(sleeps(29 * MS, 11, 0));
    events.push(sleeps(44 * MS, 0, 11));
    events.extend(run(44 * MS, 45 * MS, 100));
    events.push(sleeps(46 * MS, 11, 0));
    let mut recorder = Recorder::default();
    events
        .iter()
        .for_each(|event| recorder.event(event, |_| Some(PROCESS)));
    let seen = recorder.finish();
    let mut late = rows(&seen, 1, None).remove(0).worst.remove(0);
    let mut accounts = Accounts::new(late.windows());
    events.iter().for_each(|event| accounts.event(event));
    late.accounted(&seen, &mut accounts.finish().into_iter());
    assert_eq!((late.latency_ns, late.held_ns), (24 * MS, 9 * MS));
    let unheld = late.unheld.unwrap();
    assert_eq!((unheld.from_ns, unheld.to_ns), (29 * MS, 44 * MS));
    assert_eq!(unheld.account.unwrap().waiting_ns, 15 * MS);
}
