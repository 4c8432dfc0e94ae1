//! Two nodes out of the calls that they make: names, due times, what held the executor, a chain.

mod chains;
mod control;
mod executors;
mod handled;
mod judged;
mod later;
mod lifecycle;
mod lost;

use std::sync::Arc;
use wakepath_ros2::{
    Accounts, Chain, Kind, Live, LostBy, Recorder, Seen, Window, first_above, rows,
};
use wakepath_timeline::{Call, KernelEvent, Left, Thread, ThreadName, What};

const MS: u64 = 1_000_000;
/// Of both nodes.
const PROCESS: u32 = 7;

/// A call of thread 11, or of another.
fn call(at_ns: u64, thread: u32, function: &str, numbers: &[u64], texts: &[&str]) -> KernelEvent {
    KernelEvent {
        at_ns,
        cpu: 0,
        current: thread,
        what: What::Call(Box::new(Call {
            function: function.into(),
            numbers: numbers.to_vec(),
            texts: texts.iter().map(|text| Arc::from(*text)).collect(),
        })),
    }
}

fn made() -> Vec<KernelEvent> {
    let call =
        |function: &str, numbers: &[u64], texts: &[&str]| call(0, 11, function, numbers, texts);
    vec![
        call("rcl_node_init", &[1], &["pilot", "/"]),
        call("rcl_node_init", &[2], &["motor", "/arm"]),
        call("rcl_timer_init", &[10, 10 * MS], &[]),
        call("rclcpp_timer_callback_added", &[10, 100], &[]),
        call("rclcpp_timer_link_node", &[10, 1], &[]),
        call("rcl_timer_init", &[20, 100 * MS], &[]),
        call("rclcpp_timer_callback_added", &[20, 200], &[]),
        call("rclcpp_timer_link_node", &[20, 1], &[]),
        call("rcl_publisher_init", &[30, 1, 31], &["/pose"]),
        call("rcl_subscription_init", &[40, 2, 41, 2], &["/pose"]),
        call("rclcpp_subscription_init", &[40, 42], &[]),
        call("rclcpp_subscription_callback_added", &[42, 400], &[]),
    ]
}

/// Ten calls of the timer; `slow_thread` runs the other timer from 49 to 79 ms.
fn seen(slow_thread: u32) -> Seen {
    let mut events = made();
    for due in (1..=10).filter(|due| !(5..8).contains(due)) {
        let at = due * 10 * MS + 1_000;
        events.push(call(at, 11, "callback_start", &[100, 0], &[]));
        events.push(call(at + 10, 11, "rmw_publish", &[31, at], &[]));
        events.push(call(at + 100, 11, "callback_end", &[100], &[]));
        if due == 10 {
            continue;
        }
        events.push(call(at + 200, 11, "rmw_take", &[41, at, 1], &[]));
        events.push(call(at + 300, 11, "callback_start", &[400, 0], &[]));
        events.push(call(at + 500, 11, "callback_end", &[400], &[]));
    }
    events.push(call(49 * MS, slow_thread, "callback_start", &[200, 0], &[]));
    events.push(call(79 * MS, slow_thread, "callback_end", &[200], &[]));
    events.push(call(2000 * MS, 12, "callback_end", &[200], &[]));
    events.sort_by_key(|event| event.at_ns);
    let mut recorder = Recorder::default();
    for event in &events {
        recorder.event(event, |thread| (thread < 20).then_some(PROCESS));
    }
    recorder.finish()
}

#[test]
fn callbacks_have_their_names_and_late_ones_what_held_their_executor() {
    let rows = rows(&seen(11), 3, None);
    let names: Vec<String> = rows.iter().map(|row| row.callback.to_string()).collect();
    assert_eq!(
        names,
        [
            "pilot: timer 10 ms",
            "pilot: timer 100 ms",
            "/arm/motor: /pose"
        ]
    );
    let control = &rows[0];
    assert_eq!(
        (control.count, control.late, control.skipped),
        (7, Some(1), Some(3))
    );
    let late = &control.worst[0];
    // Due at 50 ms, begun at 80 ms.
    assert_eq!((late.gap_ns, late.latency_ns), (40 * MS, 30 * MS + 1_000));
    let holder = &late.holders[0];
    assert_eq!(
        (&*holder.callback, holder.share_ns),
        ("timer 100 ms", 29 * MS)
    );
    assert!(holder.same_thread && !holder.is_itself);
    assert_eq!(rows[2].waited_ns.unwrap().max, 290);
}

#[test]
fn a_callback_of_the_same_node_on_another_thread_is_a_holder_too() {
    let rows = rows(&seen(12), 3, None);
    let holder = &rows[0].worst[0].holders[0];
    assert_eq!(&*holder.callback, "timer 100 ms");
    assert!(!holder.same_thread);
}

#[test]
fn a_chain_goes_from_publishing_to_the_end_of_the_last_callback() {
    let seen = seen(11);
    let found = |chain: &str| {
        let chain: Chain = chain.parse().unwrap();
        chain.find(&seen, Some(400), 3, 0)
    };
    for to in ["/arm/motor", "/pose"] {
        let found = found(&format!("/pose:{to}"));
        assert_eq!((found.begun, found.ended, found.above), (7, 6, Some(6)));
        assert_eq!(found.latency_ns.unwrap().max, 490);
        let [hop] = &found.hops[..] else {
            panic!("{found:#?}")
        };
        assert_eq!(
            (hop.waiting_ns.unwrap().max, hop.working_ns.unwrap().max),
            (290, 200)
        );
        let [latest, ..] = &found.latest[..] else {
            panic!("{found:#?}")
        };
        assert_eq!(found.latest.len(), 3);
        assert_eq!(
            (latest.latency_ns, latest.worked_ns, &*latest.callback),
            (490, 200, "/arm/motor: /pose")
        );
        assert_eq!(latest.late.latency_ns, 290);
        assert!(found.end_is_known);
        // The last message is taken by nobody.
        let [lost] = &found.lost[..] else {
            panic!("{found:#?}")
        };
        assert_eq!((lost.count, &lost.by), (1, &LostBy::NotTaken));
    }
    let nowhere = found("/pose:/nowhere");
    assert!(nowhere.ended == 0 && !nowhere.end_is_known && nowhere.latest.is_empty());
    for bad in ["", "/pose", ":/pose", "/pose:", "/a b:/c", "/a:/b:/c"] {
        assert!(bad.parse::<Chain>().is_err(), "{bad}");
    }
}

#[test]
fn a_callback_that_was_made_before_has_the_period_that_it_keeps() {
    let mut recorder = Recorder::default();
    for at in (0..40).filter(|at| *at != 20) {
        let at = at * 10 * MS + at % 3 * 1_000;
        for (after, function) in [(0, "callback_start"), (50, "callback_end")] {
            recorder.event(&call(at + after, 11, function, &[500, 0], &[]), |_| {
                Some(PROCESS)
            });
        }
    }
    let rows = rows(&recorder.finish(), 3, None);
    assert_eq!(rows[0].late, Some(1));
    assert!(rows[0].period_ns.unwrap().abs_diff(10 * MS) < 5_000);
    assert!(rows[0].latency_ns.is_none() && rows[0].worst[0].holders.is_empty());
}

#[test]
fn what_was_made_before_is_unknown_and_other_programs_are_left_out() {
    let mut recorder = Recorder::default();
    let process = |thread: u32| (thread < 20).then_some(PROCESS);
    for (at, thread) in [(1, 11), (2, 30)] {
        recorder.event(&call(at, thread, "callback_start", &[500, 0], &[]), process);
        recorder.event(&call(at + 5, thread, "callback_end", &[500], &[]), process);
    }
    recorder.event(&call(9, 11, "rmw_publish", &[1, 2], &[]), process);
    recorder.event(&call(9, 11, "callback_end", &[501], &[]), process);
    // Calls of another version, with fewer arguments.
    recorder.event(&call(10, 11, "rcl_node_init", &[], &[]), process);
    recorder.event(&call(10, 11, "callback_start", &[], &[]), process);
    let seen = recorder.finish();
    assert_eq!(
        (seen.runs.len(), seen.unpaired, seen.unnamed_messages),
        (1, 1, 1)
    );
    assert_eq!(seen.callbacks[0].kind, Kind::Unknown);
    assert_eq!(seen.callbacks[0].to_string(), "callback 0x1f4 of process 7");
}

#[test]
fn who_had_the_cpu_of_a_ready_thread_is_named() {
    let thread = |id, name: &str| Thread {
        id,
        name: ThreadName::new(name.as_bytes()),
        priority: 120,
    };
    let switch = |at_ns, cpu, previous: Thread, left, next: Thread| KernelEvent {
        at_ns,
        cpu,
        current: previous.id,
        what: What::Switch {
            previous,
            left,
            next,
        },
    };
    let node = || thread(11, "node");
    let (short, long) = (|| thread(50, "short"), || thread(60, "long"));
    let events = [
        switch(10, 0, thread(0, ""), Left::Runnable, node()),
        switch(10, 1, thread(0, ""), Left::Runnable, thread(70, "aside")),
        switch(100, 0, node(), Left::Runnable, short()),
        switch(150, 0, short(), Left::Sleeping, long()),
        switch(300, 1, thread(70, "aside"), Left::Sleeping, thread(0, "")),
        switch(400, 0, long(), Left::Runnable, node()),
        switch(500, 0, node(), Left::Sleeping, long()),
    ];
    let mut accounts = Accounts::new([Window {
        thread: 11,
        from_ns: 50,
        to_ns: 350,
    }]);
    for event in &events {
        accounts.event(event);
    }
    let account = accounts.finish().remove(0);
    assert_eq!((account.on_cpu_ns, account.ready_ns), (50, 250));
    assert_eq!(account.others, Some((200, "long".into())));
}

#[test]
fn latencies_of_timers_are_known_while_they_run() {
    let mut live = Live::default();
    let process = |_| Some(PROCESS);
    let mut found = Vec::new();
    let mut events = made();
    for due in (1..=10).filter(|due| !(5..8).contains(due)) {
        events.push(call(
            due * 10 * MS + 1_000,
            11,
            "callback_start",
            &[100, 0],
            &[],
        ));
        events.push(call(due * 10 * MS + 9_000, 11, "callback_end", &[100], &[]));
        // Of a subscription no due time is known.
        events.push(call(
            due * 10 * MS + 9_000,
            11,
            "callback_start",
            &[400, 0],
            &[],
        ));
    }
    for event in &events {
        let begun = live.event(event, process);
        found.extend(begun.map(|(callback, latency_ns)| (callback.to_string(), latency_ns)));
    }
    let latencies: Vec<u64> = found.iter().map(|(_, latency_ns)| *latency_ns).collect();
    let late = 30 * MS + 1_000;
    assert_eq!(latencies, [1_000, 1_000, 1_000, 1_000, late, 1_000, 1_000]);
    assert!(found.iter().all(|(name, _)| name == "pilot: timer 10 ms"));
    let (number, late) = first_above(&seen(11), 20 * MS).unwrap();
    assert_eq!((number, late.latency_ns), (0, 30 * MS + 1_000));
    assert!(first_above(&seen(11), 31 * MS).is_none());
}

#[test]
fn a_callback_that_was_made_before_is_late_by_its_own_period_while_it_runs() {
    let mut live = Live::default();
    let begins = (0..40).filter(|at| *at != 30).filter_map(|at| {
        let event = call(
            at * 10 * MS + at % 3 * 1_000,
            11,
            "callback_start",
            &[500, 0],
            &[],
        );
        Some(live.event(&event, |_| Some(PROCESS))?.1)
    });
    let latencies: Vec<u64> = begins.collect();
    let late = latencies.iter().filter(|of| **of > 5 * MS);
    let late: Vec<&u64> = late.collect();
    assert!(
        matches!(late[..], [one] if one.abs_diff(10 * MS) < 5_000),
        "{latencies:?}"
    );
}

/// A thousand callbacks that wait for one another.
#[test]
fn of_many_holders_the_longest_are_kept_and_all_are_counted() {
    let mut recorder = Recorder::default();
    let mut events = vec![
        call(0, 11, "rcl_timer_init", &[10, 10 * MS], &[]),
        call(0, 11, "rclcpp_timer_callback_added", &[10, 100], &[]),
        call(10 * MS, 11, "callback_start", &[100, 0], &[]),
        call(10 * MS, 11, "callback_end", &[100], &[]),
    ];
    for other in 0..1000 {
        let at_ns = 15 * MS + other * MS;
        events.push(call(at_ns, 11, "callback_start", &[1000 + other, 0], &[]));
        events.push(call(at_ns + MS, 11, "callback_end", &[1000 + other], &[]));
    }
    events.push(call(1015 * MS, 11, "callback_start", &[100, 0], &[]));
    events.push(call(1016 * MS, 11, "callback_end", &[100], &[]));
    for event in &events {
        recorder.event(event, |_| Some(PROCESS));
    }
    let rows = rows(&recorder.finish(), 3, None);
    let late = &rows[0].worst[0];
    assert_eq!(late.holders.len() as u64 + late.more_holders, 995);
    assert_eq!((late.held_ns, late.unheld_ns()), (995 * MS, 0));
}

#[test]
fn a_callback_that_catches_up_has_its_period_and_late_runs() {
    let (mut recorder, mut live) = (Recorder::default(), Live::default());
    let (mut free_ns, mut latest_ns) = (0, 0);
    for due in 1..=200 {
        let from_ns = free_ns.max(due * 10 * MS);
        // Each twentieth run takes six periods, and the five after it follow at once.
        let long_ns = if due % 20 == 0 { 60 * MS } else { MS / 10 };
        free_ns = from_ns + long_ns;
        for event in [
            call(from_ns, 11, "callback_start", &[300, 0], &[]),
            call(free_ns - 1, 11, "callback_end", &[300], &[]),
        ] {
            recorder.event(&event, |_| Some(PROCESS));
            let began = live.event(&event, |_| Some(PROCESS));
            latest_ns = latest_ns.max(began.map_or(0, |(_, latency_ns)| latency_ns));
        }
    }
    let rows = rows(&recorder.finish(), 1, None);
    assert_eq!((rows[0].period_ns, rows[0].late), (Some(10 * MS), Some(9)));
    assert_eq!(latest_ns, 50 * MS);
}
