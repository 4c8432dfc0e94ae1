//! The header for ROS 2 against a stub of it: the examples built and recorded, sections of controllers from a plug-in
//! among the loop's, a chain's latency as a value. What real ROS does is not tried here.

use super::packaged::{installed, tool};
use super::*;

wakepath_test_program::tests![
    controllers_of_a_plug_in_are_sections_of_ros2_control_s_loop,
    a_chain_of_topics_has_a_latency_from_end_to_end,
    a_timer_s_callback_is_a_loop_and_ends_its_program,
    a_timer_s_callback_is_recorded_on_whichever_thread_it_is_called,
    a_loop_s_live_figures_are_those_of_its_recording,
];

/// Builds an example against the stub and the installed library.
fn example(place: &Place, prefix: &Path, source: &str, more: &[&str]) -> PathBuf {
    let stub = format!("{ROOT}/crates/c-library/tests/ros2-stub");
    let (include, lib) = (prefix.join("include"), prefix.join("lib"));
    let built = place.path().join("my-loop");
    let arguments = [
        "-std=c++17",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-I",
        &stub,
        "-I",
        &include.display().to_string(),
        &Path::new(ROOT).join(source).display().to_string(),
        "-L",
        &lib.display().to_string(),
        "-lwakepath",
        &format!("-Wl,-rpath,{}", lib.display()),
        "-ldl",
        "-pthread",
        "-o",
        &built.display().to_string(),
    ];
    tool("g++", &[&arguments[..], more].concat(), &[]);
    built
}

fn runs_of(finished: &Finished) -> Vec<(String, u64)> {
    let found = finished.json();
    let modules = found["modules"].as_array().unwrap().iter();
    let mut runs: Vec<(String, u64)> = modules
        .map(|of| {
            let name = of["name"].as_str().unwrap().to_owned();
            (name, of["runs"].as_u64().unwrap())
        })
        .collect();
    runs.sort();
    runs
}

fn controllers_of_a_plug_in_are_sections_of_ros2_control_s_loop() {
    let place = Place::new();
    let prefix = installed(&place);
    let plugin = place.path().join("plugin.so");
    let made = example(
        &place,
        &prefix,
        "crates/c-library/tests/ros2-stub/plugin.cpp",
        &["-shared", "-fPIC"],
    );
    std::fs::rename(made, &plugin).unwrap();
    let node = example(
        &place,
        &prefix,
        "examples/own-loop/ros2_control_node.cpp",
        &[],
    );
    let words = ["record", "--idle", "--no-tui", "--json", "--duration", "2s"];
    let finished = Start::command_in(place, &words)
        .with(&["--directory", "run", "--"])
        .with(&[&node])
        .with(&["--ros-args", "--params-file", "arm.yaml"])
        .environment("STUB_PLUGIN", plugin.to_str().unwrap())
        .finish();
    assert!(finished.code() != Some(1), "{}", finished.said());
    let [condition] = &conditions(&finished)[..] else {
        panic!("{}", finished.said());
    };
    let cycles = condition["cycles"]["executed"].as_u64().unwrap();
    let runs = runs_of(&finished);
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "arm_controller",
            "gripper_controller",
            "read",
            "read arm",
            "update",
            "write",
            "write arm"
        ]
    );
    assert!(
        runs.iter().all(|(_, runs)| *runs == cycles),
        "{runs:?} in {cycles} cycles"
    );
    let thread = finished.run().manifest.segments[0].threads[0].clone();
    assert_eq!(
        (thread.name.as_str(), thread.due.period_ns),
        ("controller_manager", 4_000_000)
    );
}

fn a_chain_of_topics_has_a_latency_from_end_to_end() {
    let place = Place::new();
    let prefix = installed(&place);
    let program = example(&place, &prefix, "examples/own-loop/ros2_chain.cpp", &[]);
    let finished = recorded(place, "2s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    conditions(&finished);
    let runs = runs_of(&finished);
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["callbacks", "camera", "detect", "drive"]);
    let found = finished.json();
    let value = &found["said"][0]["values"][0];
    assert_eq!(value["name"], "camera to motor <= 20000", "{found:#}");
    let [p50, p99, max] = ["p50", "p99", "max"].map(|of| value[of].as_f64().unwrap());
    assert!(0.0 < p50 && p50 <= p99 && p99 <= max, "{value:#}");
    // Counted again from the log, of which the quantiles are values.
    let log = std::fs::read_to_string(finished.directory.join("loop-log.jsonl")).unwrap();
    let mut all: Vec<f64> = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["value"]["is"].as_f64())
        .collect();
    all.sort_by(f64::total_cmp);
    assert_eq!(value["count"], all.len(), "{value:#}");
    assert_eq!(
        [p50, p99],
        [50, 99].map(|of| all[(all.len() * of).div_ceil(100) - 1])
    );
    let above = all.iter().filter(|&&of| of > 20_000.0).count();
    assert_eq!(value["missed"], above, "{value:#}");

    // Two topics, of which one waits for the next cycle of 5 ms; the other may.
    let mean = value["mean"].as_f64().unwrap();
    assert!((1_000.0..50_000.0).contains(&mean), "{mean} µs");
    assert!(value["count"].as_u64() > Some(20), "{value:#}");
}

fn a_timer_s_callback_is_a_loop_and_ends_its_program() {
    let place = Place::new();
    let prefix = installed(&place);
    let program = example(&place, &prefix, "examples/own-loop/ros2_timer.cpp", &[]);
    let finished = recorded(place, "2s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    let [condition] = &conditions(&finished)[..] else {
        panic!("{}", finished.said());
    };
    // 250 Hz of the executor's clock: nearly every due time has its cycle.
    let count = |of: &str| condition["cycles"][of].as_u64().unwrap();
    assert!(count("executed") * 2 > count("scheduled"), "{condition:#}");
    let said = printed(&finished);
    assert!(said.ends_with("\n0 calls on other threads\n"), "{said}");
}

fn a_timer_s_callback_is_recorded_on_whichever_thread_it_is_called() {
    let place = Place::new();
    let prefix = installed(&place);
    let text = std::fs::read_to_string(format!("{ROOT}/examples/own-loop/ros2_timer.cpp")).unwrap();
    let source = place.path().join("several_threads.cpp");
    let several = text.replace("SingleThreadedExecutor", "MultiThreadedExecutor");
    std::fs::write(&source, several).unwrap();
    let program = example(&place, &prefix, source.to_str().unwrap(), &[]);
    let finished = recorded(place, "1200ms", &[], &program);
    let [condition] = &conditions(&finished)[..] else {
        panic!("{}", finished.said());
    };
    // Two threads of the stub take turns, so about half of the calls are not on the first call's thread.
    let count = |of: &str| condition["cycles"][of].as_u64().unwrap();
    let executed = count("executed");
    assert!(executed * 2 > count("scheduled"), "{condition:#}");
    let found = finished.json();
    let value = &found["said"][0]["values"][0];
    assert_eq!(value["name"], "on another thread", "{found:#}");
    let elsewhere = value["count"].as_u64().unwrap();
    assert!(elsewhere * 8 > executed, "{elsewhere} of {executed}");
}

fn a_loop_s_live_figures_are_those_of_its_recording() {
    let place = Place::new();
    let prefix = installed(&place);
    let source = "examples/own-loop/ros2_diagnostics.cpp";
    let program = example(&place, &prefix, source, &[]);
    let finished = recorded(place, "1200ms", &[], &program);
    let [condition] = &conditions(&finished)[..] else {
        panic!("{}", finished.said());
    };
    let executed = condition["cycles"]["executed"].as_u64().unwrap();
    let said = printed(&finished);
    let figure = |name: &str| {
        let value = said.lines().find_map(|line| line.strip_prefix(name));
        let value = value.unwrap_or_else(|| panic!("no {name} in {said}"));
        value.parse::<f64>().unwrap()
    };
    // The recording leaves out cycles before its own beginning.
    assert!(figure("cycles: ") >= executed as f64, "{executed}: {said}");
    assert!(
        figure("latency max, us: ") >= figure("latency mean, us: "),
        "{said}"
    );
    let warned = figure("latency above the limit: ") + figure("skipped: ") > 0.0;
    let level = if warned { "1 " } else { "0 " };
    assert!(said.lines().any(|line| line.starts_with(level)), "{said}");
}
