//! Several loops on EVL and Cobalt at once: each task under its own priority of the core, on one CPU and on two, and what the
//! core counted of them.

use super::Place;
use super::cores::{COBALT, Core, EVL, shown};
use serde_json::Value;

wakepath_test_program::tests![
    ;
    tasks_of_a_set_on_evl_keep_their_priorities_on_one_cpu_and_on_two,
    tasks_of_a_set_on_cobalt_keep_their_priorities_on_one_cpu_and_on_two,
];

/// `control` is due with each second `fast` one: on one CPU it waits for that work, on two it does not.
const SET: &str = r#"
name = "set"
duration = "200 ms"
warm-up = "20 ms"

[[tasks]]
name = "fast"
period = "1 ms"
cpu = 0
policy = "CORE FIFO 90"
work = { kind = "working-set", bytes = "64 KiB" }

[[tasks]]
name = "control"
period = "2 ms"
cpu = SECOND
policy = "CORE FIFO 80"
work = "flight"

[[tasks]]
name = "linux"
period = "4 ms"
cpu = 0
policy = "FIFO 70"
work = "nothing"

[[phases]]
name = "idle"
[criterion]
latency = "100 us"
"#;

impl Core {
    fn set(&self, cpus: &str) -> Vec<Value> {
        let place = Place::new(&format!("{}-set-{cpus}", self.tag));
        let word = self.policy.split(' ').next().unwrap_or_default();
        let second = if cpus == "2" { "1" } else { "0" };
        let set = SET.replace("CORE", word).replace("SECOND", second);
        std::fs::write(place.0.join("scenario.toml"), set).unwrap();
        let run = self.runs(&place, &["--cpus", cpus]).swap_remove(0);
        let shown = shown(&run);
        self.counts(&shown);
        shown["conditions"].as_array().unwrap().clone()
    }

    /// The core's counts are in the run: a switch to the thread for each cycle, and none into Linux.
    fn counts(&self, shown: &Value) {
        let counted = shown["on_a_core"].as_array().unwrap();
        assert_eq!(counted.len(), 2, "{shown}");
        for one in counted {
            let counts = &one["counts"];
            assert_eq!(counts["mode_switches"], 0, "{one}");
            assert!(counts["context_switches"].as_u64() >= Some(90), "{one}");
            assert!(counts["run_time_ns"].as_u64() > Some(100_000), "{one}");
        }
    }

    fn keeps_priorities(&self) {
        let one = self.set("1");
        let two = self.set("2");
        for conditions in [&one, &two] {
            assert_eq!(conditions.len(), 3);
            for condition in conditions {
                assert_eq!(condition["outcome"], "virtual-time", "{condition}");
                assert_eq!(condition["cycles"]["skipped"], 0, "{condition}");
            }
        }
        let median = |conditions: &[Value], task: &str| {
            let found = conditions.iter().find(|one| one["name"]["task"] == task);
            let found = found.unwrap_or_else(|| panic!("{task} was measured: {conditions:?}"));
            found["cycles"]["latency_as_executed"]["quantiles"][0]["value"]
                .as_i64()
                .unwrap()
        };
        // The lower priority waits for the work of the higher one where both are due, and Linux's for both.
        assert!(median(&one, "fast") < median(&one, "control"), "{one:?}");
        assert!(median(&one, "control") < median(&one, "linux"), "{one:?}");
        assert!(median(&two, "control") < median(&one, "control"), "{two:?}");
    }
}

fn tasks_of_a_set_on_evl_keep_their_priorities_on_one_cpu_and_on_two() {
    EVL.keeps_priorities();
}

fn tasks_of_a_set_on_cobalt_keep_their_priorities_on_one_cpu_and_on_two() {
    COBALT.keeps_priorities();
}
