//! The examples of `examples/own-loop`, recorded and judged; and programs that have no loop at all.

use super::*;
use crate::started::{ask, loop_cpu, needs_real_time};

wakepath_test_program::tests![
    the_example_in_rust_is_recorded_and_judged,
    the_example_in_c_is_recorded_and_says_what_it_printed,
    two_loops_of_a_program_in_cpp_are_judged_apart,
    loops_are_put_under_other_policies_from_outside,
    a_program_without_a_loop_is_refused_before_anything_is_recorded,
    a_loop_that_is_another_than_the_scenario_s_is_refused_by_its_period,
    a_program_runs_by_itself_without_a_recorder,
];

fn example(name: &str) -> PathBuf {
    Path::new(ROOT).join("examples/own-loop").join(name)
}

/// Cargo builds the examples of every crate for the tests.
fn in_rust() -> PathBuf {
    libraries().join("../examples/own_loop")
}

/// The sections ran once in each judged cycle.
fn sections(finished: &Finished, names: &[&str]) {
    let found = finished.json();
    let modules = found["modules"].as_array().unwrap();
    let named: Vec<&str> = modules
        .iter()
        .map(|of| of["name"].as_str().unwrap())
        .collect();
    assert_eq!(named, names);
    let executed: Vec<u64> = conditions(finished)
        .iter()
        .map(|condition| condition["cycles"]["executed"].as_u64().unwrap())
        .collect();
    for module in modules {
        let runs = module["runs"].as_u64().unwrap();
        assert!(executed.contains(&runs), "{runs} of {executed:?}");
        assert!(module["sum_ns"].as_u64() > Some(0));
    }
}

fn the_example_in_rust_is_recorded_and_judged() {
    let finished = recorded(Place::new(), "3s", &[], &in_rust());
    assert!(finished.code() != Some(1), "{}", finished.said());
    finished.assert_archive_is_complete();
    let [condition] = &conditions(&finished)[..] else {
        panic!("{}", finished.said());
    };
    assert_eq!(policy(condition), Policy::Other { nice: 0 });
    let thread = finished.run().manifest.segments[0].threads[0].clone();
    assert_eq!(thread.name, "control");
    assert_eq!(thread.due.period_ns, 4_000_000);
    assert!(printed(&finished).starts_with("the last state is 1.000"));
    sections(&finished, &["compute"]);
    // Judged as it was when it had been measured.
    let shown = ask("show", &finished.directory);
    assert_eq!(shown.code(), finished.code(), "{}", shown.said());
}

fn the_example_in_c_is_recorded_and_says_what_it_printed() {
    let place = Place::new();
    let program = built(&place, "cc", &["-std=c99"], &example("loop.c"));
    let finished = recorded(place, "2s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    let condition = &conditions(&finished)[0];
    assert_eq!(policy(condition), Policy::Other { nice: -5 });
    assert!(printed(&finished).contains("the last state is 1.000"));
    sections(&finished, &["compute"]);
}

fn two_loops_of_a_program_in_cpp_are_judged_apart() {
    let place = Place::new();
    let program = built(&place, "g++", &["-std=c++17"], &example("two_loops.cpp"));
    let finished = recorded(place, "2s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    let mut found: Vec<(String, u64)> = conditions(&finished)
        .iter()
        .map(|condition| {
            let name = condition["name"]["task"].as_str().unwrap().to_owned();
            (name, condition["cycles"]["scheduled"].as_u64().unwrap())
        })
        .collect();
    found.sort();
    let [(attitude, fast), (position, slow)] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!([attitude, position], ["attitude", "position"]);
    assert_eq!(*fast, 10 * slow);
    sections(&finished, &["update"]);
}

fn loops_are_put_under_other_policies_from_outside() {
    needs_real_time("putting a loop under FIFO");
    let cpu = loop_cpu().to_string();
    let more = ["--policy", "FIFO 80", "--policy", "OTHER", "--cpu", &cpu];
    let place = Place::new();
    let program = built_of(
        &place,
        "#include <wakepath.h>\n\
         int main(void) {\n\
             if (wakepath_prepare_fifo(50, 0, 0, 0, 0) < 0) return 2;\n\
             wakepath_loop *loop = wakepath_loop_create(\"control\", 4000000, 0, 0);\n\
             while (wakepath_loop_wait(loop, 0)) wakepath_loop_finish(loop);\n\
             wakepath_loop_destroy(loop);\n\
             return 0;\n\
         }\n",
    );
    let finished = recorded(place, "4s", &more, &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    let policies: Vec<Policy> = conditions(&finished).iter().map(policy).collect();
    let wanted = [Policy::Fifo { priority: 80 }, Policy::Other { nice: 0 }];
    assert_eq!(policies, wanted);
    for segment in &finished.run().manifest.segments {
        let thread = &segment.threads[0];
        assert_eq!(thread.effective.text, thread.requested.to_string());
        assert_eq!(thread.cpus, [loop_cpu()]);
        // What is real-time has no slack; what no longer is has the scenario's again.
        let slack = if thread.requested.is_real_time() {
            0
        } else {
            1
        };
        assert_eq!(thread.effective.details["timer_slack_ns"], slack);
    }
}

fn a_program_without_a_loop_is_refused_before_anything_is_recorded() {
    let finished = recorded(Place::new(), "2s", &[], Path::new("/bin/true"));
    finished.assert_code(1);
    assert_eq!(
        finished.complaints.lines().count(),
        1,
        "{}",
        finished.said()
    );
    assert!(
        finished
            .complaints
            .contains("/bin/true: ended (exit status: 0) without a loop"),
        "{}",
        finished.said()
    );
    assert!(!finished.directory.exists());
    let missing = recorded(Place::new(), "2s", &[], Path::new("/bin/no-such-loop"));
    missing.assert_code(127);
}

fn a_loop_that_is_another_than_the_scenario_s_is_refused_by_its_period() {
    let finished = carried_out(Place::new(), "control", "100 Hz", &in_rust());
    finished.assert_code(3);
    let why = finished.json().to_string();
    assert!(
        why.contains("has a period of 4 ms, and the scenario says 10 ms"),
        "{why}"
    );
}

fn a_program_runs_by_itself_without_a_recorder() {
    let place = Place::new();
    let program = built_of(
        &place,
        "#include <wakepath.h>\n\
         int main(void) {\n\
             wakepath_loop *loop = wakepath_loop_create(\"alone\", 1000000, 0, 0);\n\
             wakepath_cycle cycle = {0, 0, 0};\n\
             if (!loop || wakepath_loop_is_recorded(loop)) return 2;\n\
             while (cycle.cycle < 100 && wakepath_loop_wait(loop, &cycle)) {\n\
                 if (cycle.wake_ns < cycle.due_ns) return 3;\n\
             }\n\
             wakepath_loop_destroy(loop);\n\
             char why[64];\n\
             return wakepath_loop_create(\"\", 1000000, why, sizeof why) == 0 ? 0 : 4;\n\
         }\n",
    );
    let status = Command::new(program).status().unwrap();
    assert_eq!(status.code(), Some(0));
}
