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
    a_loop_that_another_clock_drives_finds_when_it_was_due,
    due_times_that_a_program_in_c_gives_are_those_of_the_run,
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
    assert!(printed(&finished).contains("the last state is 1.000"));
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
    sections(&finished, &["update", "limit"]);
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
        // A real-time thread has no slack; one that no longer is has the scenario's again.
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
        why.contains("has a period of 4 ms, and the scenario has 10 ms"),
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

/// Between two numbers of a line, as a program printed it.
fn number_behind(text: &str, word: &str) -> i64 {
    let (_, rest) = text
        .split_once(word)
        .unwrap_or_else(|| panic!("{word}: {text}"));
    rest.split_whitespace().next().unwrap().parse().unwrap()
}

fn a_loop_that_another_clock_drives_finds_when_it_was_due() {
    // Otherwise the clock itself is late as soon as anybody else wants the CPU.
    needs_real_time("a clock that is on time");
    let program = libraries().join("../examples/driven_loop");
    let finished = recorded(Place::new(), "8s", &["--policy", "FIFO 80"], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    finished.assert_archive_is_complete();
    conditions(&finished);
    // The clock is 200 ppm slow, its jitter 100 µs. The least way through the kernel stays in the estimate: some
    // 10 to 50 µs, more where a virtual machine wakes late.
    let printed = printed(&finished);
    let last = printed
        .lines()
        .rfind(|line| line.starts_with("estimated"))
        .unwrap();
    let median_ns = number_behind(last, "median ");
    // Decided by the wake-ups alone, not by the estimate: a cycle that is away for more than a period serves the latest
    // message, and which it was can only be guessed. Some guesses are borne, not dozens in a second.
    let stalls = |segment| {
        let samples = finished.samples(segment);
        let gaps = samples
            .windows(2)
            .map(|two| two[1].wake_ns - two[0].wake_ns);
        gaps.filter(|gap| *gap > 3_000_000).count()
    };
    const BORNE: usize = 8;
    if stalls(0) > BORNE {
        let why = "this machine stands still for longer than a period, again and again";
        crate::started::not_run("a foreign clock", why);
    }
    assert!((-20_000..300_000).contains(&median_ns), "{last}");
    let said = finished.json()["bus_clocks"].clone();
    for clock in said.as_array().unwrap() {
        let segment = clock["segment"].as_u64().unwrap();
        let drift_ppm = clock["drift_ppm"].as_f64().unwrap();
        let is_near = (drift_ppm - 200.0).abs() < 100.0;
        assert!(is_near || stalls(segment as u32) > BORNE, "{said:#}");
    }
    // The recorded latency is relative to those due times: never early, and without accumulating drift.
    let samples = finished.samples(0);
    assert!(samples.iter().all(|of| of.wake_ns >= of.due_ns));
    let mut latencies: Vec<i64> = samples.iter().map(|of| of.latency_ns()).collect();
    latencies.sort_unstable();
    assert!(latencies[latencies.len() / 2] < 1_000_000, "{latencies:?}");
    let shown = crate::started::Start::command(&["show", "--details"])
        .with(&[&finished.directory])
        .finish();
    assert!(shown.output.contains("Clock of"), "{}", shown.output);
    assert!(
        shown.output.contains("after the true due time"),
        "{}",
        shown.output
    );
}

fn due_times_that_a_program_in_c_gives_are_those_of_the_run() {
    let place = Place::new();
    // Its clock has a period of 1.001 ms, and misses every hundredth cycle.
    let program = built_of(
        &place,
        "#define _GNU_SOURCE\n#include <wakepath.h>\n#include <time.h>\n\
         int main(void) {\n\
             wakepath_loop *loop = wakepath_loop_create_driven(\"axis\", 1000000, 0, 0);\n\
             struct timespec at;\n\
             uint64_t due_ns;\n\
             wakepath_cycle cycle = {0, 0, 0};\n\
             clock_gettime(CLOCK_MONOTONIC, &at);\n\
             due_ns = at.tv_sec * UINT64_C(1000000000) + at.tv_nsec;\n\
             for (int number = 0;; number++) {\n\
                 due_ns += 1001000;\n\
                 if (number % 100 == 99) continue;\n\
                 at.tv_sec = due_ns / 1000000000;\n\
                 at.tv_nsec = due_ns % 1000000000;\n\
                 clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);\n\
                 if (!wakepath_loop_begin(loop, due_ns, &cycle)) break;\n\
                 if (cycle.due_ns != due_ns) return 3;\n\
                 wakepath_loop_finish(loop);\n\
             }\n\
             wakepath_loop_destroy(loop);\n\
             return 0;\n\
         }\n",
    );
    let finished = recorded(place, "3s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    conditions(&finished);
    let told = wakepath_archive::SegmentTold::read(&finished.directory, 0)
        .unwrap()
        .unwrap();
    let dues = &told.threads[&0].dues;
    let samples = finished.samples(0);
    assert!(samples.len() > 400 && dues.len() >= samples.len());
    for two in dues.windows(2) {
        let periods = two[1].0 - two[0].0;
        assert_eq!(two[1].1 - two[0].1, periods * 1_001_000);
        assert!(periods == 1 || periods == 2, "{two:?}");
    }
    assert!(dues.windows(2).any(|two| two[1].0 - two[0].0 == 2));
    let said = finished.json()["bus_clocks"][0].clone();
    let drift_ppm = said["drift_ppm"].as_f64().unwrap();
    assert!((drift_ppm - 1_000.0).abs() < 1.0, "{said:#}");
}
