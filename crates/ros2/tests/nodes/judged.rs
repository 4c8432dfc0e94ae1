//! Timers as tasks, messages by their latency, and threads that only run an executor.

use super::*;
use wakepath_ros2::TimerTasks;

/// A thread leaves its CPU to another one; 0 is the idle thread.
fn switch(at_ns: u64, previous: u32, left: Left, next: u32) -> KernelEvent {
    let thread = |id: u32| Thread {
        id,
        name: ThreadName::new(b"node"),
        priority: 120,
    };
    KernelEvent {
        at_ns,
        cpu: 0,
        current: previous,
        what: What::Switch {
            previous: thread(previous),
            left,
            next: thread(next),
        },
    }
}

/// A timer of a thread expires and wakes it.
fn woken(at_ns: u64, id: u32) -> [KernelEvent; 3] {
    let timer = u64::from(id);
    let thread = Thread {
        id,
        name: ThreadName::new(b"node"),
        priority: 120,
    };
    let function = "hrtimer_wakeup".into();
    let event = |at_ns, what| KernelEvent {
        at_ns,
        cpu: 0,
        current: 0,
        what,
    };
    [
        event(at_ns, What::TimerExpiryEntry { timer, function }),
        event(
            at_ns + 10,
            What::Waking {
                thread,
                target_cpu: 0,
            },
        ),
        event(at_ns + 20, What::TimerExpiryExit { timer }),
    ]
}

fn run(from_ns: u64, to_ns: u64, thread: u32, callback: u64) -> [KernelEvent; 2] {
    [
        call(from_ns, thread, "callback_start", &[callback, 0], &[]),
        call(to_ns, thread, "callback_end", &[callback], &[]),
    ]
}

fn seen_in(mut events: Vec<KernelEvent>) -> Seen {
    events.sort_by_key(|event| event.at_ns);
    let mut recorder = Recorder::default();
    for event in &events {
        recorder.event(event, |_| Some(PROCESS));
    }
    recorder.finish()
}

#[test]
fn a_thread_that_wakes_up_for_callbacks_only_runs_an_executor() {
    let mut events = made();
    for due in 1..=20 {
        let at = due * 10 * MS;
        // Thread 11 sleeps between its callbacks, and waits twice within one, and for locks before.
        events.extend(woken(at - 2_000, 11));
        events.push(switch(at, 0, Left::Runnable, 11));
        for wait in [100, 300] {
            events.push(switch(at + wait, 11, Left::Sleeping, 0));
            events.push(switch(at + wait + 100, 0, Left::Runnable, 11));
        }
        events.extend(run(at + 1_000, at + 900_000, 11, 100));
        for wait in [200_000, 400_000] {
            events.push(switch(at + wait, 11, Left::Sleeping, 0));
            events.push(switch(at + wait + 100_000, 0, Left::Runnable, 11));
        }
        events.push(switch(at + MS, 11, Left::Sleeping, 0));
        // Thread 12 has a loop of its own, which looks for work now and then.
        for turn in 0..4 {
            let at = at + 2 * MS + turn * MS;
            events.extend(woken(at - 2_000, 12));
            events.push(switch(at, 0, Left::Runnable, 12));
            if turn == 0 {
                events.extend(run(at + 1_000, at + 2_000, 12, 400));
            }
            events.push(switch(at + 9_000, 12, Left::Sleeping, 0));
        }
        // Of a callback of thread 13 nothing is known.
        events.push(switch(at + 8 * MS, 0, Left::Runnable, 13));
        events.extend(run(at + 8 * MS + 1_000, at + 8 * MS + 2_000, 13, 900));
        events.push(switch(at + 8 * MS + 3_000, 13, Left::Sleeping, 0));
    }
    let seen = seen_in(events.clone());
    assert_eq!(seen.executing.iter().collect::<Vec<_>>(), [&11]);
    // As it is while they run.
    let mut live = Live::default();
    events.sort_by_key(|event| event.at_ns);
    for event in &events {
        live.event(event, |_| Some(PROCESS));
    }
    let is = [11, 12, 13].map(|thread| live.is_executing(thread));
    assert_eq!(is, [true, false, false]);
}

#[test]
fn a_timer_is_a_task_with_the_time_that_its_callbacks_were_on_a_cpu() {
    let mut events = made();
    for due in 1..=20 {
        let at = due * 10 * MS + 1_000;
        events.push(switch(at - 500, 0, Left::Runnable, 11));
        events.extend(run(at, at + 700_000, 11, 100));
        // Preempted for 200 µs.
        events.push(switch(at + 100_000, 11, Left::Runnable, 50));
        events.push(switch(at + 300_000, 50, Left::Sleeping, 11));
        events.push(switch(at + 710_000, 11, Left::Sleeping, 0));
    }
    // Too few to tell.
    events.extend(run(45 * MS, 46 * MS, 11, 200));
    let tasks = TimerTasks::new(&seen_in(events));
    let [task] = &tasks.tasks[..] else {
        panic!("{tasks:?}");
    };
    assert_eq!((&*task.name, &task.threads[..]), ("pilot 10 ms", &[11][..]));
    assert_eq!(tasks.left_out, ["pilot 100 ms (1 callbacks)"]);
    assert_eq!(task.due.period_ns, 10 * MS);
    for sample in &task.samples {
        assert_eq!(sample.latency_ns(), 1_000);
        assert_eq!(
            (sample.cpu_time_ns, sample.involuntary_switches),
            (500_000, 1)
        );
    }
}

/// Messages of `/pose` that wait 1 ms for the motor, the fifth 7 ms and the eighth 9 ms; the first waits 15 ms for it to
/// start.
fn messages() -> Vec<KernelEvent> {
    let mut events = made();
    for number in 1..=10 {
        let at = number * 20 * MS;
        let waits = match number {
            1 => 15 * MS,
            5 => 7 * MS,
            8 => 9 * MS,
            _ => MS,
        };
        events.push(call(at, 11, "rmw_publish", &[31, at], &[]));
        events.push(call(at + waits - 10, 12, "rmw_take", &[41, at, 1], &[]));
        events.extend(run(at + waits, at + waits + 1_000, 12, 400));
    }
    events
}

#[test]
fn messages_that_waited_longer_than_the_limit_are_late() {
    let seen = seen_in(messages());
    let late = |limit_ns: Option<u64>| {
        let row = rows(&seen, 1, limit_ns).remove(0);
        assert_eq!(row.callback.to_string(), "/arm/motor: /pose");
        let worst = row.worst.first().map(|late| (late.at_ns, late.latency_ns));
        (row.late, worst)
    };
    assert_eq!(late(None), (None, None));
    assert_eq!(late(Some(5 * MS)), (Some(2), Some((169 * MS, 9 * MS))));
    assert_eq!(late(Some(9 * MS)), (Some(0), None));
    let (number, first) = first_above(&seen, 5 * MS).unwrap();
    assert_eq!(seen.callbacks[number].to_string(), "/arm/motor: /pose");
    assert_eq!((first.at_ns, first.latency_ns), (107 * MS, 7 * MS));
}

#[test]
fn latencies_of_messages_are_known_while_they_run() {
    let mut live = Live::default();
    let found = messages().into_iter().filter_map(|event| {
        let (callback, latency_ns) = live.event(&event, |_| Some(PROCESS))?;
        assert_eq!(callback.to_string(), "/arm/motor: /pose");
        Some(latency_ns / MS)
    });
    let found: Vec<u64> = found.collect();
    assert_eq!(found, [1, 1, 1, 7, 1, 1, 9, 1, 1]);
}
