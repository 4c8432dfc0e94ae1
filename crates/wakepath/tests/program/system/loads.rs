//! Loads that are missing, idle or killed: their phase says nothing about the loop, and the run
//! never passes on the strength of a load that was not there.

use crate::started::{Finished, Role, Start, kill, loop_cpu};
use crate::system::recording::{condition_in, reasons};
use rustix::process::Signal;
use serde_json::Value;

wakepath_test_program::tests![
    a_missing_program_is_named_with_its_package_and_invalidates_its_phase_alone,
    a_phase_that_was_never_measured_shows_no_misses,
    a_load_that_does_nothing_invalidates_its_phase,
    a_load_that_stops_working_after_its_start_invalidates_what_follows,
    a_load_that_slows_to_nothing_in_the_middle_is_known_by_when_it_did,
    a_load_killed_from_outside_invalidates_its_phase,
    working_loads_say_what_they_did,
];

/// An idle phase and one with this load, and a criterion that this machine can't fail.
fn scenario(load: &str) -> String {
    format!(
        "rate = \"200 Hz\"\ncycles = 400\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\ncpu = {}\n\
         phases = [{{ name = \"idle\" }}, {{ name = \"loaded\", loads = [{load}] }}]\n\
         criterion = {{ miss-fraction = \"99.9999 %\" }}\n",
        loop_cpu()
    )
}

fn assert_only_the_loaded_phase_is_invalid(finished: &Finished) -> Value {
    finished.assert_code(1);
    finished.assert_archive_is_complete();
    finished.assert_nobody_is_left();
    let json = finished.json();
    assert_eq!(json["outcome"], "invalid");
    let idle = condition_in(&json, "idle");
    assert_eq!(idle["outcome"], "passed", "{idle:#}");
    assert_eq!(idle["cycles"]["scheduled"], 400);
    let loaded = condition_in(&json, "loaded").clone();
    assert_eq!(loaded["outcome"], "invalid", "{loaded:#}");
    assert!(reasons(&loaded).contains(&"load-not-proven"), "{loaded:#}");
    loaded
}

fn a_missing_program_is_named_with_its_package_and_invalidates_its_phase_alone() {
    // Without a search path no package's program is there, wherever this test runs.
    let finished = Start::scenario(&scenario("\"glmark2\""))
        .environment("PATH", "/nowhere")
        .finish();
    let loaded = assert_only_the_loaded_phase_is_invalid(&finished);
    let said = loaded["reasons"].to_string();
    assert!(said.contains("glmark2"), "{said}");
    assert!(said.contains("install"), "no hint at the package: {said}");
}

fn a_phase_that_was_never_measured_shows_no_misses() {
    let finished = Start::scenario(&scenario("\"glmark2\""))
        .environment("PATH", "/nowhere")
        .finish();
    let json = finished.json();
    let loaded = condition_in(&json, "loaded");
    assert!(
        !reasons(loaded).contains(&"miss-fraction-above"),
        "{loaded:#}"
    );
    assert_eq!(loaded["cycles"]["misses"]["missed"], 0, "{loaded:#}");
}

fn a_load_that_does_nothing_invalidates_its_phase() {
    let finished = Start::scenario(&scenario(
        "{ kind = \"command\", command = [\"sleep\", \"100\"] }",
    ))
    .finish();
    let loaded = assert_only_the_loaded_phase_is_invalid(&finished);
    assert!(
        loaded["reasons"].to_string().contains("CPU time"),
        "{loaded:#}"
    );
}

fn a_load_that_stops_working_after_its_start_invalidates_what_follows() {
    // Busy for long enough to be seen working, then still there and idle.
    let busy_then_idle = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exec sleep 100";
    let load = format!(
        "{{ kind = \"command\", command = [\"sh\", \"-c\", \"{busy_then_idle}\"], workers = 1 }}"
    );
    let policies = "policies = [\"OTHER\", \"OTHER nice 1\"]";
    let scenario = scenario(&load)
        .replace("policies = [\"OTHER\"]", policies)
        .replace("criterion = {", "criterion = { policies = \"every\",");
    let finished = Start::scenario(&scenario).finish();
    finished.assert_code(1);
    let json = finished.json();
    let conditions = json["conditions"].as_array().unwrap();
    let second = conditions.iter().find(|condition| {
        condition["name"]["phase"] == "loaded" && condition["name"]["policy"]["nice"] == 1
    });
    assert_eq!(second.unwrap()["outcome"], "invalid", "{}", finished.said());
    assert!(reasons(second.unwrap()).contains(&"load-not-proven"));
}

fn a_load_that_slows_to_nothing_in_the_middle_is_known_by_when_it_did() {
    // On a busy machine its first second can be over before the segment begins: then it was never seen working.
    let never = |said: &str| said.contains("its load could not be started");
    for busy_s in [1, 2, 4, 8] {
        let said = slows_to_nothing_after(busy_s);
        if never(&said) {
            continue;
        }
        // It is looked at each two seconds.
        let is_in_time = |from: &u32| said.contains(&format!("it stopped between {from}."));
        let silent = (2..=busy_s + 2).step_by(2).find(is_in_time);
        assert!(silent.is_some() && said.contains("CPU time"), "{said}");
        return;
    }
    panic!("a load that is busy for 8 s was silent when its segment began");
}

/// The reasons against a load that is busy for this number of seconds, then still there and idle.
fn slows_to_nothing_after(busy_s: u32) -> String {
    // So much at first that the whole segment looks well worked in.
    let busy_then_idle = format!("timeout {busy_s} sh -c 'while :; do :; done'; exec sleep 100");
    let load = format!(
        "{{ kind = \"command\", command = [\"sh\", \"-c\", \"{busy_then_idle}\"], workers = 1 }}"
    );
    let text = scenario(&load)
        .replace("cycles = 400", "cycles = 840")
        .replace("{ name = \"idle\" }, ", "");
    let finished = Start::scenario(&text).finish();
    finished.assert_code(1);
    let json = finished.json();
    let loaded = condition_in(&json, "loaded");
    assert!(reasons(loaded).contains(&"load-not-proven"), "{loaded:#}");
    loaded["reasons"].to_string()
}

fn a_load_killed_from_outside_invalidates_its_phase() {
    let running = Start::scenario(&scenario("\"cpu\"")).start();
    running.wait_until_recorded(1, 40);
    for worker in running.all_of(Role::LoadWorker) {
        kill(worker, Signal::KILL);
    }
    assert_only_the_loaded_phase_is_invalid(&running.finish());
}

fn working_loads_say_what_they_did() {
    let finished = Start::scenario(&scenario("\"cpu\", \"messages\"")).finish();
    finished.assert_code(0);
    let json = finished.json();
    assert_eq!(condition_in(&json, "loaded")["outcome"], "passed");
    let loads = json["loads"].as_array().unwrap();
    assert_eq!(loads.len(), 2, "{loads:#?}");
    for load in loads {
        assert_eq!(load["phase"], "loaded");
        assert_eq!(load["working"], true, "{load:#}");
        assert!(load["per_second"].as_f64().unwrap() > 10.0, "{load:#}");
        assert!(load["workers"].as_u64().unwrap() >= 1, "{load:#}");
        assert!(!load["unit"].as_str().unwrap().is_empty(), "{load:#}");
    }
    // The manifest keeps each segment's proof: work over the time that was measured, about 2 s.
    let run = finished.run();
    let loaded = run
        .manifest
        .segments
        .iter()
        .find(|segment| segment.phase == "loaded")
        .unwrap();
    for proof in &loaded.loads {
        assert!((1.9..6.0).contains(&proof.seconds), "{proof:#?}");
    }
    assert_eq!(
        run.manifest.segments[0].loads.len(),
        0,
        "an idle phase has no loads"
    );
}
