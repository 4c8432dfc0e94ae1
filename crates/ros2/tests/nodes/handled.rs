//! Work that no callback marks: requests to actions, answers to clients, and what a thread waited for by them.

use super::*;
use wakepath_ros2::{During, Late, Row, Waited};

/// An action's server and client, a service and its client.
fn ends() -> Vec<KernelEvent> {
    let call =
        |function: &str, numbers: &[u64], texts: &[&str]| call(0, 11, function, numbers, texts);
    let mut events = made();
    events.extend([
        call("rcl_service_init", &[50, 1], &["/lift/_action/send_goal"]),
        call("rcl_client_init", &[60, 2], &["/lift/_action/send_goal"]),
        call(
            "rcl_subscription_init",
            &[65, 2, 66, 2],
            &["/lift/_action/feedback"],
        ),
        call("rcl_service_init", &[70, 2], &["/plan"]),
        call("rclcpp_service_callback_added", &[70, 700], &[]),
        call("rcl_client_init", &[80, 1], &["/plan"]),
    ]);
    events
}

fn run(from_ns: u64, to_ns: u64, thread: u32, callback: u64) -> [KernelEvent; 2] {
    [
        call(from_ns, thread, "callback_start", &[callback, 0], &[]),
        call(to_ns, thread, "callback_end", &[callback], &[]),
    ]
}

/// A thread takes a request or response with this handle, or fails to.
fn takes(at_ns: u64, thread: u32, what: &str, handle: u64, result: u64) -> [KernelEvent; 2] {
    let name = format!("take_{what}_with_info");
    [
        call(at_ns - 1, thread, &name, &[handle], &[]),
        call(at_ns, thread, &format!("{name}_returns"), &[result], &[]),
    ]
}

/// CPU 0 from one thread, which sleeps, to another.
fn switch(at_ns: u64, from: u32, to: u32) -> KernelEvent {
    let of = |id: u32| Thread {
        id,
        name: ThreadName::new(format!("t{id}").as_bytes()),
        priority: 120,
    };
    KernelEvent {
        at_ns,
        cpu: 0,
        current: from,
        what: What::Switch {
            previous: of(from),
            left: Left::Sleeping,
            next: of(to),
        },
    }
}

fn wakes(at_ns: u64, by: u32, whom: u32) -> KernelEvent {
    KernelEvent {
        at_ns,
        cpu: 0,
        current: by,
        what: What::Waking {
            thread: Thread {
                id: whom,
                name: ThreadName::new(b"t"),
                priority: 120,
            },
            target_cpu: 0,
        },
    }
}

fn seen_in(events: &mut [KernelEvent]) -> (Seen, Vec<Row>) {
    events.sort_by_key(|event| event.at_ns);
    let mut recorder = Recorder::default();
    for event in &*events {
        recorder.event(event, |_| Some(PROCESS));
    }
    let seen = recorder.finish();
    let rows = rows(&seen, 1, None);
    (seen, rows)
}

/// The latest run of the timer of 10 ms, accounted.
fn latest(events: &[KernelEvent], seen: &Seen, rows: Vec<Row>) -> Late {
    let row = rows.into_iter().find(|row| row.callback.handle == 100);
    let mut late = row.unwrap().worst.remove(0);
    let mut accounts = Accounts::new(late.windows());
    events.iter().for_each(|event| accounts.event(event));
    late.accounted(seen, &mut accounts.finish().into_iter());
    late
}

/// As tracetools 8.5 records it, by the middleware's handles.
#[test]
fn requests_and_answers_that_the_middleware_marks_have_the_same_rows() {
    let made =
        |function: &str, numbers: &[u64], text: &str| call(1, 11, function, numbers, &[text]);
    let mut events = ends();
    events.extend([
        made("rcl_service_init", &[50, 1, 51], "/lift/_action/send_goal"),
        made("rcl_client_init", &[60, 2, 61], "/lift/_action/send_goal"),
        made("rcl_service_init", &[70, 2, 71], "/plan"),
        call(12 * MS, 11, "rmw_take_request", &[51, 1], &[]),
        call(13 * MS, 11, "rmw_take_request", &[51, 0], &[]),
        call(14 * MS, 11, "rmw_take_request", &[71, 1], &[]),
        call(15 * MS, 12, "rmw_take_response", &[61, 1], &[]),
        call(16 * MS, 12, "rmw_take_response", &[61, 1], &[]),
        call(17 * MS, 12, "rmw_take_response", &[62, 1], &[]),
    ]);
    let (seen, rows) = seen_in(&mut events);
    assert!(seen.has_unmarked);
    let named: Vec<(String, u64)> = rows
        .iter()
        .map(|row| (row.callback.kind.to_string(), row.count))
        .collect();
    let request = "action /lift, goal request".to_owned();
    let answer = "action /lift, answer to goal request".to_owned();
    assert_eq!(named.len(), 2, "{named:?}");
    assert!(named.contains(&(request, 1)), "{named:?}");
    assert!(named.contains(&(answer, 2)), "{named:?}");
}

#[test]
fn what_is_taken_without_a_callback_has_a_row_and_holds_its_thread() {
    let mut events = ends();
    events.extend(run(10 * MS, 11 * MS, 11, 100));
    // A goal that takes 40 ms, its answer on another thread, and a message.
    events.extend(takes(12 * MS, 11, "request", 50, 0));
    events.extend(takes(52 * MS, 12, "response", 60, 0));
    // There was none for this client.
    events.extend(takes(52 * MS + 10, 12, "response", 60, 501));
    events.push(call(53 * MS, 12, "rmw_take", &[66, 1, 1], &[]));
    events.extend(run(52 * MS, 53 * MS, 11, 100));
    // A service's request is its callback's.
    events.extend(takes(54 * MS, 12, "request", 70, 0));
    events.extend(run(55 * MS, 56 * MS, 12, 700));
    let (_, rows) = seen_in(&mut events);
    let named: Vec<(String, u64, bool)> = rows
        .iter()
        .map(|row| (row.callback.to_string(), row.count, row.run_ns.is_some()))
        .collect();
    let of = |name: &str, runs: u64, is_marked: bool| (name.to_owned(), runs, is_marked);
    assert_eq!(
        named,
        [
            of("pilot: timer 10 ms", 2, true),
            of("/arm/motor: service /plan", 1, true),
            of("/arm/motor: action /lift, answer to goal request", 1, false),
            of("/arm/motor: action /lift, feedback", 1, false),
            of("pilot: action /lift, goal request", 1, false),
        ]
    );
    let late = &rows[0].worst[0];
    let handled = late.unheld.as_ref().unwrap().handled.as_deref();
    assert_eq!(handled, Some("action /lift, goal request"));
}

#[test]
fn a_wait_for_a_service_is_named_by_the_callback_that_served_it() {
    for taker in [11, 12] {
        let mut events = ends();
        events.extend(run(10 * MS, 11 * MS, 11, 100));
        // The slow timer asks for a plan, and the service takes 30 ms on another thread.
        events.extend(run(12 * MS, 46 * MS, 11, 200));
        events.push(switch(13 * MS, 11, 12));
        events.extend(run(14 * MS, 44 * MS, 12, 700));
        events.push(wakes(44 * MS + 300, 12, 11));
        events.push(switch(44 * MS + 500, 12, 11));
        let taken_ns = if taker == 11 { 45 * MS } else { 44 * MS + 200 };
        events.extend(takes(taken_ns, taker, "response", 80, 0));
        events.extend(run(47 * MS, 48 * MS, 11, 100));
        events.push(switch(49 * MS, 11, 0));
        let (seen, rows) = seen_in(&mut events);
        let late = latest(&events, &seen, rows);
        let account = late.holders[0].account.as_ref().unwrap();
        let wait = account.longest.as_ref().unwrap();
        let served = During::Answer("/arm/motor: service /plan".into());
        assert_eq!(
            (wait.ended_ns, &wait.during),
            (44 * MS + 300, &Some(served))
        );
    }
}

#[test]
fn a_wait_that_a_callback_s_thread_ends_is_named_by_that_callback() {
    let mut events = ends();
    events.extend(run(10 * MS, 11 * MS, 11, 100));
    events.extend(run(12 * MS, 46 * MS, 11, 200));
    events.push(switch(13 * MS, 11, 12));
    events.extend(run(14 * MS, 44 * MS, 12, 400));
    events.push(wakes(43 * MS, 12, 11));
    events.push(switch(45 * MS, 12, 11));
    events.extend(run(47 * MS, 48 * MS, 11, 100));
    events.push(switch(49 * MS, 11, 0));
    let (seen, rows) = seen_in(&mut events);
    let late = latest(&events, &seen, rows);
    let wait = late.holders[0].account.clone().unwrap().longest.unwrap();
    let ran = During::Ran("/arm/motor: /pose".into());
    assert_eq!(wait.during, Some(ran));
}

#[test]
fn a_callback_that_also_ran_at_the_same_time_is_in_another_group_and_holds_nothing() {
    let mut events = made();
    events.extend(run(10 * MS, 11 * MS, 11, 100));
    events.extend(run(12 * MS, 40 * MS, 12, 200));
    events.extend(run(40 * MS, 41 * MS, 11, 100));
    let (seen, rows) = seen_in(&mut events.clone());
    assert!(seen.together.is_empty());
    assert_eq!(rows[0].worst[0].holders[0].callback, "timer 100 ms");
    // Another time they overlap.
    events.extend(run(49 * MS, 60 * MS, 12, 200));
    events.extend(run(50 * MS, 51 * MS, 11, 100));
    let (seen, rows) = seen_in(&mut events);
    assert_eq!(seen.together.len(), 1);
    let late = &rows[0].worst[0];
    assert!(late.holders.is_empty(), "{late:?}");
}

/// The slow timer waits for a lock; the thread that has it waits for another, which sleeps.
#[test]
fn threads_that_wait_for_each_other_are_followed_to_the_last() {
    let mut events = ends();
    events.extend(run(10 * MS, 11 * MS, 11, 100));
    events.extend(run(12 * MS, 46 * MS, 11, 200));
    events.push(switch(13 * MS, 11, 14));
    events.push(switch(14 * MS, 14, 13));
    events.push(switch(15 * MS, 13, 0));
    // The last of them had asked for 40 ms.
    events.push(KernelEvent {
        at_ns: 14 * MS + 500_000,
        cpu: 0,
        current: 13,
        what: What::TimerStart {
            timer: 1,
            function: "hrtimer_wakeup".into(),
            expires_ns: 40 * MS + 50_000,
            soft_expires_ns: 40 * MS,
            soft: false,
        },
    });
    let expires = |what| KernelEvent {
        at_ns: 42 * MS,
        cpu: 0,
        current: 0,
        what,
    };
    events.push(expires(What::TimerExpiryEntry {
        timer: 1,
        function: "hrtimer_wakeup".into(),
    }));
    events.push(wakes(42 * MS, 0, 13));
    events.push(expires(What::TimerExpiryExit { timer: 1 }));
    events.push(switch(42 * MS + 100, 0, 13));
    events.push(wakes(43 * MS, 13, 14));
    events.push(switch(43 * MS + 100, 13, 14));
    events.push(wakes(44 * MS, 14, 11));
    events.push(switch(44 * MS + 100, 14, 11));
    events.extend(run(47 * MS, 48 * MS, 11, 100));
    events.push(switch(49 * MS, 11, 0));
    let (seen, rows) = seen_in(&mut events);
    let mut late = latest(&events, &seen, rows);
    let mut wakers = Vec::new();
    loop {
        let windows = late.wakers();
        let Some(window) = windows.first() else { break };
        wakers.push(window.thread);
        let mut accounts = Accounts::new(windows);
        events.iter().for_each(|event| accounts.event(event));
        late.wakers_accounted(&seen, &mut accounts.finish().into_iter());
    }
    assert_eq!(wakers, [14, 13]);
    let wait = late.holders[0].account.clone().unwrap().longest.unwrap();
    let other = wait.waker.unwrap().longest.unwrap();
    let last = other.waker.unwrap();
    assert_eq!(
        (other.thread, last.longest.unwrap().by),
        (
            Some(13),
            Waited::Timer {
                late_ns: Some(2 * MS)
            }
        )
    );
}

#[test]
fn a_thread_that_is_woken_before_it_sleeps_stays_on_its_cpu() {
    let mut events = ends();
    events.extend(run(10 * MS, 11 * MS, 11, 100));
    events.push(switch(11 * MS + 500_000, 0, 11));
    events.extend(run(12 * MS, 46 * MS, 11, 200));
    events.push(wakes(13 * MS, 12, 11));
    events.extend(run(47 * MS, 48 * MS, 11, 100));
    events.push(switch(49 * MS, 11, 0));
    let (seen, rows) = seen_in(&mut events);
    let late = latest(&events, &seen, rows);
    let account = late.holders[0].account.as_ref().unwrap();
    assert_eq!((account.on_cpu_ns, account.ready_ns), (34 * MS, 0));
}
