//! The latencies that EVL and Cobalt measure themselves at the end of a phase, in guests whose kernels have
//! their testing devices: at the loop's priority and period and on its CPU, reported with the loop's own
//! latencies.

use super::Place;
use super::cores::{COBALT, Core, EVL, shown};
use serde_json::Value;

wakepath_test_program::tests![
    ;
    evl_measures_its_own_latencies_on_the_loops_cpu_and_each_step_adds_something,
    cobalt_measures_its_own_latencies_on_the_loops_cpu_and_each_step_adds_something,
    a_scenario_that_asks_for_no_latencies_of_the_core_has_none,
    a_core_without_its_testing_device_is_told_in_one_line_and_the_run_goes_on,
];

/// The script of the guest; its own shell is brought with it.
const REMOVES: &str = "#!/bin/sh\n/bin/rm /dev/rtdm/timerbench\n";

impl Core {
    fn measured(&self, name: &str, cpus: &str, more: &str, script: &str) -> Value {
        let place = Place::new(&format!("{}-{name}-{cpus}", self.tag));
        let last = if cpus == "2" { 1 } else { 0 };
        let keys = format!("work = \"nothing\"\ncpu = {last}\n{more}");
        std::fs::write(place.0.join("scenario.toml"), self.scenario(&keys)).unwrap();
        let mut arguments = vec!["--cpus", cpus];
        if !script.is_empty() {
            std::fs::write(place.0.join("script"), script).unwrap();
            let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(place.0.join("script"), runs).unwrap();
            arguments.extend(["--file", "/bin/rm=/bin/rm", "--before", "./script"]);
        }
        shown(&self.runs(&place, &arguments)[0])
    }

    fn measures_itself(&self) {
        for cpus in ["1", "2"] {
            let shown = self.measured("latencies", cpus, "", "");
            let all = shown["core_latency"].as_array().unwrap();
            // Linux's policy requests no such measurement.
            let [one] = &all[..] else {
                panic!("one policy of a core: {all:?}");
            };
            let core = &one["core"];
            assert_eq!(core["policy"], self.policy, "{one}");
            assert_eq!(core["phase"], "idle");
            for stage in ["handler", "thread"] {
                let stage = &core[stage];
                assert_eq!(stage["periods"], 1000, "{one}");
                assert_eq!(stage["overruns"], 0, "{one}");
                assert_eq!(stage["cpu"], core["cpu"], "{one}");
                let of = |key: &str| stage[key].as_i64().unwrap();
                assert!(of("smallest_ns") <= of("mean_ns"), "{one}");
                assert!(of("mean_ns") <= of("largest_ns"), "{one}");
                assert!((-10_000..100_000).contains(&of("mean_ns")), "{one}");
            }
            assert_eq!(core["cpu"].as_u64(), Some(u64::from(cpus == "2")), "{one}");
            let adds = |key: &str| one["adds"][key].as_f64().unwrap();
            for key in ["interrupt_ns", "scheduler_ns", "user_space_ns"] {
                // Two emulated CPUs take turns of 2 µs.
                let least = if cpus == "2" { -2_000.0 } else { 1.0 };
                assert!((least..20_000.0).contains(&adds(key)), "{one}");
            }
        }
    }
}

fn evl_measures_its_own_latencies_on_the_loops_cpu_and_each_step_adds_something() {
    EVL.measures_itself();
}

fn cobalt_measures_its_own_latencies_on_the_loops_cpu_and_each_step_adds_something() {
    COBALT.measures_itself();
}

fn a_scenario_that_asks_for_no_latencies_of_the_core_has_none() {
    let shown = COBALT.measured("none", "1", "core-latency = \"none\"", "");
    assert_eq!(shown.get("core_latency"), None, "{shown}");
}

fn a_core_without_its_testing_device_is_told_in_one_line_and_the_run_goes_on() {
    let shown = COBALT.measured("removed", "1", "", REMOVES);
    let core = &shown["core_latency"][0]["core"];
    let why = core["not_available"].as_str().unwrap();
    assert!(
        why.starts_with("there is no /dev/rtdm/timerbench: build"),
        "{why}"
    );
    assert_eq!(core.get("handler"), None);
    assert_eq!(shown["conditions"].as_array().unwrap().len(), 2);
    assert_eq!(shown["outcome"], "virtual-time", "{shown}");
}
