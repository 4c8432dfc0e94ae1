//! Loops and loads that exchange process data with a ring of simulated devices: every exchange is
//! accounted for, what goes wrong is named, and nothing is left whatever ends the run.

use crate::started::{Finished, Role, Start, loop_cpu, needs_real_time};
use crate::system::recording::condition_in;
use rustix::process::Signal;
use serde_json::Value;
use std::time::Duration;

wakepath_test_program::tests![
    every_exchange_of_ten_seconds_is_accounted_for,
    frames_that_a_ring_loses_are_misses_and_are_named,
    a_device_that_stops_taking_part_makes_the_condition_invalid,
    a_link_that_goes_down_in_mid_run_is_named,
    a_load_has_its_frames_seen_by_all_devices_at_its_rate,
    a_load_without_its_devices_ends_with_one_line,
    an_interface_that_is_not_there_is_named_and_nothing_is_measured,
    an_ordinary_user_has_a_ring_or_one_line_that_says_why_not,
    nothing_is_left_of_a_ring_when_all_is_killed;
    every_exchange_of_ten_minutes_is_accounted_for,
];

fn scenario(cycles: u32, policy: &str, work: &str, loads: &str) -> String {
    format!(
        "rate = \"1 kHz\"\ncycles = {cycles}\nwarm-up = \"100 ms\"\npolicies = [\"{policy}\"]\ncpu = {}\n\
         work = {work}\nphases = [{{ name = \"bus\", loads = [{loads}] }}]\n\
         criterion = {{ miss-fraction = \"90 %\" }}\n",
        loop_cpu()
    )
}

/// Result of the exchanges; not run if this user can't create a ring.
fn exchanges(finished: &Finished) -> Value {
    let json = finished.json();
    let said = json.to_string();
    if said.contains("needs a network namespace of its own") {
        wakepath_test_program::not_run("no network namespace may be made here");
    }
    json["exchanges"][0].clone()
}

fn count(exchanges: &Value, key: &str) -> u64 {
    exchanges[key]
        .as_u64()
        .unwrap_or_else(|| panic!("no {key} in {exchanges:#}"))
}

/// An exchange for each cycle that ran, and each of them right or with a fault that has a name.
fn assert_accounted_for(finished: &Finished) {
    let told = exchanges(finished);
    let json = finished.json();
    let cycles = &condition_in(&json, "bus")["cycles"];
    assert_eq!(told["exchanges"], cycles["executed"], "{told:#}");
    let kinds = ["right", "late", "lost", "wrong_counter", "not_sent"];
    let sum: u64 = kinds.iter().map(|kind| count(&told, kind)).sum();
    assert_eq!(sum, count(&told, "exchanges"), "{told:#}");
    // The ring loses nothing that it is not asked to.
    let given_up = count(&told, "wrong_counter") + count(&told, "not_sent");
    assert_eq!(given_up, 0, "{told:#}");
    assert!(count(&told, "lost") <= 1, "{told:#}");
    let missed = cycles["misses"]["missed"].as_u64().unwrap();
    assert!(missed >= count(&told, "late"), "{cycles:#}");
}

fn every_exchange_of_ten_seconds_is_accounted_for() {
    needs_real_time("a loop of 1 kHz beside a ring");
    let work = "{ kind = \"ethercat\", devices = 8 }";
    let finished = Start::scenario(&scenario(10_000, "FIFO 80", work, "")).finish();
    assert_accounted_for(&finished);
    finished.assert_nobody_is_left();
}

fn every_exchange_of_ten_minutes_is_accounted_for() {
    needs_real_time("a loop of 1 kHz beside a ring");
    let work = "{ kind = \"ethercat\", devices = 8 }";
    let finished = Start::scenario(&scenario(600_000, "FIFO 80", work, ""))
        .start()
        .finish_within(Duration::from_secs(660));
    assert_accounted_for(&finished);
}

fn frames_that_a_ring_loses_are_misses_and_are_named() {
    let work = "{ kind = \"ethercat\", loss = \"10 %\", timeout = \"400 us\" }";
    let finished = Start::scenario(&scenario(2_000, "OTHER", work, "")).finish();
    let told = exchanges(&finished);
    let (all, lost) = (count(&told, "exchanges"), count(&told, "lost"));
    // A tenth, to six standard deviations.
    let expected = all as f64 / 10.0;
    let apart = 6.0 * (0.9 * expected).sqrt();
    assert!((lost as f64 - expected).abs() < apart, "{lost} of {all}");
    let json = finished.json();
    let cycles = &condition_in(&json, "bus")["cycles"];
    let missed = cycles["misses"]["missed"].as_u64().unwrap();
    assert!(missed >= lost, "{missed} missed, {lost} lost: {cycles:#}");
}

fn a_device_that_stops_taking_part_makes_the_condition_invalid() {
    let work = "{ kind = \"ethercat\", stops-after = \"500 ms\" }";
    let finished = Start::scenario(&scenario(3_000, "OTHER", work, "")).finish();
    exchanges(&finished);
    finished.assert_code(1);
    let json = finished.json();
    let said = condition_in(&json, "bus")["reasons"].to_string();
    assert!(
        said.contains(
            "a device on the simulated ring stopped taking part: working counter 6 where 9 is right"
        ),
        "{said}"
    );
}

fn a_link_that_goes_down_in_mid_run_is_named() {
    if !crate::started::is_root() {
        wakepath_test_program::not_run(
            "only root may enter a network namespace of another process",
        );
    }
    // Each end by itself: the loop's own, and the devices', as where a cable is pulled out.
    for (end, why) in [
        ("master", "the interface was switched off"),
        ("devices", "nothing is at the other end of the cable"),
    ] {
        let text = scenario(60_000, "OTHER", "\"ethercat\"", "");
        let running = Start::scenario(&text).start();
        running.wait_until_recorded(0, 100);
        let rings = running.all_of(Role::EthercatRing);
        let namespace = format!("--net=/proc/{}/ns/net", rings[0]);
        let mut switch = std::process::Command::new("nsenter");
        switch.args([&namespace, "ip", "link", "set", "dev", end, "down"]);
        match switch.output() {
            Ok(output) if output.status.success() => {}
            other => wakepath_test_program::not_run(format!("nsenter and ip: {other:?}")),
        }
        let finished = running.finish();
        finished.assert_code(1);
        let json = finished.json();
        let said = condition_in(&json, "bus")["reasons"].to_string();
        let expected = format!("the link of the simulated ring went down: {why}");
        assert!(said.contains(&expected), "{said}");
    }
}

fn an_interface_that_is_not_there_is_named_and_nothing_is_measured() {
    let work = "{ kind = \"ethercat\", interface = \"wakepath-none\" }";
    let finished = Start::scenario(&scenario(1_000, "OTHER", work, "")).finish();
    finished.assert_code(3);
    let json = finished.json().to_string();
    assert!(
        json.contains("there is no network interface wakepath-none; there are "),
        "{json}"
    );
}

fn a_load_has_its_frames_seen_by_all_devices_at_its_rate() {
    let text = scenario(2_000, "OTHER", "\"nothing\"", "\"ethercat\"");
    let mut rates = Vec::new();
    // A machine that is busy otherwise slows the load, at times; nothing makes it faster.
    while rates.last().is_none_or(|rate| *rate < 300.0) {
        assert!(rates.len() < 5, "frames per second: {rates:?}");
        let finished = Start::scenario(&text).finish();
        exchanges(&finished);
        let json = finished.json();
        let load = &json["loads"][0];
        assert_eq!(load["unit"], "frames", "{load:#}");
        assert_eq!(load["working"], true, "{load:#}");
        let rate = load["per_second"].as_f64().unwrap();
        assert!(rate < 1_100.0, "{load:#}");
        rates.push(rate);
    }
}

fn a_load_without_its_devices_ends_with_one_line() {
    for (load, why) in [
        (
            "{ kind = \"ethercat\", interface = \"wakepath-none\" }",
            "there is no network interface wakepath-none; there are ",
        ),
        (
            "{ kind = \"ethercat\", stops-after = \"500 ms\" }",
            "a device on the simulated ring stopped taking part: working counter 6 where 9 is right",
        ),
    ] {
        let text = scenario(4_000, "OTHER", "\"nothing\"", load);
        let finished = Start::scenario(&text).finish();
        exchanges(&finished);
        let json = finished.json();
        assert_eq!(condition_in(&json, "bus")["outcome"], "invalid", "{json:#}");
        assert!(json.to_string().contains(why), "{json:#}");
        finished.assert_nobody_is_left();
    }
}

fn an_ordinary_user_has_a_ring_or_one_line_that_says_why_not() {
    if !crate::started::is_root() {
        wakepath_test_program::not_run("only root may become another user");
    }
    let finished = Start::scenario(&scenario(1_000, "OTHER", "\"ethercat\"", ""))
        .by_user(65_534)
        .beside("wakepath-ethercat")
        .finish();
    let json = finished.json();
    let allowed = std::fs::read_to_string("/proc/sys/user/max_user_namespaces")
        .is_ok_and(|most| most.trim() != "0");
    let told = json["exchanges"][0]["right"].as_u64();
    let refused = json
        .to_string()
        .contains("needs a network namespace of its own: root");
    match told {
        Some(right) => assert!(allowed && right > 0, "{json:#}"),
        None => assert!(refused, "{json:#}"),
    }
}

fn nothing_is_left_of_a_ring_when_all_is_killed() {
    let before = interfaces();
    let work = "\"ethercat\"";
    let running = Start::scenario(&scenario(60_000, "OTHER", work, "\"ethercat\"")).start();
    // Both rings are there once the loop runs.
    running.wait_until_recorded(0, 100);
    let there = running.all_of(Role::EthercatRing);
    assert_eq!(there.len(), 2, "a loop's and a load's");
    for ring in &there {
        let own = std::fs::read_link("/proc/self/ns/net").unwrap();
        let its = std::fs::read_link(format!("/proc/{ring}/ns/net")).unwrap();
        assert_ne!(own, its, "a namespace of its own");
    }
    assert_eq!(interfaces(), before);
    crate::started::kill(running.main(), Signal::KILL);
    // By what they are: where nobody waits for orphans their numbers stay taken.
    crate::started::wait_until("both rings are gone", || {
        running.all_of(Role::EthercatRing).is_empty()
    });
    assert_eq!(interfaces(), before);
    assert!(running.all_of(Role::LoadWorker).is_empty());
}

fn interfaces() -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir("/sys/class/net").expect("/sys");
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    names
}
