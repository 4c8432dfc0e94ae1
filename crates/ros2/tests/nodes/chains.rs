//! Messages of a chain that did not come to its end, and those within a process.

use super::*;
use wakepath_ros2::ChainFound;

/// The chain of messages 1, 2 … at milliseconds, of which these are taken: when, and which.
fn chain_of(published: u64, taken: &[(u64, u64)]) -> ChainFound {
    let mut events = made();
    for number in 1..=published {
        events.push(call(number * MS, 11, "rmw_publish", &[31, number], &[]));
    }
    for (at, number) in taken {
        let at_ns = at * MS + 500_000 + number * 100;
        events.push(call(at_ns, 12, "rmw_take", &[41, *number, 1], &[]));
        events.push(call(at_ns + 10, 12, "callback_start", &[400, 0], &[]));
        events.push(call(at_ns + 20, 12, "callback_end", &[400], &[]));
    }
    events.sort_by_key(|event| event.at_ns);
    let mut recorder = Recorder::default();
    for event in &events {
        recorder.event(event, |_| Some(PROCESS));
    }
    let chain: Chain = "/pose:/arm/motor".parse().unwrap();
    chain.find(&recorder.finish(), None, 0, 0)
}

#[test]
fn a_message_that_its_queue_of_two_could_not_hold_was_overwritten() {
    let lost = |published, taken: &[(u64, u64)]| {
        let found = chain_of(published, taken);
        let by = found.lost.into_iter().map(|of| (of.by, of.count));
        (found.ended, by.collect::<Vec<_>>())
    };
    let callback = || "/arm/motor: /pose".to_owned();
    // Two newer ones came before the next was taken, and only one did.
    let overwritten = LostBy::Overwritten {
        callback: callback(),
        depth: 2,
    };
    let missed = LostBy::Missed {
        callback: callback(),
    };
    assert_eq!(
        lost(6, &[(1, 1), (5, 4), (5, 5), (6, 6)]),
        (4, vec![(overwritten, 2)])
    );
    assert_eq!(lost(3, &[(1, 1), (3, 3)]), (2, vec![(missed, 1)]));
    assert_eq!(lost(3, &[(1, 1)]), (1, vec![(LostBy::NotTaken, 2)]));
}

#[test]
fn messages_within_a_process_are_followed_through_its_ring_buffers() {
    let mut events = made();
    // Of messages within the process, the callback is known before its subscription is.
    events.push(call(
        0,
        11,
        "rclcpp_subscription_callback_added",
        &[43, 401],
        &[],
    ));
    events.push(call(0, 11, "rclcpp_subscription_init", &[40, 43], &[]));
    let publish = |number: u64, place: u64, is_full: u64| {
        let at_ns = number * MS;
        [
            call(at_ns, 11, "rclcpp_intra_publish", &[30], &[]),
            call(
                at_ns + 1,
                11,
                "rclcpp_ring_buffer_enqueue",
                &[50, place, is_full],
                &[],
            ),
            // A subscriber in another process has it of the middleware, and it is still one message.
            call(at_ns + 2, 11, "rmw_publish", &[31, 7_000 + number], &[]),
        ]
    };
    let take = |at_ns: u64, place: u64| {
        [
            call(at_ns, 12, "rclcpp_ring_buffer_dequeue", &[50, place], &[]),
            call(at_ns + 10, 12, "callback_start", &[401, 1], &[]),
            call(at_ns + 500, 12, "callback_end", &[401], &[]),
        ]
    };
    // The third takes the place of the first.
    for (number, place, is_full) in [(1, 0, 0), (2, 1, 0), (3, 0, 1)] {
        events.extend(publish(number, place, is_full));
    }
    events.extend(take(4 * MS, 1));
    events.extend(take(5 * MS, 0));
    let mut recorder = Recorder::default();
    for event in &events {
        recorder.event(event, |_| Some(PROCESS));
    }
    let seen = recorder.finish();
    let chain: Chain = "/pose:/arm/motor".parse().unwrap();
    let found = chain.find(&seen, None, 0, 0);
    assert_eq!((found.begun, found.ended), (3, 2));
    let latency = found.latency_ns.unwrap();
    assert_eq!(
        (latency.max, latency.median),
        (2 * MS as i64 + 500, 2 * MS as i64 + 500)
    );
    let overwritten = LostBy::Overwritten {
        callback: "/arm/motor: /pose".into(),
        depth: 2,
    };
    assert_eq!(found.lost[0].by, overwritten);
    let rows = rows(&seen, 3, None);
    assert_eq!(rows[0].callback.to_string(), "/arm/motor: /pose");
    assert_eq!(rows[0].waited_ns.unwrap().max, 2 * MS as i64 + 10);
}

#[test]
fn messages_from_before_a_subscriber_came_did_not_lose_their_place_in_its_queue() {
    let mut events = made();
    for number in 1..=20 {
        let at = number * 10 * MS;
        events.push(call(at, 11, "rmw_publish", &[31, at], &[]));
        // Its queue holds two; it is discovered after the tenth.
        if number > 10 {
            events.push(call(at + 200, 11, "rmw_take", &[41, at, 1], &[]));
            events.push(call(at + 300, 11, "callback_start", &[400, 0], &[]));
            events.push(call(at + 500, 11, "callback_end", &[400], &[]));
        }
    }
    let mut recorder = Recorder::default();
    for event in &events {
        recorder.event(event, |_| Some(PROCESS));
    }
    let chain: Chain = "/pose:/arm/motor".parse().unwrap();
    let found = chain.find(&recorder.finish(), None, 0, 0);
    assert_eq!((found.begun, found.ended), (20, 10));
    let callback = "/arm/motor: /pose".to_owned();
    assert_eq!(found.lost.len(), 1);
    assert_eq!(found.lost[0].count, 10);
    assert_eq!(found.lost[0].by, LostBy::BeforeFirst { callback });
}
