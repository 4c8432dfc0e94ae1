//! Sections that a kernel's own events tell, held against those that the laboratory finds in the same kernel under the
//! same loads without any event. Its kernel is taken from the directory that `WAKEPATH_CORE_KERNELS` names, as
//! `preemptirq.bzImage`.

use super::{Place, core_kernel, lacking, text};
use serde_json::Value;

wakepath_test_program::tests![
    ;
    sections_told_by_events_are_those_that_there_are_and_no_shorter,
    a_kernel_without_the_events_refuses_sections_by_name,
];

const SCENARIO: &str = r#"
name = "sections"
rate = "1 kHz"
cycles = 100
warm-up = "20 ms"
policies = ["FIFO 80"]
TRACE
[[phases]]
name = "stress"
loads = ["files", "timers"]
[criterion]
latency = "1 ms"
miss-fraction = "50 %"
"#;

/// The run of one kernel, traced or not; the reason why the test can't be run.
fn run(place: &Place, kernel: &str, trace: &str, directory: &str) {
    let scenario = SCENARIO.replace("TRACE", trace);
    std::fs::write(place.0.join("scenario.toml"), scenario).unwrap();
    let mut lab = place.lab_run(directory, &["--kernel", kernel, "--seed", "1"]);
    let output = lab.output().unwrap();
    if let Some(why) = lacking(&output) {
        wakepath_test_program::not_run(why);
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// The only guest's directory.
fn guest(place: &Place, directory: &str) -> String {
    let mut entries = std::fs::read_dir(place.0.join(directory))
        .unwrap()
        .flatten();
    let found = entries.find(|entry| entry.path().join("manifest.json").is_file());
    found.unwrap().path().to_str().unwrap().to_owned()
}

fn json(place: &Place, arguments: &[&str]) -> Value {
    let output = place.wakepath(arguments);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}

fn sections_told_by_events_are_those_that_there_are_and_no_shorter() {
    let kernel = core_kernel(
        "preemptirq.bzImage",
        "Linux 6.1 with PREEMPT, PREEMPT_TRACER and IRQSOFF_TRACER",
    );
    let (kernel, place) = (kernel.to_str().unwrap(), Place::new("sections"));
    run(&place, kernel, "[trace]\nsections = \"500 ms\"", "traced");
    run(&place, kernel, "", "untraced");
    let truth = json(
        &place,
        &["lab", "sections", &guest(&place, "untraced"), "--json"],
    );
    let truth = &truth["conditions"][0];
    let bound = json(&place, &["bound", &guest(&place, "traced"), "--json"]);
    let recorded = &bound["recorded"][0];
    let composed = &recorded["composed"];
    let number = |of: &Value, key: &str| of[key].as_u64().unwrap_or_else(|| panic!("{key}: {of}"));
    // A thread that ran at the same time woke later because of the events, and no later than the bound.
    let effect = &recorded["effect"];
    let median = |turn: &str| number(&effect[turn], "median_ns");
    assert!(median("with") > median("without"), "{effect}");
    assert!(
        number(&effect["with"], "largest_ns") <= number(composed, "latency_ns"),
        "{bound}"
    );
    let manifest = std::fs::read(format!("{}/manifest.json", guest(&place, "traced"))).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let told = &manifest["kernel_sections"][0];
    // The longest with something off depends on what came just then; of these there are thousands.
    for kind in ["scheduler", "switch"] {
        let longest = |of: &Value| number(&of[kind], "longest_ns");
        assert!(
            longest(truth) > 0 && longest(told) >= longest(truth),
            "{kind}: {told}, {truth}"
        );
    }
    // The longest has a name, and the timer is known.
    assert_ne!(told["longest"][0]["began"], "", "{told}");
    let interrupts = told["interrupts"].as_array().unwrap();
    assert!(
        interrupts.iter().any(|one| one["name"] == "local_timer"),
        "{told}"
    );
}

fn a_kernel_without_the_events_refuses_sections_by_name() {
    let place = Place::new("no-sections");
    run(
        &place,
        "debian:stock",
        "[trace]\nsections = \"500 ms\"",
        "out",
    );
    let bound = json(&place, &["bound", &guest(&place, "out"), "--json"]);
    let recorded = &bound["recorded"][0];
    assert_eq!(recorded["composed"], Value::Null, "{recorded}");
    let why = recorded["refused"].as_str().unwrap();
    for part in ["CONFIG_PREEMPTIRQ_TRACEPOINTS", "no preemptirqsoff tracer"] {
        assert!(why.contains(part), "{why}");
    }
}
