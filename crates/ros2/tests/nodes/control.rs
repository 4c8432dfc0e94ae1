//! ros2_control: the parts of the manager's cycle, and its controllers by name, each by its own rate.

use super::*;
use wakepath_ros2::Executors;

/// Cycles of 10 ms. One controller runs in each of them, one in every fifth; once the first takes 25 ms, so
/// that two cycles are missed.
fn cycles() -> Vec<KernelEvent> {
    let on = |at_ns: u64, function: &str, numbers: &[u64]| call(at_ns, 11, function, numbers, &[]);
    let named = |this: u64, name: &str| call(1, 11, "controller_init", &[this], &[name]);
    let mut events = vec![named(900, "fast"), named(950, "slow")];
    for cycle in (0..100).filter(|cycle| !(51..53).contains(cycle)) {
        let from_ns = (cycle + 1) * 10 * MS;
        let long_ns = if cycle == 50 { 25 * MS } else { MS };
        events.push(on(from_ns, "manager_read", &[500]));
        events.push(on(from_ns + 100, "manager_read_returns", &[0]));
        events.push(on(from_ns + 200, "manager_update", &[500]));
        events.push(on(from_ns + 300, "controller_update", &[900]));
        let to_ns = from_ns + 300 + long_ns;
        events.push(on(to_ns, "controller_update_returns", &[0]));
        if cycle % 5 == 0 {
            events.push(on(to_ns + 100, "controller_update", &[950]));
            events.push(on(to_ns + 200, "controller_update_returns", &[0]));
        }
        events.push(on(to_ns + 300, "manager_update_returns", &[0]));
        events.push(on(to_ns + 400, "manager_write", &[500]));
        events.push(on(to_ns + 500, "manager_write_returns", &[0]));
    }
    events
}

#[test]
fn parts_of_the_cycle_and_controllers_have_rows_and_periods_of_their_own() {
    let mut recorder = Recorder::default();
    for event in cycles() {
        recorder.event(&event, |_| Some(PROCESS));
    }
    let seen = recorder.finish();
    assert_eq!(seen.unpaired, 0);
    let rows = rows(&seen, 1, None);
    let figures: Vec<(String, u64, Option<u64>, Option<u64>)> = rows
        .iter()
        .map(|row| (row.callback.to_string(), row.count, row.period_ns, row.late))
        .collect();
    let of = |name: &str, count: u64, period_ms: u64, late: u64| {
        (name.to_owned(), count, Some(period_ms * MS), Some(late))
    };
    assert_eq!(
        figures,
        [
            of("fast: update", 98, 10, 1),
            of("ros2_control: read", 98, 10, 1),
            of("ros2_control: update", 98, 10, 1),
            of("ros2_control: write", 98, 10, 1),
            of("slow: update", 20, 50, 0),
        ]
    );
    // The controller, not the manager's update around it.
    let holders = &rows[1].worst[0].holders;
    assert_eq!(holders[0].callback, "fast: update");
    assert!(
        holders
            .iter()
            .all(|of| of.callback != "ros2_control: update"),
        "{holders:?}"
    );
    assert!(Executors::new(&seen).finish(&seen).is_empty());
}

#[test]
fn a_controller_that_was_made_before_has_the_address_of_its_object() {
    let mut recorder = Recorder::default();
    for event in cycles().into_iter().skip(2) {
        recorder.event(&event, |_| Some(PROCESS));
    }
    let seen = recorder.finish();
    let names: Vec<String> = seen.callbacks.iter().map(ToString::to_string).collect();
    assert!(
        names.contains(&"controller 0x384: update".to_owned()),
        "{names:?}"
    );
    let kinds = seen.callbacks.iter().map(|of| &of.kind);
    let unnamed =
        kinds.filter(|kind| matches!(kind, Kind::Control { is_unnamed, .. } if *is_unnamed));
    assert_eq!(unnamed.count(), 2);
}
