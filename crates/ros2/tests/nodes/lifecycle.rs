//! Lifecycle nodes: rcl makes their services within the state machine, and rclcpp calls back from copies of the handles.

use super::*;

/// Two lifecycle nodes made by two threads at the same time, and a service of the first one's own.
fn made_at_once() -> Vec<KernelEvent> {
    let mut events = vec![
        call(0, 11, "rcl_node_init", &[1], &["driver", "/"]),
        call(0, 12, "rcl_node_init", &[2], &["arm", "/"]),
    ];
    for (thread, node, name) in [(11, 1, "driver"), (12, 2, "arm")] {
        let machine = node * 10_000;
        for (at, service) in ["change_state", "get_state"].iter().enumerate() {
            let handle = machine + 64 + 16 * at as u64;
            let name = format!("/{name}/{service}");
            events.push(call(
                0,
                thread,
                "rcl_service_init",
                &[handle, node],
                &[&name],
            ));
        }
        let numbers = [node, machine];
        events.push(call(
            0,
            thread,
            "rcl_lifecycle_state_machine_init",
            &numbers,
            &[],
        ));
    }
    for at in 0..2 {
        for (thread, node) in [(11, 1), (12, 2)] {
            let callback = 1_000 * node + at;
            let numbers = [callback + 500, callback];
            events.push(call(
                0,
                thread,
                "rclcpp_service_callback_added",
                &numbers,
                &[],
            ));
        }
    }
    events.push(call(
        0,
        11,
        "rcl_service_init",
        &[70, 1],
        &["/driver/calibrate"],
    ));
    events.push(call(
        0,
        11,
        "rclcpp_service_callback_added",
        &[70, 700],
        &[],
    ));
    events
}

#[test]
fn services_of_lifecycle_nodes_have_their_node_and_name() {
    let mut events = made_at_once();
    for (at, callback) in [1_000, 1_001, 2_000, 2_001, 700].into_iter().enumerate() {
        let at_ns = (at as u64 + 1) * MS;
        events.push(call(at_ns, 11, "callback_start", &[callback, 0], &[]));
        events.push(call(at_ns + 100, 11, "callback_end", &[callback], &[]));
    }
    let mut recorder = Recorder::default();
    for event in &events {
        recorder.event(event, |_| Some(PROCESS));
    }
    let seen = recorder.finish();
    let names: Vec<String> = seen.callbacks.iter().map(ToString::to_string).collect();
    assert_eq!(
        names,
        [
            "driver: service /driver/change_state",
            "driver: service /driver/get_state",
            "arm: service /arm/change_state",
            "arm: service /arm/get_state",
            "driver: service /driver/calibrate",
        ]
    );
}

#[test]
fn a_lifecycle_node_that_was_left_half_made_names_no_other_service() {
    let mut events = made_at_once();
    // The constructor failed after the first of two callbacks.
    events.retain(|event| match &event.what {
        What::Call(call) => event.current == 11 && call.numbers[0] != 1_501,
        _ => true,
    });
    events.push(call(MS, 11, "callback_start", &[700, 0], &[]));
    events.push(call(2 * MS, 11, "callback_end", &[700], &[]));
    let mut recorder = Recorder::default();
    for event in &events {
        recorder.event(event, |_| Some(PROCESS));
    }
    let seen = recorder.finish();
    assert_eq!(
        seen.callbacks[0].to_string(),
        "driver: service /driver/calibrate"
    );
}
