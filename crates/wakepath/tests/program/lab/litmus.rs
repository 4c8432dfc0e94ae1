//! Loops on LITMUS^RT, in guests of one CPU and of two. Its kernels are taken from the directory that
//! `WAKEPATH_CORE_KERNELS` names, as `litmus.bzImage`.

use super::{Place, core_kernel, lacking, text};
use crate::started::binary;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

wakepath_test_program::tests![
    ;
    jobs_of_each_plugin_are_released_at_the_due_times,
    a_budget_that_is_enforced_holds_a_job_back_and_a_loop_that_never_waits_is_stopped,
    a_run_that_is_killed_leaves_no_task_and_its_plugin_is_put_back,
    what_the_core_itself_costs_is_recorded_with_the_trace,
    a_random_task_set_is_released_together_and_each_task_judged,
];

const SCENARIO: &str = r#"
name = "litmus"
rate = "1 kHz"
duration = "200 ms"
warm-up = "20 ms"
litmus-plugin = "switch"
POLICIES
[[phases]]
name = "idle"
[criterion]
latency = "100 us"
"#;

/// The script of the guest in which a run is killed; its own shell and `sleep` are brought with it.
const KILLS: &str = "#!/bin/sh
/bin/wakepath run /long.toml --no-tui --directory /run/killed &
measuring=$!
/bin/sleep 1
read plugin < /proc/litmus/active_plugin
echo during: $plugin
kill -9 $measuring
/bin/sleep 0.5
/bin/wakepath recover /run/killed
read plugin < /proc/litmus/active_plugin
echo afterwards: $plugin
while read line; do echo $line; done < /proc/litmus/stats
exit 0
";

fn place(name: &str, policies: &str) -> Place {
    let place = Place::new(name);
    let scenario = SCENARIO.replace("POLICIES", policies);
    std::fs::write(place.0.join("scenario.toml"), scenario).unwrap();
    place
}

/// A guest's run, or the reason why the test can't be run.
fn guest(place: &Place, directory: &str, more: &[&str]) -> Output {
    let kernel = core_kernel(
        "litmus.bzImage",
        "LITMUS^RT 2016.1 or later, with Feather-Trace",
    );
    let mut arguments = vec!["--kernel", kernel.to_str().unwrap()];
    arguments.extend(more);
    let output = place.lab_run(directory, &arguments).output().unwrap();
    if let Some(why) = lacking(&output) {
        wakepath_test_program::not_run(why);
    }
    output
}

/// The directory of the only guest's run.
fn run_of(place: &Place, directory: &str) -> PathBuf {
    let guests = std::fs::read_dir(place.0.join(directory)).unwrap();
    let mut runs = guests.flatten().map(|entry| entry.path());
    let run = runs.find(|path| path.join("manifest.json").is_file());
    run.expect("the guest's run is there")
}

fn shown(place: &Place, directory: &str) -> Value {
    let mut show = Command::new(binary());
    show.arg("show").arg(run_of(place, directory)).arg("--json");
    serde_json::from_slice(&show.output().unwrap().stdout).unwrap()
}

/// The median of one of a condition's distributions, in nanoseconds.
fn median_of(condition: &Value, what: &str) -> i64 {
    let median = &condition["cycles"][what]["quantiles"][0];
    assert_eq!(median["parts_per_million"], 500_000, "{condition}");
    median["value"].as_i64().unwrap()
}

fn jobs_of_each_plugin_are_released_at_the_due_times() {
    let policies = "policies = [\"LITMUS P-FP 10\", \"LITMUS PSN-EDF\", \"LITMUS GSN-EDF\", \"LITMUS C-EDF\", \
                    \"LITMUS PSN-EDF, release sleep\"]";
    let place = place("litmus", policies);
    for (directory, cpus) in [("one", "1"), ("two", "2")] {
        let output = guest(&place, directory, &["--cpus", cpus]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let shown = shown(&place, directory);
        let conditions = shown["conditions"].as_array().unwrap();
        assert_eq!(conditions.len(), 5, "{shown}");
        let median = |policy: &str, release: &str| {
            let found = conditions.iter().find(|condition| {
                let of = &condition["name"]["policy"];
                of["policy"] == policy && of["task"]["release"] == release
            });
            let found = found.expect("the policy was measured");
            assert_eq!(found["outcome"], "virtual-time", "{found}");
            assert_eq!(found["cycles"]["skipped"], 0, "{found}");
            median_of(found, "latency_as_executed")
        };
        let by_job = median("litmus-psn-edf", "job");
        let by_sleep = median("litmus-psn-edf", "sleep");
        assert!(by_job > 0 && by_job < by_sleep, "{by_job} {by_sleep}");
        for policy in ["litmus-p-fp", "litmus-gsn-edf", "litmus-c-edf"] {
            let latency = median(policy, "job");
            assert!(latency > 0 && latency < 20_000, "{policy}: {latency} ns");
        }
    }
}

fn a_budget_that_is_enforced_holds_a_job_back_and_a_loop_that_never_waits_is_stopped() {
    let policies = "policies = [\"LITMUS PSN-EDF\", \"LITMUS PSN-EDF, budget 200 us, enforce precise\"]\n\
                    work = { kind = \"busy\", time = \"500 us\" }";
    let budget = place("litmus-budget", policies);
    guest(&budget, "out", &[]);
    let shown_budget = shown(&budget, "out");
    let response = |enforcement: &str| {
        let conditions = shown_budget["conditions"].as_array().unwrap();
        let found = conditions
            .iter()
            .find(|one| one["name"]["policy"]["task"]["enforcement"] == enforcement);
        median_of(found.unwrap(), "response")
    };
    // 500 µs of work by 200 µs a period come to their end in the third.
    assert!((500_000..700_000).contains(&response("none")));
    assert!((2_000_000..3_000_000).contains(&response("precise")));

    let spins = "policies = [\"LITMUS P-FP 10\"]\nwork = { kind = \"busy\", time = \"2 s\" }";
    let spins = place("litmus-spins", spins);
    let short = std::fs::read_to_string(spins.0.join("scenario.toml")).unwrap();
    std::fs::write(
        spins.0.join("scenario.toml"),
        short.replace("200 ms", "4 s"),
    )
    .unwrap();
    let stopped = guest(&spins, "out", &["--cpus", "2"]);
    assert!(!stopped.status.success(), "its only condition is invalid");
    let said = shown(&spins, "out").to_string();
    assert!(said.contains("without sleeping"), "{said}");
}

fn a_run_that_is_killed_leaves_no_task_and_its_plugin_is_put_back() {
    let place = place("litmus-killed", "policies = [\"LITMUS P-FP 10\"]");
    let short = std::fs::read_to_string(place.0.join("scenario.toml")).unwrap();
    std::fs::write(place.0.join("long.toml"), short.replace("200 ms", "20 s")).unwrap();
    let script = place.0.join("kills");
    std::fs::write(&script, KILLS).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    guest(
        &place,
        "out",
        &[
            "--file",
            "long.toml=/long.toml",
            "--file",
            "/bin/sleep=/bin/sleep",
            "--before",
            "./kills",
        ],
    );
    let printed = run_of(&place, "out").join("command-1.out");
    let printed = std::fs::read_to_string(printed).unwrap();
    for line in [
        "during: P-FP",
        "recovered ",
        "put back: Linux",
        "afterwards: Linux",
        "real-time tasks = 0",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
}

fn what_the_core_itself_costs_is_recorded_with_the_trace() {
    let place = place("litmus-costs", "policies = [\"LITMUS PSN-EDF\"]\n[trace]");
    let output = guest(&place, "out", &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = run_of(&place, "out").join("overheads.json");
    let table: Value = serde_json::from_slice(&std::fs::read(table).unwrap()).unwrap();
    let told = &table["feather_trace"];
    assert!(told["pairs"].as_u64() > Some(400), "{told}");
    assert_eq!(told["lost"], 0);
    // Two hundred jobs: each is released, decided upon and switched to.
    for cost in ["timer_lateness", "release", "scheduling", "context_switch"] {
        let cost = &table[cost];
        assert!(cost["count"].as_u64() >= Some(190), "{table}");
        let median = cost["median"].as_i64();
        assert!(median > Some(0) && median < Some(20_000), "{table}");
    }
}

fn a_random_task_set_is_released_together_and_each_task_judged() {
    let place = Place::new("litmus-set");
    let words = "scenario tasks --plugin PSN-EDF --cpus 2 --utilization 50 --longest-period 10ms";
    let printed = place.wakepath(&words.split(' ').collect::<Vec<_>>());
    let set = text(&printed.stdout).replace("10 s", "100 ms");
    // One phase is enough to see it run.
    let (tasks, rest) = set.split_once("\n[[phases]]").unwrap();
    let criterion = rest.split_once("[criterion]").unwrap().1;
    let short = format!("{tasks}\n[[phases]]\nname = \"idle\"\n[criterion]{criterion}");
    std::fs::write(place.0.join("scenario.toml"), short).unwrap();
    let output = guest(&place, "out", &["--cpus", "2"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let shown = shown(&place, "out");
    let conditions = shown["conditions"].as_array().unwrap();
    assert_eq!(
        conditions.len(),
        tasks.matches("[[tasks]]").count(),
        "{shown}"
    );
    for condition in conditions {
        assert_eq!(condition["outcome"], "virtual-time", "{condition}");
        assert!(
            condition["cycles"]["executed"].as_u64() > Some(5),
            "{condition}"
        );
    }
}
