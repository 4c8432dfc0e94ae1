//! Stretches in which events were lost: what may have happened then is left out, and nothing is blamed for it.

use super::*;

fn lost(at_ns: u64) -> KernelEvent {
    KernelEvent {
        at_ns,
        cpu: 0,
        current: 0,
        what: What::Lost { count: 9 },
    }
}

/// Calls of the timer of 10 ms at these due times, each with a message and its taker.
fn calls(due: impl Iterator<Item = u64>) -> Vec<KernelEvent> {
    let mut events = made();
    for due in due {
        let at = due * 10 * MS + 1_000;
        events.push(call(at, 11, "callback_start", &[100, 0], &[]));
        events.push(call(at + 10, 11, "rmw_publish", &[31, at], &[]));
        events.push(call(at + 100, 11, "callback_end", &[100], &[]));
        events.push(call(at + 200, 11, "rmw_take", &[41, at, 1], &[]));
        events.push(call(at + 300, 11, "callback_start", &[400, 0], &[]));
        events.push(call(at + 500, 11, "callback_end", &[400], &[]));
    }
    events
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
fn a_gap_across_lost_events_is_not_late_and_without_them_it_is() {
    let is_there = |due: &u64| !(20..30).contains(due);
    let mut events = calls((1..=40).filter(is_there));
    let whole = rows(&seen_in(events.clone()), 3, None).remove(0);
    // It serves the due time at 200 ms, and those from 210 to 300 ms pass.
    assert_eq!((whole.late, whole.skipped), (Some(1), Some(10)));
    events.push(lost(299 * MS));
    let row = rows(&seen_in(events), 3, None).remove(0);
    assert_eq!((row.late, row.skipped, row.count), (Some(0), None, 30));
    assert_eq!(row.latency_ns.unwrap().max, 1_000);
    assert_eq!(row.gap_ns.unwrap().max, (10 * MS).cast_signed());
}

#[test]
fn a_run_whose_end_was_lost_is_left_out() {
    let mut events = calls(1..=3);
    // Its end and the next beginning were lost; without that it would have run for 10 ms.
    events.push(call(40 * MS, 11, "callback_start", &[100, 0], &[]));
    events.push(lost(50 * MS));
    events.push(call(50 * MS + 1, 11, "callback_end", &[100], &[]));
    let seen = seen_in(events);
    assert_eq!((seen.runs.len(), seen.unpaired), (6, 2));
    assert!(seen.has_lost(39 * MS, 41 * MS) && !seen.has_lost(10 * MS, 30 * MS));
}

#[test]
fn a_message_that_was_under_way_while_events_were_lost_is_counted_apart() {
    let mut events = calls(1..=10);
    let at = 50 * MS + 1_000;
    events.retain(|event| event.at_ns <= at + 100 || event.at_ns > at + 500);
    let chain: Chain = "/pose:/arm/motor".parse().unwrap();
    let found = |events: &[KernelEvent]| {
        let found = chain.find(&seen_in(events.to_vec()), None, 0, 0);
        assert_eq!((found.begun, found.ended), (10, 9));
        found.lost[0].by.clone()
    };
    assert!(matches!(found(&events), LostBy::Missed { .. }));
    events.push(lost(at + 600));
    assert_eq!(found(&events), LostBy::Unrecorded);
}

#[test]
fn a_callback_that_begins_after_lost_events_is_on_time_while_it_runs() {
    let mut live = Live::default();
    let is_there = |due: &u64| !(20..30).contains(due);
    let mut events = calls((1..=40).filter(is_there));
    events.push(lost(299 * MS));
    events.sort_by_key(|event| event.at_ns);
    let begun = events.iter().filter_map(|event| {
        let (_, latency_ns) = live.event(event, |_| Some(PROCESS))?;
        Some(latency_ns)
    });
    assert_eq!(begun.max(), Some(1_000));
}
